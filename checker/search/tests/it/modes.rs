//! Depth-first search, random simulation, minimised traces.

use fencepost_search::models::TwoPhase;
use fencepost_search::{
    Checks, HitPlace, Options, Outcome, Reason, Simulation, Trace, Verdict, minimise, run_bfs,
    run_dfs, run_simulation,
};
use proptest::prelude::*;
use stateright::Model;

use crate::graph::{Graph, graph_checks, graphs};

const WALKS: Simulation = Simulation {
    seed: 7,
    walks: 40,
    steps: 30,
};

fn assert_hits_are_sound(graph: &Graph, outcome: &Outcome<u8, usize>) {
    for hit in &outcome.violations {
        let first = hit.trace.first().unwrap();
        let initial = graph.initial.iter().position(|state| state == first);
        let again = Trace::from_actions(graph, initial.unwrap(), hit.trace.actions.clone());
        assert_eq!(again.as_ref(), Ok(&hit.trace));
        let last = *hit.trace.last().unwrap();
        assert!(graph.bad.contains(&last));
        assert!(hit.place == HitPlace::State || graph.is_terminal(last));
    }
}

fn names(outcome: &Outcome<u8, usize>) -> Vec<&str> {
    let hits = outcome.violations.iter().chain(&outcome.witnesses);
    hits.map(|hit| hit.name.as_str()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn depth_first_search_agrees_with_breadth_first(graph in graphs(), bound in prop::option::of(1u32..6)) {
        let options = Options { max_depth: bound, ..Options::default() };
        let broad = run_bfs(&graph, &graph_checks(), &options);
        let deep = run_dfs(&graph, &graph_checks(), &options);
        prop_assert_eq!((deep.distinct, deep.digest), (broad.distinct, broad.digest));
        prop_assert_eq!((deep.generated, deep.terminal), (broad.generated, broad.terminal));
        prop_assert_eq!(deep.outside_boundary, broad.outside_boundary);
        prop_assert_eq!(names(&deep), names(&broad));
        prop_assert_eq!(deep.verdict(), broad.verdict());
        assert_hits_are_sound(&graph, &deep);
    }

    #[test]
    fn simulation_finds_only_what_is_there(graph in graphs()) {
        let broad = run_bfs(&graph, &graph_checks(), &Options::default());
        let walked = run_simulation(&graph, &graph_checks(), &Options::default(), WALKS);
        prop_assert!(walked.distinct <= broad.distinct);
        prop_assert!(names(&walked).iter().all(|name| names(&broad).contains(name)));
        prop_assert_ne!(walked.verdict(), Verdict::Holds);
        assert_hits_are_sound(&graph, &walked);
        let again = run_simulation(&graph, &graph_checks(), &Options::default(), WALKS);
        prop_assert_eq!((again.digest, again.generated), (walked.digest, walked.generated));
    }
}

/// Counts to `goal` by steps of one; many other actions do nothing that helps, some are ignored.
struct Distracted {
    goal: u8,
}

impl Model for Distracted {
    type State = (u8, u8);
    type Action = u8;

    fn init_states(&self) -> Vec<(u8, u8)> {
        vec![(0, 0)]
    }

    fn actions(&self, _: &(u8, u8), actions: &mut Vec<u8>) {
        actions.extend(0..6);
    }

    fn next_state(&self, state: &(u8, u8), action: u8) -> Option<(u8, u8)> {
        let (count, noise) = *state;
        match action {
            0 => Some((count + 1, noise)),
            1 => Some((count, noise.wrapping_add(1))),
            2 => Some((count, noise.wrapping_mul(3))),
            3 if count > 0 => Some((count - 1, noise)),
            _ => None,
        }
    }
}

fn below_goal() -> Checks<Distracted> {
    let at_goal = |model: &Distracted, state: &(u8, u8)| u64::from(state.0 >= model.goal);
    Checks::new(["below the goal"], at_goal, |_, _| 0).unwrap()
}

#[test]
fn trap_6_traces_of_a_simulation_replay_though_actions_are_ignored() {
    let model = Distracted { goal: 3 };
    for seed in 0..50 {
        let simulation = Simulation {
            seed,
            walks: 20,
            steps: 40,
        };
        let outcome = run_simulation(&model, &below_goal(), &Options::default(), simulation);
        let hit = outcome
            .violation("below the goal")
            .expect("nearly every walk gets there");
        let again = Trace::from_actions(&model, 0, hit.trace.actions.clone());
        assert_eq!(again.as_ref(), Ok(&hit.trace));
        assert_eq!(hit.trace.last().unwrap().0, 3);
    }
}

#[test]
fn the_minimiser_leaves_only_what_is_needed() {
    let model = Distracted { goal: 5 };
    let simulation = Simulation {
        seed: 1,
        walks: 1,
        steps: 2000,
    };
    let outcome = run_simulation(&model, &below_goal(), &Options::default(), simulation);
    let hit = outcome.violation("below the goal").unwrap();
    assert!(hit.trace.len() > 5);
    let short = hit.minimised(&model, &below_goal());
    assert_eq!(short.trace.actions, [0; 5]);
    assert_eq!((short.bit, short.place), (hit.bit, hit.place));
}

proptest! {
    #[test]
    fn no_single_action_can_be_left_out_of_a_minimised_trace(graph in graphs()) {
        let deep = run_dfs(&graph, &graph_checks(), &Options::default());
        for hit in &deep.violations {
            let short = hit.minimised(&graph, &graph_checks());
            prop_assert!(short.trace.len() <= hit.trace.len());
            let first = short.trace.first().unwrap();
            let initial = graph.initial.iter().position(|state| state == first).unwrap();
            let is_hit = |state: &u8| {
                graph.bad.contains(state) && (hit.place == HitPlace::State || graph.is_terminal(*state))
            };
            prop_assert!(is_hit(short.trace.last().unwrap()));
            for skipped in 0..short.trace.len() {
                let mut actions = short.trace.actions.clone();
                actions.remove(skipped);
                let shorter = Trace::from_actions(&graph, initial, actions);
                prop_assert!(!shorter.is_ok_and(|trace| trace.states.iter().any(is_hit)));
            }
        }
    }
}

#[test]
fn a_trace_that_is_not_bad_is_given_back() {
    let model = Distracted { goal: 5 };
    let trace = Trace::from_actions(&model, 0, [0, 1, 3]).unwrap();
    assert_eq!(minimise(&model, &trace, |_| false), trace);
}

#[test]
fn depth_first_search_counts_two_phase_commit() {
    let model = TwoPhase::new(6);
    let checks = Checks::of_model(&model).unwrap();
    let broad = run_bfs(&model, &checks, &Options::default());
    let deep = run_dfs(&model, &checks, &Options::default());
    assert_eq!(
        (deep.distinct, deep.generated),
        (broad.distinct, broad.generated)
    );
    assert_eq!((deep.terminal, deep.digest), (broad.terminal, broad.digest));
    assert_eq!(deep.verdict(), Verdict::Holds);
    assert!(deep.bytes_per_state < 26.0, "{}", deep.bytes_per_state);
    let orbits = checks.symmetry(|model, state| state.canonical(model));
    assert_eq!(run_dfs(&model, &orbits, &Options::default()).distinct, 553);
}

#[test]
fn bounds_hold_in_every_mode() {
    let model = TwoPhase::new(9);
    let checks = Checks::of_model(&model).unwrap();
    let states = Options {
        max_states: Some(5000),
        ..Options::default()
    };
    let deep = run_dfs(&model, &checks, &states);
    assert_eq!(deep.verdict(), Verdict::Incomplete(Reason::MaxStates));
    assert!((5000..6000).contains(&deep.distinct));
    let many = Simulation {
        seed: 0,
        walks: u64::MAX,
        steps: 50,
    };
    let walked = run_simulation(&model, &checks, &states, many);
    assert_eq!(walked.verdict(), Verdict::Incomplete(Reason::MaxStates));
    let few = Simulation { walks: 3, ..many };
    let walked = run_simulation(&model, &checks, &states, few);
    assert_eq!(walked.verdict(), Verdict::Incomplete(Reason::Sampled));
}
