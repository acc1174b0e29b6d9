//! InitProducerId: gives a producer its identity, fences older instances of its id.
//!
//! WHO: producer to coordinator. SOURCE: KIP-98; KIP-360 (expected identity); KIP-890 (one bump
//! for fence and abort); KIP-939 (enable2Pc, keepPreparedTxn).

use super::{Coordinator, Pending, Prepared, Stage, Then, TransactionMetadata, TransactionState};
use crate::coverage::{Cell, CellRequest, CellState};
use crate::error_code::ErrorCode;
use crate::message::{InitProducerId, Message, RequestKind};
use crate::step::{Context, Out, Step};
use crate::types::*;

/// What InitProducerId does to a settled id.
enum Row {
    /// The same identity again: a retry of what was already done.
    Retry,
    /// The next epoch; the field is the epoch that a retry may name.
    Bump(Option<ProducerEpoch>),
    /// A fresh producer id; the field is the epoch that a retry may name.
    Rotate(Option<ProducerEpoch>),
    /// Fence, abort, answer CONCURRENT_TRANSACTIONS.
    Fence,
    /// Keep the transaction and hand out the next client identity.
    Keep,
    /// Refuse.
    Refuse(ErrorCode),
}

impl Coordinator {
    /// Handles InitProducerId.
    pub fn init_producer_id(
        &mut self,
        ctx: &Context<'_>,
        request: &InitProducerId,
        out: &mut Out,
    ) -> Step {
        let Some(id) = request.transactional_id else {
            let producer_id = self.allocate_producer_id();
            return self.init_answer(
                ctx,
                request,
                CellState::NoMapping,
                ErrorCode::None,
                Some(Identity::new(producer_id, ProducerEpoch::FIRST)),
                out,
            );
        };
        let state = self.cell_state(id);
        if let Some(error) = request_error(ctx, request) {
            return self.init_answer(ctx, request, state, error, None, out);
        }
        let slot = *self.slot(id);
        if slot.pending.is_some() {
            let error = ErrorCode::ConcurrentTransactions;
            return self.init_answer(ctx, request, state, error, None, out);
        }
        let Some(metadata) = slot.metadata else {
            return self.create(ctx, request, id, state, out);
        };
        match init_row(ctx, request, &metadata) {
            Row::Refuse(error) => self.init_answer(ctx, request, state, error, None, out),
            Row::Retry => self.init_append(ctx, request, id, metadata.unincremented(), out),
            Row::Bump(last) => self.init_append(ctx, request, id, metadata.incremented(last), out),
            Row::Rotate(last) => {
                let fresh = self.allocate_producer_id();
                self.init_append(ctx, request, id, metadata.rotated(fresh, last), out)
            }
            Row::Keep => self.keep_prepared(ctx, request, id, &metadata, out),
            Row::Fence => {
                let (correlation, again) = if ctx.blocking {
                    (None, Some(Message::InitProducerId(*request)))
                } else {
                    (Some(request.correlation), None)
                };
                out.cell = Some(Cell {
                    request: request_cell(request),
                    state,
                    answer: ErrorCode::ConcurrentTransactions,
                });
                out.messages.extend(again);
                self.fence(
                    ctx,
                    id,
                    Then::Fence { correlation },
                    ctx.rules.init.fence_bumps_epoch,
                    out,
                );
                Step::Handled
            }
        }
    }

    /// A new id: producer id from the block, epoch 0.
    fn create(
        &mut self,
        ctx: &Context<'_>,
        request: &InitProducerId,
        id: TransactionalId,
        state: CellState,
        out: &mut Out,
    ) -> Step {
        let producer_id = match self.slot(id).created {
            Some(created) => created,
            None => self.allocate_producer_id(),
        };
        self.slot(id).created = Some(producer_id);
        let to = TransactionMetadata::created(producer_id, request.enable_2pc);
        out.cell = Some(Cell {
            request: request_cell(request),
            state,
            answer: ErrorCode::None,
        });
        let then = Then::AnswerInit {
            correlation: request.correlation,
            ongoing: None,
        };
        self.begin_append(ctx, id, Some(to), then, out);
        Step::Handled
    }

    fn init_append(
        &mut self,
        ctx: &Context<'_>,
        request: &InitProducerId,
        id: TransactionalId,
        to: TransactionMetadata,
        out: &mut Out,
    ) -> Step {
        out.cell = Some(Cell {
            request: request_cell(request),
            state: self.cell_state(id),
            answer: ErrorCode::None,
        });
        let to = TransactionMetadata {
            two_phase: request.enable_2pc,
            ..to
        };
        let then = Then::AnswerInit {
            correlation: request.correlation,
            ongoing: None,
        };
        if ctx.rules.init.answer_after_durable {
            self.begin_append(ctx, id, Some(to), then, out);
        } else {
            self.slot(id).metadata = Some(to);
            self.answer_then(ctx, then, &to, out);
            self.begin_append(ctx, id, Some(to), Then::Nothing, out);
        }
        Step::Handled
    }

    /// KIP-939: the transaction goes on under its own identity; the client gets the next one.
    fn keep_prepared(
        &mut self,
        ctx: &Context<'_>,
        request: &InitProducerId,
        id: TransactionalId,
        metadata: &TransactionMetadata,
        out: &mut Out,
    ) -> Step {
        out.cell = Some(Cell {
            request: request_cell(request),
            state: self.cell_state(id),
            answer: ErrorCode::None,
        });
        let next = self.identity_after(metadata.client_identity(), true);
        let to = TransactionMetadata {
            next: Some(next),
            two_phase: request.enable_2pc,
            ..*metadata
        };
        let then = Then::AnswerInit {
            correlation: request.correlation,
            ongoing: Some(metadata.identity()),
        };
        self.begin_append(ctx, id, Some(to), then, out);
        Step::Handled
    }

    /// The identity after `client`: the next epoch, or a fresh producer id at epoch 0.
    pub(super) fn identity_after(&mut self, client: Identity, rotate: bool) -> Identity {
        if rotate && client.producer_epoch.is_exhausted() {
            Identity::new(self.allocate_producer_id(), ProducerEpoch::FIRST)
        } else {
            Identity::new(client.producer_id, client.producer_epoch.next())
        }
    }

    /// A fencing abort: raises the epoch and aborts the open transaction.
    /// Kafka's PrepareEpochFence lives only between these two lines.
    pub(super) fn fence(
        &mut self,
        ctx: &Context<'_>,
        id: TransactionalId,
        then: Then,
        bumps: bool,
        out: &mut Out,
    ) {
        let slot = *self.slot(id);
        let Some(metadata) = slot.metadata else {
            return;
        };
        let end = match ctx.version {
            TransactionVersion::Tv1 => fenced_tv1(&metadata, bumps, slot.has_failed_epoch_fence),
            TransactionVersion::Tv2 => {
                let rotates = ctx.rules.init.fence_rotates;
                let mut end = self.prepare_tv2(&metadata, bumps, rotates);
                if !ctx.rules.init.fence_single_bump {
                    end.marker_epoch = end.marker_epoch.next();
                }
                end
            }
        };
        let to = metadata.prepared(TransactionResult::Abort, end);
        if end.version == TransactionVersion::Tv1 {
            // TV1's fence counts from the decision on, whether or not it becomes durable.
            self.slot(id).metadata = Some(TransactionMetadata {
                producer_epoch: to.producer_epoch,
                last_producer_epoch: None,
                ..metadata
            });
        }
        self.begin_append(ctx, id, Some(to), then, out);
    }

    /// A fence whose append failed: what stays in memory.
    pub(super) fn fence_failed(
        &mut self,
        ctx: &Context<'_>,
        id: TransactionalId,
        pending: &Pending,
    ) {
        let (Some(to), Stage::Appending(_)) = (pending.to, pending.stage) else {
            return;
        };
        let rules = &ctx.rules.init;
        let slot = self.slot(id);
        match (to.client_version, slot.metadata.as_mut()) {
            (TransactionVersion::Tv1, _) => {
                slot.has_failed_epoch_fence = rules.remember_failed_fence;
            }
            (TransactionVersion::Tv2, Some(metadata)) if !rules.failed_fence_keeps_epoch => {
                metadata.producer_epoch = to.producer_epoch;
            }
            (TransactionVersion::Tv2, _) => {}
        }
    }

    fn init_answer(
        &self,
        ctx: &Context<'_>,
        request: &InitProducerId,
        state: CellState,
        error: ErrorCode,
        identity: Option<Identity>,
        out: &mut Out,
    ) -> Step {
        out.cell = Some(Cell {
            request: request_cell(request),
            state,
            answer: error,
        });
        let kind = RequestKind::InitProducerId;
        self.conclude(ctx, kind, request.correlation, error, identity, out)
    }
}

/// TV1: the fence raises the stored epoch, unless an earlier fence already did (KAFKA-9666) or
/// the epoch is the last one; the abort itself does not bump.
fn fenced_tv1(metadata: &TransactionMetadata, bumps: bool, already: bool) -> Prepared {
    let at_max = metadata.producer_epoch == ProducerEpoch::MAX;
    let bump = bumps && !already && !at_max;
    Prepared {
        marker_epoch: if bump {
            metadata.producer_epoch.next()
        } else {
            metadata.producer_epoch
        },
        last_producer_epoch: None,
        prev_producer_id: metadata.producer_id,
        next: None,
        version: TransactionVersion::Tv1,
    }
}

/// Whether the request is answered before anybody asks who coordinates its id: it has none, or it is
/// refused for what it is.
pub(super) fn is_before_lookup(ctx: &Context<'_>, request: &InitProducerId) -> bool {
    request.transactional_id.is_none() || request_error(ctx, request).is_some()
}

/// Refusals that look only at the request and the broker's configuration.
fn request_error(ctx: &Context<'_>, request: &InitProducerId) -> Option<ErrorCode> {
    let may_2pc = !request.enable_2pc || ctx.rules.two_phase;
    if !request.authorized || !may_2pc {
        return Some(ErrorCode::TransactionalIdAuthorizationFailed);
    }
    if request.keep_prepared_txn && request.expected.is_some() {
        return Some(ErrorCode::InvalidRequest);
    }
    if !request.timeout_in_range && !request.enable_2pc {
        return Some(ErrorCode::InvalidTransactionTimeout);
    }
    None
}

/// The decision for an id with nothing pending.
fn init_row(ctx: &Context<'_>, request: &InitProducerId, metadata: &TransactionMetadata) -> Row {
    use TransactionState::*;
    if let Some(expected) = request.expected {
        let known = expected.producer_id == metadata.producer_id
            || (expected.producer_id == metadata.prev_producer_id
                && expected.producer_epoch.is_exhausted());
        if !known {
            return Row::Refuse(ErrorCode::ProducerFenced);
        }
    }
    match metadata.state {
        PrepareCommit | PrepareAbort => Row::Refuse(ErrorCode::ConcurrentTransactions),
        Ongoing if ctx.rules.init.ongoing_compares_epoch && !is_current(request, metadata) => {
            Row::Refuse(ErrorCode::ProducerFenced)
        }
        Ongoing if request.keep_prepared_txn => Row::Keep,
        Ongoing => Row::Fence,
        Empty | CompleteCommit | CompleteAbort => settled_row(ctx, request, metadata),
    }
}

/// Whether the expected identity, where there is one, is the stored one.
fn is_current(request: &InitProducerId, metadata: &TransactionMetadata) -> bool {
    let expected = request.expected;
    expected.is_none_or(|it| it.producer_epoch == metadata.client_identity().producer_epoch)
}

/// Empty and Complete*: bump, rotate, recognise a retry, or refuse (KIP-360).
fn settled_row(ctx: &Context<'_>, request: &InitProducerId, metadata: &TransactionMetadata) -> Row {
    let stored = metadata.producer_epoch;
    let rotates = stored.is_exhausted() && ctx.rules.init.init_rotates;
    match request.expected.map(|e| e.producer_epoch) {
        None if rotates => Row::Rotate(None),
        None => Row::Bump(None),
        Some(epoch) if epoch == stored && rotates => Row::Rotate(Some(stored)),
        // Observed on Kafka 4.4.0: incrementEpoch refuses an exhausted epoch as an illegal state.
        Some(_) if rotates => Row::Refuse(ErrorCode::UnknownServerError),
        Some(epoch) if epoch == stored => Row::Bump(Some(stored)),
        Some(epoch) if Some(epoch) == metadata.last_producer_epoch => Row::Retry,
        Some(_) => Row::Refuse(ErrorCode::ProducerFenced),
    }
}

fn request_cell(request: &InitProducerId) -> CellRequest {
    match (request.keep_prepared_txn, request.expected) {
        (true, _) => CellRequest::InitProducerIdKeepPrepared,
        (false, Some(_)) => CellRequest::InitProducerIdExpected,
        (false, None) => CellRequest::InitProducerId,
    }
}
