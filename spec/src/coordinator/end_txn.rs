//! EndTxn: commit or abort.
//!
//! WHO: producer to coordinator; the request's version decides which table applies.
//! SOURCE: KIP-98; KIP-890 part 2 (v5: bump at the decision, retry recognition, empty abort);
//! KAFKA-18464 and KAFKA-18660 (order of the guards); KIP-939 (the client's identity).

use super::end_txn_tv1::end_txn_row_tv1;
use super::end_txn_tv2::{end_txn_row_tv2, is_retry};
use super::{Coordinator, Prepared, Slot, Then, TransactionMetadata, TransactionState};
use crate::coverage::{Cell, CellRequest};
use crate::error_code::ErrorCode;
use crate::message::{EndTxn, RequestKind};
use crate::rules::EpochRule;
use crate::step::{Context, Out, Step};
use crate::types::*;

/// A named refusal; their order in [`crate::rules::EndTxnRules`] is the precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndTxnGuard {
    /// No mapping: INVALID_PRODUCER_ID_MAPPING.
    MappingExists,
    /// Another producer id: INVALID_PRODUCER_ID_MAPPING.
    SameProducerId,
    /// Another epoch: PRODUCER_FENCED.
    CurrentEpoch,
    /// A transition is pending: CONCURRENT_TRANSACTIONS.
    NoPendingTransition,
}

/// Whether the request names the identity before the last decision (TV2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Freshness {
    /// The stored identity.
    Current,
    /// The identity before the last bump or rotation.
    Retry,
}

/// A cell of the decision table. TV1 has no retry column: it stands as [`Freshness::Current`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndTxnCell {
    /// Which table.
    pub version: TransactionVersion,
    /// The settled state.
    pub state: TransactionState,
    /// The verb.
    pub result: TransactionResult,
    /// Which identity the request names.
    pub freshness: Freshness,
}

/// What a cell says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EndTxnRow {
    /// Write Prepare*, answer, send markers.
    Begin,
    /// Write PrepareAbort without partitions (TV2's empty abort).
    BeginEmpty,
    /// NONE without a write.
    AlreadyDone,
    /// Refuse.
    Refuse(ErrorCode),
}

impl Coordinator {
    /// Handles EndTxn.
    pub fn end_txn(&mut self, ctx: &Context<'_>, request: &EndTxn, out: &mut Out) -> Step {
        let id = request.transactional_id;
        let slot = *self.slot(id);
        let row = end_txn_row(ctx, request, &slot);
        out.cell = Some(Cell {
            request: request_cell(request),
            state: self.cell_state(id),
            answer: match row {
                EndTxnRow::Begin | EndTxnRow::BeginEmpty | EndTxnRow::AlreadyDone => {
                    ErrorCode::None
                }
                EndTxnRow::Refuse(error) => error,
            },
        });
        let kind = RequestKind::EndTxn;
        match (row, slot.metadata) {
            (EndTxnRow::Refuse(error), _) => {
                self.conclude(ctx, kind, request.correlation, error, None, out)
            }
            (EndTxnRow::AlreadyDone, metadata) => {
                let identity = metadata
                    .filter(|_| request.version == TransactionVersion::Tv2)
                    .map(|m| m.identity());
                self.conclude(
                    ctx,
                    kind,
                    request.correlation,
                    ErrorCode::None,
                    identity,
                    out,
                )
            }
            (EndTxnRow::Begin | EndTxnRow::BeginEmpty, None) => Step::NotEnabled,
            (EndTxnRow::Begin | EndTxnRow::BeginEmpty, Some(metadata)) => {
                self.begin_end(ctx, request, &metadata, row, out);
                Step::Handled
            }
        }
    }

    fn begin_end(
        &mut self,
        ctx: &Context<'_>,
        request: &EndTxn,
        metadata: &TransactionMetadata,
        row: EndTxnRow,
        out: &mut Out,
    ) {
        let end = match request.version {
            TransactionVersion::Tv1 => Prepared {
                marker_epoch: metadata.producer_epoch,
                last_producer_epoch: metadata.last_producer_epoch,
                prev_producer_id: metadata.producer_id,
                next: None,
                version: TransactionVersion::Tv1,
            },
            TransactionVersion::Tv2 => {
                let bumps = ctx.rules.end_txn.bump_epoch_at_prepare;
                self.prepare_tv2(metadata, bumps, true)
            }
        };
        let ghost = if row == EndTxnRow::BeginEmpty {
            request.ghost
        } else {
            metadata.ghost
        };
        let to = TransactionMetadata {
            ghost,
            ..metadata.prepared(request.result, end)
        };
        let then = Then::AnswerEnd {
            correlation: request.correlation,
            version: request.version,
        };
        self.begin_append(ctx, request.transactional_id, Some(to), then, out);
    }

    /// TV2: markers carry the bumped epoch; the identity after completion is a fresh producer id
    /// where the client's epoch is exhausted, or the client's next one after a take-over (KIP-939).
    pub(super) fn prepare_tv2(
        &mut self,
        metadata: &TransactionMetadata,
        bumps: bool,
        rotate: bool,
    ) -> Prepared {
        let client = metadata.client_identity();
        let taken_over = client != metadata.identity();
        let exhausted = client.producer_epoch.is_exhausted();
        let next = if taken_over || (exhausted && rotate) {
            Some(self.identity_after(client, rotate))
        } else {
            None
        };
        let at_max = metadata.producer_epoch == ProducerEpoch::MAX;
        Prepared {
            marker_epoch: if bumps && !at_max {
                metadata.producer_epoch.next()
            } else {
                metadata.producer_epoch
            },
            last_producer_epoch: Some(client.producer_epoch),
            prev_producer_id: client.producer_id,
            next,
            version: TransactionVersion::Tv2,
        }
    }
}

/// Guards in order, then the table.
fn end_txn_row(ctx: &Context<'_>, request: &EndTxn, slot: &Slot) -> EndTxnRow {
    let rules = &ctx.rules.end_txn;
    let guards = match request.version {
        TransactionVersion::Tv1 => &rules.guards_tv1,
        TransactionVersion::Tv2 => &rules.guards_tv2,
    };
    for guard in guards {
        if let Some(error) = refusal(ctx, *guard, request, slot) {
            return EndTxnRow::Refuse(error);
        }
    }
    let Some(metadata) = slot.metadata else {
        return EndTxnRow::Refuse(ErrorCode::InvalidProducerIdMapping);
    };
    let cell = EndTxnCell {
        version: request.version,
        state: metadata.state,
        result: request.result,
        freshness: match request.version {
            TransactionVersion::Tv1 => Freshness::Current,
            TransactionVersion::Tv2 => freshness(&metadata, request.identity),
        },
    };
    let at_max = metadata.producer_epoch == ProducerEpoch::MAX;
    let commits = request.result == TransactionResult::Commit;
    if at_max && commits && request.version == TransactionVersion::Tv2 {
        // Observed on Kafka 4.4.0: there is no epoch left for the marker of a commit.
        return EndTxnRow::Refuse(ErrorCode::UnknownServerError);
    }
    match rules.cell {
        Some((edited, row)) if edited == cell => row,
        Some(_) | None => table_row(ctx, cell),
    }
}

fn table_row(ctx: &Context<'_>, cell: EndTxnCell) -> EndTxnRow {
    match cell.version {
        TransactionVersion::Tv1 => end_txn_row_tv1(cell.state, cell.result),
        TransactionVersion::Tv2 => {
            let complete = matches!(
                cell.state,
                TransactionState::CompleteCommit | TransactionState::CompleteAbort
            );
            let retry = cell.freshness == Freshness::Retry;
            if complete && retry && !ctx.rules.end_txn.retry_needs_same_verb {
                return EndTxnRow::AlreadyDone;
            }
            end_txn_row_tv2(cell.state, cell.result, cell.freshness)
        }
    }
}

/// A retry names the identity before the decision; only a decided transaction can have one.
fn freshness(metadata: &TransactionMetadata, identity: Identity) -> Freshness {
    use TransactionState::*;
    match metadata.state {
        Ongoing | Empty => Freshness::Current,
        PrepareCommit | PrepareAbort | CompleteCommit | CompleteAbort => {
            if is_retry(metadata, identity) {
                Freshness::Retry
            } else {
                Freshness::Current
            }
        }
    }
}

/// What a guard answers where it refuses.
fn refusal(
    ctx: &Context<'_>,
    guard: EndTxnGuard,
    request: &EndTxn,
    slot: &Slot,
) -> Option<ErrorCode> {
    let metadata = slot.metadata.as_ref();
    match (guard, metadata) {
        (EndTxnGuard::NoPendingTransition, _) => {
            slot.pending.map(|_| ErrorCode::ConcurrentTransactions)
        }
        (EndTxnGuard::MappingExists, None) if slot.created.is_none() => {
            Some(ErrorCode::InvalidProducerIdMapping)
        }
        (EndTxnGuard::MappingExists, _) => None,
        (EndTxnGuard::SameProducerId | EndTxnGuard::CurrentEpoch, None) => {
            slot.unlogged_refusal(request.identity)
        }
        (EndTxnGuard::SameProducerId, Some(m)) => wrong_producer_id(request, m),
        (EndTxnGuard::CurrentEpoch, Some(m)) => wrong_epoch(ctx, request, m),
    }
}

fn wrong_producer_id(request: &EndTxn, metadata: &TransactionMetadata) -> Option<ErrorCode> {
    let same = request.identity.producer_id == metadata.client_identity().producer_id;
    let retry = request.version == TransactionVersion::Tv2
        && super::end_txn_tv2::retry_on_overflow(metadata, request.identity);
    (!same && !retry).then_some(ErrorCode::InvalidProducerIdMapping)
}

fn wrong_epoch(
    ctx: &Context<'_>,
    request: &EndTxn,
    metadata: &TransactionMetadata,
) -> Option<ErrorCode> {
    use TransactionState::*;
    let stored = metadata.client_identity().producer_epoch;
    let asked = request.identity.producer_epoch;
    let equal = match ctx.rules.end_txn.epoch_rule {
        EpochRule::Equal => asked == stored,
        EpochRule::AtMost => asked <= stored,
        EpochRule::AtLeast => asked >= stored,
    };
    let valid = match request.version {
        TransactionVersion::Tv1 => equal,
        TransactionVersion::Tv2 => match metadata.state {
            Ongoing | Empty => equal,
            PrepareCommit | PrepareAbort => is_retry(metadata, request.identity),
            CompleteCommit | CompleteAbort => equal || is_retry(metadata, request.identity),
        },
    };
    (!valid).then_some(ErrorCode::ProducerFenced)
}

fn request_cell(request: &EndTxn) -> CellRequest {
    use TransactionResult::*;
    use TransactionVersion::*;
    match (request.version, request.result) {
        (Tv1, Commit) => CellRequest::EndTxnTv1Commit,
        (Tv1, Abort) => CellRequest::EndTxnTv1Abort,
        (Tv2, Commit) => CellRequest::EndTxnTv2Commit,
        (Tv2, Abort) => CellRequest::EndTxnTv2Abort,
    }
}
