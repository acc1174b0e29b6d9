//! Spec against implementation.

pub mod kafka_server;
pub mod wire;
