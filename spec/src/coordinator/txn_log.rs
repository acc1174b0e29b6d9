//! What follows an append to the transaction-state log: the transition is applied and whoever
//! waits is answered, or it is given up.
//!
//! WHO: the log to the coordinator. SOURCE: KIP-98; KAFKA-5351 and KAFKA-5416 (the pending flag);
//! KAFKA-9666 and KAFKA-19367 (a failed fence).

use super::load::refuse_then;
use super::{Coordinator, Pending, Role, Stage, Then, TransactionMetadata};
use crate::error_code::ErrorCode;
use crate::message::{AppendTxnRecordAnswer, CoordinatorAnswer, Message, RequestKind};
use crate::step::{Context, Out, Step};
use crate::types::*;

impl Coordinator {
    /// The log has answered an append of this coordinator.
    pub fn append_finished(
        &mut self,
        ctx: &Context<'_>,
        answer: &AppendTxnRecordAnswer,
        out: &mut Out,
    ) -> Step {
        if self.role != Role::Leader || answer.coordinator_epoch != self.epoch {
            return Step::Handled;
        }
        let id = answer.transactional_id;
        let Some(pending) = self.slot(id).pending else {
            return self.retried_completion_finished(ctx, id, answer.error, out);
        };
        let Stage::Appending(then) = pending.stage else {
            return Step::Handled;
        };
        if !is_append_of(ctx, &pending, answer) {
            return Step::Handled;
        }
        if answer.error == ErrorCode::None && !ctx.rules.log.tolerate_clock_back && self.clock_back
        {
            // KAFKA-5415's fault: the assertion on timestamps fails and the callback is lost.
            return Step::Handled;
        }
        if answer.error == ErrorCode::None {
            self.apply(ctx, id, &pending, then, out);
        } else {
            self.append_failed(ctx, id, &pending, then, append_error(answer.error), out);
        }
        Step::Handled
    }

    fn apply(
        &mut self,
        ctx: &Context<'_>,
        id: TransactionalId,
        pending: &Pending,
        then: Then,
        out: &mut Out,
    ) {
        let slot = self.slot(id);
        slot.pending = None;
        slot.metadata = pending.to;
        slot.created = None;
        let Some(to) = pending.to else {
            return;
        };
        self.answer_then(ctx, then, &to, out);
        match then {
            Then::AnswerEnd { .. } | Then::Fence { .. } | Then::Timeout => {
                if let Some(result) = to.state.prepared() {
                    self.slot(id).has_failed_epoch_fence = false;
                    self.begin_completion(ctx, id, &to, result, out);
                }
            }
            Then::AnswerInit { .. }
            | Then::AnswerAdd { .. }
            | Then::AnswerVerify { .. }
            | Then::Complete
            | Then::Expire
            | Then::Nothing => {}
        }
    }

    /// The answer that a finished transition owes.
    pub(super) fn answer_then(
        &mut self,
        ctx: &Context<'_>,
        then: Then,
        to: &TransactionMetadata,
        out: &mut Out,
    ) {
        match then {
            Then::AnswerInit {
                correlation,
                ongoing,
            } => {
                out.send(Message::CoordinatorAnswer(CoordinatorAnswer {
                    correlation,
                    request: RequestKind::InitProducerId,
                    error: ErrorCode::None,
                    identity: Some(to.client_identity()),
                    ongoing,
                    coordinator_epoch: out.coordinator_epoch,
                }));
            }
            Then::AnswerAdd {
                correlation,
                request,
            } => {
                super::answer(out, correlation, request, ErrorCode::None);
            }
            Then::AnswerVerify {
                partition,
                identity,
                sequence,
            } => {
                let error = ErrorCode::None;
                out.send(Message::VerifyAnswer {
                    partition,
                    identity,
                    sequence,
                    error,
                    coordinator_epoch: out.coordinator_epoch,
                });
            }
            Then::AnswerEnd {
                correlation,
                version,
            } => {
                let after = if ctx.rules.end_txn.answer_next_identity {
                    to.next.unwrap_or_else(|| to.identity())
                } else {
                    to.identity()
                };
                out.send(Message::CoordinatorAnswer(CoordinatorAnswer {
                    correlation,
                    request: RequestKind::EndTxn,
                    error: ErrorCode::None,
                    identity: match version {
                        TransactionVersion::Tv1 => None,
                        TransactionVersion::Tv2 => Some(after),
                    },
                    ongoing: None,
                    coordinator_epoch: out.coordinator_epoch,
                }));
            }
            Then::Fence {
                correlation: Some(correlation),
            } => {
                let error = ErrorCode::ConcurrentTransactions;
                super::answer(out, correlation, RequestKind::InitProducerId, error);
            }
            Then::Fence { correlation: None }
            | Then::Timeout
            | Then::Complete
            | Then::Expire
            | Then::Nothing => {}
        }
    }

    fn append_failed(
        &mut self,
        ctx: &Context<'_>,
        id: TransactionalId,
        pending: &Pending,
        then: Then,
        error: ErrorCode,
        out: &mut Out,
    ) {
        match then {
            Then::Complete if error == ErrorCode::CoordinatorNotAvailable => {
                if !ctx.rules.log.completion_stays_pending {
                    self.slot(id).pending = None;
                }
                self.send_append(ctx, id, pending.to, out);
            }
            Then::Complete if !ctx.rules.log.refused_completion_clears_pending => self.abandon(id),
            Then::Complete => self.give_up(ctx, id, then, error, out),
            Then::Fence { .. } | Then::Timeout => {
                self.fence_failed(ctx, id, pending);
                self.give_up(ctx, id, then, error, out);
            }
            Then::AnswerInit { .. }
            | Then::AnswerAdd { .. }
            | Then::AnswerVerify { .. }
            | Then::AnswerEnd { .. }
            | Then::Expire
            | Then::Nothing => self.give_up(ctx, id, then, error, out),
        }
    }

    fn give_up(
        &mut self,
        ctx: &Context<'_>,
        id: TransactionalId,
        then: Then,
        error: ErrorCode,
        out: &mut Out,
    ) {
        if ctx.rules.log.failure_clears_pending {
            self.slot(id).pending = None;
        } else {
            self.abandon(id);
        }
        refuse_then(then, error, out);
    }

    pub(super) fn abandon(&mut self, id: TransactionalId) {
        if let Some(pending) = self.slot(id).pending.as_mut() {
            pending.stage = Stage::Abandoned;
        }
    }

    /// KAFKA-5416's fault: the completion was retried with its flag cleared. It applies if the
    /// transition still fits, and is lost if another request got in between.
    fn retried_completion_finished(
        &mut self,
        ctx: &Context<'_>,
        id: TransactionalId,
        error: ErrorCode,
        _out: &mut Out,
    ) -> Step {
        let clear = ctx.rules.markers.completion_clears_partitions;
        let slot = self.slot(id);
        if error == ErrorCode::None
            && let Some(metadata) = slot.metadata
            && let Some(result) = metadata.state.prepared()
        {
            slot.metadata = Some(metadata.completed(result, clear));
        }
        Step::Handled
    }
}

/// Whether the log answers the append of this transition, and not an earlier one: Kafka's callback
/// refuses to complete a transition that is not the pending one.
/// SOURCE: `TransactionMetadata.completeTransitionTo`.
fn is_append_of(ctx: &Context<'_>, pending: &Pending, answer: &AppendTxnRecordAnswer) -> bool {
    // No actor knows which transaction a record truly belongs to.
    let seen = |value: Option<TransactionMetadata>| {
        value.map(|m| TransactionMetadata {
            ghost: Ghost::NONE,
            ..m
        })
    };
    seen(logged(ctx, pending.to)) == seen(answer.value)
}

/// A value as its record holds it.
pub(super) fn logged(
    ctx: &Context<'_>,
    value: Option<TransactionMetadata>,
) -> Option<TransactionMetadata> {
    value.map(|m| TransactionMetadata {
        last_producer_epoch: m
            .last_producer_epoch
            .filter(|_| ctx.rules.log.log_last_epoch),
        ..m
    })
}

/// How an append's error reaches the caller.
fn append_error(error: ErrorCode) -> ErrorCode {
    if error == ErrorCode::NotLeaderOrFollower {
        ErrorCode::NotCoordinator
    } else {
        ErrorCode::CoordinatorNotAvailable
    }
}
