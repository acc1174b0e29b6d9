//! Every message of the protocol, under Kafka's names.
//!
//! A message is a small value. Copies of one request are identical: nothing in it tells a resend
//! from the original, except `attempt`, which is 0 unless the scenario answers eagerly (E2).

use crate::coordinator::TransactionMetadata;
use crate::error_code::ErrorCode;
use crate::types::*;
use serde::{Deserialize, Serialize};

/// What a producer's request and its answer have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Correlation {
    /// The producer that asks.
    pub producer: ProducerIndex,
    /// Which of its requests this is: the same for every copy of one request. 0 for batches,
    /// which are known by producer id, epoch, partition and sequence.
    pub number: u8,
    /// Which try of the request this is: 0 where answers are not eager (E0).
    pub attempt: u8,
}

/// InitProducerId (KIP-98, KIP-360, KIP-939).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct InitProducerId {
    /// Who asks.
    pub correlation: Correlation,
    /// The id, or `None` for an idempotent producer.
    pub transactional_id: Option<TransactionalId>,
    /// KIP-360: the identity that the client believes to hold.
    pub expected: Option<Identity>,
    /// KIP-939: the transaction is decided by an external manager.
    pub enable_2pc: bool,
    /// KIP-939: do not abort what is prepared.
    pub keep_prepared_txn: bool,
    /// The asked timeout lies in 1 ms to `transaction.max.timeout.ms`.
    pub timeout_in_range: bool,
    /// The principal may use the transactional id.
    pub authorized: bool,
}

/// AddPartitionsToTxn as clients send it (v0 to v3), and AddOffsetsToTxn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AddPartitionsToTxn {
    /// Who asks.
    pub correlation: Correlation,
    /// The id.
    pub transactional_id: TransactionalId,
    /// The identity that the client holds.
    pub identity: Identity,
    /// The partition to add; for AddOffsetsToTxn the group's offsets partition.
    pub partition: PartitionIndex,
    /// The transaction meant.
    pub ghost: Ghost,
}

/// AddPartitionsToTxn as brokers send it (v4 and later): verify only, or add.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct VerifyPartition {
    /// The partition whose leader asks.
    pub partition: PartitionIndex,
    /// The id that the batch names.
    pub transactional_id: TransactionalId,
    /// The identity on the batch.
    pub identity: Identity,
    /// The batch that waits for the answer.
    pub sequence: Sequence,
    /// True: only ask (TV1). False: add the partition (TV2).
    pub verify_only: bool,
    /// The transaction meant.
    pub ghost: Ghost,
}

/// EndTxn: v0 to v4 under TV1, v5 under TV2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EndTxn {
    /// Who asks.
    pub correlation: Correlation,
    /// The id.
    pub transactional_id: TransactionalId,
    /// The identity that the client holds.
    pub identity: Identity,
    /// Commit or abort.
    pub result: TransactionResult,
    /// The request's version decides which table applies.
    pub version: TransactionVersion,
    /// The transaction meant.
    pub ghost: Ghost,
}

/// Produce: one batch of one record for one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Produce {
    /// Who asks.
    pub correlation: Correlation,
    /// The id, or `None` where the producer is only idempotent.
    pub transactional_id: Option<TransactionalId>,
    /// Producer id and epoch of the batch.
    pub identity: Identity,
    /// Where to.
    pub partition: PartitionIndex,
    /// The batch's base sequence.
    pub sequence: Sequence,
    /// The batch's transactional flag.
    pub transactional: bool,
    /// v12 and later under TV2: the leader adds the partition to the transaction.
    pub version: TransactionVersion,
    /// What the record says.
    pub payload: Payload,
    /// The transaction meant.
    pub ghost: Ghost,
}

/// Who a committer says it is in its group (KIP-447).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroupMember {
    /// The member id: here the producer behind it.
    pub id: ProducerIndex,
    /// The generation as the member knows it.
    pub generation: Generation,
}

/// TxnOffsetCommit (KIP-447): stages one offset in a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TxnOffsetCommit {
    /// Who asks.
    pub correlation: Correlation,
    /// The id.
    pub transactional_id: TransactionalId,
    /// Producer id and epoch.
    pub identity: Identity,
    /// The member that commits; `None` is the old form, which names none.
    pub member: Option<GroupMember>,
    /// The offset to stage.
    pub offset: Payload,
    /// v5 under TV2: the leader adds the offsets partition to the transaction.
    pub version: TransactionVersion,
    /// The transaction meant.
    pub ghost: Ghost,
}

/// WriteTxnMarkers for one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WriteTxnMarkers {
    /// The coordinator that sends it.
    pub broker: BrokerId,
    /// That coordinator's epoch.
    pub coordinator_epoch: CoordinatorEpoch,
    /// The transaction's id: the sender's bookkeeping, not on the wire.
    pub transactional_id: TransactionalId,
    /// The sender's completion that this marker belongs to: bookkeeping, not on the wire.
    pub round: u8,
    /// Where to.
    pub partition: PartitionIndex,
    /// Producer id and the marker's epoch.
    pub identity: Identity,
    /// Commit or abort.
    pub result: TransactionResult,
    /// v2 (KIP-1228): the rules for the marker's epoch.
    pub version: TransactionVersion,
    /// The transaction that the coordinator decided.
    pub ghost: Ghost,
}

/// The part of a marker that its answer names again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MarkerAnswer {
    /// The coordinator that asked.
    pub broker: BrokerId,
    /// Its epoch when it asked.
    pub coordinator_epoch: CoordinatorEpoch,
    /// The id whose completion asked.
    pub transactional_id: TransactionalId,
    /// Which completion.
    pub round: u8,
    /// The partition that answers.
    pub partition: PartitionIndex,
    /// The verdict.
    pub error: ErrorCode,
}

/// A record on its way to the transaction-state log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AppendTxnRecord {
    /// Who appends.
    pub broker: BrokerId,
    /// The leader epoch it believes in.
    pub coordinator_epoch: CoordinatorEpoch,
    /// The record's key.
    pub transactional_id: TransactionalId,
    /// The record's value; `None` is a tombstone.
    pub value: Option<TransactionMetadata>,
}

/// The log's answer to [`AppendTxnRecord`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AppendTxnRecordAnswer {
    /// Who appended.
    pub broker: BrokerId,
    /// The leader epoch under which it was appended.
    pub coordinator_epoch: CoordinatorEpoch,
    /// The record's key.
    pub transactional_id: TransactionalId,
    /// The record's value: which append this is about.
    pub value: Option<TransactionMetadata>,
    /// NONE once replicated, or why not.
    pub error: ErrorCode,
}

/// What a coordinator answers to a producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CoordinatorAnswer {
    /// Who asked.
    pub correlation: Correlation,
    /// Which request is answered.
    pub request: RequestKind,
    /// The verdict.
    pub error: ErrorCode,
    /// InitProducerId and EndTxn v5: the identity to go on with.
    pub identity: Option<Identity>,
    /// KIP-939: the identity of the transaction that goes on.
    pub ongoing: Option<Identity>,
    /// The epoch of the coordinator that answers: who has it asks no older one again.
    pub coordinator_epoch: CoordinatorEpoch,
}

/// The requests that a client has one of in flight to a coordinator or a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RequestKind {
    /// InitProducerId.
    InitProducerId,
    /// AddPartitionsToTxn (client form).
    AddPartitionsToTxn,
    /// AddOffsetsToTxn.
    AddOffsetsToTxn,
    /// TxnOffsetCommit.
    TxnOffsetCommit,
    /// EndTxn.
    EndTxn,
    /// OffsetFetch.
    OffsetFetch,
}

/// A message in flight. The network is unordered; a resend is a second identical copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Producer to coordinator.
    InitProducerId(InitProducerId),
    /// Producer to coordinator.
    AddPartitionsToTxn(AddPartitionsToTxn),
    /// Producer to coordinator.
    AddOffsetsToTxn(AddPartitionsToTxn),
    /// Producer to coordinator.
    EndTxn(EndTxn),
    /// Producer to partition leader.
    Produce(Produce),
    /// Producer to group coordinator.
    TxnOffsetCommit(TxnOffsetCommit),
    /// Member to group coordinator, with require-stable (KIP-447).
    OffsetFetch(Correlation),
    /// Partition leader to coordinator (AddPartitionsToTxn v4 and later).
    VerifyPartition(VerifyPartition),
    /// Coordinator to partition leader.
    WriteTxnMarkers(WriteTxnMarkers),
    /// Coordinator to the transaction-state log.
    AppendTxnRecord(AppendTxnRecord),
    /// Coordinator to producer.
    CoordinatorAnswer(CoordinatorAnswer),
    /// Partition leader to producer.
    ProduceAnswer {
        /// Who asked.
        correlation: Correlation,
        /// The epoch of the batch that is answered.
        identity: Identity,
        /// The partition that answers.
        partition: PartitionIndex,
        /// The batch that is answered.
        sequence: Sequence,
        /// The verdict.
        error: ErrorCode,
    },
    /// Group coordinator to producer.
    TxnOffsetCommitAnswer {
        /// Who asked.
        correlation: Correlation,
        /// The verdict.
        error: ErrorCode,
    },
    /// Group coordinator to member.
    OffsetFetchAnswer {
        /// Who asked.
        correlation: Correlation,
        /// The verdict.
        error: ErrorCode,
        /// The committed offset, 0 where there is none.
        offset: Payload,
        /// The generation that the member joined.
        generation: Generation,
    },
    /// Coordinator to partition leader.
    VerifyAnswer {
        /// The partition that asked.
        partition: PartitionIndex,
        /// The identity on the batch that waits.
        identity: Identity,
        /// The batch that waits.
        sequence: Sequence,
        /// The verdict.
        error: ErrorCode,
        /// The epoch of the coordinator that answers.
        coordinator_epoch: CoordinatorEpoch,
    },
    /// Partition leader to coordinator.
    WriteTxnMarkersAnswer(MarkerAnswer),
    /// Transaction-state log to coordinator.
    AppendTxnRecordAnswer(AppendTxnRecordAnswer),
}

impl Message {
    /// True for answers that only their waiting client reads: delivered at once under E2.
    pub fn is_answer_to_producer(&self) -> bool {
        matches!(
            self,
            Self::CoordinatorAnswer(_)
                | Self::ProduceAnswer { .. }
                | Self::TxnOffsetCommitAnswer { .. }
                | Self::OffsetFetchAnswer { .. }
        )
    }

    /// True for messages that a producer sends.
    pub fn is_from_producer(&self) -> bool {
        matches!(
            self,
            Self::InitProducerId(_)
                | Self::AddPartitionsToTxn(_)
                | Self::AddOffsetsToTxn(_)
                | Self::EndTxn(_)
                | Self::Produce(_)
                | Self::TxnOffsetCommit(_)
                | Self::OffsetFetch(_)
        )
    }
}
