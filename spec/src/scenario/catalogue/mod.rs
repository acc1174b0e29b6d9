//! The named scenarios, with what each rule set is expected to break.

mod batches;
mod elections;
mod epochs;
mod instances;
mod logs;
mod markers;
mod nightly;
mod offsets;
mod requests;
mod strangers;

use super::Scenario;
use crate::fault::Fault;
use crate::properties::Id;
use crate::rules::Rules;
use crate::types::*;

/// Which rules a run is made under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleSet {
    /// `transaction.version` 0 and 1.
    Tv1,
    /// `transaction.version` 2.
    Tv2,
    /// From TV1 to TV2 inside the run.
    Upgrade,
}

/// In which set a scenario runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    /// `fencepost check`.
    Default,
    /// `fencepost check --profile nightly`, beside the default ones.
    Nightly,
    /// Only where a mutant or a trace names it.
    Named,
}

/// A scenario of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it is about.
    pub says: &'static str,
    /// In which set it runs.
    pub profile: Profile,
    /// Under which rules it runs, and exactly what they break.
    pub runs: &'static [(RuleSet, &'static [Id])],
    build: fn(RuleSet) -> Scenario,
}

impl Entry {
    /// The scenario under a rule set.
    pub fn scenario(&self, rules: RuleSet) -> Scenario {
        let scenario = Scenario {
            name: self.name,
            says: self.says,
            ..(self.build)(rules)
        };
        match rules {
            RuleSet::Upgrade => scenario.fault(Fault::Upgrade, 1),
            RuleSet::Tv1 | RuleSet::Tv2 => scenario,
        }
    }

    /// The right rules for this scenario.
    pub fn rules(&self, rules: RuleSet) -> Rules {
        let version = match rules {
            RuleSet::Tv1 | RuleSet::Upgrade => TransactionVersion::Tv1,
            RuleSet::Tv2 => TransactionVersion::Tv2,
        };
        Rules {
            upgrade: rules == RuleSet::Upgrade,
            verification: self.scenario(rules).verification,
            ..Rules::kafka(version)
        }
    }
}

impl RuleSet {
    /// Every rule set.
    pub const ALL: [Self; 3] = [Self::Tv1, Self::Tv2, Self::Upgrade];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tv1 => "tv1",
            Self::Tv2 => "tv2",
            Self::Upgrade => "upgrade",
        }
    }

    /// The rule set of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.name() == name)
    }
}

/// The scenario of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOGUE.iter().find(|e| e.name == name)
}

/// Every scenario.
pub const CATALOGUE: &[Entry] = &[
    requests::SMOKE,
    requests::RETRY,
    markers::MARKERS,
    instances::ZOMBIE,
    requests::TIMER,
    batches::LATE,
    elections::ELECTION,
    elections::RE_ELECTION,
    elections::RE_ELECTION_ONCE,
    elections::STALE_COORDINATOR,
    requests::FAILED_APPEND,
    offsets::OFFSETS,
    offsets::REBALANCE,
    offsets::MEMBER_EXPIRY,
    offsets::STATIC_MEMBER,
    offsets::OFFSETS_RESTART,
    logs::READER,
    logs::READER_ONCE,
    logs::READER_FAIL_OVER,
    logs::STORAGE,
    markers::EVICTION,
    logs::COMPACTION,
    epochs::EXHAUSTION,
    epochs::ROTATION,
    epochs::TWO_PHASE,
    batches::UPGRADE,
    batches::PIPELINE,
    batches::IDEMPOTENT,
    requests::ANSWERS,
    elections::MIX,
    nightly::MIX_TIMER,
    nightly::MIX_TWO_PARTITIONS,
    nightly::MIX_EVERYTHING,
    nightly::MIX_TWO_TRANSACTIONS,
    nightly::THREE_INSTANCES_ELECTION,
    nightly::THREE_INSTANCES,
    nightly::ELECTION_TWO_TRANSACTIONS,
    batches::HANGING,
    markers::DELETED_TOPIC,
    instances::EXPIRED_ID,
    requests::CLOCK,
    markers::OPERATOR,
    batches::SEQUENCE_WRAP,
    logs::COMPACTION_REPLICA,
    markers::MISSED_TEST,
    requests::RETRY_EAGER,
    requests::RETRY_ONCE,
    instances::BUMP_RETRY,
    instances::UPGRADE_RETRY,
    instances::LATE_BUMP,
    offsets::OFFSETS_LATE,
    offsets::OFFSETS_ONLY,
    offsets::OFFSETS_ELECTION,
    markers::LOST_MARKER,
    requests::TIMER_ONCE,
    epochs::TWO_PHASE_ROTATION,
    epochs::TWO_PHASE_DOUBLE_OVERFLOW,
    markers::LEADERLESS,
    strangers::ANY_CLIENT,
    strangers::ANY_CLIENT_LAST_EPOCH,
    strangers::ANY_CLIENT_KEPT,
    strangers::ANY_CLIENT_ELECTION,
    epochs::FAILED_FENCE,
    batches::PIPELINE_VERIFICATION,
    strangers::CROWD,
    strangers::CROWD_WIDE,
];
