//! The whole graph: states, steps, and the classes of each step.

use std::hash::Hash;

use super::Liveness;
use crate::fingerprint::{Digest, Fingerprint, FingerprintMap};
use crate::limits::Limits;
use crate::model::SearchModel;
use crate::options::{Options, Progress};
use crate::outcome::Reason;

/// A step to another state, or to the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) to: u32,
    /// The position of the action in the list that the model gives.
    pub(super) action: u16,
    /// The fairness classes of the action; none for a step to the same state.
    pub(super) classes: u64,
}

/// The explored graph. States are numbered in breadth-first order.
pub(super) struct Graph<S> {
    pub(super) states: Vec<S>,
    /// The position among the model's initial states, for each state that is one: the first states.
    pub(super) roots: Vec<u32>,
    /// Where the edges of each state begin; one more entry than states that were expanded.
    starts: Vec<usize>,
    edges: Vec<Edge>,
    /// Fairness classes enabled in each expanded state.
    enabled: Vec<u64>,
    pub(super) incomplete: Option<Reason>,
    pub(super) digest: Digest,
    /// Levels; the initial states are level 1.
    pub(super) depth: u32,
}

impl<S> Graph<S> {
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    pub(super) fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// States beyond this number were not expanded: what happens there is unknown.
    pub(super) fn expanded(&self) -> usize {
        self.enabled.len()
    }

    pub(super) fn edges(&self, state: u32) -> &[Edge] {
        let state = state as usize;
        match (self.starts.get(state), self.starts.get(state + 1)) {
            (Some(from), Some(to)) => &self.edges[*from..*to],
            _ => &[],
        }
    }

    /// The classes enabled in an expanded state.
    pub(super) fn enabled(&self, state: u32) -> u64 {
        self.enabled[state as usize]
    }
}

type Numbers = FingerprintMap<u32>;

impl<S> Graph<S> {
    /// Visits what is reachable, within the bounds.
    pub(super) fn explore<M: SearchModel<State = S>>(
        model: &M,
        liveness: &Liveness<M>,
        options: &Options,
        limits: &mut Limits<'_>,
    ) -> Self
    where
        S: Clone + Hash + Eq + Send + Sync,
    {
        let mut graph = Self {
            states: Vec::new(),
            roots: Vec::new(),
            starts: vec![0],
            edges: Vec::new(),
            enabled: Vec::new(),
            incomplete: None,
            digest: Digest::default(),
            depth: 0,
        };
        let mut numbers = Numbers::default();
        for (position, state) in (0..).zip(model.init_states()) {
            if !model.within_boundary(&state) {
                graph.incomplete = Some(Reason::Boundary);
            } else if graph.number(&mut numbers, state).1 {
                graph.roots.push(position);
            }
        }
        graph.depth = u32::from(!graph.roots.is_empty());
        let mut level_end = graph.len();
        while graph.expanded() < graph.len() {
            if graph.expanded() == level_end {
                graph.depth += 1;
                level_end = graph.len();
            }
            if let Some(reason) = graph.bound(options, limits) {
                graph.incomplete = Some(reason);
                break;
            }
            graph.expand(model, liveness, &mut numbers);
        }
        graph
    }

    /// The number of a state, and whether it is new.
    fn number(&mut self, numbers: &mut Numbers, state: S) -> (u32, bool)
    where
        S: Hash,
    {
        // Fits: `bound` stops before numbers run out.
        let next = self.states.len() as u32;
        let fingerprint = Fingerprint::of(&state);
        let number = *numbers.entry(fingerprint.bits()).or_insert(next);
        if number == next {
            self.digest.add(fingerprint);
            self.states.push(state);
        }
        (number, number == next)
    }

    fn expand<M: SearchModel<State = S>>(
        &mut self,
        model: &M,
        liveness: &Liveness<M>,
        numbers: &mut Numbers,
    ) where
        S: Clone + Hash + Eq + Send + Sync,
    {
        let from = self.expanded();
        let state = self.states[from].clone();
        let mut actions = Vec::new();
        model.actions(&state, &mut actions);
        if actions.len() > usize::from(u16::MAX) + 1 {
            self.incomplete = Some(Reason::TooManyActions);
        }
        let mut enabled = 0;
        for (position, action) in (0..=u16::MAX).zip(actions) {
            let kept = action.clone();
            let Some(next) = model.next_state(&state, action) else {
                continue;
            };
            let classes = if next == state {
                0
            } else {
                liveness.classes_of(model, &state, &kept)
            };
            enabled |= classes;
            if !model.within_boundary(&next) {
                self.incomplete = Some(Reason::Boundary);
                continue;
            }
            let (to, _) = self.number(numbers, next);
            self.edges.push(Edge {
                to,
                action: position,
                classes,
            });
        }
        self.enabled.push(enabled);
        self.starts.push(self.edges.len());
    }

    fn bound(&self, options: &Options, limits: &mut Limits<'_>) -> Option<Reason> {
        if options.max_depth.is_some_and(|max| self.depth >= max) {
            return Some(Reason::MaxDepth);
        }
        if self.len() > (u32::MAX - u32::from(u16::MAX) - 1) as usize {
            return Some(Reason::TooManyStates);
        }
        // Asking the clock for each state would be slow.
        if !self.expanded().is_multiple_of(1024) {
            return None;
        }
        let progress = Progress {
            depth: self.depth,
            distinct: self.len() as u64,
            generated: self.edge_count() as u64,
            frontier: (self.len() - self.expanded()) as u64,
            elapsed: limits.elapsed(),
            memory: (size_of_val(&self.edges[..]) + size_of_val(&self.states[..])) as u64,
        };
        limits.check(&progress, false)
    }
}
