//! The runs that take too long for every day, searched by hand: counts, verdicts and digests are pinned.
//!
//! `cargo test --release -p fencepost-spec --test it large::default -- --ignored` takes minutes, `large::nightly`
//! 17 and eight gigabytes (docs/SEARCH.md).

use super::search::{broken, search};
use fencepost_spec::scenario::{CATALOGUE, Entry, Profile};
use fencepost_spec::world::World;
use std::fmt::Write;

/// The default scenarios that the daily test of counts leaves out.
pub const DEFAULT: [&str; 5] = [
    "markers",
    "election",
    "re-election",
    "reader-fail-over",
    "mix",
];

fn table(entries: impl Iterator<Item = &'static Entry>) -> String {
    let mut table = String::new();
    for entry in entries {
        for (set, expected) in entry.runs {
            let world = World::new(entry.scenario(*set), entry.rules(*set));
            let outcome = search(&world);
            assert!(outcome.incomplete.is_none());
            let expected: Vec<_> = expected.iter().map(|id| id.name()).collect();
            assert_eq!(broken(&outcome), expected, "{} {}", entry.name, set.name());
            writeln!(
                table,
                "{:<26}{:<8}{:>9} distinct {:>10} generated {:>3} levels  {}",
                entry.name,
                set.name(),
                outcome.distinct,
                outcome.generated,
                outcome.depth,
                outcome.digest,
            )
            .expect("a string takes every write");
        }
    }
    table
}

#[test]
#[ignore = "minutes"]
fn default_runs_are_pinned() {
    let large = CATALOGUE.iter().filter(|e| DEFAULT.contains(&e.name));
    insta::assert_snapshot!(table(large));
}

/// Each has a table of its own, so that one that has changed is written before the next is searched.
#[test]
#[ignore = "17 minutes"]
fn nightly_runs_are_pinned() {
    let nightly = CATALOGUE.iter().filter(|e| e.profile == Profile::Nightly);
    for entry in nightly {
        insta::assert_snapshot!(
            format!("nightly_{}", entry.name),
            table([entry].into_iter())
        );
    }
}
