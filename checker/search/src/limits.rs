//! The bounds of a run: states, memory, time.

use std::time::{Duration, Instant};

use crate::options::{Options, Progress};
use crate::outcome::Reason;

/// Asking the system for the memory in use is slow: ask this seldom.
const MEMORY_EVERY: Duration = Duration::from_millis(50);
const PROGRESS_EVERY: Duration = Duration::from_millis(500);

/// Watches a run.
pub(crate) struct Limits<'a> {
    options: &'a Options,
    started: Instant,
    memory_asked: Instant,
    progress_told: Instant,
}

impl<'a> Limits<'a> {
    pub(crate) fn start(options: &'a Options) -> Self {
        let now = Instant::now();
        Self {
            options,
            started: now,
            memory_asked: now,
            progress_told: now,
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The bound that `progress` meets, if any. Also tells the progress, when it is time to.
    pub(crate) fn check(&mut self, progress: &Progress, level_done: bool) -> Option<Reason> {
        let now = Instant::now();
        if let Some(tell) = &self.options.progress
            && (level_done || now - self.progress_told >= PROGRESS_EVERY)
        {
            self.progress_told = now;
            tell(progress);
        }
        if self
            .options
            .max_states
            .is_some_and(|max| progress.distinct >= max)
        {
            return Some(Reason::MaxStates);
        }
        if self
            .options
            .time_limit
            .is_some_and(|limit| now - self.started >= limit)
        {
            return Some(Reason::TimeLimit);
        }
        if let Some(max) = self.options.max_memory
            && now - self.memory_asked >= MEMORY_EVERY
        {
            self.memory_asked = now;
            if resident_bytes().unwrap_or(progress.memory) >= max {
                return Some(Reason::MaxMemory);
            }
        }
        None
    }
}

/// Bytes of this process in memory, where the system says so (Linux).
#[must_use]
pub fn resident_bytes() -> Option<u64> {
    // "VmRSS:     12345 kB"
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
