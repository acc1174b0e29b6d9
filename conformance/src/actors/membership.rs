//! Membership of the group: the requests that members would send, made by the harness where the model says that a
//! rebalance begins or ends.

use super::{Difference, Offsets};
use crate::map::{GROUP, Unmapped};
use bytes::Bytes;
use fencepost::group::{
    Effect, Group as ImplGroup, GroupPhase, Input, JoinGroup, MemberIdentity, SyncGroup,
};
use fencepost::types::{GenerationId, GroupId, MemberId, RequestId};
use fencepost_spec::group::GroupState;
use fencepost_spec::message::GroupMember;
use fencepost_spec::types::{Generation, ProducerIndex};

/// Whom the model has for somebody who is no member.
const STRANGER: ProducerIndex = ProducerIndex(7);

/// What the owner of the input is assigned.
const INPUT: &[u8] = b"input";

/// Its answers are nobody's but the harness's: no token is ever so large.
const REQUEST: RequestId = RequestId(u64::MAX);

/// The members that a producer can be; whoever else is no member.
const MEMBERS: [&str; 3] = ["member-0", "member-1", "member-of-another-group"];

fn member_id(producer: ProducerIndex) -> MemberId {
    let at = usize::from(producer.0).min(MEMBERS.len() - 1);
    MemberId::new(MEMBERS[at])
}

/// Who a committer says it is: nobody in the old form of the request.
pub(super) fn member_identity(member: Option<GroupMember>) -> MemberIdentity {
    match member {
        None => MemberIdentity::anonymous(),
        Some(member) => MemberIdentity {
            generation: Some(GenerationId::new(i32::from(member.generation.0))),
            member_id: member_id(member.id),
            instance_id: None,
        },
    }
}

/// The same in the model's words.
pub(super) fn spec_member(member: &MemberIdentity) -> Result<Option<GroupMember>, Unmapped> {
    let Some(generation) = member.generation else {
        return Ok(None);
    };
    let unmapped = || Unmapped::new("member", member);
    let number = u8::try_from(generation.get()).map_err(|_| unmapped())?;
    let mut known = MEMBERS.iter();
    let at = known.position(|id| MemberId::new(id) == member.member_id);
    let id = match at.ok_or_else(unmapped)? {
        at if at + 1 == MEMBERS.len() => STRANGER,
        at => ProducerIndex(at as u8),
    };
    Ok(Some(GroupMember {
        id,
        generation: Generation(number),
    }))
}

impl Offsets {
    /// The same with a group in its first generation, whose one member is the first producer.
    pub(super) fn with_members(mut self) -> Result<Self, Difference> {
        let first = ProducerIndex(0);
        self.join(first, false)?;
        self.sync(first)?;
        Ok(self)
    }

    /// A rebalance begins: the other producer joins, and the owner of the input has yet to join again.
    pub(super) fn prepare_rebalance(&mut self) -> Result<(), Difference> {
        self.join(ProducerIndex(1), false)
    }

    /// The rebalance ends: everybody is there, and this member is assigned the input.
    pub(super) fn complete_rebalance(&mut self, owner: ProducerIndex) -> Result<(), Difference> {
        self.join(ProducerIndex(0), true)?;
        self.sync(owner)
    }

    fn join(&mut self, producer: ProducerIndex, again: bool) -> Result<(), Difference> {
        let id = member_id(producer);
        self.member_step(Input::JoinGroup(JoinGroup {
            request: REQUEST,
            group: GroupId::new(GROUP),
            member_id: if again { id.clone() } else { MemberId::new("") },
            instance_id: None,
            fresh_member_id: id,
            require_known_member_id: false,
            client_id: String::new(),
            client_host: String::new(),
            session_timeout_ms: 1_800_000,
            rebalance_timeout_ms: 1_800_000,
            protocol_type: "consumer".to_owned(),
            protocols: vec![("range".to_owned(), Bytes::new())],
        }))
    }

    /// Every member takes its assignment; the leader brings them along.
    fn sync(&mut self, owner: ProducerIndex) -> Result<(), Difference> {
        let missing = || Difference::Missing("generation".to_owned());
        let group = self.group().ok_or_else(missing)?;
        let generation = group.generation().ok_or_else(missing)?;
        let leader = group.leader().cloned();
        let mut members: Vec<MemberId> = group.members().keys().cloned().collect();
        members.sort_by_key(|member| Some(member) != leader.as_ref());
        for member in members {
            let assignments = vec![(member_id(owner), Bytes::from_static(INPUT))];
            self.member_step(Input::SyncGroup(SyncGroup {
                request: REQUEST,
                group: GroupId::new(GROUP),
                instance_id: None,
                generation,
                assignments: if Some(&member) == leader.as_ref() {
                    assignments
                } else {
                    Vec::new()
                },
                member_id: member,
            }))?;
        }
        Ok(())
    }

    /// A request of a member's, whose answer only the harness hears.
    fn member_step(&mut self, input: Input) -> Result<(), Difference> {
        let mut effects = self.step_core(input);
        effects.extend(self.replicate_core());
        for effect in effects {
            match effect {
                Effect::Append(_) | Effect::Truncate { .. } => {}
                Effect::Reply { request, .. } if request == REQUEST => {}
                Effect::Reply { .. } | Effect::AskCoordinator { .. } => {
                    return Err(Difference::effect("group", effect));
                }
            }
        }
        Ok(())
    }

    /// State, generation and owner of the input, as the model says them; the start of the model's group where nobody
    /// has joined.
    pub(super) fn membership(&self) -> Result<(GroupState, Generation, ProducerIndex), Difference> {
        let Some(group) = self.group() else {
            return Ok((GroupState::Stable, Generation(1), ProducerIndex(0)));
        };
        let state = match group.phase() {
            GroupPhase::Stable => GroupState::Stable,
            GroupPhase::PreparingRebalance => GroupState::PreparingRebalance,
            GroupPhase::Empty | GroupPhase::CompletingRebalance => {
                return Err(Unmapped::new("phase of the group", group.phase()).into());
            }
        };
        let number = group.generation().map_or(0, GenerationId::get);
        let generation = u8::try_from(number)
            .map(Generation)
            .map_err(|_| Unmapped::new("generation", number))?;
        Ok((state, generation, owner(group)?))
    }
}

fn owner(group: &ImplGroup) -> Result<ProducerIndex, Difference> {
    let mut owners = group
        .members()
        .iter()
        .filter(|(_, member)| &member.assignment[..] == INPUT)
        .map(|(id, _)| id);
    match (owners.next().map(MemberId::as_str), owners.next()) {
        (Some("member-0"), None) => Ok(ProducerIndex(0)),
        (Some("member-1"), None) => Ok(ProducerIndex(1)),
        (first, _) => Err(Unmapped::new("owner of the input", first).into()),
    }
}
