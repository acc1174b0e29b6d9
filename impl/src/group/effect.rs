//! What a group coordinator asks for.

use bytes::Bytes;

use super::offsets::CommittedOffset;
use crate::batch::RecordBatch;
use crate::error_code::ErrorCode;
use crate::types::{
    GenerationId, GroupInstanceId, MemberId, Offset, ProducerIdAndEpoch, RequestId, TopicPartition,
    TransactionalId,
};

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
    /// Ask the coordinator of this transactional id about this `__consumer_offsets` partition, and bring the answer
    /// back as [`super::Input::CoordinatorAnswered`].
    AskCoordinator {
        /// The request that waits for it.
        request: RequestId,
        /// Whose transaction.
        transactional_id: TransactionalId,
        /// The producer of the write.
        producer: ProducerIdAndEpoch,
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

/// A member of a generation, as the leader is told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JoinedMember {
    /// Its id.
    pub member_id: MemberId,
    /// Its static id.
    pub instance_id: Option<GroupInstanceId>,
    /// Its subscription for the chosen protocol.
    pub subscription: Bytes,
}

/// A generation, as each of its members is told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Joined {
    /// The generation.
    pub generation: GenerationId,
    /// The chosen protocol.
    pub protocol: String,
    /// Who assigns.
    pub leader: MemberId,
    /// The member's own id.
    pub member_id: MemberId,
    /// For the leader: everyone. For others: nobody.
    pub members: Vec<JoinedMember>,
}

/// Why a member may not join, and the id that it should use next time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NotJoined {
    /// Why.
    pub code: ErrorCode,
    /// The id to use.
    pub member_id: MemberId,
}

/// One partition's line of an offset answer.
pub type PartitionResult<T> = (TopicPartition, Result<T, ErrorCode>);

/// An answer, by the request that it is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// To TxnOffsetCommit, by partition in the order of the request.
    TxnOffsetCommit(Vec<PartitionResult<()>>),
    /// To OffsetCommit, by partition in the order of the request.
    OffsetCommit(Vec<PartitionResult<()>>),
    /// To OffsetFetch: `None` where nothing is committed. An error of the whole request stands alone.
    OffsetFetch(Result<Vec<PartitionResult<Option<CommittedOffset>>>, ErrorCode>),
    /// To a marker.
    WriteTxnMarker(Result<(), ErrorCode>),
    /// To JoinGroup.
    JoinGroup(Result<Joined, NotJoined>),
    /// To SyncGroup: the member's assignment.
    SyncGroup(Result<Bytes, ErrorCode>),
    /// To Heartbeat.
    Heartbeat(Result<(), ErrorCode>),
    /// To LeaveGroup.
    LeaveGroup(Result<(), ErrorCode>),
}

impl Answer {
    /// The same kind of answer, refusing: what waited for an append that was taken back, or for a leader that is none
    /// any more.
    pub(super) fn refused(self, code: ErrorCode) -> Self {
        let each = |results: Vec<PartitionResult<()>>| {
            results
                .into_iter()
                .map(|(partition, result)| (partition, result.and(Err(code))))
                .collect()
        };
        match self {
            Self::TxnOffsetCommit(results) => Self::TxnOffsetCommit(each(results)),
            Self::OffsetCommit(results) => Self::OffsetCommit(each(results)),
            Self::OffsetFetch(_) => Self::OffsetFetch(Err(code)),
            Self::WriteTxnMarker(_) => Self::WriteTxnMarker(Err(match code {
                ErrorCode::NotCoordinator => ErrorCode::NotLeaderOrFollower,
                other => other,
            })),
            Self::JoinGroup(answer) => Self::JoinGroup(Err(NotJoined {
                code,
                member_id: match answer {
                    Ok(joined) => joined.member_id,
                    Err(refusal) => refusal.member_id,
                },
            })),
            Self::SyncGroup(_) => Self::SyncGroup(Err(code)),
            Self::Heartbeat(_) => Self::Heartbeat(Err(code)),
            Self::LeaveGroup(_) => Self::LeaveGroup(Err(code)),
        }
    }
}
