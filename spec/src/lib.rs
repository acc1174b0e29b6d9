//! Kafka transactions as stateright actors: the rules as a value, the actors as pure step
//! functions, the world that checks them, its properties, mutants, scenarios and traces.

pub mod actor_model;
pub mod client;
pub mod coordinator;
pub mod coverage;
pub mod error_code;
pub mod fault;
pub mod group;
pub mod message;
pub mod mutants;
pub mod partition;
pub mod properties;
pub mod rules;
pub mod scenario;
pub mod step;
pub mod trace;
pub mod types;
pub mod world;
mod written_over;
