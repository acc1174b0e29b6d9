//! What a run says: a verdict for each case, and the sums.

use serde::Serialize;

use super::case::Requirement;
use super::stage::Exchange;

/// What a case found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every answer was allowed.
    Pass,
    /// An answer was not allowed.
    Fail,
    /// The broker lacks what the case needs, or there was no time left.
    Skip,
    /// It failed, as the list of known failures says.
    Known,
    /// It passed although it is on the list of known failures.
    UnexpectedPass,
    /// Nothing can be said: a time ran out, or a MAY was not followed.
    Inconclusive,
}

impl Verdict {
    /// The word in the reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Skip => "skip",
            Self::Known => "known",
            Self::UnexpectedPass => "unexpected-pass",
            Self::Inconclusive => "inconclusive",
        }
    }

    /// Whether the broker, or the list of known failures, is to be looked at.
    #[must_use]
    pub const fn is_bad(self) -> bool {
        match self {
            Self::Fail | Self::UnexpectedPass | Self::Inconclusive => true,
            Self::Pass | Self::Skip | Self::Known => false,
        }
    }
}

/// A case's row in the report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseResult {
    /// `area/nn`.
    pub id: String,
    /// A short name.
    pub name: String,
    /// The level's word on the command line.
    pub level: String,
    /// MUST, SHOULD or MAY.
    pub requirement: String,
    /// Where the rule comes from.
    pub source: String,
    /// The rule.
    pub title: String,
    /// What was found.
    pub verdict: Verdict,
    /// Why, where it did not simply pass; empty otherwise.
    pub reason: String,
    /// Seconds that it took.
    pub seconds: f64,
    /// Exchanges with the broker that were judged.
    pub steps: usize,
    /// The last exchanges, where the case failed or is inconclusive.
    pub exchanges: Vec<Exchange>,
    /// What of it could not be cleared away, each with the reason.
    pub left: Vec<String>,
    /// One line that runs this case again.
    pub reproduce: String,
}

impl CaseResult {
    /// Whether it is known what the broker does, or does not matter: a MAY need not be followed.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.verdict != Verdict::Inconclusive || self.requirement == Requirement::May.name()
    }
}

/// What a run found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Version of these fields.
    pub schema_version: u32,
    /// True where there is no failure, no unexpected pass, and no MUST or SHOULD of which nothing can be said.
    pub ok: bool,
    /// HOST:PORT.
    pub broker: String,
    /// The finalized `transaction.version`.
    pub transaction_version: i16,
    /// Cases that passed.
    pub passed: usize,
    /// Cases that failed, and known failures that passed.
    pub failed: usize,
    /// Cases that were not run.
    pub skipped: usize,
    /// Known failures.
    pub known: usize,
    /// Cases that say nothing.
    pub inconclusive: usize,
    /// Exchanges with the broker that were judged.
    pub steps: usize,
    /// Seconds of the whole run.
    pub seconds: f64,
    /// What every name that the run has created begins with.
    pub prefix: String,
    /// What of it is still there, each with the reason.
    pub left: Vec<String>,
    /// The cases, in order.
    pub cases: Vec<CaseResult>,
}
