//! The lockstep run and the cases of `fencepost-conformance`, from the same sources, over the twin of the cores that has
//! faults.

#[path = "../../src/actors/mod.rs"]
pub mod actors;
#[path = "../../src/cases/mod.rs"]
pub mod cases;
#[path = "../../src/kafka_server/mod.rs"]
pub mod kafka_server;
#[path = "../../src/lockstep/mod.rs"]
pub mod lockstep;
#[path = "../../src/loopback/mod.rs"]
pub mod loopback;
#[path = "../../src/map/mod.rs"]
pub mod map;
#[path = "../../src/observed/mod.rs"]
pub mod observed;
#[path = "../../src/wire/mod.rs"]
pub mod wire;

pub use fencepost::fault;
