//! What changes with the log's fate: replication, failed appends, and who leads.

use super::generation::GroupPhase;
use super::membership::Turn;
use super::offsets::Offsets;
use super::rebalance::Cause;
use super::{Answer, Effect, GroupCoordinator, OffsetToCommit, Status, load, reply, storage};
use crate::error_code::ErrorCode;
use crate::partition::timeline::Timeline;
use crate::partition::{self, Role};
use crate::types::{GroupId, LeaderEpoch, Offset, RequestId, Timestamp};

impl GroupCoordinator {
    pub(super) fn replicated(&mut self, moved: Vec<partition::Effect>) -> Vec<Effect> {
        let high_watermark = self.partition.high_watermark();
        self.offsets.replicate(high_watermark);
        let mut effects = storage(moved);
        while let Some((key, _)) = self.waiting.get_min()
            && key.0 <= high_watermark
        {
            let key = *key;
            if let Some(answer) = self.waiting.remove(&key) {
                effects.push(reply((key.1, answer)));
            }
        }
        effects
    }

    /// What was appended last is taken back: its offsets, its answers, and the generations that it made.
    pub(super) fn append_failed(&mut self, from: Offset, now: Timestamp) -> Vec<Effect> {
        let failed = self
            .partition
            .step(partition::Input::AppendFailed { from }, now);
        let mut effects = storage(failed);
        let log_end = self.partition.log().end_offset();
        self.offsets.truncate(log_end);
        let lost: Vec<(Offset, RequestId)> = self
            .waiting
            .keys()
            .filter(|(reached, _)| *reached > log_end)
            .copied()
            .collect();
        for key in lost {
            if let Some(answer) = self.waiting.remove(&key) {
                effects.push(reply((key.1, answer.refused(ErrorCode::NotCoordinator))));
            }
        }
        let config = self.config;
        let unrecorded: Vec<GroupId> = self
            .groups
            .iter()
            .filter(|(_, group)| group.record_offset >= Some(log_end))
            .map(|(id, _)| id.clone())
            .collect();
        for id in unrecorded {
            if let Some(group) = self.groups.get_mut(&id) {
                group.record_offset = None;
                let turn = match group.phase {
                    GroupPhase::Empty => Turn::default(),
                    GroupPhase::PreparingRebalance
                    | GroupPhase::CompletingRebalance
                    | GroupPhase::Stable => group.rebalance(Cause::Other, &config, now),
                };
                effects.extend(self.take(&id, turn, now));
            }
        }
        effects
    }

    /// A leadership that is news begins with reading the log, except where this replica has led all along: then its
    /// state is what the log says already (B57).
    pub(super) fn become_leader(
        &mut self,
        leader_epoch: LeaderEpoch,
        now: Timestamp,
    ) -> Vec<Effect> {
        let before = self.partition.role();
        self.partition
            .step(partition::Input::BecomeLeader { leader_epoch }, now);
        if self.partition.role() == before {
            return Vec::new();
        }
        match (before, self.status) {
            (Role::Leader(_), Status::Serving) => {}
            (Role::Leader(_), Status::Loading(_) | Status::NotLeader) | (Role::Follower(_), _) => {
                self.status = Status::Loading(leader_epoch);
            }
        }
        Vec::new()
    }

    pub(super) fn load(&mut self, leader_epoch: LeaderEpoch, now: Timestamp) -> Vec<Effect> {
        if self.status == Status::Loading(leader_epoch) {
            let high_watermark = self.partition.high_watermark();
            let loaded = load::load(self.partition.log(), high_watermark, now);
            self.offsets = loaded.offsets;
            self.groups = loaded.groups;
            self.status = Status::Serving;
        }
        Vec::new()
    }

    pub(super) fn become_follower(
        &mut self,
        leader_epoch: LeaderEpoch,
        now: Timestamp,
    ) -> Vec<Effect> {
        let before = self.partition.role();
        let resigned = self
            .partition
            .step(partition::Input::BecomeFollower { leader_epoch }, now);
        let mut effects = storage(resigned);
        if self.partition.role() == before {
            return effects;
        }
        self.status = Status::NotLeader;
        self.offsets = Timeline::new(Offsets::default());
        let code = ErrorCode::NotCoordinator;
        for (request, parked) in std::mem::take(&mut self.parked) {
            let each = |offset: OffsetToCommit| (offset.partition, Err(code));
            let results = parked.commit.offsets.into_iter().map(each).collect();
            effects.push(reply((request, Answer::TxnOffsetCommit(results))));
        }
        for ((_, request), answer) in std::mem::take(&mut self.waiting) {
            effects.push(reply((request, answer.refused(code))));
        }
        for (_, mut group) in std::mem::take(&mut self.groups) {
            effects.extend(group.dismiss_all(code).into_iter().map(reply));
        }
        effects
    }
}
