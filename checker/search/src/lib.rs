//! A search engine over any [`stateright::Model`]; it knows nothing of what is modelled.
//!
//! * [`run_bfs`] visits every reachable state, level by level, on any number of threads. Counts, digest, traces and
//!   even the numbering of the states are those of a sequential breadth-first search, whatever the thread count.
//! * [`run_bfs_stored`] does the same with checkpoints, and with a frontier that spills to disk.
//! * [`run_dfs`] needs less memory, [`run_simulation`] walks at random; [`minimise`] shortens what they find.
//! * [`Checks`] says what to judge: properties on every state, on terminal states (those with no successor), and
//!   witnesses of reachability.
//! * [`Options`] bounds a run. A bound that is met makes the run [`Verdict::Incomplete`], never "holds".
//! * [`run_liveness`] looks for fair runs on which something good never happens; a violation is a [`Lasso`].
//! * [`Outcome`] holds the counts (as TLC counts them), the digest of the reachable set, and the first hit of each
//!   property, which is its shortest counterexample.
//!
//! stateright's own search is not used: its counterexamples are not the shortest, it stops early, it judges no
//! terminal states and it keeps whole paths in its frontier.

mod bench;
mod bfs;
mod checks;
mod dfs;
mod fingerprint;
mod limits;
mod links;
mod liveness;
mod minimise;
mod model;
pub mod models;
mod observer;
mod options;
mod outcome;
mod path_hits;
mod simulate;
mod storage;
mod trace;
mod visited;

pub use bench::{BenchReport, BenchRow, bench_bfs, bench_known_models, bench_spawn_bfs};
pub use bfs::{run_bfs, run_bfs_observed, run_bfs_stored};
pub use checks::{Checks, TooManyProperties};
pub use dfs::run_dfs;
pub use fingerprint::{Digest, Fingerprint, StateHasher};
pub use limits::resident_bytes;
pub use liveness::{Goal, Lasso, LassoError, Liveness, LivenessOutcome, Strength, run_liveness};
pub use minimise::minimise;
pub use model::SearchModel;
pub use observer::Observer;
pub use options::{Options, Progress, ProgressFn};
pub use outcome::{Hit, HitPlace, Outcome, Reason, Verdict};
pub use simulate::{Simulation, run_simulation};
pub use storage::{Spill, Storage, StorageError};
pub use trace::{ReplayError, Trace};
