//! Ending a transaction: the application's choice, EndTxn, and what the application is told.
//!
//! SOURCE: KIP-98; KAFKA-5449 (EndTxn after every acknowledgement); KIP-939 (prepare, take-over).

use super::{ClientContext, Outcome, Phase, Producer};
use crate::message::RequestKind;
use crate::step::{Out, Step};
use crate::types::*;

impl Producer {
    /// Whether the application may end its transaction now.
    pub fn may_end(&self, ctx: &ClientContext<'_>) -> bool {
        let rules = &ctx.rules.client;
        let acked = self.in_flight.is_empty() || !rules.end_waits_for_acks;
        let sent = acked && self.request.is_none() && self.current_item(ctx).is_none();
        self.phase == Phase::InTransaction
            && ctx.workload.transactional_id.is_some()
            && (self.ends_unregistered(ctx) || (sent && !ctx.workload.two_phase))
    }

    /// The application ends the transaction.
    pub fn end(
        &mut self,
        ctx: &ClientContext<'_>,
        result: TransactionResult,
        out: &mut Out,
    ) -> Step {
        if !self.may_end(ctx) {
            return Step::NotEnabled;
        }
        if self.ends_unregistered(ctx) {
            self.told(match result {
                TransactionResult::Commit => Outcome::CommitTold,
                TransactionResult::Abort => Outcome::AbortTold,
            });
            self.request = None;
            self.next_txn(ctx, out);
            return Step::Handled;
        }
        self.in_flight.clear();
        self.send_end(ctx, result, out);
        Step::Handled
    }

    /// SeaTunnel's fault: "nothing was started" is read before the registration returns.
    fn ends_unregistered(&self, ctx: &ClientContext<'_>) -> bool {
        let registering = self.request == Some(RequestKind::AddPartitionsToTxn);
        registering && !ctx.rules.client.end_waits_for_registration && self.registered.is_empty()
    }

    /// KIP-939: whether everything is flushed, so that the application may prepare.
    pub fn may_prepare(&self, ctx: &ClientContext<'_>) -> bool {
        let flushed =
            self.in_flight.is_empty() && self.request.is_none() && self.current_item(ctx).is_none();
        self.phase == Phase::InTransaction && ctx.workload.two_phase && flushed
    }

    /// KIP-939: everything is flushed; the manager may record it and decide.
    pub fn prepare(&mut self, ctx: &ClientContext<'_>) -> Step {
        if !self.may_prepare(ctx) {
            return Step::NotEnabled;
        }
        self.phase = Phase::Prepared;
        Step::Handled
    }

    /// KIP-939: the manager has decided and tells the instance that prepared.
    pub fn decided(&mut self, ctx: &ClientContext<'_>, out: &mut Out) -> Step {
        let Some((_, Some(result))) = ctx.prepared else {
            return Step::NotEnabled;
        };
        if self.phase != Phase::Prepared {
            return Step::NotEnabled;
        }
        self.send_end(ctx, result, out);
        Step::Handled
    }

    /// KIP-939: a new instance ends what an older one has left: as the manager decided if the
    /// transaction is the one that was prepared, else with an abort.
    pub(super) fn take_over(&mut self, ctx: &ClientContext<'_>, ongoing: Identity, out: &mut Out) {
        let result = match ctx.prepared {
            Some((prepared, Some(result))) if prepared == ongoing => result,
            Some(_) | None => TransactionResult::Abort,
        };
        self.takeover = asked(result);
        self.phase = Phase::Ending(result);
        self.ask(ctx, RequestKind::EndTxn);
        self.emit_request(ctx, out);
    }

    pub(super) fn end_ghost(&self, ctx: &ClientContext<'_>) -> Ghost {
        match (self.takeover, ctx.workload.takes_over) {
            (Outcome::CommitAsked | Outcome::AbortAsked, Some(earlier)) => {
                Ghost::of(earlier, 0, ctx.ghost_key)
            }
            (_, _) => self.ghost(ctx),
        }
    }

    /// Aborts after a failed send, once no request is out.
    pub(super) fn abort_if_possible(&mut self, ctx: &ClientContext<'_>, out: &mut Out) {
        if self.phase != Phase::AbortableError || self.request.is_some() {
            return;
        }
        let nothing = self.version == TransactionVersion::Tv1 && self.registered.is_empty();
        if nothing {
            self.told(Outcome::AbortTold);
            self.next_txn(ctx, out);
        } else {
            self.send_end(ctx, TransactionResult::Abort, out);
        }
    }

    fn send_end(&mut self, ctx: &ClientContext<'_>, result: TransactionResult, out: &mut Out) {
        self.told(asked(result));
        self.phase = Phase::Ending(result);
        self.item = 0;
        self.ask(ctx, RequestKind::EndTxn);
        self.emit_request(ctx, out);
    }

    /// EndTxn was answered with NONE.
    pub(super) fn ended(
        &mut self,
        ctx: &ClientContext<'_>,
        identity: Option<Identity>,
        out: &mut Out,
    ) {
        let Phase::Ending(result) = self.phase else {
            return;
        };
        self.request = None;
        self.attempt = 0;
        self.resent = false;
        if let Some(identity) = identity {
            self.adopt(identity);
        }
        let told = match result {
            TransactionResult::Commit => Outcome::CommitTold,
            TransactionResult::Abort => Outcome::AbortTold,
        };
        if matches!(self.takeover, Outcome::CommitAsked | Outcome::AbortAsked) {
            self.takeover = told;
            self.begin(ctx, out);
        } else {
            self.told(told);
            self.next_txn(ctx, out);
        }
    }

    /// EndTxn was refused for good.
    pub(super) fn end_refused(&mut self, ctx: &ClientContext<'_>, definite: bool, out: &mut Out) {
        let Phase::Ending(result) = self.phase else {
            return;
        };
        if !ctx.rules.client.reports_end_error {
            self.told(match result {
                TransactionResult::Commit => Outcome::CommitTold,
                TransactionResult::Abort => Outcome::AbortTold,
            });
            self.request = None;
            self.next_txn(ctx, out);
            return;
        }
        let told = match (result, definite) {
            (TransactionResult::Abort, _) => Outcome::AbortAsked,
            (TransactionResult::Commit, true) => Outcome::ErrorTold,
            (TransactionResult::Commit, false) => Outcome::Unknown,
        };
        if matches!(self.takeover, Outcome::CommitAsked | Outcome::AbortAsked) {
            self.takeover = told;
        } else {
            self.told(told);
        }
        self.finish(Phase::Fatal);
    }

    pub(super) fn told(&mut self, outcome: Outcome) {
        if let Some(slot) = self.outcome_mut() {
            *slot = outcome;
        }
    }

    pub(super) fn next_txn(&mut self, ctx: &ClientContext<'_>, out: &mut Out) {
        self.txn += 1;
        self.begin(ctx, out);
    }
}

fn asked(result: TransactionResult) -> Outcome {
    match result {
        TransactionResult::Commit => Outcome::CommitAsked,
        TransactionResult::Abort => Outcome::AbortAsked,
    }
}
