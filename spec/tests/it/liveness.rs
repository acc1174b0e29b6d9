//! Liveness on fair cycles: every retriable answer is really sent, so that a livelock is a cycle.
//!
//! Under the right rules every fair run settles; each liveness mutant has a lasso, which code that
//! knows nothing of the search checks.

use fencepost_search::{Goal, Liveness, LivenessOutcome, Options, Strength, run_liveness};
use fencepost_spec::mutants::{self, FAIR_PLANS};
use fencepost_spec::properties::fair::{
    FAIR_CLASSES, FAIR_SCENARIOS, ON_CYCLES, fair_class, settled,
};
use fencepost_spec::scenario::{RuleSet, find};
use fencepost_spec::world::{Action, State, World};

pub fn fair() -> Liveness<World> {
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
pub fn world(name: &str, set: RuleSet, mutant: Option<&str>) -> World {
    let entry = find(name).expect("a scenario of the catalogue");
    let mut rules = entry.rules(set);
    if let Some(id) = mutant {
        let mutant = mutants::find(id).expect("a mutant of the ledger");
        (mutant.edit)(&mut rules);
    }
    World::new(entry.scenario(set).answering(), rules)
}

pub fn judge(world: &World) -> LivenessOutcome<State, Action> {
    let outcome = run_liveness(world, &fair(), &Options::default());
    assert!(outcome.incomplete.is_none());
    for lasso in &outcome.violations {
        lasso.check(world, &fair()).expect("a lasso is a fair run");
    }
    outcome
}

#[test]
fn fair_runs_settle_under_the_right_rules() {
    for name in FAIR_SCENARIOS {
        for (set, known) in find(name).expect("a scenario of the catalogue").runs {
            let outcome = judge(&world(name, *set, None));
            let broken: Vec<_> = outcome.violations.iter().map(|l| &l.property).collect();
            let known = known.iter().filter(|id| ON_CYCLES.contains(id));
            let known: Vec<_> = known.map(|id| id.name()).collect();
            assert_eq!(broken, known, "{name} under {}", set.name());
        }
    }
}

/// Plans of more states than this are left to `fencepost mutants`.
const LARGE: [&str; 2] = ["exhaustion", "storage"];

#[test]
fn each_liveness_mutant_has_a_lasso() {
    for plan in FAIR_PLANS {
        if LARGE.contains(&plan.scenario) {
            continue;
        }
        let outcome = judge(&world(plan.scenario, plan.rules, Some(plan.mutant)));
        let broken: Vec<_> = outcome.violations.iter().map(|l| &l.property).collect();
        assert!(
            outcome.violation(plan.breaks.name()).is_some(),
            "{} in {} under {}: {broken:?}",
            plan.mutant,
            plan.scenario,
            plan.rules.name()
        );
    }
}

#[test]
fn each_liveness_property_has_a_mutant_on_fair_cycles() {
    for id in ON_CYCLES {
        assert!(
            FAIR_PLANS.iter().any(|plan| plan.breaks == id),
            "{}",
            id.name()
        );
    }
}
