//! Known models whose exact counts other model checkers agree on: for tests of engines, and for benchmarks.

mod two_phase;

pub use two_phase::{RmState, TmState, TwoPhase, TwoPhaseAction, TwoPhaseState};
