//! What a run counts beside its steps.

use super::{CrashPoints, Exclusions};

/// What was left out, and what was crashed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// What was left out.
    pub exclusions: Exclusions,
    /// The crash points that were taken.
    pub crash_points: CrashPoints,
}
