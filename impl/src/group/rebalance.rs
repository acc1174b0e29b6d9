//! How a group gets its next generation: who is waited for, and what is chosen.

use super::gathering::Gathering;
use super::generation::{Group, GroupPhase, Member};
use super::membership::Turn;
use super::{Answer, GroupConfig};
use crate::error_code::ErrorCode;
use crate::types::{GenerationId, MemberId, Timestamp};

/// Why a group looks at its rebalance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// A member is new.
    MemberAdded,
    /// A member, or an id that was waited for, is gone.
    MemberLeft,
    /// A member joins again, time has passed, or the assignment is lost.
    Other,
}

impl Group {
    /// Begins a rebalance, or goes on with one, and ends it when everybody is there or time is up.
    pub(super) fn rebalance(&mut self, cause: Cause, config: &GroupConfig, now: Timestamp) -> Turn {
        let mut turn = Turn::default();
        let delay_ms = config.initial_rebalance_delay_ms;
        let begins = match self.phase {
            GroupPhase::PreparingRebalance => false,
            GroupPhase::Empty => {
                let longest = self.longest_rebalance_ms();
                self.gathering = Some(Gathering::begin(delay_ms, longest, now));
                true
            }
            GroupPhase::CompletingRebalance | GroupPhase::Stable => {
                self.gathering = None;
                true
            }
        };
        if begins {
            for member in self.members.values_mut() {
                if let Some(request) = member.syncing.take() {
                    turn = turn.reply(
                        request,
                        Answer::SyncGroup(Err(ErrorCode::RebalanceInProgress)),
                    );
                }
            }
            self.phase = GroupPhase::PreparingRebalance;
            self.rebalance_deadline = Some(now.plus_millis(self.longest_rebalance_ms()));
        }
        let is_late = self
            .rebalance_deadline
            .is_some_and(|deadline| now >= deadline);
        let all_here =
            self.pending.is_empty() && self.members.values().all(|member| member.joining.is_some());
        let ends = match &mut self.gathering {
            Some(gathering) => {
                if cause == Cause::MemberAdded && !begins {
                    gathering.add_member();
                }
                gathering.is_over(delay_ms, now) || (cause == Cause::MemberLeft && all_here)
            }
            None => is_late || all_here,
        };
        if ends {
            let rest = self.next_generation(now);
            turn.replies.extend(rest.replies);
            turn.record = rest.record;
        }
        turn
    }

    /// The next generation: of who has joined, and of static members, which keep their places until their sessions end.
    fn next_generation(&mut self, now: Timestamp) -> Turn {
        self.members
            .retain(|_, member| member.joining.is_some() || member.instance_id.is_some());
        let has_joined = |id: &MemberId| {
            let member = self.members.get(id);
            member.is_some_and(|member| member.joining.is_some())
        };
        let leads = self.leader.take().filter(has_joined);
        self.leader = leads.or_else(|| self.members.keys().find(|id| has_joined(id)).cloned());
        if self.leader.is_none() && !self.members.is_empty() {
            // Static members alone, and none of them has come: they are waited for once more.
            self.leader = self.members.keys().next().cloned();
            self.rebalance_deadline = Some(now.plus_millis(self.longest_rebalance_ms()));
            return Turn::default();
        }
        self.gathering = None;
        let next = self
            .generation
            .map_or(1, |it| it.get().wrapping_add(1).max(1));
        self.generation = Some(GenerationId::new(next));
        if self.members.is_empty() {
            self.phase = GroupPhase::Empty;
            self.protocol = None;
            self.rebalance_deadline = None;
            self.state_timestamp = Some(now);
            return Turn {
                replies: Vec::new(),
                record: Some(Vec::new()),
            };
        }
        self.phase = GroupPhase::CompletingRebalance;
        self.rebalance_deadline = Some(now.plus_millis(self.longest_rebalance_ms()));
        self.protocol = self.best_protocol();
        let mut turn = Turn::default();
        let ids: Vec<MemberId> = self.members.keys().cloned().collect();
        for id in ids {
            let joined = self.joined(&id);
            if let (Some(joined), Some(member)) = (joined, self.members.get_mut(&id)) {
                member.heard_from(now);
                // Not of a static member that was waited for in vain.
                if let Some(request) = member.joining.take() {
                    turn = turn.reply(request, Answer::JoinGroup(Ok(joined)));
                }
            }
        }
        turn
    }

    /// Of the protocols that all members know, the one that most of them like best; the first by name among equals.
    pub(super) fn best_protocol(&self) -> Option<String> {
        let first = self.members.values().next()?;
        let mut common: Vec<&String> = first
            .protocols
            .iter()
            .map(|(name, _)| name)
            .filter(|name| self.members.values().all(|member| member.knows(name)))
            .collect();
        common.sort();
        let votes = |candidate: &String| {
            let likes_best = |member: &&Member| {
                let mut known = member.protocols.iter().map(|(name, _)| name);
                known.find(|name| common.contains(name)) == Some(candidate)
            };
            self.members.values().filter(likes_best).count()
        };
        let best = common
            .iter()
            .rev()
            .max_by_key(|candidate| votes(candidate))?;
        Some((*best).clone())
    }

    fn longest_rebalance_ms(&self) -> i64 {
        let timeouts = self.members.values().map(|it| it.rebalance_timeout_ms);
        i64::from(timeouts.max().unwrap_or(0))
    }
}
