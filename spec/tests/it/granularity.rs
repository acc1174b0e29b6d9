//! Eager delivery changes counts, not verdicts: every small scenario has the same broken properties
//! and the same terminal states at E0 and at E2. Renaming the ghosts changes nothing at all.

use super::search::{broken, checks, search};
use fencepost_search::{Observer, Options, run_bfs_observed};
use fencepost_spec::scenario::{CATALOGUE, Granularity, RuleSet, Scenario};
use fencepost_spec::world::{State, World};
use std::collections::BTreeSet;

/// The scenarios that are small at E0 too.
const SMALL: [&str; 14] = [
    "smoke",
    "zombie",
    "timer",
    "late",
    "failed-append",
    "offsets-late",
    "rebalance",
    "rotation",
    "retry-once",
    "offsets-election",
    "lost-marker",
    "deleted-topic",
    "operator",
    "timer-once",
];

/// The terminal states of a run, as text.
#[derive(Default)]
struct Terminals(BTreeSet<String>);

impl Observer<World> for Terminals {
    fn fork(&self) -> Self {
        Self::default()
    }

    fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    fn terminal(&mut self, _world: &World, state: &State) {
        self.0.insert(format!("{state:?}"));
    }
}

fn run(
    scenario: Scenario,
    entry: &fencepost_spec::scenario::Entry,
    set: RuleSet,
) -> (Vec<String>, BTreeSet<String>) {
    let world = World::new(scenario, entry.rules(set));
    let options = Options::default();
    let (outcome, seen) = run_bfs_observed(&world, &checks(), &options, Terminals::default());
    assert!(outcome.incomplete.is_none());
    (broken(&outcome), seen.0)
}

#[test]
fn eager_delivery_keeps_verdicts_and_terminal_states() {
    for name in SMALL {
        let entry = fencepost_spec::scenario::find(name).expect("a scenario of the catalogue");
        for (set, _) in entry.runs {
            let at = |granularity| {
                let scenario = Scenario {
                    granularity,
                    ..entry.scenario(*set)
                };
                run(scenario, entry, *set)
            };
            let (e0, e2) = (at(Granularity::E0), at(Granularity::E2));
            assert_eq!(e0.0, e2.0, "{name} under {}", set.name());
            assert_eq!(e0.1.len(), e2.1.len(), "{name} under {}", set.name());
        }
    }
}

#[test]
fn dropping_what_nobody_waits_for_keeps_verdicts() {
    for name in SMALL {
        let entry = fencepost_spec::scenario::find(name).expect("a scenario of the catalogue");
        for (set, _) in entry.runs {
            let with = |prune| {
                let scenario = Scenario {
                    prune,
                    ..entry.scenario(*set)
                };
                search(&World::new(scenario, entry.rules(*set)))
            };
            let (pruned, whole) = (with(true), with(false));
            assert!(pruned.distinct <= whole.distinct, "{name}");
            let what = format!("{name} under {}", set.name());
            assert_eq!(broken(&pruned), broken(&whole), "{what}");
            assert_eq!(pruned.terminal, whole.terminal, "{what}");
        }
    }
}

#[test]
fn renamed_ghosts_change_nothing() {
    for entry in CATALOGUE.iter().filter(|e| SMALL.contains(&e.name)) {
        for (set, _) in entry.runs {
            let with_key = |ghost_key| {
                let scenario = Scenario {
                    ghost_key,
                    ..entry.scenario(*set)
                };
                search(&World::new(scenario, entry.rules(*set)))
            };
            let (plain, renamed) = (with_key(0), with_key(0b10_1101));
            assert_eq!(plain.distinct, renamed.distinct, "{}", entry.name);
            assert_eq!(plain.generated, renamed.generated, "{}", entry.name);
            assert_eq!(broken(&plain), broken(&renamed), "{}", entry.name);
        }
    }
}
