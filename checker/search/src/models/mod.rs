//! Known models whose exact counts other model checkers agree on: for tests of engines, and for benchmarks.

mod init_pid;
mod two_phase;

pub use init_pid::{InitPid, InitPidAction, InitPidState, Refusal};
pub use two_phase::{RmState, TmState, TwoPhase, TwoPhaseAction, TwoPhaseState};
