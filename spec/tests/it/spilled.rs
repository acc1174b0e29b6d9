//! States that waited on disk are the states that went there.

use super::search::checks;
use fencepost_search::{Options, Spill, Storage, run_bfs, run_bfs_stored};
use fencepost_spec::scenario::{RuleSet, find};
use fencepost_spec::world::{State, World};
use std::collections::HashSet;

fn world(name: &str, rules: RuleSet) -> World {
    let entry = find(name).expect("a scenario of the catalogue");
    World::new(entry.scenario(rules), entry.rules(rules))
}

/// Between them with every part of the state: two instances, two brokers, offsets, readers, a replica, prepared
/// transactions.
const WORLDS: [(&str, RuleSet); 6] = [
    ("smoke", RuleSet::Tv1),
    ("timer-once", RuleSet::Tv2),
    ("offsets-election", RuleSet::Tv2),
    ("reader", RuleSet::Tv2),
    ("failed-fence", RuleSet::Tv2),
    ("two-phase", RuleSet::Tv2),
];

#[test]
fn every_state_is_read_back_as_it_was() {
    for (name, rules) in WORLDS {
        let world = world(name, rules);
        let mut waiting = vec![world.initial()];
        let mut seen: HashSet<State> = waiting.iter().cloned().collect();
        let mut bytes = Vec::new();
        while let Some(state) = waiting.pop().filter(|_| seen.len() < 20_000) {
            bytes.clear();
            state.encode(&mut bytes);
            let read = State::decode(&bytes).expect("it was written by encode");
            assert_eq!(read, state, "{name}");
            // A set finds it by its hash, which is that of its sealed parts.
            assert!(seen.contains(&read), "{name}");
            assert!(State::decode(&bytes[1..]).is_none_or(|other| other != state));
            bytes.push(0);
            assert_eq!(State::decode(&bytes), None, "{name}");
            for (_, next) in world.enabled(&state) {
                if seen.insert(next.clone()) {
                    waiting.push(next);
                }
            }
        }
        assert!(seen.len() > 100, "{name}: {} states", seen.len());
    }
}

#[test]
fn a_frontier_on_disk_changes_nothing() {
    let directory = tempfile::tempdir().expect("a temporary folder");
    for (name, rules) in WORLDS {
        let world = world(name, rules);
        let told = |threads, keep: Option<usize>| {
            let options = Options {
                threads,
                share: 1,
                ..Options::default()
            };
            let found = match keep {
                None => run_bfs(&world, &checks(), &options),
                Some(keep) => {
                    let storage = Storage {
                        directory: directory.path().to_owned(),
                        label: name.to_owned(),
                        resume: false,
                        spill: Some(Spill {
                            keep,
                            encode: State::encode,
                            decode: State::decode,
                        }),
                    };
                    run_bfs_stored(&world, &checks(), &options, &storage).expect("it is stored")
                }
            };
            let hits = found.violations.iter();
            let traces: Vec<_> = hits
                .map(|hit| (hit.bit, hit.trace.actions.clone()))
                .collect();
            (
                (found.distinct, found.generated, found.levels, found.digest),
                (found.terminal, found.deadlocks, traces),
            )
        };
        let plain = told(1, None);
        for (threads, keep) in [(1, 0), (1, 70), (2, 0), (2, 500)] {
            assert_eq!(
                told(threads, Some(keep)),
                plain,
                "{name}: {threads}, {keep}"
            );
        }
    }
}
