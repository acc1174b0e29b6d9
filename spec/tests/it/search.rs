//! Searching a world to its end.

use fencepost_search::{Checks, Options, Outcome, run_bfs};
use fencepost_spec::properties;
use fencepost_spec::world::{Action, State, World};

/// The checks of a world, in the order of the properties' bits.
pub fn checks() -> Checks<World> {
    Checks::new(
        properties::NAMES.iter().copied(),
        |w: &World, s| u64::from(properties::violated(w, s)),
        |w: &World, s| u64::from(properties::violated_terminally(w, s)),
    )
    .expect("there are fewer than 64 properties")
    .stepping(|w: &World, from, action, to| w.take_into(from, &action, to, |_| ()))
}

/// Searches `world` to its end.
pub fn search(world: &World) -> Outcome<State, Action> {
    let options = Options {
        threads: 2,
        ..Options::default()
    };
    run_bfs(world, &checks(), &options)
}

/// The names of the properties that a run broke.
pub fn broken(outcome: &Outcome<State, Action>) -> Vec<String> {
    outcome.violations.iter().map(|v| v.name.clone()).collect()
}
