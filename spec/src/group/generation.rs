//! Generations: a rebalance takes the input from one member and gives it to another.
//!
//! SOURCE: the classic group protocol; KIP-447.

use super::{Group, GroupState};
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
}
