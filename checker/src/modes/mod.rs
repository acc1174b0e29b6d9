//! The ways to search a run that `fencepost check` offers: breadth first, depth first or at random, with or without
//! checkpoints and symmetry.

mod checkpoint;
mod never;
mod orbits;
mod plan;
mod watched;

pub use never::{Never, never};
pub use orbits::Symmetry;
pub use plan::{How, Plan};
pub use watched::Seen;

use crate::exit::Failure;
use crate::run::Found;
use crate::select::{self, Run};
use checkpoint::Place;
use fencepost_search::{
    Checks, Hit, Options, StorageError, run_bfs, run_bfs_stored, run_dfs, run_simulation,
};
use fencepost_spec::mutants::Mutant;
use fencepost_spec::properties;
use fencepost_spec::world::{Action, State, World};
use orbits::Orbits;
use plan::Store;
use std::collections::BTreeMap;
use watched::Watched;

/// What a search of a run found.
pub struct Searched {
    /// The engine's outcome. Counterexamples of a depth-first search or a simulation are minimised.
    pub found: Found,
    /// The actions and cells that it met; `None` for a resumed search, which meets the rest only.
    pub seen: Option<Seen>,
    /// What symmetry did, where it was asked for.
    pub symmetry: Option<Symmetry>,
}

/// Searches a run as planned.
///
/// # Errors
/// [`Failure`] for a checkpoint that cannot be used.
pub fn search(
    plan: &Plan,
    run: Run,
    mutant: Option<&Mutant>,
    world: World,
    options: &Options,
) -> Result<Searched, Failure> {
    let orbits = plan.symmetry.then(|| Orbits::of(&world));
    let mut checks = checks()?;
    if let Some(orbits) = &orbits {
        checks = orbits.reduce(checks)?;
    }
    let watched = Watched::new(world);
    let mut resumed = false;
    let found = match &plan.how {
        How::Bfs(Some(store)) => {
            let place = Place::of(store, plan, run, mutant);
            resumed = place.storage.resume;
            place.search(&watched, &checks, options)?
        }
        How::Bfs(None) if plan.spill.is_some() => {
            let folder = tempfile::tempdir().map_err(|source| Failure::File {
                verb: "write",
                path: std::env::temp_dir().display().to_string(),
                source,
            })?;
            let store = Store {
                directory: folder.path().to_owned(),
                resume: false,
            };
            Place::of(&store, plan, run, mutant).search(&watched, &checks, options)?
        }
        How::Bfs(None) => run_bfs(&watched, &checks, options),
        How::Dfs => minimised(run_dfs(&watched, &checks, options), &watched, &checks),
        How::Simulate(walks) => {
            let found = run_simulation(&watched, &checks, options, *walks);
            minimised(found, &watched, &checks)
        }
    };
    let seen = watched.seen();
    let sampled = matches!(plan.how, How::Simulate(_));
    Ok(Searched {
        seen: (!resumed).then_some(seen),
        symmetry: orbits.map(|orbits| orbits.report(found.distinct, !sampled && !resumed)),
        found,
    })
}

/// Every property, in every state and in terminal ones, with the ways in which each is broken told apart by the verb
/// of the last action.
fn checks() -> Result<Checks<Watched>, Failure> {
    let checks = Checks::new(
        properties::NAMES.iter().copied(),
        |watched: &Watched, state| u64::from(properties::violated(&watched.world, state)),
        |watched: &Watched, state| {
            u64::from(properties::violated_terminally(&watched.world, state))
        },
    )
    .map_err(|error| Failure::Internal(error.to_string()))?;
    // There are fewer verbs than a way has numbers.
    let checks = checks.ways(|_, action: &Action| action.verb_number() as u16);
    Ok(checks.stepping(|watched, from, action, to| watched.step(from, &action, to)))
}

/// The same with shorter counterexamples, of which each property keeps the shortest for each last action.
fn minimised(mut found: Found, watched: &Watched, checks: &Checks<Watched>) -> Found {
    let shorter = |hit: &Hit<State, Action>| hit.minimised(watched, checks);
    let mut ways: BTreeMap<_, Hit<State, Action>> = BTreeMap::new();
    for hit in found.ways.iter().chain(&found.violations).map(shorter) {
        let key = (hit.bit, hit.trace.actions.last().map(Action::verb_number));
        let known = ways.get(&key).map_or(usize::MAX, |way| way.trace.len());
        if hit.trace.len() < known {
            ways.insert(key, hit);
        }
    }
    found.violations = found
        .violations
        .iter()
        .filter_map(|hit| {
            let of_it = ways.values().filter(|way| way.bit == hit.bit);
            of_it.min_by_key(|way| way.trace.len()).cloned()
        })
        .collect();
    found.ways = ways.into_values().collect();
    found
}

impl Place {
    fn search(
        &self,
        watched: &Watched,
        checks: &Checks<Watched>,
        options: &Options,
    ) -> Result<Found, Failure> {
        run_bfs_stored(watched, checks, options, &self.storage)
            .map_err(|source| self.failed(source))
    }

    fn failed(&self, source: StorageError) -> Failure {
        match source {
            StorageError::Io { path, source } if !self.storage.resume => Failure::File {
                verb: "write",
                path: path.display().to_string(),
                source,
            },
            source => Failure::Checkpoint {
                run: self.storage.label.clone(),
                source,
            },
        }
    }
}

/// The verb of a hit's last action, as in `coordinator end_txn`; `None` for an initial state.
pub fn last_action(hit: &Hit<State, Action>) -> Option<String> {
    let last = hit.trace.actions.last();
    last.map(|action| action.verb().name())
}

/// The properties that the right rules break in a run, as far as this way of searching must find them.
pub fn must_break(plan: &Plan, run: Run) -> &'static [fencepost_spec::properties::Id] {
    match plan.how {
        How::Bfs(_) | How::Dfs => select::known_broken(run),
        How::Simulate(_) => &[],
    }
}
