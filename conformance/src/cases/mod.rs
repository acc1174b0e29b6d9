//! A suite that tests any broker's transactions, rule by rule.
//!
//! A [`Case`] has a stable id, a level, the rule and its source, and steps. Each step goes to the
//! broker and to the spec's own actors; what they allow is the oracle. [`run`] judges a broker,
//! [`probe`] says which levels can run on it, [`list`] prints what there is.
//!
//! Every name that a run creates begins with a random prefix; topics are deleted and open
//! transactions aborted at the end of each case. Every wait has an end, and a case runs on a thread
//! of its own, so that no answer of a broker can stop the suite.

mod case;
mod glob;
mod judge;
mod known_failures;
mod listing;
pub(crate) mod oracle;
mod our_own;
mod played;
mod probe;
mod report;
mod result;
mod route;
mod runner;
mod stage;
mod table;
mod tour;
mod traced;
mod walk;

pub use case::{Case, Level, Need, Requirement};
pub use judge::{Configuration, Judge};
pub use known_failures::{KnownFailures, UnreadableLine};
pub use listing::{CaseRow, Listing, UndrivenRow, list};
pub use our_own::{MUTATION, OwnReport, OwnRun, ask_our_own, judge_as_our_own, judge_our_own};
pub use probe::{LevelRow, Probe, probe};
pub use report::{Format, UnknownFormat};
pub use result::{CaseResult, Report, Verdict};
pub use runner::{Options, SuiteError, run};
pub use stage::Exchange;
pub use tour::{Command, UNDRIVEN, Undriven, is_toured};
pub use traced::{NotDrivable, plan, replay};
pub use walk::Walks;

/// Every case that has a fixed place: those written by hand, the tour, then those that restart the
/// broker.
#[must_use]
pub fn all() -> Vec<Case> {
    let mut cases = table::all();
    cases.extend(tour::cases());
    cases.extend(table::judged::CASES);
    cases
}
