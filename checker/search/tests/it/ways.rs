//! The ways in which a property is broken: one shortest trace for each property and last action.

use std::collections::BTreeSet;

use fencepost_search::{
    HitPlace, Options, Outcome, Simulation, Storage, run_bfs, run_bfs_stored, run_dfs,
    run_simulation,
};
use proptest::prelude::*;

use crate::graph::{Graph, graph_checks, graphs};

type Found = Outcome<u8, usize>;

fn last_action(_: &Graph, action: &usize) -> u16 {
    *action as u16
}

/// Each way ends with a step that breaks its property, no two are alike, and the shortest is the violation.
fn ways_are_sound(graph: &Graph, found: &Found) -> Result<(), TestCaseError> {
    let mut seen = BTreeSet::new();
    for way in &found.ways {
        let last = way.trace.actions.last();
        prop_assert!(last.is_some() && seen.insert((way.bit, last)));
        let states = &way.trace.states;
        let (before, end) = (states[states.len() - 2], states[states.len() - 1]);
        prop_assert!(graph.bad.contains(&end));
        match way.place {
            HitPlace::State => prop_assert!(!graph.bad.contains(&before)),
            HitPlace::Terminal => prop_assert!(graph.is_terminal(end)),
        }
    }
    for violation in found.violations.iter().filter(|hit| !hit.trace.is_empty()) {
        let of_it = found.ways.iter().filter(|way| way.bit == violation.bit);
        let shortest = of_it.map(|way| way.trace.len()).min();
        // A way is told only where the property was not yet broken.
        prop_assert!(shortest.is_none_or(|steps| steps >= violation.trace.len()));
        let breaks_anew = violation.place == HitPlace::Terminal
            || !graph
                .bad
                .contains(&violation.trace.states[violation.trace.len() - 1]);
        if breaks_anew {
            prop_assert_eq!(shortest, Some(violation.trace.len()));
        }
    }
    Ok(())
}

fn keys(found: &Found) -> Vec<(u32, usize, Vec<usize>)> {
    let key = |way: &fencepost_search::Hit<u8, usize>| {
        (way.bit, way.trace.len(), way.trace.actions.clone())
    };
    found.ways.iter().map(key).collect()
}

fn deadlocks(graph: &Graph) -> u64 {
    let bad = |state: &&u8| graph.bad.contains(state) && graph.is_terminal(**state);
    graph.distances().keys().filter(bad).count() as u64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_engine_tells_ways_that_are_there(graph in graphs()) {
        let checks = graph_checks().ways(last_action);
        let plain = run_bfs(&graph, &graph_checks(), &Options::default());
        prop_assert!(plain.ways.is_empty());
        let broad = run_bfs(&graph, &checks, &Options::default());
        ways_are_sound(&graph, &broad)?;
        prop_assert_eq!(broad.deadlocks, deadlocks(&graph));
        let two = Options { threads: 2, share: 1, ..Options::default() };
        prop_assert_eq!(keys(&run_bfs(&graph, &checks, &two)), keys(&broad));
        let deep = run_dfs(&graph, &checks, &Options::default());
        ways_are_sound(&graph, &deep)?;
        prop_assert_eq!(deep.deadlocks, broad.deadlocks);
        let walks = Simulation { seed: 3, walks: 20, steps: 20 };
        ways_are_sound(&graph, &run_simulation(&graph, &checks, &Options::default(), walks))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_resumed_search_tells_the_same_ways(graph in graphs(), depth in 1u32..5) {
        let checks = graph_checks().ways(last_action);
        let whole = run_bfs(&graph, &checks, &Options::default());
        let directory = tempfile::tempdir().unwrap();
        let mut storage = Storage {
            directory: directory.path().to_owned(),
            label: "ways".to_owned(),
            resume: false,
            spill: None,
        };
        let bound = Options { max_depth: Some(depth), ..Options::default() };
        run_bfs_stored(&graph, &checks, &bound, &storage).unwrap();
        storage.resume = true;
        let resumed = run_bfs_stored(&graph, &checks, &Options::default(), &storage).unwrap();
        prop_assert_eq!(keys(&resumed), keys(&whole));
        prop_assert_eq!(resumed.deadlocks, whole.deadlocks);
    }
}
