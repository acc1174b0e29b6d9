//! How a run is done and bounded.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Called now and then while a run goes on.
pub type ProgressFn = Arc<dyn Fn(&Progress) + Send + Sync>;

/// How a run is done and bounded. The default is one thread, no bound and no stop before the end.
#[derive(Clone)]
pub struct Options {
    /// Threads; 0 counts as 1. The result is the same for any number.
    pub threads: usize,
    /// The fewest states of a level that are worth a thread; 0 counts as 1.
    pub share: usize,
    /// Stop when at least this many distinct states were visited.
    pub max_states: Option<u64>,
    /// Stop when the process holds at least this many bytes (where the system does not say, when the search does).
    pub max_memory: Option<u64>,
    /// Stop after this time.
    pub time_limit: Option<Duration>,
    /// Do not expand states at this level or deeper; the initial states are level 1.
    pub max_depth: Option<u32>,
    /// Stop at the end of the level in which each of these properties (bits, as in `Checks`) has a hit. The level is
    /// finished so that each hit is the shortest. 0 stops never.
    pub stop_when: u64,
    /// Stop at the end of the level in which any property has its first hit.
    pub stop_at_first: bool,
    /// Called after each level, and about twice a second within long ones.
    pub progress: Option<ProgressFn>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: 1,
            share: 64,
            max_states: None,
            max_memory: None,
            time_limit: None,
            max_depth: None,
            stop_when: 0,
            stop_at_first: false,
            progress: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("threads", &self.threads)
            .field("share", &self.share)
            .field("max_states", &self.max_states)
            .field("max_memory", &self.max_memory)
            .field("time_limit", &self.time_limit)
            .field("max_depth", &self.max_depth)
            .field("stop_when", &self.stop_when)
            .field("stop_at_first", &self.stop_at_first)
            .field("progress", &self.progress.is_some())
            .finish()
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The level being expanded; the initial states are level 1.
    pub depth: u32,
    /// Distinct states so far.
    pub distinct: u64,
    /// States generated so far, initial ones and duplicates included.
    pub generated: u64,
    /// States waiting to be expanded.
    pub frontier: u64,
    /// Time since the start.
    pub elapsed: Duration,
    /// Bytes held by the visited set and the links; the frontier's states are not in it.
    pub memory: u64,
}

impl Progress {
    /// Distinct states a second since the start.
    pub fn per_second(&self) -> f64 {
        self.distinct as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}
