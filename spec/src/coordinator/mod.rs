//! The transaction coordinator: one per broker that can lead the transaction-state partition.
//!
//! Pure: a step takes a message or a tick, changes the coordinator and says what it sends.
//! Each request has a file of its own: its doc, its guards in order, its table, its effect.

mod add_partitions_to_txn;
mod end_txn;
mod end_txn_tv1;
mod end_txn_tv2;
mod expiry;
mod init_producer_id;
mod load;
mod markers;
mod timeout;
mod transaction_log;
mod transaction_metadata;
mod txn_log;

pub use end_txn::{EndTxnCell, EndTxnGuard, EndTxnRow, Freshness};
pub use end_txn_tv1::end_txn_row_tv1;
pub use end_txn_tv2::end_txn_row_tv2;
pub use transaction_log::TransactionLog;
pub use transaction_metadata::{Prepared, TransactionMetadata, TransactionState};

use crate::coverage::{Cell, CellRequest, CellState};
use crate::error_code::ErrorCode;
use crate::message::*;
use crate::step::{Context, Out, Step};
use crate::types::*;
use crate::written_over::written_over;
use serde::{Deserialize, Serialize};

/// What the broker believes of its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Role {
    /// It does not lead the transaction-state partition.
    Follower,
    /// It was elected and reads the log.
    Loading,
    /// It serves.
    Leader,
}

/// Who waits for an append, and what the append was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Then {
    /// Answer InitProducerId.
    AnswerInit {
        /// Who asked.
        correlation: Correlation,
        /// KIP-939: the transaction that goes on.
        ongoing: Option<Identity>,
    },
    /// Answer AddPartitionsToTxn or AddOffsetsToTxn.
    AnswerAdd {
        /// Who asked.
        correlation: Correlation,
        /// Which of the two.
        request: RequestKind,
    },
    /// Answer a partition leader.
    AnswerVerify {
        /// The partition that asked.
        partition: PartitionIndex,
        /// The identity on the waiting batch.
        identity: Identity,
        /// The waiting batch.
        sequence: Sequence,
    },
    /// Answer EndTxn, then write markers.
    AnswerEnd {
        /// Who asked.
        correlation: Correlation,
        /// TV2 answers with an identity.
        version: TransactionVersion,
    },
    /// InitProducerId met an open transaction: fence it, write markers, answer
    /// CONCURRENT_TRANSACTIONS.
    Fence {
        /// Who asked, where the answer is really sent.
        correlation: Option<Correlation>,
    },
    /// The timer aborts: write markers.
    Timeout,
    /// Every marker is written.
    Complete,
    /// The id is forgotten.
    Expire,
    /// Nobody waits.
    Nothing,
}

/// Where a pending transition stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Stage {
    /// The record is on its way to the log.
    Appending(Then),
    /// Prepare* is durable; markers are being written.
    WritingMarkers {
        /// Markers not sent yet.
        queued: PartitionSet,
        /// Markers sent and not acknowledged.
        awaiting: PartitionSet,
    },
    /// Given up until a fail-over: a participant refused the marker for good.
    Abandoned,
}

/// A pending transition: Kafka's pendingState with its transit record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pending {
    /// The value to become current; `None` for a tombstone.
    pub to: Option<TransactionMetadata>,
    /// Where it stands.
    pub stage: Stage,
}

/// One transactional id in the cache.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Slot {
    /// The current value, or `None` where there is no mapping.
    pub metadata: Option<TransactionMetadata>,
    /// A new id whose first append failed keeps its producer id.
    pub created: Option<ProducerId>,
    /// The transition under way.
    pub pending: Option<Pending>,
    /// TV1: an earlier fence could not be written (KAFKA-9666).
    pub has_failed_epoch_fence: bool,
    /// Counts completions, so that an answer finds its own.
    pub round: u8,
}

impl Slot {
    /// How an id whose first identity is not logged compares: it has a producer id and no epoch
    /// yet, so nobody is who it waits for.
    fn unlogged_refusal(&self, asked: Identity) -> Option<ErrorCode> {
        let created = self.created.filter(|_| self.metadata.is_none())?;
        Some(if created == asked.producer_id {
            ErrorCode::ProducerFenced
        } else {
            ErrorCode::InvalidProducerIdMapping
        })
    }
}

/// A coordinator.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Coordinator {
    /// Its broker.
    pub broker: BrokerId,
    /// What it believes.
    pub role: Role,
    /// The leader epoch of that belief.
    pub epoch: CoordinatorEpoch,
    /// The cache, by transactional id.
    pub slots: List<Slot, 2>,
    /// The next producer id of this broker's block.
    pub next_producer_id: ProducerId,
    /// Its clock has stepped back behind the last update.
    pub clock_back: bool,
    /// The transactions that its timer has ended, in the order of their ghosts.
    pub ghost_timed_out: List<Ghost, 1>,
}

written_over!(Coordinator {
    values: [broker, role, epoch, next_producer_id, clock_back],
    lists: [slots, ghost_timed_out],
    others: [],
});

impl Coordinator {
    /// A coordinator of `ids` transactional ids. Each broker's block of producer ids is 16 wide.
    pub fn new(broker: BrokerId, ids: usize, leads: bool) -> Self {
        Self {
            broker,
            role: if leads { Role::Leader } else { Role::Follower },
            epoch: CoordinatorEpoch(0),
            slots: (0..ids).map(|_| Slot::default()).collect(),
            next_producer_id: ProducerId(1 + 16 * broker.0),
            clock_back: false,
            ghost_timed_out: List::new(),
        }
    }

    /// Takes a message addressed to the coordinator role.
    pub fn handle(&mut self, ctx: &Context<'_>, message: &Message, out: &mut Out) -> Step {
        out.coordinator_epoch = self.epoch;
        match message {
            Message::InitProducerId(m) if init_producer_id::is_before_lookup(ctx, m) => {
                self.init_producer_id(ctx, m, out)
            }
            Message::InitProducerId(m) => {
                self.serving(ctx, message, out, |c, out| c.init_producer_id(ctx, m, out))
            }
            Message::AddPartitionsToTxn(m) => self.serving(ctx, message, out, |c, out| {
                c.add_partitions_to_txn(ctx, m, RequestKind::AddPartitionsToTxn, out)
            }),
            Message::AddOffsetsToTxn(m) => self.serving(ctx, message, out, |c, out| {
                c.add_partitions_to_txn(ctx, m, RequestKind::AddOffsetsToTxn, out)
            }),
            Message::VerifyPartition(m) => {
                self.serving(ctx, message, out, |c, out| c.verify_partition(ctx, m, out))
            }
            Message::EndTxn(m) => self.serving(ctx, message, out, |c, out| c.end_txn(ctx, m, out)),
            Message::WriteTxnMarkersAnswer(m) => self.marker_answered(ctx, m, true, out),
            Message::AppendTxnRecordAnswer(m) => self.append_finished(ctx, m, out),
            Message::Produce(_)
            | Message::TxnOffsetCommit(_)
            | Message::OffsetFetch(_)
            | Message::WriteTxnMarkers(_)
            | Message::AppendTxnRecord(_)
            | Message::CoordinatorAnswer(_)
            | Message::ProduceAnswer { .. }
            | Message::TxnOffsetCommitAnswer { .. }
            | Message::OffsetFetchAnswer { .. }
            | Message::VerifyAnswer { .. } => Step::NotEnabled,
        }
    }

    /// The common prefix of every call: not leading, loading, then the request itself.
    fn serving(
        &mut self,
        ctx: &Context<'_>,
        message: &Message,
        out: &mut Out,
        request: impl FnOnce(&mut Self, &mut Out) -> Step,
    ) -> Step {
        match self.role {
            Role::Leader => request(self, out),
            Role::Loading if !ctx.rules.log.serve_only_after_load => request(self, out),
            Role::Loading => self.refuse(ctx, message, ErrorCode::CoordinatorLoadInProgress, out),
            Role::Follower => self.refuse(ctx, message, ErrorCode::NotCoordinator, out),
        }
    }

    /// Answers a request that never reached its table.
    fn refuse(
        &mut self,
        ctx: &Context<'_>,
        message: &Message,
        error: ErrorCode,
        out: &mut Out,
    ) -> Step {
        let (request, state) = (
            cell_request(message),
            match self.role {
                Role::Follower => CellState::NotLeading,
                Role::Loading | Role::Leader => CellState::Loading,
            },
        );
        out.cell = request.map(|request| Cell {
            request,
            state,
            answer: error,
        });
        if ctx.blocking {
            return Step::NotEnabled;
        }
        match message {
            Message::InitProducerId(m) => {
                answer(out, m.correlation, RequestKind::InitProducerId, error)
            }
            Message::AddPartitionsToTxn(m) => {
                answer(out, m.correlation, RequestKind::AddPartitionsToTxn, error)
            }
            Message::AddOffsetsToTxn(m) => {
                answer(out, m.correlation, RequestKind::AddOffsetsToTxn, error)
            }
            Message::EndTxn(m) => answer(out, m.correlation, RequestKind::EndTxn, error),
            Message::VerifyPartition(m) => out.send(Message::VerifyAnswer {
                partition: m.partition,
                identity: m.identity,
                sequence: m.sequence,
                error,
                coordinator_epoch: out.coordinator_epoch,
            }),
            Message::Produce(_)
            | Message::TxnOffsetCommit(_)
            | Message::OffsetFetch(_)
            | Message::WriteTxnMarkers(_)
            | Message::AppendTxnRecord(_)
            | Message::CoordinatorAnswer(_)
            | Message::ProduceAnswer { .. }
            | Message::TxnOffsetCommitAnswer { .. }
            | Message::OffsetFetchAnswer { .. }
            | Message::VerifyAnswer { .. }
            | Message::WriteTxnMarkersAnswer(_)
            | Message::AppendTxnRecordAnswer(_) => return Step::NotEnabled,
        }
        Step::Handled
    }

    /// Takes the next producer id of this broker's block.
    fn allocate_producer_id(&mut self) -> ProducerId {
        let id = self.next_producer_id;
        self.next_producer_id = ProducerId(id.0 + 1);
        id
    }

    fn slot(&mut self, id: TransactionalId) -> &mut Slot {
        &mut self.slots[usize::from(id.0)]
    }

    /// How a request finds the id, for coverage.
    fn cell_state(&self, id: TransactionalId) -> CellState {
        let slot = &self.slots[usize::from(id.0)];
        match (slot.metadata, slot.pending) {
            (None, None) => CellState::NoMapping,
            (None, Some(_)) => CellState::Pending(TransactionState::Empty),
            (Some(m), None) => CellState::Settled(m.state),
            (Some(m), Some(_)) => CellState::Pending(m.state),
        }
    }

    /// Starts a transition: sets it pending and sends its record to the log.
    fn begin_append(
        &mut self,
        ctx: &Context<'_>,
        id: TransactionalId,
        to: Option<TransactionMetadata>,
        then: Then,
        out: &mut Out,
    ) {
        self.slot(id).pending = Some(Pending {
            to,
            stage: Stage::Appending(then),
        });
        self.send_append(ctx, id, to, out);
    }

    fn send_append(
        &self,
        ctx: &Context<'_>,
        id: TransactionalId,
        to: Option<TransactionMetadata>,
        out: &mut Out,
    ) {
        let value = txn_log::logged(ctx, to);
        out.send(Message::AppendTxnRecord(AppendTxnRecord {
            broker: self.broker,
            coordinator_epoch: self.epoch,
            transactional_id: id,
            value,
        }));
    }

    /// A refusal or an immediate answer of a request's table.
    fn conclude(
        &self,
        ctx: &Context<'_>,
        request: RequestKind,
        correlation: Correlation,
        error: ErrorCode,
        identity: Option<Identity>,
        out: &mut Out,
    ) -> Step {
        if ctx.blocking && error.is_retriable() {
            return Step::NotEnabled;
        }
        out.send(Message::CoordinatorAnswer(CoordinatorAnswer {
            correlation,
            request,
            error,
            identity,
            ongoing: None,
            coordinator_epoch: out.coordinator_epoch,
        }));
        Step::Handled
    }
}

fn answer(out: &mut Out, correlation: Correlation, request: RequestKind, error: ErrorCode) {
    out.send(Message::CoordinatorAnswer(CoordinatorAnswer {
        correlation,
        request,
        error,
        identity: None,
        ongoing: None,
        coordinator_epoch: out.coordinator_epoch,
    }));
}

/// The row of the coverage table that a request to a coordinator belongs to.
fn cell_request(message: &Message) -> Option<CellRequest> {
    use TransactionResult::*;
    use TransactionVersion::*;
    match message {
        Message::InitProducerId(m) => Some(match (m.keep_prepared_txn, m.expected) {
            (true, _) => CellRequest::InitProducerIdKeepPrepared,
            (false, Some(_)) => CellRequest::InitProducerIdExpected,
            (false, None) => CellRequest::InitProducerId,
        }),
        Message::AddPartitionsToTxn(_) => Some(CellRequest::AddPartitionsToTxn),
        Message::AddOffsetsToTxn(_) => Some(CellRequest::AddOffsetsToTxn),
        Message::VerifyPartition(m) => Some(if m.verify_only {
            CellRequest::VerifyPartition
        } else {
            CellRequest::AddPartitionByBroker
        }),
        Message::EndTxn(m) => Some(match (m.version, m.result) {
            (Tv1, Commit) => CellRequest::EndTxnTv1Commit,
            (Tv1, Abort) => CellRequest::EndTxnTv1Abort,
            (Tv2, Commit) => CellRequest::EndTxnTv2Commit,
            (Tv2, Abort) => CellRequest::EndTxnTv2Abort,
        }),
        Message::Produce(_)
        | Message::TxnOffsetCommit(_)
        | Message::OffsetFetch(_)
        | Message::WriteTxnMarkers(_)
        | Message::AppendTxnRecord(_)
        | Message::CoordinatorAnswer(_)
        | Message::ProduceAnswer { .. }
        | Message::TxnOffsetCommitAnswer { .. }
        | Message::OffsetFetchAnswer { .. }
        | Message::VerifyAnswer { .. }
        | Message::WriteTxnMarkersAnswer(_)
        | Message::AppendTxnRecordAnswer(_) => None,
    }
}
