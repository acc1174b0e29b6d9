//! The production implementation of Kafka's transaction protocol: pure cores, no socket, clock, lock or disk.
//!
//! Each core has one owner and one entry point, `step(input, now) -> effects`; whoever runs it turns effects into
//! appends, messages and answers, and turns their results into further inputs. The crate is written from the protocol,
//! not from the checked model in `fencepost-spec`, so that comparing the two means something.

#[macro_use]
pub mod fault;

pub mod batch;
pub mod client;
pub mod coordinator;
pub mod error_code;
pub mod group;
pub mod partition;
pub mod records;
pub mod types;
