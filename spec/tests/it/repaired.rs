//! Kafka 4.4.0's own holes, with the rule that closes each of them: the same bounds then hold.

use super::search::{broken, search};
use fencepost_spec::rules::Rules;
use fencepost_spec::scenario::{RuleSet, find};
use fencepost_spec::world::World;

fn breaks(name: &str, set: RuleSet, repair: fn(&mut Rules)) -> Vec<String> {
    let entry = find(name).expect("a scenario of the catalogue");
    let mut rules = entry.rules(set);
    repair(&mut rules);
    broken(&search(&World::new(entry.scenario(set), rules)))
}

#[test]
fn a_logged_last_epoch_keeps_the_retry_of_a_bump() {
    let none: [&str; 0] = [];
    for (name, set) in [
        ("bump-retry", RuleSet::Tv1),
        ("upgrade-retry", RuleSet::Upgrade),
    ] {
        assert_eq!(breaks(name, set, |_| {}), ["S7"]);
        assert_eq!(breaks(name, set, |r| r.log.log_last_epoch = true), none);
    }
}

#[test]
fn a_refused_completion_that_stays_pending_fences_nobody() {
    assert_eq!(breaks("bump-retry", RuleSet::Tv2, |_| {}), ["S7"]);
    let none: [&str; 0] = [];
    assert_eq!(
        breaks("bump-retry", RuleSet::Tv2, |r| {
            r.log.refused_completion_clears_pending = false;
        }),
        none
    );
}

#[test]
fn a_late_bump_that_is_compared_fences_nobody_newer() {
    assert_eq!(breaks("late-bump", RuleSet::Tv1, |_| {}), ["S7"]);
    let none: [&str; 0] = [];
    assert_eq!(
        breaks("late-bump", RuleSet::Tv1, |r| {
            r.init.ongoing_compares_epoch = true;
        }),
        none
    );
}

#[test]
fn a_marker_for_a_leaderless_partition_is_sent_again() {
    for set in [RuleSet::Tv1, RuleSet::Tv2] {
        assert!(!breaks("leaderless", set, |_| {}).is_empty());
        let repaired = breaks("leaderless", set, |r| r.markers.drop_leaderless = false);
        assert!(repaired.is_empty(), "{repaired:?}");
    }
}
