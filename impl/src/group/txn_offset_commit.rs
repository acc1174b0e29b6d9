//! TxnOffsetCommit: a producer stages a group's offsets in its transaction.
//!
//! The coordinator is asked first, under a guard; then group and member are checked, the records are appended and the
//! offsets are staged, all in one step (B24).

use super::generation::{Group, MemberIdentity, may_commit};
use super::offset_commit::{checked_metadata, commit_batch};
use super::{Answer, Effect, GroupCoordinator, OffsetToCommit, PartitionResult, TxnOffsetCommit};
use crate::batch::BatchProducer;
use crate::error_code::ErrorCode;
use crate::partition::{
    CoordinatorAppend, TransactionSupport, VerificationGuard, verification_answer,
};
use crate::types::{RequestId, Timestamp};

/// A commit that waits for the coordinator's word on its transaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ParkedCommit {
    /// The request.
    pub commit: TxnOffsetCommit,
    /// The token under which the question was asked.
    pub guard: VerificationGuard,
}

impl GroupCoordinator {
    pub(super) fn txn_offset_commit(
        &mut self,
        commit: TxnOffsetCommit,
        now: Timestamp,
    ) -> Vec<Effect> {
        if let Err(code) = self.admit(&commit) {
            return vec![refusal(&commit, code)];
        }
        let support = TransactionSupport::of_txn_offset_commit(commit.version);
        let producer = commit.producer;
        let guard = self.partition.hold_verification(
            producer.producer_id,
            producer.producer_epoch,
            support,
            now,
        );
        let guard = match guard {
            Err(code) => return vec![refusal(&commit, code)],
            Ok(None) => return self.stage(&commit, None, now),
            Ok(Some(guard)) => {
                seed!(StagedUnasked, return self.stage(&commit, Some(guard), now));
                guard
            }
        };
        let effect = Effect::AskCoordinator {
            request: commit.request,
            transactional_id: commit.transactional_id.clone(),
            producer,
            verify_only: !support.supports_epoch_bump(),
        };
        self.parked
            .insert(commit.request, ParkedCommit { commit, guard });
        vec![effect]
    }

    fn admit(&self, commit: &TxnOffsetCommit) -> Result<(), ErrorCode> {
        if commit.group.as_str().is_empty() {
            return Err(ErrorCode::InvalidGroupId);
        }
        if commit.transactional_id.as_str().is_empty() {
            return Err(ErrorCode::InvalidRequest);
        }
        self.serving()
    }

    /// The coordinator's word on a parked commit. An answer to one that is no longer parked says nothing.
    pub(super) fn coordinator_answered(
        &mut self,
        request: RequestId,
        answer: Result<(), ErrorCode>,
        now: Timestamp,
    ) -> Vec<Effect> {
        let Some(ParkedCommit { commit, guard }) = self.parked.remove(&request) else {
            return Vec::new();
        };
        let support = TransactionSupport::of_txn_offset_commit(commit.version);
        let effects = match answer {
            Err(code) => vec![refusal(&commit, verification_answer(code, support))],
            Ok(()) => self.stage(&commit, Some(guard), now),
        };
        self.partition.release_verification(guard);
        effects
    }

    fn stage(
        &mut self,
        commit: &TxnOffsetCommit,
        guard: Option<VerificationGuard>,
        now: Timestamp,
    ) -> Vec<Effect> {
        if let Err(code) = self.may_stage(commit) {
            return vec![refusal(commit, code)];
        }
        let (kept, results) =
            checked_metadata(&commit.offsets, self.config.offset_metadata_max_bytes);
        if kept.is_empty() {
            return vec![reply(commit.request, results)];
        }
        let producer = BatchProducer {
            producer_id: commit.producer.producer_id,
            producer_epoch: commit.producer.producer_epoch,
            base_sequence: None,
        };
        let appended = commit_batch(&commit.group, &kept, Some(producer), now).and_then(|batch| {
            self.partition
                .append_records(CoordinatorAppend { batch, guard })
        });
        match appended {
            Err(code) => vec![refusal(commit, code)],
            Ok(batch) => {
                self.follow_and_reply(batch, commit.request, Answer::TxnOffsetCommit(results))
            }
        }
    }

    /// Whether the group lets this member stage offsets. KIP-447: a member of an earlier generation has lost its
    /// partitions, and must not move their offsets (B26).
    fn may_stage(&self, commit: &TxnOffsetCommit) -> Result<(), ErrorCode> {
        match self.groups.get(&commit.group) {
            Some(group) => may_stage_in(group, &commit.member),
            None if self.offsets.latest().has_group(&commit.group) => {
                may_stage_in(&Group::default(), &commit.member)
            }
            // The commit itself makes a group without members.
            None if commit.member.generation.is_none() => Ok(()),
            None => Err(ErrorCode::IllegalGeneration),
        }
    }
}

/// A sender that names no member, as before version 3, is let in whatever the group does: it could never do better.
/// Nor does a rebalance that is under way stop a member of the current generation.
fn may_stage_in(group: &Group, member: &MemberIdentity) -> Result<(), ErrorCode> {
    let may = member.is_anonymous();
    if seeded!(AnyGenerationStages, may, true) {
        Ok(())
    } else {
        may_commit(group, member)
    }
}

fn refusal(commit: &TxnOffsetCommit, code: ErrorCode) -> Effect {
    let code = txn_offset_commit_answer(code, commit.version);
    let each = |offset: &OffsetToCommit| (offset.partition.clone(), Err(code));
    reply(commit.request, commit.offsets.iter().map(each).collect())
}

fn reply(request: RequestId, results: Vec<PartitionResult<()>>) -> Effect {
    Effect::Reply {
        request,
        answer: Answer::TxnOffsetCommit(results),
    }
}

/// What a producer of this version understands. A lost answer of the transaction coordinator says nothing about the
/// group coordinator, so it becomes an error that is retried at the same place.
fn txn_offset_commit_answer(code: ErrorCode, version: i16) -> ErrorCode {
    match super::append_answer(code) {
        ErrorCode::NetworkException | ErrorCode::CoordinatorLoadInProgress => {
            if version < 2 {
                ErrorCode::CoordinatorNotAvailable
            } else {
                ErrorCode::CoordinatorLoadInProgress
            }
        }
        other => other,
    }
}
