//! What the coordinator asks the shell to do, in the order in which it should be begun.

use super::describe::{TransactionDescription, TransactionListing};
use super::init_producer_id::InitializedProducer;
use super::input::{Correlation, LogRecord};
use crate::error_code::ErrorCode;
use crate::records::RecordError;
use crate::types::{
    CoordinatorEpoch, ProducerIdAndEpoch, Timestamp, TopicPartition, TransactionResult,
    TransactionVersion, TransactionalId,
};

/// Everything that one step asks for.
pub type Effects = Vec<Effect>;

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Append records, as one batch, to a partition of the transaction log, with `acks=all`; then hand the ticket back
    /// in [`super::Input::AppendFinished`].
    Append {
        /// What to hand back.
        ticket: AppendTicket,
        /// The time that the records carry.
        timestamp: Timestamp,
        /// The records.
        records: Vec<LogRecord>,
    },
    /// Write the marker to the leader of each partition; then hand the ticket back in
    /// [`super::Input::MarkersAnswered`].
    SendMarkers {
        /// What to hand back; it says what the marker holds.
        ticket: MarkerTicket,
        /// Where to write it.
        partitions: Vec<TopicPartition>,
    },
    /// Answer a request.
    Reply(Correlation, Answer),
    /// Ask the controller for a block of producer ids.
    AllocateProducerIds,
    /// A partition of the log was loaded and is served from now on.
    Loaded {
        /// The partition of the transaction log.
        partition: i32,
        /// The leadership.
        coordinator_epoch: CoordinatorEpoch,
        /// How many ids it holds.
        transactional_ids: usize,
        /// How many records of unknown versions were skipped, as Kafka skips them.
        skipped_records: usize,
    },
    /// A partition of the log holds a damaged record, so it is not served.
    LoadFailed {
        /// The partition of the transaction log.
        partition: i32,
        /// The leadership that ends with this.
        coordinator_epoch: CoordinatorEpoch,
        /// What is wrong.
        error: RecordError,
    },
    /// A leader refused a marker in a way that trying again does not mend. The transaction stays prepared until the
    /// next election.
    MarkerAbandoned {
        /// The marker.
        ticket: MarkerTicket,
        /// The partition whose leader refused it.
        partition: TopicPartition,
        /// The leader's answer.
        error: ErrorCode,
    },
}

/// What an append is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AppendTicket {
    /// One record: the next state of one id.
    Transition {
        /// The partition of the transaction log.
        partition: i32,
        /// The leadership that decided it.
        coordinator_epoch: CoordinatorEpoch,
        /// The id.
        transactional_id: TransactionalId,
        /// What follows.
        then: Then,
    },
    /// Null values for ids that are to be forgotten.
    Tombstones {
        /// The partition of the transaction log.
        partition: i32,
        /// The leadership that decided it.
        coordinator_epoch: CoordinatorEpoch,
        /// The ids.
        transactional_ids: Vec<TransactionalId>,
    },
}

impl AppendTicket {
    /// The partition of the transaction log to append to.
    #[must_use]
    pub fn partition(&self) -> i32 {
        match self {
            Self::Transition { partition, .. } | Self::Tombstones { partition, .. } => *partition,
        }
    }
}

/// What follows when a transition is durable, or has failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Then {
    /// Answer InitProducerId with this.
    AnswerInitProducerId(Correlation, ErrorForm, InitializedProducer),
    /// An InitProducerId met an open transaction, which is being aborted: answer that it must come again.
    AnswerFencedInitProducerId(Correlation, ErrorForm),
    /// Answer AddPartitionsToTxn for these partitions.
    AnswerAddPartitionsToTxn(Correlation, ErrorForm, Vec<TopicPartition>),
    /// Answer AddOffsetsToTxn.
    AnswerAddOffsetsToTxn(Correlation, ErrorForm),
    /// Answer EndTxn with this identity (none before version 5).
    AnswerEndTxn(Correlation, ErrorForm, Option<ProducerIdAndEpoch>),
    /// A transaction was open for too long: nobody waits for an answer.
    AbortTimedOut,
    /// The transaction is complete: nobody waits for an answer.
    Complete,
}

/// How a request's version can say that a producer is fenced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorForm {
    /// With PRODUCER_FENCED.
    ProducerFenced,
    /// Older clients: with INVALID_PRODUCER_EPOCH. KIP-588.
    InvalidProducerEpoch,
}

impl ErrorForm {
    /// The form of a request that knows PRODUCER_FENCED from version `since` on.
    pub(super) fn since(since: i16, version: i16) -> Self {
        if version >= since {
            Self::ProducerFenced
        } else {
            Self::InvalidProducerEpoch
        }
    }

    /// The error as the client knows it.
    pub(super) fn tell(self, error: ErrorCode) -> ErrorCode {
        match self {
            Self::InvalidProducerEpoch if error == ErrorCode::ProducerFenced => {
                ErrorCode::InvalidProducerEpoch
            }
            Self::InvalidProducerEpoch | Self::ProducerFenced => error,
        }
    }
}

/// A marker to write, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MarkerTicket {
    /// The id whose transaction is ended.
    pub transactional_id: TransactionalId,
    /// The partition of the transaction log that owns the id.
    pub partition: i32,
    /// The leadership that decided the end; the marker carries it.
    pub coordinator_epoch: CoordinatorEpoch,
    /// The producer id and epoch that the marker carries.
    pub producer: ProducerIdAndEpoch,
    /// How the transaction ends.
    pub result: TransactionResult,
    /// The client's transaction version; WriteTxnMarkers v2 carries it (KIP-1228).
    pub transaction_version: TransactionVersion,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// To InitProducerId.
    InitProducerId(Result<InitializedProducer, ErrorCode>),
    /// To AddPartitionsToTxn: an outcome for each partition asked for, in that order ([`ErrorCode::None`] for
    /// success), or one error for the whole request.
    AddPartitionsToTxn(Result<Vec<(TopicPartition, ErrorCode)>, ErrorCode>),
    /// To AddOffsetsToTxn.
    AddOffsetsToTxn(Result<(), ErrorCode>),
    /// To EndTxn: from version 5 on, the identity for the next transaction.
    EndTxn(Result<Option<ProducerIdAndEpoch>, ErrorCode>),
    /// To DescribeTransactions.
    DescribeTransactions(Result<TransactionDescription, ErrorCode>),
    /// To ListTransactions.
    ListTransactions(Result<Vec<TransactionListing>, ErrorCode>),
}
