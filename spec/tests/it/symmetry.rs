//! Symmetry: a renaming that leaves a scenario as it is leaves its whole graph and every verdict as they are.

use super::search::{broken, checks, search};
use fencepost_search::{Observer, Options, run_bfs, run_bfs_observed};
use fencepost_spec::mutants::MUTANTS;
use fencepost_spec::properties;
use fencepost_spec::scenario::{CATALOGUE, Entry, Profile, RuleSet, find};
use fencepost_spec::world::symmetry::{Renaming, canonical};
use fencepost_spec::world::{Action, State, World};
use std::collections::HashSet;

fn world(entry: &Entry, set: RuleSet) -> World {
    World::new(entry.scenario(set), entry.rules(set))
}

/// Checks that renaming goes with everything that the search looks at, and collects the orbits.
#[derive(Clone)]
struct Equivariant {
    symmetries: Vec<Renaming>,
    orbits: HashSet<State>,
    stood_for: u64,
}

impl Observer<World> for Equivariant {
    fn fork(&self) -> Self {
        Self {
            orbits: HashSet::new(),
            stood_for: 0,
            ..self.clone()
        }
    }

    fn join(&mut self, other: Self) {
        self.orbits.extend(other.orbits);
    }

    fn state(&mut self, world: &World, state: &State) {
        let after = |state: &State| world.enabled(state).into_iter().map(|(_, next)| next);
        for renaming in &self.symmetries {
            let renamed = renaming.state(state);
            let (next, other): (HashSet<_>, HashSet<_>) = (
                after(state).map(|next| renaming.state(&next)).collect(),
                after(&renamed).collect(),
            );
            assert!(next == other, "{} from {state:?}", renaming.says());
            assert_eq!(
                properties::violated(world, &renamed),
                properties::violated(world, state)
            );
            let terminal = |state| properties::violated_terminally(world, state);
            assert_eq!(terminal(&renamed), terminal(state));
        }
        let (representative, size) = canonical(&self.symmetries, state);
        if self.orbits.insert(representative) {
            self.stood_for += size as u64;
        }
    }
}

/// Scenarios with symmetric parts that are small enough to look at every state so closely.
const SMALL: [(&str, RuleSet); 5] = [
    ("failed-append", RuleSet::Tv1),
    ("failed-append", RuleSet::Tv2),
    ("failed-fence", RuleSet::Tv2),
    ("answers", RuleSet::Tv1),
    ("zombie", RuleSet::Tv2),
];

#[test]
fn renamed_states_have_renamed_successors_and_the_same_verdicts() {
    for (name, set) in SMALL {
        let world = world(find(name).expect("a scenario of the catalogue"), set);
        let observer = Equivariant {
            symmetries: world.symmetries(),
            orbits: HashSet::new(),
            stood_for: 0,
        };
        assert_eq!(observer.symmetries.len(), 1, "{name}");
        let (whole, seen) = run_bfs_observed(&world, &checks(), &Options::default(), observer);
        // The orbits of the whole graph are exactly what a search with symmetry visits.
        let symmetries = world.symmetries();
        let reduced = checks().symmetry(move |_, state| canonical(&symmetries, state).0);
        let reduced = run_bfs(&world, &reduced, &Options::default());
        assert_eq!(reduced.distinct, seen.orbits.len() as u64, "{name}");
        assert_eq!(seen.stood_for, whole.distinct, "{name}");
        assert!(reduced.distinct < whole.distinct && reduced.depth == whole.depth);
        assert_eq!(broken(&reduced), broken(&whole), "{name}");
    }
}

#[test]
fn scripts_that_differ_have_no_symmetry() {
    for name in ["smoke", "two-phase", "rebalance", "markers"] {
        let entry = find(name).expect("a scenario of the catalogue");
        let (set, _) = entry.runs[entry.runs.len() - 1];
        assert!(world(entry, set).symmetries().is_empty(), "{name}");
    }
}

/// What a run breaks with symmetry, until each of `wanted` is.
fn with_symmetry(world: &World, wanted: u32) -> (u64, Vec<(String, usize)>) {
    let symmetries = world.symmetries();
    let mut checks = checks();
    if !symmetries.is_empty() {
        checks = checks.symmetry(move |_, state| canonical(&symmetries, state).0);
    }
    judge(world, &checks, wanted)
}

fn judge(
    world: &World,
    checks: &fencepost_search::Checks<World>,
    wanted: u32,
) -> (u64, Vec<(String, usize)>) {
    let options = Options {
        threads: 2,
        stop_when: u64::from(wanted),
        ..Options::default()
    };
    let outcome: fencepost_search::Outcome<State, Action> = run_bfs(world, checks, &options);
    let hits = outcome.violations.iter();
    let hits = hits.map(|hit| (hit.name.clone(), hit.trace.len()));
    (outcome.distinct, hits.collect())
}

#[test]
fn every_mutant_has_the_same_verdict_with_symmetry() {
    use fencepost_spec::mutants::Expect;
    let mut reduced = 0;
    for mutant in MUTANTS {
        for plan in mutant.plans {
            let mut world = world(find(plan.scenario).expect("it is there"), plan.rules);
            (mutant.edit)(&mut world.rules);
            if world.symmetries().is_empty() {
                // Nothing to reduce: the two searches are one.
                continue;
            }
            let wanted = match &plan.expect {
                Expect::Killed(id) => id.bit(),
                Expect::Expected { breaks, .. } => breaks.bit(),
                Expect::Equivalent { .. } | Expect::Pending { .. } => 0,
            };
            let (states, hits) = with_symmetry(&world, wanted);
            let whole = judge(&world, &checks(), wanted);
            assert_eq!(hits, whole.1, "{} in {}", mutant.id, plan.scenario);
            assert!(states <= whole.0);
            reduced += u32::from(states < whole.0);
        }
    }
    assert!(reduced > 10, "{reduced}");
}

/// Scenarios that take longer than the rest together.
const LARGE: [&str; 2] = ["election", "mix"];

#[test]
fn every_default_scenario_has_the_same_verdict_with_symmetry() {
    let mut reduced = 0;
    for entry in CATALOGUE.iter().filter(|e| e.profile == Profile::Default) {
        if LARGE.contains(&entry.name) {
            continue;
        }
        for (set, _) in entry.runs {
            let world = world(entry, *set);
            if world.symmetries().is_empty() {
                continue;
            }
            let (states, hits) = with_symmetry(&world, 0);
            let whole = search(&world);
            let names: Vec<_> = hits.into_iter().map(|(name, _)| name).collect();
            assert_eq!(names, broken(&whole), "{} under {}", entry.name, set.name());
            assert!(states < whole.distinct);
            reduced += 1;
        }
    }
    assert!(reduced >= 8, "{reduced}");
}
