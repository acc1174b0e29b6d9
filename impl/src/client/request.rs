//! What a transactional producer sends, hears and tells its application.

use std::collections::BTreeMap;

use thiserror::Error;

use super::errors::Api;
use crate::error_code::ErrorCode;
use crate::types::{
    GenerationId, GroupId, GroupInstanceId, LeaderEpoch, MemberId, Offset, ProducerIdAndEpoch,
    Sequence, TopicPartition, TransactionResult, TransactionVersion,
};

/// Whose coordinator.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoordinatorKey {
    /// The transactional id's.
    Transaction,
    /// A group's.
    Group(GroupId),
}

/// A consumer group as its member knows it. KIP-447.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConsumerGroupMetadata {
    /// The group.
    pub group: GroupId,
    /// The member's generation, if it has one.
    pub generation: Option<GenerationId>,
    /// The member's id; empty if it has none.
    pub member_id: MemberId,
    /// The member's static id.
    pub instance_id: Option<GroupInstanceId>,
}

/// An offset to commit for one partition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OffsetAndMetadata {
    /// The next offset to read.
    pub offset: Offset,
    /// The leader epoch of the last record read.
    pub leader_epoch: Option<LeaderEpoch>,
    /// Whatever the application wants to keep with it.
    pub metadata: String,
}

/// A request to a coordinator. It keeps its content, and so its identity, over retries.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Request {
    /// Find a coordinator.
    FindCoordinator(CoordinatorKey),
    /// Get a producer id, or a higher epoch for the one that is held. KIP-360.
    InitProducerId {
        /// What is held.
        expected: Option<ProducerIdAndEpoch>,
    },
    /// TV1: register partitions before anything is sent to them.
    AddPartitionsToTxn {
        /// Who asks.
        producer: ProducerIdAndEpoch,
        /// Which partitions.
        partitions: Vec<TopicPartition>,
    },
    /// TV1: register a group before its offsets are sent.
    AddOffsetsToTxn {
        /// Who asks.
        producer: ProducerIdAndEpoch,
        /// For which member of which group the offsets are, once this is answered.
        member: ConsumerGroupMetadata,
        /// The offsets.
        offsets: BTreeMap<TopicPartition, OffsetAndMetadata>,
    },
    /// Stage offsets.
    TxnOffsetCommit {
        /// Who asks.
        producer: ProducerIdAndEpoch,
        /// For which member of which group.
        member: ConsumerGroupMetadata,
        /// The offsets that have not been staged yet.
        offsets: BTreeMap<TopicPartition, OffsetAndMetadata>,
        /// The protocol of the transaction: in TV2 version 5, which registers the group by itself.
        version: TransactionVersion,
    },
    /// End the transaction.
    EndTxn {
        /// Who asks.
        producer: ProducerIdAndEpoch,
        /// How.
        result: TransactionResult,
        /// The protocol of the transaction: in TV2 version 5, whose answer holds the next identity.
        version: TransactionVersion,
    },
}

impl Request {
    /// Which request it is.
    #[must_use]
    pub fn api(&self) -> Api {
        match self {
            Self::FindCoordinator(_) => Api::FindCoordinator,
            Self::InitProducerId { .. } => Api::InitProducerId,
            Self::AddPartitionsToTxn { .. } => Api::AddPartitionsToTxn,
            Self::AddOffsetsToTxn { .. } => Api::AddOffsetsToTxn,
            Self::TxnOffsetCommit { .. } => Api::TxnOffsetCommit,
            Self::EndTxn { .. } => Api::EndTxn,
        }
    }

    /// Which coordinator it goes to; a coordinator is asked for at any broker.
    #[must_use]
    pub fn coordinator(&self) -> Option<CoordinatorKey> {
        match self {
            Self::FindCoordinator(_) => None,
            Self::TxnOffsetCommit { member, .. } => {
                Some(CoordinatorKey::Group(member.group.clone()))
            }
            Self::InitProducerId { .. }
            | Self::AddPartitionsToTxn { .. }
            | Self::AddOffsetsToTxn { .. }
            | Self::EndTxn { .. } => Some(CoordinatorKey::Transaction),
        }
    }

    /// Smaller goes first. An EndTxn that overtook a registration would leave records behind (B45), and one that a
    /// bump overtook would come with an old epoch: `expected` tells a bump from a first InitProducerId.
    pub(super) fn priority(&self) -> u8 {
        match self {
            Self::FindCoordinator(_) => 0,
            Self::InitProducerId { expected: None } => 1,
            Self::AddPartitionsToTxn { .. }
            | Self::AddOffsetsToTxn { .. }
            | Self::TxnOffsetCommit { .. } => 2,
            Self::EndTxn { .. } => 3,
            Self::InitProducerId { expected: Some(_) } => 4,
        }
    }
}

/// The answer to the request that is in flight.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Response {
    /// To FindCoordinator, AddOffsetsToTxn, and EndTxn below version 5; and any refusal of InitProducerId or EndTxn.
    Code(ErrorCode),
    /// To InitProducerId and EndTxn version 5: the identity to go on with.
    Identity(ProducerIdAndEpoch),
    /// To AddPartitionsToTxn and TxnOffsetCommit, by partition.
    Partitions(Vec<(TopicPartition, ErrorCode)>),
}

/// How long to wait before a request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Backoff {
    /// Not at all.
    None,
    /// The first registration of a transaction met the one before it, which is about to be done: 20 milliseconds.
    FirstAddPartitions,
    /// `retry.backoff.ms`.
    Retry,
}

/// The application's name for a batch of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchId(pub u64);

/// A batch to send: what is sent under a sequence never changes (B82).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProduceBatch {
    /// Where to.
    pub partition: TopicPartition,
    /// Which batch.
    pub batch: BatchId,
    /// Under which identity.
    pub producer: ProducerIdAndEpoch,
    /// The sequence of its first record.
    pub base_sequence: Sequence,
    /// The protocol of the transaction: in TV2 Produce version 12 or later, which registers the partition by itself.
    pub version: TransactionVersion,
}

/// Why something failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
pub enum Cause {
    /// A request was answered with this error.
    #[error("{api:?} was answered with {code:?}")]
    Answered {
        /// Which request.
        api: Api,
        /// The answer.
        code: ErrorCode,
    },
    /// A batch was not acknowledged in time, so nobody knows whether it is in the log.
    #[error("a batch was not acknowledged in time")]
    BatchExpired,
    /// The transaction was aborted before the batch was sent.
    #[error("the transaction was aborted")]
    Aborted,
    /// A state followed another that it must not follow: a mistake in this code, not the application's.
    #[error("the producer's state is not one that it can go on from")]
    Poisoned,
}

/// What an application asks for, where the answer takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// `initTransactions`.
    Init,
    /// `sendOffsetsToTransaction`.
    SendOffsets,
    /// `commitTransaction`.
    Commit,
    /// `abortTransaction`.
    Abort,
}

/// Why a call is refused at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
pub enum CallError {
    /// The producer's state does not allow it. The state is kept.
    #[error("not possible in state {0:?}")]
    State(super::State),
    /// Another operation has no answer yet: it must be waited for first.
    #[error("{0:?} has no answer yet")]
    Pending(Operation),
    /// The transaction can only be aborted.
    #[error("the transaction must be aborted: {0}")]
    Abortable(Cause),
    /// Nothing more is possible.
    #[error("the producer must be closed: {0}")]
    Fatal(Cause),
}
