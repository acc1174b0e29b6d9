//! How a group gets its next generation: who is waited for, and what is chosen.

use super::generation::{Group, GroupPhase, Member};
use super::membership::Turn;
use super::{Answer, GroupConfig};
use crate::error_code::ErrorCode;
use crate::types::{GenerationId, MemberId, Timestamp};

impl Group {
    /// Begins a rebalance, or goes on with one, and ends it when everybody is there or time is up.
    pub(super) fn rebalance(&mut self, config: &GroupConfig, now: Timestamp) -> Turn {
        let mut turn = Turn::default();
        let begins = match self.phase {
            GroupPhase::PreparingRebalance => false,
            GroupPhase::Empty => {
                self.not_before = Some(now.plus_millis(config.initial_rebalance_delay_ms));
                true
            }
            GroupPhase::CompletingRebalance | GroupPhase::Stable => {
                self.not_before = None;
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
        let is_early = self.not_before.is_some_and(|start| now < start);
        let all_here =
            self.pending.is_empty() && self.members.values().all(|member| member.joining.is_some());
        if is_late || (all_here && !is_early) {
            let rest = self.next_generation(now);
            turn.replies.extend(rest.replies);
            turn.record = rest.record;
        }
        turn
    }

    fn next_generation(&mut self, now: Timestamp) -> Turn {
        self.members.retain(|_, member| member.joining.is_some());
        self.pending.clear();
        self.not_before = None;
        let next = self
            .generation
            .map_or(1, |it| it.get().wrapping_add(1).max(1));
        self.generation = Some(GenerationId::new(next));
        if self.members.is_empty() {
            self.phase = GroupPhase::Empty;
            self.protocol = None;
            self.leader = None;
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
        let stays = self
            .leader
            .take()
            .filter(|leader| self.members.contains_key(leader));
        self.leader = stays.or_else(|| self.members.keys().next().cloned());
        let mut turn = Turn::default();
        let ids: Vec<MemberId> = self.members.keys().cloned().collect();
        for id in ids {
            let joined = self.joined(&id);
            if let (Some(joined), Some(member)) = (joined, self.members.get_mut(&id)) {
                member.heard_from(now);
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
