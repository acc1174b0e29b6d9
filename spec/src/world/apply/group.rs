//! What happens to the group and its offsets.

use super::{State, World, spending};
use crate::fault::Fault;
use crate::group::Group;
use crate::step::{Out, Step};
use crate::types::ProducerIndex;

impl World {
    /// The oldest marker that is only in the log is applied.
    pub(super) fn materialise(&self, state: &mut State, out: &mut Out) -> Step {
        let ctx = self.context(state.version);
        with_group(state, |group| group.materialise(&ctx, out))
    }

    /// A rebalance begins.
    pub(super) fn prepare_rebalance(&self, state: &mut State) -> Step {
        spending(state, Fault::Rebalance, |state| {
            with_group(state, Group::prepare_rebalance)
        })
    }

    /// A rebalance ends: `member` owns the input.
    pub(super) fn complete_rebalance(&self, state: &mut State, member: ProducerIndex) -> Step {
        with_group(state, |group| group.complete_rebalance(member))
    }

    /// The owner's session ends, and a rebalance begins.
    pub(super) fn expire_member(&self, state: &mut State) -> Step {
        spending(state, Fault::MemberExpiry, |state| {
            with_group(state, Group::expire_member)
        })
    }

    /// `member` takes over the owner's instance id.
    pub(super) fn replace_static_member(&self, state: &mut State, member: ProducerIndex) -> Step {
        spending(state, Fault::StaticReplacement, |state| {
            with_group(state, |group| group.replace_static_member(member))
        })
    }

    /// The group's offsets expire.
    pub(super) fn expire_offsets(&self, state: &mut State) -> Step {
        spending(state, Fault::OffsetExpiry, |state| {
            with_group(state, |group| group.expire_offsets(&self.rules.group))
        })
    }
}

fn with_group(state: &mut State, step: impl FnOnce(&mut Group) -> Step) -> Step {
    match state.group.as_mut() {
        Some(group) => step(group),
        None => Step::NotEnabled,
    }
}
