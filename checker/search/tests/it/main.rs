//! Tests of the engine through its public interface.

mod bfs;
mod graph;
mod known_answers;
mod liveness;
mod modes;
mod storage;
mod traps;
mod ways;
