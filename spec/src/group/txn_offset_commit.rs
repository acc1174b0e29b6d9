//! TxnOffsetCommit: stages an offset in a transaction.
//!
//! WHO: producer to group coordinator. SOURCE: KIP-98; KIP-447 (generation and member);
//! KIP-890 (verification, implicit add); KAFKA-15449 and KAFKA-15784 (check and append are one).

use super::{Group, GroupState, Staged};
use crate::coverage::{Cell, CellRequest, CellState};
use crate::error_code::ErrorCode;
use crate::message::{Message, TxnOffsetCommit};
use crate::partition::{ParkedRequest, Partition, Record, RecordKind, passed_error};
use crate::step::{Context, Out, Step};
use crate::types::*;

impl Group {
    /// Handles TxnOffsetCommit.
    pub fn txn_offset_commit(
        &mut self,
        partition: &mut Partition,
        ctx: &Context<'_>,
        request: &TxnOffsetCommit,
        out: &mut Out,
    ) -> Step {
        if partition.recovering {
            return Step::NotEnabled;
        }
        let rules = &ctx.rules.group;
        if !rules.staging_atomic
            && let Some(error) = self.stage_error(partition, ctx, request)
        {
            return self.stage_answer(request, error, out);
        }
        let asks = partition.must_ask(ctx, request.identity, true, request.version);
        if asks && rules.verify_staging {
            let old = partition.epoch_error(request.identity);
            if let Some(error) = old.filter(|_| rules.staging_checks_epoch) {
                return self.stage_answer(request, error, out);
            }
            let parked = ParkedRequest::TxnOffsetCommit(*request);
            let id = request.transactional_id;
            let verify = partition.park(parked, id, request.version, request.ghost);
            out.send(Message::VerifyPartition(verify));
            return Step::Handled;
        }
        self.stage(partition, ctx, request, true, out)
    }

    /// The coordinator has answered for a parked offset.
    pub fn staging_verified(
        &mut self,
        partition: &mut Partition,
        ctx: &Context<'_>,
        (request, guard_stands): (&TxnOffsetCommit, bool),
        error: ErrorCode,
        out: &mut Out,
    ) -> Step {
        match passed_error(error) {
            ErrorCode::None => self.stage(partition, ctx, request, guard_stands, out),
            error => self.stage_answer(request, error, out),
        }
    }

    /// Generation, guard, epoch and append in one step.
    fn stage(
        &mut self,
        partition: &mut Partition,
        ctx: &Context<'_>,
        request: &TxnOffsetCommit,
        guard_stands: bool,
        out: &mut Out,
    ) -> Step {
        let rules = &ctx.rules.group;
        if rules.staging_atomic {
            let asked = rules.verify_staging;
            let guard = partition
                .guard_error(ctx, request.identity, true, request.version, guard_stands)
                .filter(|_| asked);
            if let Some(error) = self.stage_error(partition, ctx, request).or(guard) {
                return self.stage_answer(request, error, out);
            }
        }
        let record = Record {
            offset: partition.log_end,
            kind: RecordKind::Data,
            identity: request.identity,
            sequence: Sequence::FIRST,
            transactional: true,
            coordinator_epoch: None,
            payload: request.offset,
            ghost: request.ghost,
        };
        let at = partition.append(ctx.rules, record);
        let staged = Staged {
            identity: request.identity,
            offset: request.offset,
            decided: false,
            ghost: request.ghost,
        };
        self.staged
            .retain(|s| s.decided || s.identity.producer_id != staged.identity.producer_id);
        self.staged.push(staged);
        self.staged.sort();
        out.cell = Some(self.stage_cell(ErrorCode::None));
        let answer = stage_answer(request, ErrorCode::None);
        partition.answer_when_replicated(ctx.rules, at, answer, out);
        Step::Handled
    }

    /// First refusal wins: instance, member, generation, then epoch.
    fn stage_error(
        &self,
        partition: &Partition,
        ctx: &Context<'_>,
        request: &TxnOffsetCommit,
    ) -> Option<ErrorCode> {
        let rules = &ctx.rules.group;
        self.member_error(ctx, request).or_else(|| {
            partition
                .epoch_error(request.identity)
                .filter(|_| rules.staging_checks_epoch)
        })
    }

    /// KIP-447: the member that stages is the one that owns the input. The old form of the request
    /// names none.
    fn member_error(&self, ctx: &Context<'_>, request: &TxnOffsetCommit) -> Option<ErrorCode> {
        let rules = &ctx.rules.group;
        let member = request.member?;
        if rules.check_instance && self.replaced.contains(member.id) {
            Some(ErrorCode::FencedInstanceId)
        } else if rules.check_member && !self.members.contains(member.id) {
            Some(ErrorCode::UnknownMemberId)
        } else if rules.check_generation && member.generation != self.generation {
            Some(ErrorCode::IllegalGeneration)
        } else {
            None
        }
    }

    fn stage_answer(&self, request: &TxnOffsetCommit, error: ErrorCode, out: &mut Out) -> Step {
        out.cell = Some(self.stage_cell(error));
        out.send(stage_answer(request, error));
        Step::Handled
    }

    fn stage_cell(&self, answer: ErrorCode) -> Cell {
        Cell {
            request: CellRequest::TxnOffsetCommit,
            state: self.cell_state(),
            answer,
        }
    }

    pub(super) fn cell_state(&self) -> CellState {
        match self.state {
            GroupState::Stable => CellState::GroupStable,
            GroupState::PreparingRebalance => CellState::GroupRebalancing,
        }
    }
}

fn stage_answer(request: &TxnOffsetCommit, error: ErrorCode) -> Message {
    Message::TxnOffsetCommitAnswer {
        correlation: request.correlation,
        error,
    }
}
