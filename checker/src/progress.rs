//! Progress on stderr: states, frontier, depth, rate, memory.

use fencepost_search::ProgressFn;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// One line is enough in this time.
const EVERY: Duration = Duration::from_millis(500);

/// Tells how a search goes, if stderr is a terminal or `forced`.
pub fn progress(name: &str, forced: bool) -> Option<ProgressFn> {
    if !forced && !io::stderr().is_terminal() {
        return None;
    }
    let name = name.to_owned();
    let told = Mutex::new(Instant::now());
    Some(Arc::new(move |p| {
        let Ok(mut told) = told.lock() else {
            return;
        };
        if told.elapsed() < EVERY {
            return;
        }
        *told = Instant::now();
        // A line that nobody can read is no reason to stop.
        let _ = writeln!(
            io::stderr(),
            "{name}: {} distinct, {} waiting, depth {}, {:.0}/s, {:.0} MiB",
            p.distinct,
            p.frontier,
            p.depth,
            p.per_second(),
            p.memory as f64 / f64::from(1 << 20),
        );
    }))
}
