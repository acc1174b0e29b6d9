//! Running the search on a world.

use crate::args::Limits;
use crate::exit::Failure;
use crate::progress::progress;
use crate::select::Run;
use fencepost_search::{Checks, Options, Outcome, run_bfs};
use fencepost_spec::mutants::Mutant;
use fencepost_spec::properties::{self, Id};
use fencepost_spec::world::{Action, State, World};

/// What a search of a world found.
pub type Found = Outcome<State, Action>;

/// The world of a run, with a mutant on.
pub fn world((entry, rules): Run, mutant: Option<&Mutant>) -> World {
    let mut edited = entry.rules(rules);
    if let Some(mutant) = mutant {
        (mutant.edit)(&mut edited);
    }
    World::new(entry.scenario(rules), edited)
}

/// Every property, in every state and in terminal ones.
pub fn checks() -> Result<Checks<World>, Failure> {
    let checks = Checks::new(
        properties::NAMES.iter().copied(),
        |world: &World, state| u64::from(properties::violated(world, state)),
        |world: &World, state| u64::from(properties::violated_terminally(world, state)),
    )
    .map_err(|error| Failure::Internal(error.to_string()))?;
    Ok(checks.stepping(|world, from, action, to| world.take_into(from, &action, to, |_| ())))
}

/// The options of a search, within the limits.
pub fn options(name: &str, limits: &Limits, threads: usize, show_progress: bool) -> Options {
    Options {
        threads,
        max_states: limits.max_states,
        max_memory: limits.max_memory,
        time_limit: limits.time_limit,
        progress: progress(name, show_progress),
        ..Options::default()
    }
}

/// Searches a world and judges every property.
pub fn search(world: &World, options: &Options) -> Result<Found, Failure> {
    Ok(run_bfs(world, &checks()?, options))
}

/// The properties that a search found violated.
pub fn violated(found: &Found) -> Vec<Id> {
    found
        .violations
        .iter()
        .filter_map(|hit| Id::parse(&hit.name))
        .collect()
}

/// The name of a run in progress and reports.
pub fn name((entry, rules): Run, mutant: Option<&Mutant>) -> String {
    match mutant {
        None => format!("{} {}", entry.name, rules.name()),
        Some(mutant) => format!("{} {} {}", mutant.id, entry.name, rules.name()),
    }
}
