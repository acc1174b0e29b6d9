//! Membership of the group: the requests that members would send, made by the harness where the model says that a
//! rebalance begins or ends, or that a member goes.
//!
//! Beside the producers there are two members that never own the input. The model's rebalances begin and end in steps of
//! their own: one of the two begins them, and the other one, which is the last to join again, holds them open.

use super::production::Excluded;
use super::{Difference, Offsets};
use crate::map::{GROUP, Unmapped};
use bytes::Bytes;
use fencepost::group::{
    Effect, Group as ImplGroup, GroupPhase, Heartbeat, Input, JoinGroup, MemberIdentity, SyncGroup,
};
use fencepost::types::{GenerationId, GroupId, GroupInstanceId, MemberId, RequestId, Timestamp};
use fencepost_spec::group::{Group, GroupState, MemberSet};
use fencepost_spec::message::GroupMember;
use fencepost_spec::types::{Generation, ProducerIndex};

/// Whom the model has for somebody who is no member.
const STRANGER: ProducerIndex = ProducerIndex(7);

/// What the owner of the input is assigned.
const INPUT: &[u8] = b"input";

/// Its answers are nobody's but the harness's: no token is ever so large.
pub(super) const REQUEST: RequestId = RequestId(u64::MAX);

/// The members that a producer can be; whoever else is no member.
const MEMBERS: [&str; 3] = ["member-0", "member-1", "member-of-another-group"];

/// The producers that can be members.
const PRODUCERS: [ProducerIndex; 2] = [ProducerIndex(0), ProducerIndex(1)];

/// The member that leads, and begins the model's rebalances.
const LEADER: &str = "a-leader";

/// The member that is the last to join again.
const KEEPER: &str = "b-keeper";

/// How long the group waits for its first members.
pub(super) const INITIAL_REBALANCE_DELAY_MS: i64 = 1_000;

/// How long a producer may be silent.
const SESSION_MS: i32 = 10_000;

/// How long the other two may.
const LONG_SESSION_MS: i32 = 1_800_000;

/// Whose instance id each producer has, where members are static. A producer that takes another one's has that.
pub(super) type Instances = [Option<u8>; 2];

/// Who is in the group and who owns the input, as the model says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Membership {
    pub(super) state: GroupState,
    pub(super) generation: Generation,
    pub(super) owner: ProducerIndex,
    members: MemberSet,
    replaced: MemberSet,
}

impl Membership {
    /// The start of the model's group, where nobody has joined.
    fn of_nobody() -> Self {
        let Group {
            state,
            generation,
            member,
            members,
            replaced,
            ..
        } = Group::default();
        Self {
            state,
            generation,
            owner: member,
            members,
            replaced,
        }
    }

    /// The group with these members.
    pub(super) fn of(self, group: Group) -> Group {
        Group {
            state: self.state,
            generation: self.generation,
            member: self.owner,
            members: self.members,
            replaced: self.replaced,
            ..group
        }
    }
}

/// The member that a producer is.
pub(super) fn member_name(producer: ProducerIndex) -> &'static str {
    MEMBERS[usize::from(producer.0).min(MEMBERS.len() - 1)]
}

fn member_id(producer: ProducerIndex) -> MemberId {
    MemberId::new(member_name(producer))
}

fn instance_id(instance: u8) -> GroupInstanceId {
    GroupInstanceId::new(&format!("instance-{instance}"))
}

/// The same in the model's words.
pub(super) fn spec_member(member: &MemberIdentity) -> Result<Option<GroupMember>, Unmapped> {
    spec_member_of(member.generation, &member.member_id)
}

/// The same of a generation and a member's id.
pub(super) fn spec_member_of(
    generation: Option<GenerationId>,
    member_id: &MemberId,
) -> Result<Option<GroupMember>, Unmapped> {
    let Some(generation) = generation else {
        return Ok(None);
    };
    let unmapped = || Unmapped::new("member", member_id);
    let number = u8::try_from(generation.get()).map_err(|_| unmapped())?;
    let mut known = MEMBERS.iter();
    let at = known.position(|id| *id == member_id.as_str());
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
    /// The same with a group in its first generation, in which the first producer owns the input. Where members are
    /// static, each producer has an instance id of its own.
    pub(super) fn with_members(mut self, are_static: bool) -> Result<Self, Difference> {
        if are_static {
            self.instances = [Some(0), Some(1)];
        }
        let first = PRODUCERS[0];
        self.join_helper(LEADER, false)?;
        self.join_helper(KEEPER, false)?;
        self.join(first, false)?;
        // Once more as long, because more than one has joined.
        self.tick_after(2 * INITIAL_REBALANCE_DELAY_MS)?;
        self.sync(first)?;
        Ok(self)
    }

    /// Who a committer says it is: nobody in the old form of the request.
    pub(super) fn member_identity(&self, member: Option<GroupMember>) -> MemberIdentity {
        match member {
            None => MemberIdentity::anonymous(),
            Some(member) => MemberIdentity {
                generation: Some(GenerationId::new(i32::from(member.generation.0))),
                member_id: member_id(member.id),
                instance_id: self.instance_of(member.id),
            },
        }
    }

    fn instance_of(&self, producer: ProducerIndex) -> Option<GroupInstanceId> {
        let instance = self.instances.get(usize::from(producer.0));
        instance.copied().flatten().map(instance_id)
    }

    /// A rebalance begins: the leader joins again.
    pub(super) fn prepare_rebalance(&mut self) -> Result<(), Difference> {
        self.join_helper(LEADER, true)
    }

    /// The rebalance ends: everybody is there, and this member is assigned the input.
    pub(super) fn complete_rebalance(&mut self, owner: ProducerIndex) -> Result<(), Difference> {
        let is_there = |offsets: &Self, id: &MemberId| {
            let group = offsets.group();
            let member = group.and_then(|group| group.members().get(id).cloned());
            member.map(|member| member.joining.is_some())
        };
        if is_there(self, &member_id(owner)).is_none() {
            self.join(owner, false)?;
        }
        for producer in PRODUCERS {
            if is_there(self, &member_id(producer)) == Some(false) {
                self.join(producer, true)?;
            }
        }
        for helper in [LEADER, KEEPER] {
            if is_there(self, &MemberId::new(helper)) == Some(false) {
                self.join_helper(helper, true)?;
            }
        }
        self.owner = owner;
        self.sync(owner)
    }

    /// The owner is not heard from for too long; whoever else is a member is.
    pub(super) fn expire_member(&mut self) -> Result<(), Difference> {
        let missing = || Difference::Missing("generation".to_owned());
        let group = self.group().ok_or_else(missing)?;
        let generation = group.generation().ok_or_else(missing)?;
        let owner = member_id(self.owner);
        let others = group.members().iter().filter(|(id, _)| **id != owner);
        let others: Vec<_> = others
            .map(|(id, member)| (id.clone(), member.instance_id.clone()))
            .collect();
        let later = SESSION_MS.into();
        for (member_id, instance_id) in others {
            let beat = Input::Heartbeat(Heartbeat {
                request: REQUEST,
                group: GroupId::new(GROUP),
                member_id,
                instance_id,
                generation,
            });
            self.member_step(beat, later)?;
        }
        self.tick_after(later)
    }

    /// A new process comes with the owner's instance id. None that is a member already has another one's.
    pub(super) fn replace_static_member(
        &mut self,
        member: ProducerIndex,
    ) -> Result<Option<Excluded>, Difference> {
        let is_member = self
            .group()
            .is_some_and(|group| group.members().contains_key(&member_id(member)));
        if is_member {
            return Ok(Some(Excluded {
                what: "member that takes over another one's instance id",
                reason: "a process has one instance id, and is no member before it joins with it",
            }));
        }
        let taken = self.instances.get(usize::from(self.owner.0)).copied();
        if let Some(instance) = self.instances.get_mut(usize::from(member.0)) {
            *instance = taken.flatten();
        }
        self.join(member, false)?;
        self.owner = member;
        Ok(None)
    }

    fn join(&mut self, producer: ProducerIndex, again: bool) -> Result<(), Difference> {
        let instance_id = self.instance_of(producer);
        self.join_as(member_name(producer), instance_id, SESSION_MS, again)
    }

    fn join_helper(&mut self, name: &str, again: bool) -> Result<(), Difference> {
        self.join_as(name, None, LONG_SESSION_MS, again)
    }

    fn join_as(
        &mut self,
        name: &str,
        instance_id: Option<GroupInstanceId>,
        session_timeout_ms: i32,
        again: bool,
    ) -> Result<(), Difference> {
        let join = Input::JoinGroup(JoinGroup {
            request: REQUEST,
            group: GroupId::new(GROUP),
            member_id: MemberId::new(if again { name } else { "" }),
            instance_id,
            fresh_member_id: MemberId::new(name),
            require_known_member_id: false,
            client_id: String::new(),
            client_host: String::new(),
            session_timeout_ms,
            rebalance_timeout_ms: LONG_SESSION_MS,
            protocol_type: "consumer".to_owned(),
            protocols: vec![("range".to_owned(), Bytes::new())],
        });
        self.member_step(join, 0)
    }

    /// Every member takes its assignment; the leader brings them along.
    fn sync(&mut self, owner: ProducerIndex) -> Result<(), Difference> {
        let missing = || Difference::Missing("generation".to_owned());
        let group = self.group().ok_or_else(missing)?;
        let generation = group.generation().ok_or_else(missing)?;
        let leader = group.leader().cloned();
        let members = group.members().iter();
        let mut members: Vec<_> = members
            .map(|(id, member)| (id.clone(), member.instance_id.clone()))
            .collect();
        members.sort_by_key(|(member, _)| Some(member) != leader.as_ref());
        for (member_id_of, instance_id) in members {
            let assignments = vec![(member_id(owner), Bytes::from_static(INPUT))];
            let sync = Input::SyncGroup(SyncGroup {
                request: REQUEST,
                group: GroupId::new(GROUP),
                instance_id,
                generation,
                assignments: if Some(&member_id_of) == leader.as_ref() {
                    assignments
                } else {
                    Vec::new()
                },
                member_id: member_id_of,
            });
            self.member_step(sync, 0)?;
        }
        Ok(())
    }

    fn tick_after(&mut self, millis: i64) -> Result<(), Difference> {
        self.member_step(Input::Tick, millis)
    }

    /// A request of a member's, whose answer only the harness hears, so much later than everything else.
    fn member_step(&mut self, input: Input, later_ms: i64) -> Result<(), Difference> {
        let now: Timestamp = super::offsets::now().plus_millis(later_ms);
        let mut effects = self.step_core(input, now);
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

    /// State, generation, owner of the input and members, as the model says them; the start of the model's group where
    /// nobody has joined.
    pub(super) fn membership(&self) -> Result<Membership, Difference> {
        let Some(group) = self.group() else {
            return Ok(Membership::of_nobody());
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
        let none = MemberSet::default().without(PRODUCERS[0]);
        let all = |is: &dyn Fn(ProducerIndex) -> bool| {
            let found = PRODUCERS.into_iter().filter(|producer| is(*producer));
            found.fold(none, MemberSet::with)
        };
        Ok(Membership {
            state,
            generation,
            // The model names a member that is gone as the last owner.
            owner: owner(group)?.unwrap_or(self.owner),
            members: all(&|producer| group.members().contains_key(&member_id(producer))),
            replaced: all(&|producer| {
                let instance = self.instance_of(producer);
                let holder = instance.and_then(|it| group.static_member(&it).cloned());
                holder.is_some_and(|holder| holder != member_id(producer))
            }),
        })
    }
}

fn owner(group: &ImplGroup) -> Result<Option<ProducerIndex>, Difference> {
    let mut owners = group
        .members()
        .iter()
        .filter(|(_, member)| &member.assignment[..] == INPUT)
        .map(|(id, _)| id);
    match (owners.next().map(MemberId::as_str), owners.next()) {
        (None, _) => Ok(None),
        (Some("member-0"), None) => Ok(Some(ProducerIndex(0))),
        (Some("member-1"), None) => Ok(Some(ProducerIndex(1))),
        (first, _) => Err(Unmapped::new("owner of the input", first).into()),
    }
}
