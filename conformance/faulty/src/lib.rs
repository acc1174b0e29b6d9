//! The lockstep run of `fencepost-conformance`, from the same sources, over the twin of the cores that has faults.

#[path = "../../src/actors/mod.rs"]
pub mod actors;
#[path = "../../src/lockstep/mod.rs"]
pub mod lockstep;
#[path = "../../src/map/mod.rs"]
pub mod map;

pub use fencepost::fault;
