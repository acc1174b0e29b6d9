//! What a partition is told.

use bytes::Bytes;

use crate::batch::RecordBatch;
use crate::error_code::ErrorCode;
use crate::types::{
    CoordinatorEpoch, LeaderEpoch, Offset, ProducerEpoch, ProducerId, RequestId, TransactionResult,
    TransactionVersion, TransactionalId,
};

/// When a produce request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Acks {
    /// Never: `acks=0`.
    None,
    /// Once the leader has appended: `acks=1`.
    Leader,
    /// Once the high watermark has passed the records: `acks=all`.
    All,
}

/// What the version of a Produce or TxnOffsetCommit request says about how its sender takes part in transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TransactionSupport {
    /// Produce below 11, TxnOffsetCommit below 4: the sender registers partitions itself, and does not know
    /// TRANSACTION_ABORTABLE.
    Verify,
    /// Produce 11, TxnOffsetCommit 4: as before, and the sender knows TRANSACTION_ABORTABLE.
    VerifyOrAbortable,
    /// Produce 12 and later, TxnOffsetCommit 5 and later: the write itself registers the partition. TV2.
    Add,
}

impl TransactionSupport {
    /// What a version of the Produce request stands for.
    #[must_use]
    pub const fn of_produce(version: i16) -> Self {
        match version {
            ..=10 => Self::Verify,
            11 => Self::VerifyOrAbortable,
            12.. => Self::Add,
        }
    }

    /// What a version of the TxnOffsetCommit request stands for.
    #[must_use]
    pub const fn of_txn_offset_commit(version: i16) -> Self {
        match version {
            ..=3 => Self::Verify,
            4 => Self::VerifyOrAbortable,
            5.. => Self::Add,
        }
    }

    /// Whether the sender speaks TV2.
    #[must_use]
    pub const fn supports_epoch_bump(self) -> bool {
        match self {
            Self::Verify | Self::VerifyOrAbortable => false,
            Self::Add => true,
        }
    }
}

/// The part of a Produce request that is about one partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Produce {
    /// Finds the answer's way back.
    pub request: RequestId,
    /// The request's transactional id.
    pub transactional_id: Option<TransactionalId>,
    /// What the request's version allows.
    pub support: TransactionSupport,
    /// When to answer.
    pub acks: Acks,
    /// The raw records: exactly one batch.
    pub records: Bytes,
}

/// The part of a WriteTxnMarkers request that is about one producer in one partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WriteTxnMarker {
    /// Finds the answer's way back.
    pub request: RequestId,
    /// Whose transaction ends.
    pub producer_id: ProducerId,
    /// The marker's epoch: in TV2, one more than the data's.
    pub producer_epoch: ProducerEpoch,
    /// How it ends.
    pub result: TransactionResult,
    /// The leadership of the coordinator that says so.
    pub coordinator_epoch: CoordinatorEpoch,
    /// The transaction's level; requests below version 2 do not say, and mean [`TransactionVersion::V0`]. KIP-1228.
    pub transaction_version: TransactionVersion,
}

/// What a partition is told, one at a time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A producer writes.
    Produce(Produce),
    /// The transaction coordinator has answered [`super::Effect::AskCoordinator`], or could not be reached
    /// (NETWORK_EXCEPTION, COORDINATOR_NOT_AVAILABLE). A coordinator too old to be asked counts as `Ok`.
    CoordinatorAnswered {
        /// The request that was asked about.
        request: RequestId,
        /// Its answer for this partition, in the coordinator's own words.
        answer: Result<(), ErrorCode>,
    },
    /// The transaction coordinator ends a transaction.
    WriteTxnMarker(WriteTxnMarker),
    /// Every replica that must have the log has it up to here; where there is only one, it is durable up to here.
    Replicated {
        /// The offset after the last such record.
        up_to: Offset,
    },
    /// A durable append failed: everything from its first offset on is taken back.
    AppendFailed {
        /// The first offset that is not durable.
        from: Offset,
    },
    /// This replica leads. The same or an older leadership changes nothing.
    BecomeLeader {
        /// The leadership.
        leader_epoch: LeaderEpoch,
    },
    /// Another replica leads. The same or an older leadership changes nothing.
    BecomeFollower {
        /// The leadership.
        leader_epoch: LeaderEpoch,
    },
    /// A follower cuts its log to where it agrees with the leader's.
    Truncate {
        /// The first offset that goes.
        to: Offset,
    },
    /// A follower has fetched batches from the leader.
    Replicate {
        /// The batches, in order.
        batches: Vec<RecordBatch>,
        /// The leader's high watermark.
        high_watermark: Offset,
    },
    /// Time passes: what is too old is forgotten.
    Tick,
}

#[cfg(test)]
mod tests {
    use super::TransactionSupport::{self, Add, Verify, VerifyOrAbortable};

    #[test]
    fn versions_say_what_the_sender_knows() {
        let produce = [3, 10, 11, 12, 13].map(TransactionSupport::of_produce);
        assert_eq!(produce, [Verify, Verify, VerifyOrAbortable, Add, Add]);
        let offsets = [0, 3, 4, 5].map(TransactionSupport::of_txn_offset_commit);
        assert_eq!(offsets, [Verify, Verify, VerifyOrAbortable, Add]);
    }
}
