//! Election: the new leader of the transaction-state partition loads the log, resumes what is
//! prepared, and sends its markers again; the old one resigns when it learns of it.
//!
//! WHO: the broker itself. SOURCE: KIP-98; KAFKA-9307 (load replaces the cache).

use super::{Coordinator, Role, Slot, Stage, Then, TransactionLog};
use crate::error_code::ErrorCode;
use crate::message::RequestKind;
use crate::step::{Context, Out, Step};
use crate::types::{CoordinatorEpoch, TransactionalId};

impl Coordinator {
    /// Learns that it leads at `epoch`, and starts to load.
    pub fn elected(&mut self, ctx: &Context<'_>, epoch: CoordinatorEpoch) {
        self.role = Role::Loading;
        self.epoch = epoch;
        if ctx.rules.log.load_replaces_cache {
            self.clear();
        }
    }

    /// Reads the replicated part of the log: the last record of each id wins. What is prepared is
    /// taken up again, with markers for every partition in the record.
    pub fn load(&mut self, ctx: &Context<'_>, log: &TransactionLog, out: &mut Out) -> Step {
        if self.role != Role::Loading || self.epoch != log.epoch {
            return Step::NotEnabled;
        }
        self.role = Role::Leader;
        for (i, record) in log.committed.iter().enumerate() {
            let id = TransactionalId(i as u8);
            let keep = !ctx.rules.log.load_replaces_cache && self.slot(id).metadata.is_some();
            if keep {
                continue;
            }
            if self.slot(id).metadata.is_none() || ctx.rules.log.load_replaces_cache {
                *self.slot(id) = Slot {
                    metadata: *record,
                    ..Slot::default()
                };
            }
            let Some(metadata) = *record else {
                continue;
            };
            if let Some(result) = metadata.state.prepared()
                && ctx.rules.log.resume_prepared
            {
                self.begin_completion(ctx, id, &metadata, result, out);
            }
        }
        Step::Handled
    }

    /// Learns that another broker leads: whoever waits for an append is told to ask there.
    pub fn resign(&mut self, ctx: &Context<'_>, out: &mut Out) {
        self.role = Role::Follower;
        out.coordinator_epoch = self.epoch;
        for i in 0..self.slots.len() {
            let pending = self.slots[i].pending;
            if let Some(Stage::Appending(then)) = pending.map(|p| p.stage) {
                refuse_then(then, ErrorCode::NotCoordinator, out);
            }
        }
        if ctx.rules.log.load_replaces_cache {
            self.clear();
        } else {
            for slot in &mut self.slots {
                slot.pending = None;
            }
        }
    }

    /// The broker stops and starts again: everything in memory is gone.
    pub fn crash(&mut self) {
        self.role = Role::Follower;
        self.clear();
    }

    fn clear(&mut self) {
        for slot in &mut self.slots {
            *slot = Slot::default();
        }
    }
}

/// Tells whoever waits that its append came to nothing.
pub(super) fn refuse_then(then: Then, error: ErrorCode, out: &mut Out) {
    use crate::message::Message;
    match then {
        Then::AnswerInit { correlation, .. } => {
            super::answer(out, correlation, RequestKind::InitProducerId, error);
        }
        Then::AnswerAdd {
            correlation,
            request,
        } => super::answer(out, correlation, request, error),
        Then::AnswerEnd { correlation, .. } => {
            super::answer(out, correlation, RequestKind::EndTxn, error);
        }
        Then::Fence {
            correlation: Some(correlation),
        } => {
            super::answer(out, correlation, RequestKind::InitProducerId, error);
        }
        Then::AnswerVerify {
            partition,
            identity,
            sequence,
        } => {
            out.send(Message::VerifyAnswer {
                partition,
                identity,
                sequence,
                error,
                coordinator_epoch: out.coordinator_epoch,
            });
        }
        Then::Fence { correlation: None }
        | Then::Timeout
        | Then::Complete
        | Then::Expire
        | Then::Nothing => {}
    }
}
