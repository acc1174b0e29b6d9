//! Generations and membership: who owns the input, and who may still stage its offsets.
//!
//! SOURCE: the classic group protocol; KIP-345 (static members); KIP-447.

use super::{Group, GroupState};
use crate::rules::GroupRules;
use crate::step::Step;
use crate::types::*;

impl Group {
    /// A rebalance begins.
    pub fn prepare_rebalance(&mut self) -> Step {
        if self.state != GroupState::Stable {
            return Step::NotEnabled;
        }
        self.state = GroupState::PreparingRebalance;
        Step::Handled
    }

    /// The rebalance ends: the next generation, with the input at another member.
    pub fn complete_rebalance(&mut self, member: ProducerIndex) -> Step {
        if self.state != GroupState::PreparingRebalance {
            return Step::NotEnabled;
        }
        self.state = GroupState::Stable;
        self.generation = Generation(self.generation.0 + 1);
        self.member = member;
        self.members = self.members.with(member);
        Step::Handled
    }

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

    /// The group's offsets expire: only where nothing is staged (KAFKA-19163).
    pub fn expire_offsets(&mut self, rules: &GroupRules) -> Step {
        let idle = self.staged.is_empty() || !rules.staged_pin_group;
        if !idle || (self.staged.is_empty() && self.committed == Payload(0)) {
            return Step::NotEnabled;
        }
        self.committed = Payload(0);
        self.staged.clear();
        Step::Handled
    }
}
