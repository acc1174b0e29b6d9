//! Spec against implementation.

pub mod actors;
pub mod cases;
pub mod kafka_server;
pub mod lockstep;
pub mod loopback;
pub mod map;
pub mod wire;
