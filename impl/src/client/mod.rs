//! The client side of transactions: the producer's transaction manager, and what a read_committed consumer keeps.

mod batches;
mod calls;
mod consumer;
mod errors;
mod input;
mod produce;
mod request;
mod responses;
mod state;
mod transaction_manager;

#[cfg(test)]
mod tests;

pub use batches::{Batch, Batches, MAX_IN_FLIGHT, Numbered};
pub use consumer::{Consumed, ReadCommittedFilter, Verdict, read_committed};
pub use errors::{Api, Class, classify};
pub use input::{Call, Effect, Input};
pub use request::{
    Backoff, BatchId, CallError, Cause, ConsumerGroupMetadata, CoordinatorKey, OffsetAndMetadata,
    Operation, ProduceBatch, Request, Response,
};
pub use state::State;
pub use transaction_manager::{ProducerConfig, TransactionManager};
