//! What a partition asks for.

use crate::batch::RecordBatch;
use crate::error_code::ErrorCode;
use crate::types::{Offset, ProducerEpoch, ProducerId, RequestId, TransactionalId};

/// What must be done, in this order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Write the batch after all that was written before.
    Append(RecordBatch),
    /// Cut what was written.
    Truncate {
        /// The first offset that goes.
        to: Offset,
    },
    /// Ask the coordinator of this transactional id about this partition, by AddPartitionsToTxn version 4 or later, and
    /// bring the answer back as [`super::Input::CoordinatorAnswered`].
    AskCoordinator {
        /// The request that waits for it.
        request: RequestId,
        /// Whose transaction.
        transactional_id: TransactionalId,
        /// The producer id of the write.
        producer_id: ProducerId,
        /// The producer epoch of the write.
        producer_epoch: ProducerEpoch,
        /// Whether the partition must already be in the transaction (TV1), or is added to it (TV2).
        verify_only: bool,
    },
    /// Answer a request.
    Reply {
        /// Which.
        request: RequestId,
        /// With what.
        answer: Answer,
    },
}

/// Where a batch was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Produced {
    /// The offset of its first record.
    pub base_offset: Offset,
    /// The offset of its last record.
    pub last_offset: Offset,
}

/// An answer, by the request that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    /// To a produce request. A batch that was appended before is answered with where it was appended then.
    Produce(Result<Produced, ErrorCode>),
    /// To a marker.
    WriteTxnMarker(Result<(), ErrorCode>),
}

impl Answer {
    /// The same kind of answer, refusing.
    pub(super) fn refused(self, code: ErrorCode) -> Self {
        match self {
            Self::Produce(_) => Self::Produce(Err(code)),
            Self::WriteTxnMarker(_) => Self::WriteTxnMarker(Err(code)),
        }
    }
}
