//! Random small graphs, and a naive oracle for them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use fencepost_search::Checks;
use proptest::prelude::*;
use stateright::Model;

/// A graph given as lists of edges. `None` is an action that is listed but not enabled.
#[derive(Clone, Debug)]
pub struct Graph {
    pub initial: Vec<u8>,
    pub edges: Vec<Vec<Option<u8>>>,
    /// States that violate property 0, and property 1 when they have no successor.
    pub bad: BTreeSet<u8>,
    pub outside: BTreeSet<u8>,
}

impl Model for Graph {
    type State = u8;
    type Action = usize;

    fn init_states(&self) -> Vec<u8> {
        self.initial.clone()
    }

    fn actions(&self, state: &u8, actions: &mut Vec<usize>) {
        actions.extend(0..self.edges[usize::from(*state)].len());
    }

    fn next_state(&self, state: &u8, action: usize) -> Option<u8> {
        self.edges[usize::from(*state)][action]
    }

    fn within_boundary(&self, state: &u8) -> bool {
        !self.outside.contains(state)
    }
}

/// What a search should find, by the simplest means.
#[derive(Debug, PartialEq, Eq)]
pub struct Expected {
    pub distinct: u64,
    pub generated: u64,
    pub depth: u32,
    pub terminal: u64,
    pub outside_boundary: u64,
    /// Steps of a shortest way to a state that violates property 0, then 1.
    pub shortest: [Option<usize>; 2],
}

impl Graph {
    pub fn successors(&self, state: u8) -> impl Iterator<Item = u8> + '_ {
        self.edges[usize::from(state)].iter().flatten().copied()
    }

    pub fn is_terminal(&self, state: u8) -> bool {
        self.successors(state).next().is_none()
    }

    pub fn distances(&self) -> BTreeMap<u8, usize> {
        let mut distance = BTreeMap::new();
        let mut queue: VecDeque<_> = self.initial.iter().map(|state| (*state, 0)).collect();
        while let Some((state, steps)) = queue.pop_front() {
            if self.outside.contains(&state) || distance.contains_key(&state) {
                continue;
            }
            distance.insert(state, steps);
            queue.extend(self.successors(state).map(|next| (next, steps + 1)));
        }
        distance
    }

    pub fn expected(&self) -> Expected {
        let distance = self.distances();
        let generated = || {
            let initial = self.initial.iter().copied();
            initial.chain(distance.keys().flat_map(|state| self.successors(*state)))
        };
        let shortest = |wanted: &dyn Fn(u8) -> bool| {
            distance
                .iter()
                .filter(|(state, _)| self.bad.contains(state) && wanted(**state))
                .map(|(_, steps)| *steps)
                .min()
        };
        Expected {
            distinct: distance.len() as u64,
            generated: generated().count() as u64,
            depth: distance.values().max().map_or(0, |steps| *steps as u32 + 1),
            terminal: distance
                .keys()
                .filter(|state| self.is_terminal(**state))
                .count() as u64,
            outside_boundary: generated()
                .filter(|state| self.outside.contains(state))
                .count() as u64,
            shortest: [
                shortest(&|_| true),
                shortest(&|state| self.is_terminal(state)),
            ],
        }
    }
}

/// Graphs of 1 to 12 states with up to 5 listed actions each: self-loops, cycles, unreachable parts, several initial
/// states, disabled actions.
pub fn graphs() -> impl Strategy<Value = Graph> {
    (1u8..=12).prop_flat_map(|states| {
        let edge = prop::option::weighted(0.8, 0..states);
        (
            prop::collection::vec(0..states, 0..=3),
            prop::collection::vec(prop::collection::vec(edge, 0..=5), usize::from(states)),
            prop::collection::btree_set(0..states, 0..=2),
            prop::collection::btree_set(0..states, 0..=1),
        )
            .prop_map(|(initial, edges, bad, outside)| Graph {
                initial,
                edges,
                bad,
                outside,
            })
    })
}

/// No state is bad, no terminal state is bad; and a bad state as a witness.
pub fn graph_checks() -> Checks<Graph> {
    let bad = |graph: &Graph, state: &u8| u64::from(graph.bad.contains(state));
    Checks::new(["never bad", "no bad end"], bad, move |graph, state| {
        bad(graph, state) << 1
    })
    .and_then(|checks| checks.witnesses(["bad"], bad))
    .unwrap()
}
