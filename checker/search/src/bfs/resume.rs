//! Between a search and its checkpoint.

use super::Search;
use super::hits::FirstHits;
use crate::links::Link;
use crate::model::SearchModel;
use crate::observer::Observer;
use crate::outcome::HitPlace;
use crate::storage::{LevelRecord, StorageError};

/// States derived again before they go to the frontier together.
const SEGMENT: usize = 4096;

impl<M: SearchModel, O: Observer<M>> Search<'_, M, O> {
    /// The level that is about to be expanded, and the totals up to now.
    pub(super) fn record_level(&self) -> LevelRecord {
        let (violated, reached) = self.hits();
        let first = self.links.len() - self.frontier.len();
        LevelRecord {
            generated: self.sum(|worker| worker.generated),
            terminal: self.sum(|worker| worker.terminal),
            deadlocks: self.sum(|worker| worker.deadlocks),
            outside_boundary: self.sum(|worker| worker.outside_boundary),
            peak_frontier: self.peak_frontier,
            too_many_actions: self.workers.iter().any(|worker| worker.too_many_actions),
            digest: self.visited.digest().bits(),
            violated: violated.iter().collect(),
            reached: reached.iter().collect(),
            ways: self.seen_ways(),
            links: (first..self.links.len())
                .map(|state| self.links.get(state))
                .collect(),
        }
    }

    /// Derives the levels of a checkpoint again, so that the search can go on from the last.
    pub(super) fn restore(&mut self, records: Vec<LevelRecord>) -> Result<(), StorageError> {
        if records.is_empty() {
            // Killed before the first level was written.
            return self.admit_initial_states();
        }
        for (done, record) in records.iter().enumerate() {
            let other_model = || StorageError::OtherModel { level: done + 1 };
            if done == 0 {
                self.admit_initial_states()?;
            } else {
                self.go_to_next_level()?;
                self.levels.push(self.frontier.len() as u64);
                self.derive(&record.links)?.ok_or_else(other_model)?;
            }
            if self.visited.digest().bits() != record.digest {
                return Err(other_model());
            }
        }
        if let Some(last) = records.last() {
            self.take_totals(last);
        }
        Ok(())
    }

    /// Derives the next level from the one in the frontier; `None` when the model does not give it.
    fn derive(&mut self, links: &[Link]) -> Result<Option<()>, StorageError> {
        let model = self.task.model;
        let mut states = Vec::new();
        let mut parent_position = 0;
        let mut enabled = Vec::new();
        let first = self.links.len() - self.frontier.len();
        for siblings in links.chunk_by(|left, right| left.parent == right.parent) {
            let Some(position) = (siblings[0].parent as usize).checked_sub(first) else {
                return Ok(None);
            };
            if position < parent_position || position - parent_position >= self.frontier.len() {
                return Ok(None);
            }
            self.frontier.skip_to(position - parent_position)?;
            parent_position = position;
            let Some((_, parent)) = self.frontier.iter_from(0).next() else {
                return Ok(None);
            };
            enabled.clear();
            model.actions(parent, &mut enabled);
            let mut actions = (0..=u16::MAX).zip(enabled.drain(..));
            for link in siblings {
                let action = actions.find(|(position, _)| *position == link.action);
                let Some(state) = action.and_then(|(_, action)| model.next_state(parent, action))
                else {
                    return Ok(None);
                };
                if !self.visited.insert(self.task.fingerprint(&state)) {
                    return Ok(None);
                }
                self.links.push(*link);
                states.push(state);
            }
            if states.len() >= SEGMENT {
                self.next.push(std::mem::take(&mut states).into())?;
            }
        }
        self.next.push(states.into())?;
        Ok(Some(()))
    }

    fn take_totals(&mut self, record: &LevelRecord) {
        let hits = |list: &[(u32, u32, HitPlace)]| {
            let mut hits = FirstHits::new();
            for (bit, state, place) in list {
                hits.record(1 << bit, *state, *place);
            }
            hits
        };
        let worker = &mut self.workers[0];
        worker.generated = record.generated;
        worker.terminal = record.terminal;
        worker.deadlocks = record.deadlocks;
        worker.outside_boundary = record.outside_boundary;
        worker.too_many_actions = record.too_many_actions;
        worker.violated = hits(&record.violated);
        worker.reached = hits(&record.reached);
        worker.ways = record.ways.clone();
        self.peak_frontier = record.peak_frontier;
    }
}
