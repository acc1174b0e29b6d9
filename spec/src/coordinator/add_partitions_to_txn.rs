//! AddPartitionsToTxn: the transaction learns of a partition before data is written there.
//!
//! WHO: producer to coordinator (v0 to v3; AddOffsetsToTxn likewise), or partition leader to
//! coordinator (v4 and later: verify only under TV1, implicit add under TV2).
//! SOURCE: KIP-98; KIP-890 parts 1 and 2; KAFKA-18660 (pending before identity).

use super::{Coordinator, Slot, Then, TransactionMetadata, TransactionState};
use crate::coverage::{Cell, CellRequest};
use crate::error_code::ErrorCode;
use crate::message::{AddPartitionsToTxn, Message, RequestKind, VerifyPartition};
use crate::step::{Context, Out, Step};
use crate::types::*;

/// What adding does to a settled id.
enum Row {
    /// The partition is there already.
    AlreadyThere,
    /// Ongoing with the partition, through the log.
    Add,
    /// Refuse.
    Refuse(ErrorCode),
}

impl Coordinator {
    /// Handles AddPartitionsToTxn and AddOffsetsToTxn of clients.
    pub fn add_partitions_to_txn(
        &mut self,
        ctx: &Context<'_>,
        request: &AddPartitionsToTxn,
        kind: RequestKind,
        out: &mut Out,
    ) -> Step {
        let id = request.transactional_id;
        let cell = match kind {
            RequestKind::AddOffsetsToTxn => CellRequest::AddOffsetsToTxn,
            RequestKind::InitProducerId
            | RequestKind::AddPartitionsToTxn
            | RequestKind::TxnOffsetCommit
            | RequestKind::EndTxn
            | RequestKind::OffsetFetch => CellRequest::AddPartitionsToTxn,
        };
        let row = if kind == RequestKind::AddOffsetsToTxn && !ctx.rules.add.add_offsets_opens {
            Row::AlreadyThere
        } else {
            self.add_row(ctx, id, request.identity, request.partition)
        };
        out.cell = Some(Cell {
            request: cell,
            state: self.cell_state(id),
            answer: row_answer(&row),
        });
        match row {
            Row::Refuse(error) => self.conclude(ctx, kind, request.correlation, error, None, out),
            Row::AlreadyThere => {
                self.conclude(ctx, kind, request.correlation, ErrorCode::None, None, out)
            }
            Row::Add => {
                let then = Then::AnswerAdd {
                    correlation: request.correlation,
                    request: kind,
                };
                let version = TransactionVersion::Tv1;
                self.add(
                    ctx,
                    id,
                    (request.partition, version, request.ghost),
                    then,
                    out,
                );
                Step::Handled
            }
        }
    }

    /// Handles AddPartitionsToTxn of a partition leader: verify only, or implicit add.
    pub fn verify_partition(
        &mut self,
        ctx: &Context<'_>,
        request: &VerifyPartition,
        out: &mut Out,
    ) -> Step {
        let id = request.transactional_id;
        let (cell, row) = if request.verify_only {
            (
                CellRequest::VerifyPartition,
                self.verify_row(id, request.identity, request.partition),
            )
        } else {
            (
                CellRequest::AddPartitionByBroker,
                self.add_row(ctx, id, request.identity, request.partition),
            )
        };
        out.cell = Some(Cell {
            request: cell,
            state: self.cell_state(id),
            answer: row_answer(&row),
        });
        let error = match row {
            Row::Add => {
                let then = Then::AnswerVerify {
                    partition: request.partition,
                    identity: request.identity,
                    sequence: request.sequence,
                };
                let version = TransactionVersion::Tv2;
                self.add(
                    ctx,
                    id,
                    (request.partition, version, request.ghost),
                    then,
                    out,
                );
                return Step::Handled;
            }
            Row::AlreadyThere => ErrorCode::None,
            Row::Refuse(error) => error,
        };
        if ctx.blocking && error.is_retriable() {
            return Step::NotEnabled;
        }
        out.send(Message::VerifyAnswer {
            partition: request.partition,
            identity: request.identity,
            sequence: request.sequence,
            error,
            coordinator_epoch: out.coordinator_epoch,
        });
        Step::Handled
    }

    /// First match wins: mapping, pending, producer id, epoch, state.
    fn add_row(
        &self,
        ctx: &Context<'_>,
        id: TransactionalId,
        identity: Identity,
        partition: PartitionIndex,
    ) -> Row {
        use TransactionState::*;
        let slot = &self.slots[usize::from(id.0)];
        let first = ctx.rules.add.pending_before_identity;
        if slot.pending.is_some() && first {
            return Row::Refuse(ErrorCode::ConcurrentTransactions);
        }
        let Some(metadata) = slot.metadata else {
            return Row::Refuse(unknown(slot, identity));
        };
        if let Some(error) = identity_error(&metadata, identity) {
            return Row::Refuse(error);
        }
        if slot.pending.is_some() {
            return Row::Refuse(ErrorCode::ConcurrentTransactions);
        }
        let there = metadata.partitions.contains(partition);
        match metadata.state {
            PrepareCommit | PrepareAbort => Row::Refuse(ErrorCode::ConcurrentTransactions),
            Ongoing if there => Row::AlreadyThere,
            Ongoing => Row::Add,
            Empty | CompleteCommit | CompleteAbort => {
                if there && !ctx.rules.add.shortcut_only_in_ongoing {
                    Row::AlreadyThere
                } else {
                    Row::Add
                }
            }
        }
    }

    /// Verify only: never writes, and on purpose does not look at what is pending.
    fn verify_row(
        &self,
        id: TransactionalId,
        identity: Identity,
        partition: PartitionIndex,
    ) -> Row {
        use TransactionState::*;
        let slot = &self.slots[usize::from(id.0)];
        let Some(metadata) = slot.metadata else {
            return Row::Refuse(unknown(slot, identity));
        };
        if let Some(error) = identity_error(&metadata, identity) {
            return Row::Refuse(error);
        }
        match metadata.state {
            PrepareCommit | PrepareAbort => Row::Refuse(ErrorCode::ConcurrentTransactions),
            Empty | Ongoing | CompleteCommit | CompleteAbort => {
                if metadata.partitions.contains(partition) {
                    Row::AlreadyThere
                } else {
                    Row::Refuse(ErrorCode::TransactionAbortable)
                }
            }
        }
    }

    fn add(
        &mut self,
        ctx: &Context<'_>,
        id: TransactionalId,
        (partition, version, ghost): (PartitionIndex, TransactionVersion, Ghost),
        then: Then,
        out: &mut Out,
    ) {
        let Some(metadata) = self.slot(id).metadata else {
            return;
        };
        let to = metadata.with_partition(partition, version, ghost);
        if !ctx.rules.add.ongoing_is_logged {
            self.slot(id).metadata = Some(to);
            self.answer_then(ctx, then, &to, out);
        } else if !ctx.rules.add.answer_after_durable {
            self.slot(id).metadata = Some(to);
            self.answer_then(ctx, then, &to, out);
            self.begin_append(ctx, id, Some(to), Then::Nothing, out);
        } else {
            self.begin_append(ctx, id, Some(to), then, out);
        }
    }
}

/// The answer where nothing is logged of the id.
fn unknown(slot: &Slot, identity: Identity) -> ErrorCode {
    slot.unlogged_refusal(identity)
        .unwrap_or(ErrorCode::InvalidProducerIdMapping)
}

/// Producer id before epoch; the epoch must be equal, higher is refused as lower is.
/// KIP-939: once a two-phase transaction was taken over, the client's own identity may not add.
fn identity_error(metadata: &TransactionMetadata, identity: Identity) -> Option<ErrorCode> {
    if metadata.state == TransactionState::Ongoing && metadata.next == Some(identity) {
        return Some(ErrorCode::InvalidTxnState);
    }
    if metadata.producer_id != identity.producer_id {
        return Some(ErrorCode::InvalidProducerIdMapping);
    }
    if metadata.producer_epoch != identity.producer_epoch {
        return Some(ErrorCode::ProducerFenced);
    }
    None
}

fn row_answer(row: &Row) -> ErrorCode {
    match row {
        Row::AlreadyThere | Row::Add => ErrorCode::None,
        Row::Refuse(error) => *error,
    }
}
