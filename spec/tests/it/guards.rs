//! The guards: each has a mutant on either side, or a search to the end shows that none can be.

use super::liveness;
use super::search::search;
use fencepost_spec::mutants::{self, Cannot, Expect, FAIR_PLANS, GUARDS, NO_GUARDS, Side};
use fencepost_spec::properties::{Id, Kind};
use fencepost_spec::rules::Rules;
use fencepost_spec::scenario::find;
use fencepost_spec::types::TransactionVersion;
use std::collections::BTreeSet;

/// The places of all rules, as the structure itself prints them.
fn rules() -> BTreeSet<String> {
    let printed = format!("{:#?}", Rules::kafka(TransactionVersion::Tv2));
    let mut group = None;
    let mut rules = BTreeSet::new();
    for line in printed.lines() {
        let indent = line.len() - line.trim_start().len();
        let Some((field, value)) = line.trim_start().split_once(": ") else {
            continue;
        };
        match indent {
            4 if value.ends_with("Rules {") => group = Some(field),
            4 => {
                rules.insert(field.to_owned());
            }
            8 => {
                let group = group.expect("a field of a part");
                rules.insert(format!("{group}.{field}"));
            }
            _ => {}
        }
    }
    rules
}

#[test]
fn every_rule_is_a_guard_or_is_said_to_be_none() {
    let guards = GUARDS.iter().map(|guard| guard.rule);
    let known: BTreeSet<String> = guards
        .chain(NO_GUARDS.iter().copied())
        .map(String::from)
        .collect();
    assert_eq!(known, rules());
    assert_eq!(known.len(), GUARDS.len() + NO_GUARDS.len());
}

/// Whether the ledger has a plan by which this mutant breaks a property of this kind.
fn breaks(id: &str, kind: Kind) -> bool {
    let mutant = mutants::find(id).expect("a mutant of the ledger");
    let of_kind = |id: Id| id.row().kind == kind;
    let by_states = mutant.plans.iter().any(|plan| match plan.expect {
        Expect::Killed(id)
        | Expect::Equivalent {
            pair_breaks: id, ..
        } => of_kind(id),
        Expect::Expected { .. } | Expect::Pending { .. } => false,
    });
    by_states || (kind == Kind::Liveness && FAIR_PLANS.iter().any(|plan| plan.mutant == id))
}

/// What opens a guard breaks of this kind where the row says that nothing is.
fn news(cannot: &Cannot, kind: Kind) -> Vec<String> {
    let entry = find(cannot.scenario).expect("a scenario of the catalogue");
    let known = entry.runs.iter().find(|(set, _)| *set == cannot.rules);
    let (_, known) = known.expect("the scenario runs under these rules");
    let world = liveness::world(cannot.scenario, cannot.rules, Some(cannot.mutant));
    let broken: Vec<String> = match kind {
        Kind::Liveness => {
            let found = liveness::judge(&world);
            found
                .violations
                .into_iter()
                .map(|lasso| lasso.property)
                .collect()
        }
        Kind::Safety => {
            let world =
                fencepost_spec::world::World::new(entry.scenario(cannot.rules), world.rules);
            let found = search(&world);
            assert!(found.incomplete.is_none());
            found.violations.into_iter().map(|hit| hit.name).collect()
        }
    };
    let new = |name: &String| {
        let id = Id::parse(name).expect("a property");
        id.row().kind == kind && !known.contains(&id)
    };
    broken.into_iter().filter(new).collect()
}

#[test]
fn either_side_of_every_guard_is_broken_or_cannot_be() {
    let mut wrong = Vec::new();
    for guard in GUARDS {
        for (kind, side) in [
            (Kind::Safety, guard.safety),
            (Kind::Liveness, guard.liveness),
        ] {
            match side {
                Side::By(id) if breaks(id, kind) => {}
                Side::By(id) => {
                    wrong.push(format!("{}: {id} breaks nothing of {kind:?}", guard.rule))
                }
                Side::Cannot(cannot) => {
                    let news = news(&cannot, kind);
                    if !news.is_empty() {
                        let (mutant, rules) = (cannot.mutant, cannot.rules.name());
                        let at = cannot.scenario;
                        wrong.push(format!(
                            "{}: {mutant} in {at} under {rules} breaks {news:?}",
                            guard.rule
                        ));
                    }
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}
