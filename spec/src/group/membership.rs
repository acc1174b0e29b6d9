//! Membership: who may stage the offsets of the input beside its owner.
//!
//! SOURCE: the classic group protocol; KIP-345 (static members); KIP-447.

use super::{Group, GroupState};
use crate::step::Step;
use crate::types::ProducerIndex;
use serde::{Deserialize, Serialize};

/// Members, by the producer behind each.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct MemberSet(u8);

impl MemberSet {
    /// Whether it holds this member.
    pub fn contains(self, member: ProducerIndex) -> bool {
        self.0 & (1 << member.0) != 0
    }

    /// The same with this member.
    pub fn with(self, member: ProducerIndex) -> Self {
        Self(self.0 | 1 << member.0)
    }

    /// The same without this member.
    pub fn without(self, member: ProducerIndex) -> Self {
        Self(self.0 & !(1 << member.0))
    }
}

impl Group {
    /// The session of the owner ends: it is no member any more, and a rebalance begins.
    pub fn expire_member(&mut self) -> Step {
        if !self.members.contains(self.member) {
            return Step::NotEnabled;
        }
        self.members = self.members.without(self.member);
        self.state = GroupState::PreparingRebalance;
        Step::Handled
    }

    /// A member takes over the owner's instance id and with it the input, without a rebalance: the
    /// generation stays.
    pub fn replace_static_member(&mut self, member: ProducerIndex) -> Step {
        let owns = self.members.contains(self.member) && self.member != member;
        if !owns || self.state != GroupState::Stable {
            return Step::NotEnabled;
        }
        self.members = self.members.without(self.member).with(member);
        self.replaced = self.replaced.with(self.member).without(member);
        self.member = member;
        Step::Handled
    }
}
