//! What a transactional producer is told, and what it asks for.

use std::collections::BTreeMap;

use super::request::{
    Backoff, BatchId, CallError, Cause, ConsumerGroupMetadata, CoordinatorKey, OffsetAndMetadata,
    Operation, ProduceBatch, Request, Response,
};
use crate::error_code::ErrorCode;
use crate::types::{TopicPartition, TransactionVersion};

/// A call of the application.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Get a producer id and fence earlier producers with the same transactional id.
    InitTransactions,
    /// Begin a transaction.
    BeginTransaction,
    /// Send a batch of records in the transaction.
    Send {
        /// Where to.
        partition: TopicPartition,
        /// The application's name for the batch; it gets one [`Effect::BatchFinished`].
        batch: BatchId,
        /// How many records; at least 1.
        count: i32,
    },
    /// Commit a group's offsets with the transaction.
    SendOffsetsToTransaction {
        /// For which member of which group.
        member: ConsumerGroupMetadata,
        /// The offsets.
        offsets: BTreeMap<TopicPartition, OffsetAndMetadata>,
    },
    /// Commit the transaction.
    CommitTransaction,
    /// Abort the transaction.
    AbortTransaction,
}

/// What a transactional producer is told, one at a time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// The application calls.
    Call(Call),
    /// The request that is in flight was answered.
    Answered(Response),
    /// The connection broke before the request that is in flight was answered: nobody knows whether it took effect.
    Disconnected,
    /// A batch that is in flight was answered; any other answer is late and says nothing.
    BatchAnswered {
        /// Where it was sent.
        partition: TopicPartition,
        /// Which.
        batch: BatchId,
        /// The answer.
        code: ErrorCode,
    },
    /// A batch was not acknowledged in time and is given up.
    BatchExpired {
        /// Where it was sent.
        partition: TopicPartition,
        /// Which.
        batch: BatchId,
    },
    /// The cluster has finalized this `transaction.version`.
    Features(TransactionVersion),
}

/// What must be done, in this order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// A call is refused; nothing has changed.
    Refused(CallError),
    /// Send a request, after a wait, and answer with [`Input::Answered`] or [`Input::Disconnected`]. There is never more
    /// than one on its way.
    Send {
        /// What.
        request: Request,
        /// Where to; `None` is any broker.
        to: Option<CoordinatorKey>,
        /// After how long.
        backoff: Backoff,
    },
    /// Send a batch.
    Produce(ProduceBatch),
    /// A batch is done.
    BatchFinished {
        /// Where it was to go.
        partition: TopicPartition,
        /// Which.
        batch: BatchId,
        /// Whether it is in the log. An expired one may be.
        outcome: Result<(), Cause>,
    },
    /// A call that took time is done.
    Finished {
        /// Which.
        operation: Operation,
        /// How.
        outcome: Result<(), CallError>,
    },
}
