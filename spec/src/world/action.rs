//! What can happen next.

use crate::message::{AppendTxnRecord, MarkerAnswer, Message, WriteTxnMarkers};
use crate::types::*;

/// One step of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// A message reaches its actor; a request to the coordinator role reaches one broker.
    Deliver {
        /// Which message.
        message: Message,
        /// Which broker, for requests to the coordinator role.
        broker: Option<BrokerId>,
    },
    /// An append to the transaction-state log fails.
    FailAppend(AppendTxnRecord),
    /// The leader's question to the coordinator times out after it was answered.
    FailVerification(Message),
    /// A marker is lost with its connection.
    LoseMarker(WriteTxnMarkers),
    /// A marker is written and its answer is lost.
    LoseMarkerAnswer(WriteTxnMarkers),
    /// A request of somebody who is no producer of the scenario is handled, and its answer thrown
    /// away: for coverage of what the scenario's own clients never send.
    Stranger {
        /// Which request.
        message: Message,
        /// Which broker, for requests to the coordinator role.
        broker: Option<BrokerId>,
    },
    /// A coordinator finds no leader for a partition that it owes a marker.
    FindNoLeader(WriteTxnMarkers),
    /// An acknowledgement is counted and the completion test is missed.
    SkipTest(MarkerAnswer),
    /// The oldest appended record of the transaction-state log is replicated.
    CommitRecord,
    /// A producer starts.
    Start(ProducerIndex),
    /// The application commits or aborts.
    End(ProducerIndex, TransactionResult),
    /// The application flushes and prepares (KIP-939).
    Prepare(ProducerIndex),
    /// The external manager decides (KIP-939).
    ManagerDecides(TransactionResult),
    /// The manager's decision reaches the instance that prepared (KIP-939).
    Decided(ProducerIndex),
    /// A client sends its request again.
    ResendRequest(ProducerIndex),
    /// A client sends a batch again (its place among those in flight).
    ResendBatch(ProducerIndex, u8),
    /// A client gives up a batch (its place among those in flight).
    GiveUp(ProducerIndex, u8),
    /// A producer stops for good.
    CrashProducer(ProducerIndex),
    /// A coordinator sends a queued marker.
    SendMarker(BrokerId, TransactionalId, PartitionIndex),
    /// A coordinator sends a marker again.
    ResendMarker(BrokerId, TransactionalId, PartitionIndex),
    /// A transaction's timeout passes.
    Timeout(BrokerId, TransactionalId),
    /// A transactional id expires.
    ExpireId(BrokerId, TransactionalId),
    /// The transaction-state partition gets a new leader.
    Elect(BrokerId),
    /// A broker learns that it leads.
    LearnElected(BrokerId),
    /// A broker has read the log.
    Load(BrokerId),
    /// A broker learns that it no longer leads.
    Resign(BrokerId),
    /// The coordinator's broker stops and starts again.
    CrashCoordinator(BrokerId),
    /// A coordinator's clock steps back.
    StepClockBack(BrokerId),
    /// A record reaches every replica of a partition.
    Replicate(PartitionIndex),
    /// A record is applied to the state that readers ask.
    ApplyRecord(PartitionIndex),
    /// A partition gets a new leader.
    FailOver(PartitionIndex),
    /// A partition's broker stops and starts again.
    Restart(PartitionIndex),
    /// A partition's leader has rebuilt its producer state.
    Recover(PartitionIndex),
    /// A partition writes a snapshot.
    TakeSnapshot(PartitionIndex),
    /// A partition forgets an idle producer.
    Evict(PartitionIndex, ProducerId),
    /// The cleaner takes a step.
    Compact(PartitionIndex),
    /// A replica that was away fetches a record.
    FollowerFetch(PartitionIndex),
    /// A replica that was away becomes the leader.
    Promote(PartitionIndex),
    /// A topic is deleted.
    DeleteTopic(PartitionIndex),
    /// A marker's offsets are applied.
    Materialise,
    /// A rebalance begins.
    PrepareRebalance,
    /// A rebalance ends: this member owns the input.
    CompleteRebalance(ProducerIndex),
    /// The session of the member that owns the input ends: it is no member any more.
    ExpireMember,
    /// A member takes over the instance id of the one that owns the input, and the input with it.
    ReplaceStaticMember(ProducerIndex),
    /// The group's offsets expire.
    ExpireOffsets,
    /// A reader's fetch takes its bound.
    TakeBound(u8),
    /// A reader's fetch takes its data.
    TakeData(u8),
    /// A reader's fetch takes the aborted list; the consumer delivers.
    TakeAborted(u8),
    /// The finalized `transaction.version` becomes 2.
    Upgrade,
    /// An operator writes an abort marker for what a producer has open.
    OperatorMarker(PartitionIndex),
}
