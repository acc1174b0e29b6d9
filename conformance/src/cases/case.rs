//! What a case is: a stable id, what it needs, where the rule comes from, and its steps.

use super::judge::Configuration;
use super::stage::{Outcome, Stage};
use super::tour::{Command, Tour};
use super::traced;
use super::walk;
use crate::wire::VersionRange;

/// How strongly the rule binds a broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Requirement {
    /// A KIP says so, or clients rely on it.
    Must,
    /// Kafka does so, and a broker that differs has to say why.
    Should,
    /// Kafka does so; a difference is reported as inconclusive.
    May,
}

impl Requirement {
    /// The word in the reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::May => "MAY",
        }
    }
}

/// Which part of the suite a case belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// What every broker with transactions has to do; quick, leaves nothing behind.
    Core,
    /// Finer points of Kafka 4.4.0.
    Full,
    /// DescribeTransactions, DescribeProducers, ListTransactions (KIP-664).
    Admin,
    /// Sends what only a hostile or broken peer sends; leaves ids in Prepare* until the
    /// coordinator is reloaded. Not for a shared broker.
    Fault,
    /// Two-phase commit (KIP-939).
    TwoPhase,
    /// Waits for the broker's timers.
    Slow,
}

impl Level {
    /// Every level.
    pub const ALL: [Self; 6] = [
        Self::Core,
        Self::Full,
        Self::Admin,
        Self::Fault,
        Self::TwoPhase,
        Self::Slow,
    ];

    /// The word on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Full => "full",
            Self::Admin => "admin",
            Self::Fault => "fault",
            Self::TwoPhase => "2pc",
            Self::Slow => "slow",
        }
    }

    /// The level of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == word)
    }

    /// Whether a run of `self` includes cases of `other`: `full` includes `core`.
    #[must_use]
    pub fn includes(self, other: Self) -> bool {
        self == other || (self == Self::Full && other == Self::Core)
    }
}

/// What a broker must have for a case to say anything about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    /// A request in this version.
    Api {
        /// Kafka's API key.
        key: i16,
        /// Kafka's name of the request.
        name: &'static str,
        /// The version that the case sends, or one with the same rules ([`spoken`]).
        version: i16,
    },
    /// A cluster whose finalized `transaction.version` is at least this.
    TransactionVersion(i16),
    /// A second broker, which does not coordinate.
    SecondBroker,
    /// A broker that we started in this configuration, and may halt or restart.
    Judge(Configuration),
}

impl std::fmt::Display for Need {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Api { name, version, .. } => write!(f, "{name} v{version}"),
            Self::TransactionVersion(level) => write!(f, "transaction.version {level}"),
            Self::SecondBroker => f.write_str("a second broker"),
            Self::Judge(configuration) => {
                write!(f, "a judge of our own (--kafka {})", configuration.name())
            }
        }
    }
}

/// The version to send to a broker that speaks `range` where a case says `version`: that one, or
/// the highest one below it that has the same rules, but for the words of refusals.
pub fn spoken(key: i16, version: i16, range: VersionRange) -> Option<i16> {
    let lowest_alike = match (key, version) {
        // Produce, until it adds its partition by itself.
        (0, 3..=11) => 3,
        // AddPartitionsToTxn of clients, AddOffsetsToTxn, EndTxn without an identity in its answer.
        (24, 0..=3) | (25, 0..=4) | (26, 0..=4) => 0,
        _ => version,
    };
    let sent = version.min(range.max);
    (sent >= lowest_alike.max(range.min)).then_some(sent)
}

/// The steps of a case.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// Written by hand.
    Written(fn(&mut Stage) -> Outcome),
    /// A way of the tour.
    Toured(&'static Tour),
    /// A random walk of this seed.
    Walk(u64),
    /// The requests of a trace.
    Traced(&'static [Command]),
}

impl Body {
    /// Plays the steps.
    pub(super) fn play(self, stage: &mut Stage) -> Outcome {
        match self {
            Self::Written(steps) => steps(stage),
            Self::Toured(tour) => tour.play(stage),
            Self::Walk(seed) => walk::play(stage, seed),
            Self::Traced(commands) => traced::play(stage, commands),
        }
    }
}

/// A case of the suite.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// `area/nn`, for ever: never given to another rule.
    pub id: &'static str,
    /// A short name, words joined by dashes.
    pub name: &'static str,
    /// How strongly it binds.
    pub requirement: Requirement,
    /// Which part of the suite.
    pub level: Level,
    /// What the broker must have.
    pub needs: &'static [Need],
    /// The KIP and section, the issue, or "observed on Kafka 4.4.0".
    pub source: &'static str,
    /// The rule, as a sentence.
    pub title: &'static str,
    pub(super) body: Body,
}

impl Case {
    /// The part of the id before the slash.
    #[must_use]
    pub fn area(&self) -> &'static str {
        self.id.split('/').next().unwrap_or(self.id)
    }
}
