//! Liveness on fair cycles: every retriable answer is really sent, so that a livelock is a cycle.
//!
//! Under the right rules every fair run settles; each liveness mutant has a lasso, which code that
//! knows nothing of the search checks.

use fencepost_search::{Goal, Liveness, LivenessOutcome, Options, Strength, run_liveness};
use fencepost_spec::mutants;
use fencepost_spec::properties::fair::{FAIR_CLASSES, ON_CYCLES, fair_class, settled};
use fencepost_spec::scenario::{RuleSet, find};
use fencepost_spec::world::{Action, State, World};

fn fair() -> Liveness<World> {
    let mut liveness = Liveness::new();
    for (index, class) in FAIR_CLASSES.iter().enumerate() {
        let strength = if class.strong {
            Strength::Strong
        } else {
            Strength::Weak
        };
        liveness = liveness.fair(class.name, strength, move |_: &World, _, action| {
            fair_class(action) == Some(index)
        });
    }
    for id in ON_CYCLES {
        let goal = Goal::AlwaysEventually(Box::new(move |w: &World, s: &State| settled(w, s, id)));
        liveness = liveness.property(id.name(), goal);
    }
    liveness
}

/// The scenario with every retriable answer really sent, under the rules with a mutant on.
fn world(name: &str, set: RuleSet, mutant: Option<&str>) -> World {
    let entry = find(name).expect("a scenario of the catalogue");
    let mut rules = entry.rules(set);
    if let Some(id) = mutant {
        let mutant = mutants::find(id).expect("a mutant of the ledger");
        (mutant.edit)(&mut rules);
    }
    World::new(entry.scenario(set).answering(), rules)
}

fn judge(world: &World) -> LivenessOutcome<State, Action> {
    let outcome = run_liveness(world, &fair(), &Options::default());
    assert!(outcome.incomplete.is_none());
    for lasso in &outcome.violations {
        lasso.check(world, &fair()).expect("a lasso is a fair run");
    }
    outcome
}

#[test]
fn fair_runs_settle_under_the_right_rules() {
    for name in [
        "smoke",
        "answers",
        "timer-once",
        "lost-marker",
        "offsets-election",
        "rebalance",
    ] {
        for (set, _) in find(name).expect("a scenario of the catalogue").runs {
            let outcome = judge(&world(name, *set, None));
            let broken: Vec<_> = outcome.violations.iter().map(|l| &l.property).collect();
            assert!(broken.is_empty(), "{name} under {}: {broken:?}", set.name());
        }
    }
}

#[test]
fn each_liveness_mutant_has_a_lasso() {
    let plans = [
        ("M04", "smoke", RuleSet::Tv2),
        ("M12", "missed-test", RuleSet::Tv1),
        ("M12", "missed-test", RuleSet::Tv2),
        ("M13a", "failed-append", RuleSet::Tv1),
        ("M13a", "failed-append", RuleSet::Tv2),
        ("M19b", "exhaustion", RuleSet::Tv2),
        ("M24a", "offsets-late", RuleSet::Tv2),
        ("M31", "eviction", RuleSet::Tv2),
        ("M28", "rebalance", RuleSet::Tv2),
        ("M61", "lost-marker", RuleSet::Tv1),
        ("M61", "lost-marker", RuleSet::Tv2),
        ("M62", "deleted-topic", RuleSet::Tv2),
        ("M85", "offsets-election", RuleSet::Tv1),
        ("M85", "offsets-election", RuleSet::Tv2),
        ("M60", "clock", RuleSet::Tv2),
    ];
    for (mutant, name, set) in plans {
        let outcome = judge(&world(name, set, Some(mutant)));
        assert!(
            !outcome.violations.is_empty(),
            "{mutant} in {name} under {}",
            set.name()
        );
    }
}
