//! JoinGroup, SyncGroup, Heartbeat and LeaveGroup: how a group gets from one generation to the next.
//!
//! Everything here decides on one group and says what to answer; appending the group's record is the coordinator's part.

use bytes::Bytes;

use super::generation::{Group, GroupPhase, Member};
use super::rebalance::Cause;
use super::{
    Answer, GroupConfig, Heartbeat, JoinGroup, Joined, JoinedMember, LeaveGroup, NotJoined,
    SyncGroup,
};
use crate::error_code::ErrorCode;
use crate::types::{MemberId, RequestId, Timestamp};

/// An answer on its way.
pub(super) type Reply = (RequestId, Answer);

/// What a decision leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Turn {
    /// Answers to give at once.
    pub(super) replies: Vec<Reply>,
    /// Whether the group's record must be written, and the answers that wait for it.
    pub(super) record: Option<Vec<Reply>>,
}

impl Turn {
    pub(super) fn reply(mut self, request: RequestId, answer: Answer) -> Self {
        self.replies.push((request, answer));
        self
    }
}

impl Group {
    pub(super) fn join(&mut self, join: &JoinGroup, config: &GroupConfig, now: Timestamp) -> Turn {
        match self.admit(join, config) {
            Err(code) => {
                Turn::default().reply(join.request, not_joined(code, join.member_id.clone()))
            }
            Ok(Admitted::GiveId) => {
                let deadline = now.plus_millis(i64::from(join.session_timeout_ms));
                self.pending.insert(join.fresh_member_id.clone(), deadline);
                Turn::default().reply(
                    join.request,
                    not_joined(ErrorCode::MemberIdRequired, join.fresh_member_id.clone()),
                )
            }
            Ok(Admitted::New(id)) => {
                self.pending.remove(&id);
                self.protocol_type.clone_from(&join.protocol_type);
                // The first to join leads.
                self.leader.get_or_insert_with(|| id.clone());
                self.members.insert(id, member(join, now));
                self.rebalance(Cause::MemberAdded, config, now)
            }
            Ok(Admitted::Replaces(old)) => self.replace(&old, join, config, now),
            Ok(Admitted::Known(id)) => self.rejoin(&id, join, config, now),
        }
    }

    fn admit(&self, join: &JoinGroup, config: &GroupConfig) -> Result<Admitted, ErrorCode> {
        let allowed = config.min_session_timeout_ms..=config.max_session_timeout_ms;
        if !allowed.contains(&join.session_timeout_ms) {
            return Err(ErrorCode::InvalidSessionTimeout);
        }
        if !self.understands(join) {
            return Err(ErrorCode::InconsistentGroupProtocol);
        }
        let holder = join.instance_id.as_ref().map(|id| self.static_member(id));
        if join.member_id.as_str().is_empty() {
            return Ok(match holder {
                Some(Some(old)) => Admitted::Replaces(old.clone()),
                Some(None) => Admitted::New(join.fresh_member_id.clone()),
                None if join.require_known_member_id => Admitted::GiveId,
                None => Admitted::New(join.fresh_member_id.clone()),
            });
        }
        if self.pending.contains_key(&join.member_id) {
            return Ok(Admitted::New(join.member_id.clone()));
        }
        self.check_member(&join.member_id, join.instance_id.as_ref())?;
        Ok(Admitted::Known(join.member_id.clone()))
    }

    /// Whether the member is of the group's kind and shares a protocol with all members. As in Kafka 4.4, a member counts
    /// as it is now: it cannot leave behind the only protocol that all know.
    fn understands(&self, join: &JoinGroup) -> bool {
        if join.protocol_type.is_empty() || join.protocols.is_empty() {
            return false;
        }
        let known_to_all = |name: &str| self.members.values().all(|member| member.knows(name));
        self.members.is_empty()
            || (self.protocol_type == join.protocol_type
                && join.protocols.iter().any(|(name, _)| known_to_all(name)))
    }

    /// A static member that has restarted takes the place of its predecessor, and its assignment. In a stable group that
    /// would choose the same protocol the generation stays, and the new member is told who led before: it is not to
    /// assign anything. KIP-345.
    fn replace(
        &mut self,
        old: &MemberId,
        join: &JoinGroup,
        config: &GroupConfig,
        now: Timestamp,
    ) -> Turn {
        let id = join.fresh_member_id.clone();
        let assignment = self.members.get(old).map(|it| it.assignment.clone());
        let leader = self.leader.clone();
        let mut turn = self.dismiss(old, ErrorCode::FencedInstanceId);
        let mut replacement = member(join, now);
        replacement.assignment = assignment.unwrap_or_default();
        self.members.insert(id.clone(), replacement);
        if leader.as_ref() == Some(old) {
            self.leader = Some(id.clone());
        }
        let stays = self.phase == GroupPhase::Stable && self.best_protocol() == self.protocol;
        if let (true, Some(joined), Some(leader)) = (stays, self.joined(&id), leader) {
            if let Some(member) = self.members.get_mut(&id) {
                member.joining = None;
            }
            let joined = Joined {
                leader,
                members: Vec::new(),
                ..joined
            };
            turn.record = Some(vec![(join.request, Answer::JoinGroup(Ok(joined)))]);
            return turn;
        }
        let rest = self.rebalance(Cause::Other, config, now);
        turn.replies.extend(rest.replies);
        Turn {
            record: rest.record,
            ..turn
        }
    }

    /// A member joins again. Where nothing has changed, its last answer was lost and is given again.
    fn rejoin(
        &mut self,
        id: &MemberId,
        join: &JoinGroup,
        config: &GroupConfig,
        now: Timestamp,
    ) -> Turn {
        let unchanged = self
            .members
            .get(id)
            .is_some_and(|member| member.protocols == join.protocols);
        let is_leader = self.leader.as_ref() == Some(id);
        let again = match self.phase {
            GroupPhase::Empty | GroupPhase::PreparingRebalance => false,
            GroupPhase::CompletingRebalance => unchanged,
            // A leader that joins again wants to assign again.
            GroupPhase::Stable => unchanged && !is_leader,
        };
        if again && let Some(joined) = self.joined(id) {
            self.heard_from(id, now);
            return Turn::default().reply(join.request, Answer::JoinGroup(Ok(joined)));
        }
        let assignment = self.members.get(id).map(|it| it.assignment.clone());
        let earlier = self.members.get(id).and_then(|it| it.joining);
        let mut turn = Turn::default();
        if let Some(earlier) = earlier.filter(|earlier| *earlier != join.request) {
            turn = turn.reply(
                earlier,
                not_joined(ErrorCode::RebalanceInProgress, id.clone()),
            );
        }
        let mut updated = member(join, now);
        updated.assignment = assignment.unwrap_or_default();
        updated.syncing = self.members.get(id).and_then(|it| it.syncing);
        self.members.insert(id.clone(), updated);
        let rest = self.rebalance(Cause::Other, config, now);
        turn.replies.extend(rest.replies);
        Turn {
            record: rest.record,
            ..turn
        }
    }

    pub(super) fn sync(&mut self, sync: &SyncGroup, now: Timestamp) -> Turn {
        let checked = self
            .check_generation(
                &sync.member_id,
                sync.instance_id.as_ref(),
                Some(sync.generation),
            )
            .and(match self.phase {
                GroupPhase::Empty => Err(ErrorCode::UnknownMemberId),
                GroupPhase::PreparingRebalance => Err(ErrorCode::RebalanceInProgress),
                GroupPhase::CompletingRebalance | GroupPhase::Stable => Ok(()),
            });
        if let Err(code) = checked {
            return Turn::default().reply(sync.request, Answer::SyncGroup(Err(code)));
        }
        self.heard_from(&sync.member_id, now);
        let Some(member) = self.members.get_mut(&sync.member_id) else {
            return Turn::default();
        };
        if self.phase == GroupPhase::Stable {
            let assignment = member.assignment.clone();
            return Turn::default().reply(sync.request, Answer::SyncGroup(Ok(assignment)));
        }
        let earlier = member.syncing.replace(sync.request);
        let mut turn = Turn::default();
        if let Some(earlier) = earlier.filter(|earlier| *earlier != sync.request) {
            turn = turn.reply(
                earlier,
                Answer::SyncGroup(Err(ErrorCode::RebalanceInProgress)),
            );
        }
        if self.leader.as_ref() == Some(&sync.member_id) {
            turn.record = Some(self.assign(&sync.assignments, now));
        }
        turn
    }

    /// The leader has assigned: everybody who waits is told, once the group's record is written.
    fn assign(&mut self, assignments: &[(MemberId, Bytes)], now: Timestamp) -> Vec<Reply> {
        self.phase = GroupPhase::Stable;
        self.rebalance_deadline = None;
        self.state_timestamp = Some(now);
        let mut replies = Vec::new();
        for (id, member) in &mut self.members {
            let given = assignments.iter().find(|(to, _)| to == id);
            member.assignment = given.map_or_else(Bytes::new, |(_, bytes)| bytes.clone());
            if let Some(request) = member.syncing.take() {
                member.heard_from(now);
                replies.push((request, Answer::SyncGroup(Ok(member.assignment.clone()))));
            }
        }
        replies
    }

    pub(super) fn heartbeat(&mut self, beat: &Heartbeat, now: Timestamp) -> Turn {
        let checked = self
            .check_generation(
                &beat.member_id,
                beat.instance_id.as_ref(),
                Some(beat.generation),
            )
            .and_then(|()| {
                self.heard_from(&beat.member_id, now);
                match self.phase {
                    GroupPhase::Empty => Err(ErrorCode::UnknownMemberId),
                    GroupPhase::PreparingRebalance => Err(ErrorCode::RebalanceInProgress),
                    GroupPhase::CompletingRebalance | GroupPhase::Stable => Ok(()),
                }
            });
        Turn::default().reply(beat.request, Answer::Heartbeat(checked))
    }

    pub(super) fn leave(
        &mut self,
        leave: &LeaveGroup,
        config: &GroupConfig,
        now: Timestamp,
    ) -> Turn {
        let answer = |result| (leave.request, Answer::LeaveGroup(result));
        let mut turn = Turn::default();
        if self.pending.remove(&leave.member_id).is_none() {
            if let Err(code) = self.check_member(&leave.member_id, leave.instance_id.as_ref()) {
                turn.replies.push(answer(Err(code)));
                return turn;
            }
            turn = self.dismiss(&leave.member_id, ErrorCode::UnknownMemberId);
        }
        turn.replies.push(answer(Ok(())));
        let rest = if self.phase == GroupPhase::Empty {
            Turn::default()
        } else {
            self.rebalance(Cause::MemberLeft, config, now)
        };
        turn.replies.extend(rest.replies);
        Turn {
            record: rest.record,
            ..turn
        }
    }

    /// Drops who was silent for too long, and ends what has waited long enough.
    pub(super) fn tick(&mut self, config: &GroupConfig, now: Timestamp) -> Turn {
        let awaited = self.pending.len();
        self.pending.retain(|_, deadline| *deadline > now);
        let fewer_awaited = self.pending.len() < awaited;
        let is_late = self
            .rebalance_deadline
            .is_some_and(|deadline| now >= deadline);
        let gone: Vec<MemberId> = self
            .members
            .iter()
            .filter(|(_, member)| {
                let waits = member.joining.is_some() || member.syncing.is_some();
                let never_synced = self.phase == GroupPhase::CompletingRebalance && is_late;
                !waits && (never_synced || now >= member.session_deadline)
            })
            .map(|(id, _)| id.clone())
            .collect();
        let mut turn = Turn::default();
        for id in &gone {
            turn.replies
                .extend(self.dismiss(id, ErrorCode::UnknownMemberId).replies);
        }
        let unsettled = match self.phase {
            GroupPhase::PreparingRebalance => true,
            GroupPhase::CompletingRebalance => is_late || !gone.is_empty(),
            GroupPhase::Stable => !gone.is_empty(),
            GroupPhase::Empty => false,
        };
        if unsettled {
            let cause = if fewer_awaited || !gone.is_empty() {
                Cause::MemberLeft
            } else {
                Cause::Other
            };
            let rest = self.rebalance(cause, config, now);
            turn.replies.extend(rest.replies);
            turn.record = rest.record;
        }
        turn
    }

    /// What a member of the current generation is told.
    pub(super) fn joined(&self, id: &MemberId) -> Option<Joined> {
        let leader = self.leader.clone()?;
        let protocol = self.protocol.clone()?;
        let everybody = || {
            let told = |(id, member): (&MemberId, &Member)| JoinedMember {
                member_id: id.clone(),
                instance_id: member.instance_id.clone(),
                subscription: member.subscription(&protocol),
            };
            self.members.iter().map(told).collect()
        };
        Some(Joined {
            generation: self.generation?,
            members: if leader == *id {
                everybody()
            } else {
                Vec::new()
            },
            protocol: protocol.clone(),
            leader,
            member_id: id.clone(),
        })
    }

    /// Takes a member out and refuses what it waits for. Where it led, another one does.
    fn dismiss(&mut self, id: &MemberId, code: ErrorCode) -> Turn {
        let mut turn = Turn::default();
        if let Some(member) = self.members.remove(id) {
            if let Some(request) = member.joining {
                turn = turn.reply(request, not_joined(code, id.clone()));
            }
            if let Some(request) = member.syncing {
                turn = turn.reply(request, Answer::SyncGroup(Err(code)));
            }
            if self.leader.as_ref() == Some(id) {
                self.leader = self.members.keys().next().cloned();
            }
        }
        turn
    }

    /// Refuses everything that members wait for.
    pub(super) fn dismiss_all(&mut self, code: ErrorCode) -> Vec<Reply> {
        let ids: Vec<MemberId> = self.members.keys().cloned().collect();
        ids.iter()
            .flat_map(|id| self.dismiss(id, code).replies)
            .collect()
    }
}

/// What kind of member joins.
enum Admitted {
    /// One that must come again with the id that it is given.
    GiveId,
    /// A new one, with this id.
    New(MemberId),
    /// A static member that has restarted and takes the place of this id.
    Replaces(MemberId),
    /// One that is here already.
    Known(MemberId),
}

fn member(join: &JoinGroup, now: Timestamp) -> Member {
    Member {
        instance_id: join.instance_id.clone(),
        client_id: join.client_id.clone(),
        client_host: join.client_host.clone(),
        session_timeout_ms: join.session_timeout_ms,
        rebalance_timeout_ms: join.rebalance_timeout_ms,
        protocols: join.protocols.clone(),
        assignment: Bytes::new(),
        session_deadline: now.plus_millis(i64::from(join.session_timeout_ms)),
        joining: Some(join.request),
        syncing: None,
    }
}

pub(super) fn not_joined(code: ErrorCode, member_id: MemberId) -> Answer {
    Answer::JoinGroup(Err(NotJoined { code, member_id }))
}
