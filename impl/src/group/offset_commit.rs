//! OffsetCommit: a consumer commits offsets, and the records that any commit writes.

use super::generation::{Group, GroupPhase, may_commit};
use super::{Answer, Effect, GroupCoordinator, OffsetCommit, OffsetToCommit, PartitionResult};
use crate::batch::{BatchProducer, NewBatch, NewRecord};
use crate::error_code::ErrorCode;
use crate::partition::CoordinatorAppend;
use crate::records::offset_commit::{OffsetCommitKey, OffsetCommitValue};
use crate::types::{GroupId, Offset, Timestamp};

/// The version of the values that are written.
const VALUE_VERSION: i16 = 3;

impl GroupCoordinator {
    pub(super) fn offset_commit(&mut self, commit: &OffsetCommit, now: Timestamp) -> Vec<Effect> {
        match self.append_commit(commit, now) {
            Ok(effects) => effects,
            Err(code) => {
                let code = super::append_answer(code);
                let each = |offset: &OffsetToCommit| (offset.partition.clone(), Err(code));
                vec![Effect::Reply {
                    request: commit.request,
                    answer: Answer::OffsetCommit(commit.offsets.iter().map(each).collect()),
                }]
            }
        }
    }

    fn append_commit(
        &mut self,
        commit: &OffsetCommit,
        now: Timestamp,
    ) -> Result<Vec<Effect>, ErrorCode> {
        if commit.group.as_str().is_empty() {
            return Err(ErrorCode::InvalidGroupId);
        }
        self.serving()?;
        self.may_commit_plainly(commit)?;
        if let Some(group) = self.groups.get_mut(&commit.group) {
            group.heard_from(&commit.member.member_id, now);
        }
        let (kept, results) =
            checked_metadata(&commit.offsets, self.config.offset_metadata_max_bytes);
        let answer = Answer::OffsetCommit(results);
        if kept.is_empty() {
            return Ok(vec![Effect::Reply {
                request: commit.request,
                answer,
            }]);
        }
        let batch = commit_batch(&commit.group, &kept, None, now)?;
        let batch = self
            .partition
            .append_records(CoordinatorAppend { batch, guard: None })?;
        Ok(self.follow_and_reply(batch, commit.request, answer))
    }

    fn may_commit_plainly(&self, commit: &OffsetCommit) -> Result<(), ErrorCode> {
        let member = &commit.member;
        match self.groups.get(&commit.group) {
            Some(group) => {
                may_commit(group, member)?;
                match group.phase() {
                    // The member knows of the generation already, but not yet what it is assigned.
                    GroupPhase::CompletingRebalance => Err(ErrorCode::RebalanceInProgress),
                    GroupPhase::Empty | GroupPhase::PreparingRebalance | GroupPhase::Stable => {
                        Ok(())
                    }
                }
            }
            None if self.offsets.latest().has_group(&commit.group) => {
                may_commit(&Group::default(), member)
            }
            None if member.generation.is_none() => Ok(()),
            None => Err(ErrorCode::IllegalGeneration),
        }
    }
}

/// Splits what may be committed from what carries too much metadata; the results are in the order of the request.
pub(super) fn checked_metadata(
    offsets: &[OffsetToCommit],
    max_bytes: usize,
) -> (Vec<&OffsetToCommit>, Vec<PartitionResult<()>>) {
    let result = |offset: &OffsetToCommit| {
        if offset.metadata.len() > max_bytes {
            Err(ErrorCode::OffsetMetadataTooLarge)
        } else {
            Ok(())
        }
    };
    let kept = offsets.iter().filter(|it| result(it).is_ok()).collect();
    let results = offsets
        .iter()
        .map(|it| (it.partition.clone(), result(it)))
        .collect();
    (kept, results)
}

/// One record for each offset, in a transaction or not.
pub(super) fn commit_batch(
    group: &GroupId,
    offsets: &[&OffsetToCommit],
    producer: Option<BatchProducer>,
    now: Timestamp,
) -> Result<NewBatch, ErrorCode> {
    let record = |offset: &&OffsetToCommit| {
        let key = OffsetCommitKey {
            group: group.clone(),
            partition: offset.partition.clone(),
        };
        let value = OffsetCommitValue {
            offset: offset.offset,
            leader_epoch: offset.leader_epoch,
            metadata: offset.metadata.clone(),
            commit_timestamp: now,
            expire_timestamp: None,
            topic_id: None,
        };
        let key = key.encode().map_err(|_| ErrorCode::InvalidRequest)?;
        let value = value
            .encode(VALUE_VERSION)
            .map_err(|_| ErrorCode::InvalidRequest)?;
        Ok(NewRecord::new(now, Some(key), Some(value)))
    };
    let records = offsets
        .iter()
        .map(record)
        .collect::<Result<_, ErrorCode>>()?;
    Ok(new_batch(records, producer))
}

/// A batch whose place in the log is not known yet.
pub(super) fn new_batch(records: Vec<NewRecord>, producer: Option<BatchProducer>) -> NewBatch {
    NewBatch {
        base_offset: Offset::ZERO,
        leader_epoch: None,
        producer,
        is_transactional: producer.is_some(),
        is_control: false,
        records,
    }
}
