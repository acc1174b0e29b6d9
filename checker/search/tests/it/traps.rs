//! Models on which stateright's own search goes wrong, and this one must not.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::graph::Graph;
use fencepost_search::models::TwoPhase;
use fencepost_search::{Checks, Options, Reason, Verdict, run_bfs};
use stateright::{Model, Property};

/// A ring of `states` states with a short cut: from 0 one can step to 1 or to the middle.
#[derive(Clone)]
struct Ring {
    states: u32,
    properties: Vec<Property<Ring>>,
    inside: u32,
}

impl Ring {
    fn new(properties: Vec<Property<Ring>>) -> Self {
        Self {
            states: 62,
            properties,
            inside: u32::MAX,
        }
    }
}

impl Model for Ring {
    type State = u32;
    type Action = u32;

    fn init_states(&self) -> Vec<u32> {
        vec![0]
    }

    fn actions(&self, state: &u32, actions: &mut Vec<u32>) {
        actions.push((state + 1) % self.states);
        if *state == 0 {
            actions.push(self.states / 2);
        }
    }

    fn next_state(&self, _: &u32, action: u32) -> Option<u32> {
        Some(action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        self.properties.clone()
    }

    fn within_boundary(&self, state: &u32) -> bool {
        *state < self.inside
    }
}

#[test]
fn trap_1_a_later_hit_does_not_overwrite_the_shortest() {
    // Hit in two steps by the short cut, and again after 30 and 31 steps on the long way.
    let ring = Ring::new(vec![Property::always("low", |ring: &Ring, state| {
        *state <= ring.states / 2
    })]);
    let checks = Checks::of_model(&ring).unwrap();
    for threads in [1, 2] {
        let options = Options {
            threads,
            ..Options::default()
        };
        let outcome = run_bfs(&ring, &checks, &options);
        assert_eq!(outcome.violation("low").unwrap().trace.states, [0, 31, 32]);
        assert_eq!(outcome.distinct, 62);
    }
}

#[test]
fn trap_3_symmetry_works_in_breadth_first_search() {
    // The orbits, counted by others; stateright's depth-first search finds 665 and 1,521, its breadth-first all.
    for (rms, orbits) in [(5, 314), (6, 553)] {
        let model = TwoPhase::new(rms);
        let checks = Checks::of_model(&model)
            .unwrap()
            .symmetry(|model, state| state.canonical(model));
        for threads in [1, 2] {
            let options = Options {
                threads,
                ..Options::default()
            };
            let outcome = run_bfs(&model, &checks, &options);
            assert_eq!(outcome.distinct, orbits);
            assert_eq!(outcome.verdict(), Verdict::Holds);
            assert_eq!(outcome.witnesses.len(), 2);
        }
    }
}

#[test]
fn trap_4_the_time_limit_binds_a_single_thread() {
    let model = TwoPhase::new(12);
    let options = Options {
        time_limit: Some(Duration::from_millis(300)),
        ..Options::default()
    };
    let started = Instant::now();
    let outcome = run_bfs(&model, &Checks::none(), &options);
    assert_eq!(outcome.verdict(), Verdict::Incomplete(Reason::TimeLimit));
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[test]
fn trap_5_decided_properties_do_not_end_the_search() {
    let ring = Ring::new(vec![Property::sometimes("two", |_, state| *state == 2)]);
    let outcome = run_bfs(
        &ring,
        &Checks::of_model(&ring).unwrap(),
        &Options::default(),
    );
    assert_eq!(outcome.distinct, 62);
    assert_eq!(outcome.witness("two").unwrap().trace.len(), 2);
    let ring = Ring::new(vec![Property::always("zero", |_, state| *state == 0)]);
    let outcome = run_bfs(
        &ring,
        &Checks::of_model(&ring).unwrap(),
        &Options::default(),
    );
    assert_eq!(outcome.distinct, 62);
}

#[test]
fn trap_10_a_successor_outside_the_boundary_makes_no_terminal_state() {
    let ring = Ring {
        inside: 10,
        ..Ring::new(Vec::new())
    };
    let checks = Checks::new(["has a successor"], |_, _| 0, |_, _| 1).unwrap();
    let outcome = run_bfs(&ring, &checks, &Options::default());
    assert_eq!((outcome.distinct, outcome.terminal), (10, 0));
    // 9 to 10, and the short cut to 31.
    assert_eq!(outcome.outside_boundary, 2);
    assert_eq!(outcome.verdict(), Verdict::Incomplete(Reason::Boundary));
}

#[test]
fn a_self_loop_is_a_successor_and_a_disabled_action_is_none() {
    let graph = Graph {
        initial: vec![0],
        edges: vec![vec![Some(1), Some(2)], vec![Some(1)], vec![None]],
        bad: BTreeSet::new(),
        outside: BTreeSet::new(),
    };
    let outcome = run_bfs(&graph, &Checks::none(), &Options::default());
    assert_eq!(
        (outcome.distinct, outcome.terminal, outcome.generated),
        (3, 1, 4)
    );
}
