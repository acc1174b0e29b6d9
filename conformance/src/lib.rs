//! Spec against implementation.

pub mod actors;
#[cfg(feature = "broker")]
pub mod cases;
#[cfg(feature = "broker")]
pub mod kafka_server;
pub mod lockstep;
#[cfg(feature = "broker")]
pub mod loopback;
pub mod map;
#[cfg(feature = "broker")]
pub mod observed;
#[cfg(feature = "broker")]
pub mod wire;
