//! What the coordinator is told: requests, the ends of its appends, the answers to its markers, the clock's ticks, and
//! who leads what.

use bytes::Bytes;

use super::add_offsets_to_txn::AddOffsetsToTxn;
use super::add_partitions_to_txn::AddPartitionsToTxn;
use super::describe::{DescribeTransactions, ListTransactions};
use super::effect::{AppendTicket, MarkerTicket};
use super::end_txn::EndTxn;
use super::init_producer_id::InitProducerId;
use super::producer_ids::ProducerIdBlock;
use crate::error_code::ErrorCode;
use crate::types::{
    CoordinatorEpoch, ProducerEpoch, ProducerId, TopicPartition, TransactionVersion,
};

/// Which request an answer belongs to: the shell's own number, handed back untouched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Correlation(pub u64);

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A request came. It gets exactly one [`super::Effect::Reply`], now or after an append.
    Request(Correlation, Request),
    /// An append that the coordinator asked for has ended. Each ticket ends once.
    AppendFinished(AppendTicket, AppendOutcome),
    /// Markers that the coordinator asked for were answered. Each partition of a [`super::Effect::SendMarkers`] has one
    /// outcome; they may come apart and in any order.
    MarkersAnswered(MarkerTicket, Vec<(TopicPartition, MarkerOutcome)>),
    /// Time to abort transactions that were open for too long. Kafka: every 10 seconds.
    AbortTimedOutTransactions,
    /// Time to forget ids that were not used for too long. Kafka: every hour.
    RemoveExpiredTransactionalIds,
    /// Time to send again what could not be written: markers and completions.
    RetryCompletions,
    /// The controller answered [`super::Effect::AllocateProducerIds`]: a block, or `None` when there is none.
    ProducerIdBlockArrived(Option<ProducerIdBlock>),
    /// The leadership of a partition of the transaction log changed.
    Leadership(Leadership),
    /// The cluster's transaction version changed.
    TransactionVersionChanged(TransactionVersion),
}

/// A request to the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// Begin a session.
    InitProducerId(InitProducerId),
    /// Add partitions to a transaction, or ask whether they are in it.
    AddPartitionsToTxn(AddPartitionsToTxn),
    /// Add a group's offsets to a transaction.
    AddOffsetsToTxn(AddOffsetsToTxn),
    /// End a transaction.
    EndTxn(EndTxn),
    /// What is known of one id.
    DescribeTransactions(DescribeTransactions),
    /// Which ids there are.
    ListTransactions(ListTransactions),
}

/// What the shell found when it checked a caller's rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Authorization {
    /// The caller may.
    Allowed,
    /// The caller may not.
    Denied,
}

/// Who a request says it is. Either part may be missing from a request that nobody should send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Claim {
    /// The producer id.
    pub producer_id: Option<ProducerId>,
    /// The epoch.
    pub producer_epoch: Option<ProducerEpoch>,
}

/// How an append to the transaction log ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AppendOutcome {
    /// The records are replicated as `acks=all` asks.
    Written,
    /// The log answered this error. Whether the records are in the log may be unknown.
    Failed(ErrorCode),
}

/// What became of the marker for one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MarkerOutcome {
    /// The leader answered; [`ErrorCode::None`] says that the marker is replicated.
    Answered(ErrorCode),
    /// The connection broke before an answer came.
    Disconnected,
    /// The partition has no reachable leader now, so nothing was sent. (Kafka 4.4 takes a partition whose leader is
    /// unknown for a deleted one and loses its marker.)
    LeaderNotAvailable,
    /// The cluster's metadata knows no such partition: it was deleted, and nothing was sent.
    NoSuchPartition,
}

/// A record of the transaction log, as read from it or to be written to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LogRecord {
    /// The key.
    pub key: Bytes,
    /// The value; `None` removes the key.
    pub value: Option<Bytes>,
}

/// A change of who leads a partition of the transaction log. Epochs of one partition rise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Leadership {
    /// This coordinator was elected. Until [`Self::Loaded`] it answers that it is loading.
    Elected {
        /// The partition of the transaction log.
        partition: i32,
        /// The new leader epoch.
        coordinator_epoch: CoordinatorEpoch,
    },
    /// Records of the partition, from the start of the log and in its order, in as many pieces as the shell likes.
    Replayed {
        /// The partition of the transaction log.
        partition: i32,
        /// The epoch for which they are read.
        coordinator_epoch: CoordinatorEpoch,
        /// The records.
        records: Vec<LogRecord>,
    },
    /// The whole log of the partition has been replayed.
    Loaded {
        /// The partition of the transaction log.
        partition: i32,
        /// The epoch for which it was read.
        coordinator_epoch: CoordinatorEpoch,
    },
    /// Another broker leads the partition.
    Resigned {
        /// The partition of the transaction log.
        partition: i32,
        /// The other broker's leader epoch.
        coordinator_epoch: CoordinatorEpoch,
    },
}
