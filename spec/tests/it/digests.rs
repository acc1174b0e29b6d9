//! Digests of the reachable sets are pinned: the same in every run, on any number of threads, in debug and in release.
//!
//! A change of the rules changes them; `INSTA_UPDATE=always cargo test -p fencepost-spec digests` pins them anew.

use super::search::checks;
use fencepost_search::{Options, run_bfs};
use fencepost_spec::scenario::find;
use fencepost_spec::world::World;
use std::fmt::Write;

/// Small, and between them with every kind of state: two instances, an election, offsets, readers, a rotation.
const PINNED: [&str; 7] = [
    "smoke",
    "timer-once",
    "offsets-election",
    "rebalance",
    "reader",
    "rotation",
    "failed-fence",
];

#[test]
fn digests_are_pinned_for_any_number_of_threads() {
    let mut table = String::new();
    for name in PINNED {
        let entry = find(name).expect("a scenario of the catalogue");
        for (set, _) in entry.runs {
            let world = World::new(entry.scenario(*set), entry.rules(*set));
            let on = |threads| {
                let options = Options {
                    threads,
                    share: 1,
                    ..Options::default()
                };
                let found = run_bfs(&world, &checks(), &options);
                assert!(found.incomplete.is_none());
                (found.distinct, found.generated, found.depth, found.digest)
            };
            let (distinct, generated, depth, digest) = on(1);
            assert_eq!(on(2), (distinct, generated, depth, digest), "{name}");
            assert_eq!(on(3), (distinct, generated, depth, digest), "{name}");
            writeln!(
                table,
                "{name:<18}{:<8}{distinct:>7} {generated:>7} {depth:>3}  {digest}",
                set.name()
            )
            .expect("a string takes every write");
        }
    }
    insta::assert_snapshot!(table);
}
