//! From a finished search to its outcome.

use super::hits::FirstHits;
use super::{Search, Task, Ways};
use crate::model::SearchModel;
use crate::observer::Observer;
use crate::outcome::{Hit, HitPlace, Outcome, Reason, collision_probability};
use crate::path_hits::Hits;
use crate::trace::Trace;

impl<M: SearchModel, O: Observer<M>> Search<'_, M, O> {
    pub(super) fn finish(mut self, stopped: Option<Reason>) -> (Outcome<M::State, M::Action>, O) {
        if !self.next.is_empty() {
            // The run stopped within a level: what it found of the next one counts as a level.
            self.levels.push(self.next.len() as u64);
        }
        let seconds = self.limits.elapsed().as_secs_f64();
        let (violated, reached) = self.hits();
        let properties = self.task.checks.property_names();
        let witnesses = self.task.checks.witness_names();
        let Task { model, checks } = self.task;
        let violations = self.replay(&violated, properties, |state, bit, place| match place {
            HitPlace::State => checks.violated(model, state) >> bit & 1 == 1,
            HitPlace::Terminal => {
                checks.terminal(model, state) >> bit & 1 == 1 && model.next_states(state).is_empty()
            }
        });
        let witnesses = self.replay(&reached, witnesses, |state, bit, _| {
            checks.reached(model, state) >> bit & 1 == 1
        });
        let ways = self.ways();
        let reproducible = violations.is_some() && witnesses.is_some() && ways.is_some();
        let distinct = self.links.len() as u64;
        let outside_boundary = self.sum(|worker| worker.outside_boundary);
        let outcome = Outcome {
            distinct,
            generated: self.sum(|worker| worker.generated),
            depth: self.levels.len() as u32,
            digest: self.visited.digest(),
            terminal: self.sum(|worker| worker.terminal),
            deadlocks: self.sum(|worker| worker.deadlocks),
            outside_boundary,
            seconds,
            peak_frontier: self.peak_frontier,
            bytes_per_state: self.memory() as f64 / distinct.max(1) as f64,
            collision_probability: collision_probability(distinct),
            incomplete: [
                (!reproducible).then_some(Reason::NotReproducible),
                stopped,
                self.workers
                    .iter()
                    .any(|worker| worker.too_many_actions)
                    .then_some(Reason::TooManyActions),
                (outside_boundary > 0).then_some(Reason::Boundary),
            ]
            .into_iter()
            .flatten()
            .next(),
            violations: violations.unwrap_or_default(),
            ways: ways.unwrap_or_default(),
            witnesses: witnesses.unwrap_or_default(),
            levels: self.levels,
        };
        let mut observers = self.workers.into_iter().map(|worker| worker.observer);
        let mut observer = observers.next().expect("a search has a worker");
        observers.for_each(|other| observer.join(other));
        (outcome, observer)
    }

    pub(super) fn sum(&self, count: impl Fn(&super::Worker<M, O>) -> u64) -> u64 {
        self.workers.iter().map(count).sum()
    }

    pub(super) fn hits(&self) -> (FirstHits, FirstHits) {
        let (mut violated, mut reached) = (FirstHits::new(), FirstHits::new());
        for worker in &self.workers {
            violated.merge(&worker.violated);
            reached.merge(&worker.reached);
        }
        (violated, reached)
    }

    /// What all workers have seen of the ways in which properties are broken.
    pub(super) fn seen_ways(&self) -> Ways {
        let mut seen = Ways::default();
        for worker in &self.workers {
            seen.merge(&worker.ways);
        }
        seen
    }

    /// The first hit of each way in which a property is broken, by bit and way; `None` when the model does not
    /// replay one.
    fn ways(&self) -> Option<Hits<M>> {
        let Task { model, checks } = self.task;
        let trace_to = |state| {
            let (initial, actions) = self.links.path(state);
            let positions = actions.iter().copied().map(usize::from);
            let trace = Trace::from_positions(model, initial as usize, positions).ok()?;
            Some((trace, actions.last().copied()))
        };
        let way_of = |state| {
            let (trace, last) = trace_to(state)?;
            let before = trace.states.len().checked_sub(2)?;
            checks.way(model, &trace.states[before], last?)
        };
        let hits = self.seen_ways().all(way_of);
        hits.into_iter()
            .map(|((bit, _), (state, place))| {
                let (trace, _) = trace_to(state)?;
                Some(Hit {
                    bit,
                    name: checks.property_names()[bit as usize].clone(),
                    place,
                    trace,
                })
            })
            .collect()
    }

    /// The hits with their traces; `None` when a trace does not lead where it led during the search.
    fn replay(
        &self,
        hits: &FirstHits,
        names: &[String],
        is_hit: impl Fn(&M::State, u32, HitPlace) -> bool,
    ) -> Option<Hits<M>> {
        hits.iter()
            .map(|(bit, state, place)| {
                let (initial, actions) = self.links.path(state);
                let positions = actions.into_iter().map(usize::from);
                let model = self.task.model;
                let trace = Trace::from_positions(model, initial as usize, positions).ok()?;
                is_hit(trace.last()?, bit, place).then_some(Hit {
                    bit,
                    name: names[bit as usize].clone(),
                    place,
                    trace,
                })
            })
            .collect()
    }
}
