//! A classic consumer group: its members, its generation, and who may speak for it.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::gathering::Gathering;
use crate::error_code::ErrorCode;
use crate::types::{GenerationId, GroupInstanceId, MemberId, Offset, RequestId, Timestamp};

/// Who a committer says it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberIdentity {
    /// Its generation, if it names one.
    pub generation: Option<GenerationId>,
    /// Its member id; empty if it names none.
    pub member_id: MemberId,
    /// Its static id, if it has one.
    pub instance_id: Option<GroupInstanceId>,
}

impl MemberIdentity {
    /// A committer that names neither member nor generation.
    #[must_use]
    pub fn anonymous() -> Self {
        Self {
            generation: None,
            member_id: MemberId::new(""),
            instance_id: None,
        }
    }

    /// Whether it names neither member nor generation.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.generation.is_none()
            && self.member_id.as_str().is_empty()
            && self.instance_id.is_none()
    }
}

/// What a group is doing. A group that is dead is not there any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupPhase {
    /// It has no members.
    #[default]
    Empty,
    /// It waits for its members to join again.
    PreparingRebalance,
    /// Its members know the generation, and wait for the leader's assignment.
    CompletingRebalance,
    /// Its members have their assignment.
    Stable,
}

/// A member.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// Its static id.
    pub instance_id: Option<GroupInstanceId>,
    /// Its client's id.
    pub client_id: String,
    /// Its client's host.
    pub client_host: String,
    /// Milliseconds without a heartbeat after which it is dropped.
    pub session_timeout_ms: i32,
    /// Milliseconds that it may take to rejoin.
    pub rebalance_timeout_ms: i32,
    /// The protocols that it knows, best first, each with its subscription.
    pub protocols: Vec<(String, Bytes)>,
    /// What it is assigned.
    pub assignment: Bytes,
    /// When it counts as gone, unless it is heard from.
    pub session_deadline: Timestamp,
    /// Its JoinGroup request that waits for the generation.
    pub joining: Option<RequestId>,
    /// Its SyncGroup request that waits for the assignment.
    pub syncing: Option<RequestId>,
}

impl Member {
    pub(super) fn knows(&self, protocol: &str) -> bool {
        self.protocols.iter().any(|(name, _)| name == protocol)
    }

    pub(super) fn subscription(&self, protocol: &str) -> Bytes {
        let known = self.protocols.iter().find(|(name, _)| name == protocol);
        known.map_or_else(Bytes::new, |(_, subscription)| subscription.clone())
    }

    pub(super) fn heard_from(&mut self, now: Timestamp) {
        self.session_deadline = now.plus_millis(i64::from(self.session_timeout_ms));
    }
}

/// A group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Group {
    pub(super) phase: GroupPhase,
    /// None before the first generation.
    pub(super) generation: Option<GenerationId>,
    pub(super) protocol_type: String,
    /// The chosen protocol.
    pub(super) protocol: Option<String>,
    pub(super) leader: Option<MemberId>,
    pub(super) members: BTreeMap<MemberId, Member>,
    /// Ids that were given out to members that have not joined with them yet, and until when they are waited for.
    pub(super) pending: BTreeMap<MemberId, Timestamp>,
    /// While the group, which was empty, waits for more than its first member.
    pub(super) gathering: Option<Gathering>,
    /// While a rebalance is under way: who has not come by then is dropped.
    pub(super) rebalance_deadline: Option<Timestamp>,
    /// When the group last became empty or stable.
    pub(super) state_timestamp: Option<Timestamp>,
    /// Where its last record lies.
    pub(super) record_offset: Option<Offset>,
}

impl Group {
    /// What it is doing.
    #[must_use]
    pub fn phase(&self) -> GroupPhase {
        self.phase
    }

    /// Its generation; none before the first one.
    #[must_use]
    pub fn generation(&self) -> Option<GenerationId> {
        self.generation
    }

    /// Its leader.
    #[must_use]
    pub fn leader(&self) -> Option<&MemberId> {
        self.leader.as_ref()
    }

    /// Its members, by id.
    #[must_use]
    pub fn members(&self) -> &BTreeMap<MemberId, Member> {
        &self.members
    }

    /// The member that holds a static id.
    #[must_use]
    pub fn static_member(&self, instance_id: &GroupInstanceId) -> Option<&MemberId> {
        let holder = self
            .members
            .iter()
            .find(|(_, member)| member.instance_id.as_ref() == Some(instance_id));
        holder.map(|(id, _)| id)
    }

    /// Whether this is a member, and the one that holds its static id now.
    ///
    /// # Errors
    /// UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID.
    pub fn check_member(
        &self,
        member_id: &MemberId,
        instance_id: Option<&GroupInstanceId>,
    ) -> Result<(), ErrorCode> {
        if let Some(instance_id) = instance_id {
            let holder = self
                .static_member(instance_id)
                .ok_or(ErrorCode::UnknownMemberId)?;
            if holder != member_id {
                return Err(ErrorCode::FencedInstanceId);
            }
        }
        if self.members.contains_key(member_id) {
            Ok(())
        } else {
            Err(ErrorCode::UnknownMemberId)
        }
    }

    /// As [`Self::check_member`], and of the current generation.
    ///
    /// # Errors
    /// Those, and ILLEGAL_GENERATION.
    pub fn check_generation(
        &self,
        member_id: &MemberId,
        instance_id: Option<&GroupInstanceId>,
        generation: Option<GenerationId>,
    ) -> Result<(), ErrorCode> {
        self.check_member(member_id, instance_id)?;
        if generation == self.generation {
            Ok(())
        } else {
            Err(ErrorCode::IllegalGeneration)
        }
    }

    /// A sign of life.
    pub(super) fn heard_from(&mut self, member_id: &MemberId, now: Timestamp) {
        if let Some(member) = self.members.get_mut(member_id) {
            member.heard_from(now);
        }
    }
}

/// Whether this committer may move the group's offsets: anybody who names no generation while there are no members, and
/// otherwise members of the current generation.
///
/// # Errors
/// UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION.
pub fn may_commit(group: &Group, member: &MemberIdentity) -> Result<(), ErrorCode> {
    if member.generation.is_none() && group.phase == GroupPhase::Empty {
        return Ok(());
    }
    group.check_generation(
        &member.member_id,
        member.instance_id.as_ref(),
        member.generation,
    )
}
