//! The catalogue: counts are pinned, and each rule set breaks exactly what its row says.

use super::large;
use super::search::{broken, search};
use fencepost_spec::scenario::{CATALOGUE, Profile};
use fencepost_spec::world::World;
use std::collections::BTreeSet;
use std::fmt::Write;

#[test]
fn names_are_unique_and_say_something() {
    let names: BTreeSet<_> = CATALOGUE.iter().map(|e| e.name).collect();
    assert_eq!(names.len(), CATALOGUE.len());
    assert!(CATALOGUE.iter().all(|e| e.says.ends_with('.')));
}

#[test]
fn counts_and_verdicts_are_pinned() {
    let mut table = String::new();
    let mut unexpected = Vec::new();
    for entry in CATALOGUE {
        if entry.profile != Profile::Default || large::DEFAULT.contains(&entry.name) {
            continue;
        }
        for (set, expected) in entry.runs {
            let world = World::new(entry.scenario(*set), entry.rules(*set));
            let outcome = search(&world);
            let expected: Vec<_> = expected.iter().map(|id| id.name()).collect();
            if broken(&outcome) != expected {
                unexpected.push((entry.name, set.name(), broken(&outcome)));
            }
            assert!(outcome.incomplete.is_none());
            writeln!(
                table,
                "{:<26}{:<8}{:>8} distinct {:>8} generated {:>3} levels {:>5} terminal  {}",
                entry.name,
                set.name(),
                outcome.distinct,
                outcome.generated,
                outcome.depth,
                outcome.terminal,
                if expected.is_empty() {
                    "holds".to_owned()
                } else {
                    expected.join(" ")
                },
            )
            .expect("a string takes every write");
        }
    }
    assert_eq!(unexpected, []);
    insta::assert_snapshot!(table);
}
