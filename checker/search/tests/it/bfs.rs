//! Breadth-first search: counts, verdicts, shortest traces, bounds, observers.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::graph::{Expected, Graph, graph_checks, graphs};
use fencepost_search::models::TwoPhase;
use fencepost_search::{
    Checks, HitPlace, Observer, Options, Outcome, Reason, Trace, Verdict, run_bfs, run_bfs_observed,
};
use proptest::prelude::*;
use stateright::Model;

fn threads(threads: usize) -> Options {
    Options {
        threads,
        ..Options::default()
    }
}

fn found(outcome: &Outcome<u8, usize>) -> Expected {
    let shortest = |name| outcome.violation(name).map(|hit| hit.trace.len());
    Expected {
        distinct: outcome.distinct,
        generated: outcome.generated,
        depth: outcome.depth,
        terminal: outcome.terminal,
        outside_boundary: outcome.outside_boundary,
        shortest: [shortest("never bad"), shortest("no bad end")],
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn random_graphs_agree_with_the_naive_oracle(graph in graphs(), threads in 1usize..=3) {
        let expected = graph.expected();
        // Every state is worth a thread, or levels this small would all go to one.
        let options = Options { threads, share: 1, ..Options::default() };
        let outcome = run_bfs(&graph, &graph_checks(), &options);
        prop_assert_eq!(&found(&outcome), &expected);
        let verdict = match (expected.shortest, expected.outside_boundary) {
            ([None, None], 0) => Verdict::Holds,
            ([None, None], _) => Verdict::Incomplete(Reason::Boundary),
            _ => Verdict::Violated,
        };
        prop_assert_eq!(outcome.verdict(), verdict);
        prop_assert_eq!(outcome.levels.iter().sum::<u64>(), outcome.distinct);
        prop_assert_eq!(outcome.witness("bad").map(|hit| hit.trace.len()), expected.shortest[0]);
        for hit in &outcome.violations {
            let initial = graph.initial.iter().position(|state| Some(state) == hit.trace.first());
            let again = Trace::from_actions(&graph, initial.unwrap(), hit.trace.actions.clone());
            prop_assert_eq!(again.as_ref(), Ok(&hit.trace));
            let last = *hit.trace.last().unwrap();
            prop_assert!(graph.bad.contains(&last));
            prop_assert!(hit.place == HitPlace::State || graph.is_terminal(last));
        }
        let alone = run_bfs(&graph, &graph_checks(), &Options::default());
        prop_assert_eq!(alone.digest, outcome.digest);
        for (one, other) in alone.violations.iter().zip(&outcome.violations) {
            prop_assert_eq!(&one.trace, &other.trace);
        }
    }

    #[test]
    fn symmetry_changes_counts_but_no_verdict(graph in graphs(), threads in 1usize..=2) {
        let expected = graph.expected();
        let twins = Twins(graph);
        let bad = |twins: &Twins, state: &(u8, bool)| u64::from(twins.0.bad.contains(&state.0));
        let checks = Checks::new(
            ["never bad", "no bad end"],
            bad,
            move |twins, state| bad(twins, state) << 1,
        ).unwrap();
        let options = Options { threads, share: 1, ..Options::default() };
        let whole = run_bfs(&twins, &checks, &options);
        let reduced = run_bfs(&twins, &checks.symmetry(|_, state| (state.0, false)), &options);
        let lengths = |outcome: &Outcome<(u8, bool), usize>| -> Vec<_> {
            outcome.violations.iter().map(|hit| (hit.bit, hit.trace.len())).collect()
        };
        prop_assert_eq!(reduced.distinct, expected.distinct);
        prop_assert!(whole.distinct >= reduced.distinct);
        prop_assert_eq!(reduced.verdict(), whole.verdict());
        prop_assert_eq!(lengths(&reduced), lengths(&whole));
    }
}

/// Each state twice; which of the twins a step leads to depends on the action.
struct Twins(Graph);

impl Model for Twins {
    type State = (u8, bool);
    type Action = usize;

    fn init_states(&self) -> Vec<(u8, bool)> {
        self.0.initial.iter().map(|state| (*state, false)).collect()
    }

    fn actions(&self, state: &(u8, bool), actions: &mut Vec<usize>) {
        self.0.actions(&state.0, actions);
    }

    fn next_state(&self, state: &(u8, bool), action: usize) -> Option<(u8, bool)> {
        let next = self.0.next_state(&state.0, action)?;
        Some((next, state.1 ^ action.is_multiple_of(2)))
    }

    fn within_boundary(&self, state: &(u8, bool)) -> bool {
        self.0.within_boundary(&state.0)
    }
}

/// A grid walked in two directions: level `n` has `n` states, enough for several workers, and many duplicates.
struct Grid {
    side: u16,
}

impl Model for Grid {
    type State = (u16, u16);
    type Action = bool;

    fn init_states(&self) -> Vec<(u16, u16)> {
        vec![(0, 0)]
    }

    fn actions(&self, _: &(u16, u16), actions: &mut Vec<bool>) {
        actions.extend([false, true]);
    }

    fn next_state(&self, state: &(u16, u16), action: bool) -> Option<(u16, u16)> {
        let (x, y) = *state;
        let next = if action { (x + 1, y) } else { (x, y + 1) };
        (next.0 < self.side && next.1 < self.side).then_some(next)
    }
}

fn grid_checks() -> Checks<Grid> {
    Checks::new(
        ["not 700 apart", "ends at home"],
        |_, state: &(u16, u16)| u64::from(state.0.abs_diff(state.1) >= 700),
        |_, _| 2,
    )
    .unwrap()
}

#[test]
fn any_number_of_threads_gives_the_very_same_result() {
    let grid = Grid { side: 1200 };
    let alone = run_bfs(&grid, &grid_checks(), &threads(1));
    assert_eq!(
        (alone.distinct, alone.depth, alone.terminal),
        (1_440_000, 2399, 1)
    );
    assert_eq!(alone.generated, 1 + 2 * 1200 * 1199);
    assert_eq!(alone.violation("not 700 apart").unwrap().trace.len(), 700);
    assert_eq!(
        alone.violation("ends at home").unwrap().place,
        HitPlace::Terminal
    );
    for count in [2, 3, 5] {
        let together = run_bfs(&grid, &grid_checks(), &threads(count));
        assert_eq!(together.digest, alone.digest);
        assert_eq!(together.generated, alone.generated);
        assert_eq!(together.levels, alone.levels);
        let traces = |outcome: &Outcome<_, _>| -> Vec<Trace<_, _>> {
            outcome
                .violations
                .iter()
                .map(|hit| hit.trace.clone())
                .collect()
        };
        assert_eq!(traces(&together), traces(&alone), "{count} threads");
    }
}

#[test]
fn a_visited_state_costs_at_most_32_bytes() {
    let model = TwoPhase::new(7);
    let outcome = run_bfs(&model, &Checks::none(), &threads(1));
    assert!(
        outcome.bytes_per_state <= 32.0,
        "{}",
        outcome.bytes_per_state
    );
    assert!(
        outcome.bytes_per_state >= 22.0,
        "{}",
        outcome.bytes_per_state
    );
}

#[test]
fn bounds_make_a_run_incomplete_never_holding() {
    let model = TwoPhase::new(7);
    let checks = Checks::of_model(&model).unwrap();
    let cases = [
        (
            Options {
                max_states: Some(1000),
                ..Options::default()
            },
            Reason::MaxStates,
        ),
        (
            Options {
                max_depth: Some(5),
                ..Options::default()
            },
            Reason::MaxDepth,
        ),
        (
            Options {
                time_limit: Some(Duration::from_millis(1)),
                ..Options::default()
            },
            Reason::TimeLimit,
        ),
    ];
    for (options, reason) in cases {
        let outcome = run_bfs(&model, &checks, &options);
        assert_eq!(outcome.verdict(), Verdict::Incomplete(reason));
        assert!(outcome.distinct < 296_448);
        assert_eq!(outcome.levels.iter().sum::<u64>(), outcome.distinct);
    }
    let outcome = run_bfs(
        &model,
        &checks,
        &Options {
            max_depth: Some(5),
            ..Options::default()
        },
    );
    assert_eq!(outcome.depth, 5);
    let whole = Options {
        max_depth: Some(24),
        max_states: Some(296_449),
        ..Options::default()
    };
    assert_eq!(run_bfs(&model, &checks, &whole).verdict(), Verdict::Holds);
}

#[test]
fn memory_is_a_bound_too() {
    let grid = Grid { side: 3000 };
    let options = Options {
        max_memory: Some(1),
        ..Options::default()
    };
    let outcome = run_bfs(&grid, &Checks::none(), &options);
    assert_eq!(outcome.verdict(), Verdict::Incomplete(Reason::MaxMemory));
}

#[test]
fn stopping_at_a_hit_still_gives_the_shortest_trace() {
    let grid = Grid { side: 1200 };
    let first = Options {
        stop_at_first: true,
        ..Options::default()
    };
    let outcome = run_bfs(&grid, &grid_checks(), &first);
    assert_eq!(outcome.depth, 701);
    assert_eq!(outcome.incomplete, Some(Reason::Stopped));
    assert_eq!(outcome.violation("not 700 apart").unwrap().trace.len(), 700);
    let both = Options {
        stop_when: 0b11,
        ..Options::default()
    };
    let outcome = run_bfs(&grid, &grid_checks(), &both);
    assert_eq!((outcome.depth, outcome.violations.len()), (2399, 2));
    assert_eq!(outcome.verdict(), Verdict::Violated);
}

/// Counts what it sees.
#[derive(Default)]
struct Counter {
    states: u64,
    terminal: u64,
    edges: BTreeMap<(u8, usize, u8), u64>,
    new_edges: u64,
}

impl Observer<Graph> for Counter {
    fn fork(&self) -> Self {
        Self::default()
    }

    fn join(&mut self, other: Self) {
        self.states += other.states;
        self.terminal += other.terminal;
        self.new_edges += other.new_edges;
        for (edge, count) in other.edges {
            *self.edges.entry(edge).or_default() += count;
        }
    }

    fn state(&mut self, _: &Graph, _: &u8) {
        self.states += 1;
    }

    fn edge(&mut self, _: &Graph, from: &u8, action: &usize, to: &u8, is_new: bool) {
        *self.edges.entry((*from, *action, *to)).or_default() += 1;
        self.new_edges += u64::from(is_new);
    }

    fn terminal(&mut self, _: &Graph, _: &u8) {
        self.terminal += 1;
    }
}

proptest! {
    #[test]
    fn an_observer_sees_each_edge_once(graph in graphs()) {
        let (outcome, seen) = run_bfs_observed(&graph, &graph_checks(), &threads(2), Counter::default());
        let mut edges = BTreeMap::new();
        for from in graph.distances().into_keys() {
            for (action, to) in graph.edges[usize::from(from)].iter().enumerate() {
                if let Some(to) = to && !graph.outside.contains(to) {
                    edges.insert((from, action, *to), 1);
                }
            }
        }
        prop_assert_eq!(seen.edges, edges);
        prop_assert_eq!((seen.states, seen.terminal), (outcome.distinct, outcome.terminal));
        let initial = outcome.levels.first().copied().unwrap_or(0);
        prop_assert_eq!(seen.new_edges, outcome.distinct - initial);
    }
}

#[test]
fn an_observer_sees_the_same_with_any_number_of_threads() {
    #[derive(Default, PartialEq, Debug)]
    struct Sum(u64, u64);
    impl Observer<Grid> for Sum {
        fn fork(&self) -> Self {
            Self::default()
        }
        fn join(&mut self, other: Self) {
            self.0 += other.0;
            self.1 += other.1;
        }
        fn edge(
            &mut self,
            grid: &Grid,
            from: &(u16, u16),
            action: &bool,
            to: &(u16, u16),
            new: bool,
        ) {
            assert_eq!(grid.next_state(from, *action).as_ref(), Some(to));
            self.0 += 1;
            self.1 += u64::from(new);
        }
    }
    let grid = Grid { side: 900 };
    for count in [1, 2, 3] {
        let (_, sum) = run_bfs_observed(&grid, &Checks::none(), &threads(count), Sum::default());
        assert_eq!(sum, Sum(2 * 900 * 899, 900 * 900 - 1));
    }
}
