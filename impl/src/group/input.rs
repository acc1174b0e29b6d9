//! What a group coordinator is told.

use bytes::Bytes;

use super::generation::MemberIdentity;
use crate::batch::RecordBatch;
use crate::error_code::ErrorCode;
use crate::partition::WriteTxnMarker;
use crate::types::{
    GenerationId, GroupId, GroupInstanceId, LeaderEpoch, MemberId, Offset, ProducerIdAndEpoch,
    RequestId, TopicPartition, TransactionalId,
};

/// One offset to commit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OffsetToCommit {
    /// For which partition.
    pub partition: TopicPartition,
    /// The next offset that the group wants to read.
    pub offset: Offset,
    /// The leader epoch of the last record read.
    pub leader_epoch: Option<LeaderEpoch>,
    /// Whatever the client wants to keep with it.
    pub metadata: String,
}

/// Commit offsets as part of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TxnOffsetCommit {
    /// Finds the answer's way back.
    pub request: RequestId,
    /// The request's version: it says what the sender knows.
    pub version: i16,
    /// Whose transaction.
    pub transactional_id: TransactionalId,
    /// Who the producer says it is.
    pub producer: ProducerIdAndEpoch,
    /// For which group.
    pub group: GroupId,
    /// Which member of the group speaks, as far as the sender says. Version 3 and later. KIP-447.
    pub member: MemberIdentity,
    /// The offsets.
    pub offsets: Vec<OffsetToCommit>,
}

/// Commit offsets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OffsetCommit {
    /// Finds the answer's way back.
    pub request: RequestId,
    /// For which group.
    pub group: GroupId,
    /// Which member of the group speaks.
    pub member: MemberIdentity,
    /// The offsets.
    pub offsets: Vec<OffsetToCommit>,
}

/// Read committed offsets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OffsetFetch {
    /// Finds the answer's way back.
    pub request: RequestId,
    /// Of which group.
    pub group: GroupId,
    /// Of which partitions; `None` for all.
    pub partitions: Option<Vec<TopicPartition>>,
    /// Whether a partition with an undecided offset is refused rather than answered with the one before. Version 7 and
    /// later. KIP-447.
    pub require_stable: bool,
}

/// Join a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JoinGroup {
    /// Finds the answer's way back.
    pub request: RequestId,
    /// Which group.
    pub group: GroupId,
    /// The member's id, empty at first.
    pub member_id: MemberId,
    /// The member's static id.
    pub instance_id: Option<GroupInstanceId>,
    /// An id that nobody has had: the member's own if it needs one.
    pub fresh_member_id: MemberId,
    /// Whether a member without an id must join again with the fresh one. Version 4 and later.
    pub require_known_member_id: bool,
    /// The client's id.
    pub client_id: String,
    /// The client's host.
    pub client_host: String,
    /// Milliseconds without a heartbeat after which the member is dropped.
    pub session_timeout_ms: i32,
    /// Milliseconds that the member may take to rejoin.
    pub rebalance_timeout_ms: i32,
    /// The kind of group.
    pub protocol_type: String,
    /// The assignment protocols that the member knows, best first, with its subscription for each.
    pub protocols: Vec<(String, Bytes)>,
}

/// Take one's assignment, or as the leader give everyone theirs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SyncGroup {
    /// Finds the answer's way back.
    pub request: RequestId,
    /// Which group.
    pub group: GroupId,
    /// Which member.
    pub member_id: MemberId,
    /// The member's static id.
    pub instance_id: Option<GroupInstanceId>,
    /// Which generation the member believes in.
    pub generation: GenerationId,
    /// From the leader: everyone's assignment.
    pub assignments: Vec<(MemberId, Bytes)>,
}

/// Stay in the group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Heartbeat {
    /// Finds the answer's way back.
    pub request: RequestId,
    /// Which group.
    pub group: GroupId,
    /// Which member.
    pub member_id: MemberId,
    /// The member's static id.
    pub instance_id: Option<GroupInstanceId>,
    /// Which generation the member believes in.
    pub generation: GenerationId,
}

/// Leave the group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeaveGroup {
    /// Finds the answer's way back.
    pub request: RequestId,
    /// Which group.
    pub group: GroupId,
    /// Which member.
    pub member_id: MemberId,
    /// The member's static id.
    pub instance_id: Option<GroupInstanceId>,
}

/// What a group coordinator is told, one at a time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A producer commits offsets in its transaction.
    TxnOffsetCommit(TxnOffsetCommit),
    /// The transaction coordinator has answered [`super::Effect::AskCoordinator`], or could not be reached.
    CoordinatorAnswered {
        /// The request that was asked about.
        request: RequestId,
        /// Its answer, in the coordinator's own words.
        answer: Result<(), ErrorCode>,
    },
    /// A consumer commits offsets.
    OffsetCommit(OffsetCommit),
    /// A consumer asks for offsets.
    OffsetFetch(OffsetFetch),
    /// The transaction coordinator ends a transaction.
    WriteTxnMarker(WriteTxnMarker),
    /// A member joins.
    JoinGroup(JoinGroup),
    /// A member asks for its assignment.
    SyncGroup(SyncGroup),
    /// A member lives.
    Heartbeat(Heartbeat),
    /// A member leaves.
    LeaveGroup(LeaveGroup),
    /// Every replica that must have the log has it up to here.
    Replicated {
        /// The offset after the last such record.
        up_to: Offset,
    },
    /// A durable append failed: everything from its first offset on is taken back.
    AppendFailed {
        /// The first offset that is not durable.
        from: Offset,
    },
    /// This replica leads, and must read its log before it serves. The same or an older leadership changes nothing.
    BecomeLeader {
        /// The leadership.
        leader_epoch: LeaderEpoch,
    },
    /// Read the whole log and begin to serve. Not for this leadership: nothing happens.
    Load {
        /// The leadership to load for.
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
    /// Time passes: silent members are dropped, rebalances end, old offsets go.
    Tick,
}
