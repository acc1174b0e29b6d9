//! The group coordinator of one `__consumer_offsets` partition: offsets, staged offsets, classic group membership.
//!
//! It owns that partition's log. A commit is checked, appended and followed in one step, so no check can grow old before
//! its append; what it changes can be read by others once it is replicated.

mod effect;
mod expiry;
mod gathering;
mod generation;
mod input;
mod load;
mod markers;
mod membership;
mod offset_commit;
mod offset_fetch;
mod offsets;
mod rebalance;
mod roles;
mod txn_offset_commit;

#[cfg(test)]
mod tests;

use im::OrdMap;

pub use effect::{Answer, Effect, Joined, JoinedMember, NotJoined, PartitionResult};
pub use generation::{Group, GroupPhase, Member, MemberIdentity, may_commit};
pub use input::{
    Heartbeat, Input, JoinGroup, LeaveGroup, OffsetCommit, OffsetFetch, OffsetToCommit, SyncGroup,
    TxnOffsetCommit,
};
pub use offsets::{CommittedOffset, Offsets};
pub use txn_offset_commit::ParkedCommit;

use crate::batch::{NewRecord, RecordBatch};
use crate::error_code::ErrorCode;
use crate::partition::timeline::Timeline;
use crate::partition::{self, CoordinatorAppend, Partition, PartitionConfig};
use crate::records::group_metadata::GroupMetadataKey;
use crate::types::{GroupId, LeaderEpoch, Offset, RequestId, Timestamp};
use membership::{Reply, Turn};

/// The version of the group records that are written.
const GROUP_VALUE_VERSION: i16 = 3;

/// The settings of a group coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupConfig {
    /// Milliseconds after which an offset of a group without members goes: `offsets.retention.minutes`.
    pub offsets_retention_ms: i64,
    /// Most bytes of metadata that an offset may carry: `offset.metadata.max.bytes`.
    pub offset_metadata_max_bytes: usize,
    /// Shortest session timeout that a member may ask for, in milliseconds: `group.min.session.timeout.ms`.
    pub min_session_timeout_ms: i32,
    /// Longest session timeout that a member may ask for, in milliseconds: `group.max.session.timeout.ms`.
    pub max_session_timeout_ms: i32,
    /// Milliseconds that an empty group waits for more members: `group.initial.rebalance.delay.ms`.
    pub initial_rebalance_delay_ms: i64,
}

impl Default for GroupConfig {
    fn default() -> Self {
        Self {
            offsets_retention_ms: 7 * 24 * 60 * 60 * 1000,
            offset_metadata_max_bytes: 4096,
            min_session_timeout_ms: 6000,
            max_session_timeout_ms: 1_800_000,
            initial_rebalance_delay_ms: 3000,
        }
    }
}

/// Whether requests are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Another replica leads.
    NotLeader,
    /// The log has not been read yet.
    Loading(LeaderEpoch),
    /// Requests are served.
    Serving,
}

/// The group coordinator of one partition of `__consumer_offsets`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupCoordinator {
    config: GroupConfig,
    partition: Partition,
    status: Status,
    offsets: Timeline<Offsets>,
    groups: OrdMap<GroupId, Group>,
    parked: OrdMap<RequestId, ParkedCommit>,
    /// Answers that wait for the high watermark to reach an offset.
    waiting: OrdMap<(Offset, RequestId), Answer>,
}

impl GroupCoordinator {
    /// A coordinator of an empty partition, following nobody yet.
    #[must_use]
    pub fn new(config: GroupConfig, partition: PartitionConfig) -> Self {
        Self::of(config, Partition::new(partition))
    }

    /// A coordinator of a partition that was recovered from what was stored.
    #[must_use]
    pub fn of(config: GroupConfig, partition: Partition) -> Self {
        Self {
            config,
            partition,
            status: Status::NotLeader,
            offsets: Timeline::new(Offsets::default()),
            groups: OrdMap::new(),
            parked: OrdMap::new(),
            waiting: OrdMap::new(),
        }
    }

    /// Takes one input. `now` is the caller's clock; nothing here assumes that it moves forward.
    pub fn step(&mut self, input: Input, now: Timestamp) -> Vec<Effect> {
        match input {
            Input::TxnOffsetCommit(commit) => self.txn_offset_commit(commit, now),
            Input::CoordinatorAnswered { request, answer } => {
                self.coordinator_answered(request, answer, now)
            }
            Input::OffsetCommit(commit) => self.offset_commit(&commit, now),
            Input::OffsetFetch(fetch) => self.offset_fetch(fetch),
            Input::WriteTxnMarker(marker) => self.write_txn_marker(&marker, now),
            Input::JoinGroup(join) => self.join_group(&join, now),
            Input::SyncGroup(sync) => {
                let refused = Answer::SyncGroup(Err(ErrorCode::UnknownMemberId));
                self.member_turn(
                    &sync.group,
                    sync.request,
                    refused,
                    |group, _| group.sync(&sync, now),
                    now,
                )
            }
            Input::Heartbeat(beat) => {
                let refused = Answer::Heartbeat(Err(ErrorCode::UnknownMemberId));
                self.member_turn(
                    &beat.group,
                    beat.request,
                    refused,
                    |group, _| group.heartbeat(&beat, now),
                    now,
                )
            }
            Input::LeaveGroup(leave) => {
                let refused = Answer::LeaveGroup(Err(ErrorCode::UnknownMemberId));
                self.member_turn(
                    &leave.group,
                    leave.request,
                    refused,
                    |group, config| group.leave(&leave, config, now),
                    now,
                )
            }
            Input::Replicated { up_to } => {
                let moved = self
                    .partition
                    .step(partition::Input::Replicated { up_to }, now);
                self.replicated(moved)
            }
            Input::AppendFailed { from } => self.append_failed(from, now),
            Input::BecomeLeader { leader_epoch } => self.become_leader(leader_epoch, now),
            Input::Load { leader_epoch } => self.load(leader_epoch, now),
            Input::BecomeFollower { leader_epoch } => self.become_follower(leader_epoch, now),
            Input::Truncate { to } => {
                let cut = self.partition.step(partition::Input::Truncate { to }, now);
                storage(cut)
            }
            Input::Replicate {
                batches,
                high_watermark,
            } => {
                let followed = self.partition.step(
                    partition::Input::Replicate {
                        batches,
                        high_watermark,
                    },
                    now,
                );
                storage(followed)
            }
            Input::Tick => self.tick(now),
        }
    }

    /// Whether requests are served.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status
    }

    /// The partition under it.
    #[must_use]
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// The offsets at the log end.
    #[must_use]
    pub fn offsets(&self) -> &Offsets {
        self.offsets.latest()
    }

    /// The offsets at the high watermark.
    #[cfg(test)]
    fn replicated_offsets(&self) -> &Offsets {
        self.offsets.replicated()
    }

    /// The groups with members, or that have had some.
    pub fn groups(&self) -> impl Iterator<Item = (&GroupId, &Group)> {
        self.groups.iter()
    }

    /// The commits that wait for the coordinator's answer.
    pub fn parked(&self) -> impl Iterator<Item = (RequestId, &ParkedCommit)> {
        self.parked.iter().map(|(request, it)| (*request, it))
    }

    /// The answers that wait for the high watermark, with the offset that it must reach.
    pub fn waiting(&self) -> impl Iterator<Item = (Offset, RequestId, &Answer)> {
        self.waiting
            .iter()
            .map(|((at, request), it)| (*at, *request, it))
    }

    fn serving(&self) -> Result<(), ErrorCode> {
        match self.status {
            Status::NotLeader => Err(ErrorCode::NotCoordinator),
            Status::Loading(_) => Err(ErrorCode::CoordinatorLoadInProgress),
            Status::Serving => Ok(()),
        }
    }

    fn join_group(&mut self, join: &JoinGroup, now: Timestamp) -> Vec<Effect> {
        let admitted = if join.group.as_str().is_empty() {
            Err(ErrorCode::InvalidGroupId)
        } else {
            self.serving()
        };
        let is_new = !self.groups.contains_key(&join.group);
        let refused = match admitted {
            Err(code) => Some(code),
            Ok(()) if is_new && !join.member_id.as_str().is_empty() => {
                Some(ErrorCode::UnknownMemberId)
            }
            Ok(()) => None,
        };
        if let Some(code) = refused {
            return vec![Effect::Reply {
                request: join.request,
                answer: membership::not_joined(code, join.member_id.clone()),
            }];
        }
        let config = self.config;
        let group = self.groups.entry(join.group.clone()).or_default();
        let turn = group.join(join, &config, now);
        if is_new && group.members.is_empty() && group.pending.is_empty() {
            self.groups.remove(&join.group);
        }
        self.take(&join.group, turn, now)
    }

    fn member_turn(
        &mut self,
        id: &GroupId,
        request: RequestId,
        unknown: Answer,
        decide: impl FnOnce(&mut Group, &GroupConfig) -> Turn,
        now: Timestamp,
    ) -> Vec<Effect> {
        let config = self.config;
        let answer = match self.serving() {
            Err(code) => unknown.refused(code),
            Ok(()) => match self.groups.get_mut(id) {
                Some(group) => {
                    let turn = decide(group, &config);
                    return self.take(id, turn, now);
                }
                None => unknown,
            },
        };
        vec![Effect::Reply { request, answer }]
    }

    /// Carries out what a group has decided.
    fn take(&mut self, id: &GroupId, turn: Turn, now: Timestamp) -> Vec<Effect> {
        let mut effects: Vec<Effect> = turn.replies.into_iter().map(reply).collect();
        let Some(after) = turn.record else {
            return effects;
        };
        match self.append_group(id, now) {
            Ok(batch) => {
                let reached = batch.next_offset();
                effects.push(Effect::Append(batch));
                for (request, answer) in after {
                    self.reply_at(reached, request, answer, &mut effects);
                }
            }
            Err(code) => {
                let refused =
                    |(request, answer): Reply| (request, answer.refused(append_answer(code)));
                effects.extend(after.into_iter().map(refused).map(reply));
            }
        }
        effects
    }

    fn append_group(&mut self, id: &GroupId, now: Timestamp) -> Result<RecordBatch, ErrorCode> {
        let group = self.groups.get(id).ok_or(ErrorCode::UnknownServerError)?;
        let key = GroupMetadataKey { group: id.clone() };
        let value = load::metadata(group).encode(GROUP_VALUE_VERSION);
        let (Ok(key), Ok(value)) = (key.encode(), value) else {
            return Err(ErrorCode::InvalidRequest);
        };
        let batch =
            offset_commit::new_batch(vec![NewRecord::new(now, Some(key), Some(value))], None);
        let batch = self
            .partition
            .append_records(CoordinatorAppend { batch, guard: None })?;
        self.follow(&batch);
        if let Some(group) = self.groups.get_mut(id) {
            group.record_offset = Some(batch.base_offset());
        }
        Ok(batch)
    }

    /// Brings the offsets to where a batch that was just appended takes them.
    fn follow(&mut self, batch: &RecordBatch) {
        let mut offsets = self.offsets.latest().clone();
        load::replay(batch, &mut offsets);
        self.offsets.push(batch.next_offset(), offsets);
    }

    fn follow_and_reply(
        &mut self,
        batch: RecordBatch,
        request: RequestId,
        answer: Answer,
    ) -> Vec<Effect> {
        self.follow(&batch);
        let reached = batch.next_offset();
        let mut effects = vec![Effect::Append(batch)];
        self.reply_at(reached, request, answer, &mut effects);
        effects
    }

    fn reply_at(
        &mut self,
        reached: Offset,
        request: RequestId,
        answer: Answer,
        effects: &mut Vec<Effect>,
    ) {
        if self.partition.high_watermark() >= reached {
            effects.push(Effect::Reply { request, answer });
        } else {
            self.waiting.insert((reached, request), answer);
        }
    }

    fn tick(&mut self, now: Timestamp) -> Vec<Effect> {
        let ticked = self.partition.step(partition::Input::Tick, now);
        let mut effects = storage(ticked);
        if self.serving().is_err() {
            return effects;
        }
        let config = self.config;
        let ids: Vec<GroupId> = self.groups.keys().cloned().collect();
        for id in ids {
            if let Some(group) = self.groups.get_mut(&id) {
                let turn = group.tick(&config, now);
                effects.extend(self.take(&id, turn, now));
            }
        }
        effects.extend(self.expire_offsets(now));
        effects
    }
}

fn reply((request, answer): Reply) -> Effect {
    Effect::Reply { request, answer }
}

/// What the partition asks of its storage. It asks nothing else here: its requests are the coordinator's.
fn storage(effects: Vec<partition::Effect>) -> Vec<Effect> {
    let own = |effect| match effect {
        partition::Effect::Append(batch) => Some(Effect::Append(batch)),
        partition::Effect::Truncate { to } => Some(Effect::Truncate { to }),
        partition::Effect::AskCoordinator { .. } | partition::Effect::Reply { .. } => None,
    };
    effects.into_iter().filter_map(own).collect()
}

/// A failed append, in words that a client of a group coordinator knows.
fn append_answer(code: ErrorCode) -> ErrorCode {
    match code {
        ErrorCode::UnknownTopicOrPartition
        | ErrorCode::NotEnoughReplicas
        | ErrorCode::NotEnoughReplicasAfterAppend
        | ErrorCode::RequestTimedOut => ErrorCode::CoordinatorNotAvailable,
        ErrorCode::NotLeaderOrFollower | ErrorCode::KafkaStorageError => ErrorCode::NotCoordinator,
        ErrorCode::MessageTooLarge | ErrorCode::RecordListTooLarge => ErrorCode::UnknownServerError,
        other => other,
    }
}
