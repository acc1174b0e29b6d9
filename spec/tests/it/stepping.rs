//! A successor that is written over an older state is the one that is made anew, to the last bit of its hash.

use fencepost_search::{Checks, Fingerprint, Observer, Options, run_bfs_observed};
use fencepost_spec::scenario::{CATALOGUE, RuleSet};
use fencepost_spec::world::{Action, State, World};

/// Compares every step.
struct Compare;

impl Observer<World> for Compare {
    fn fork(&self) -> Self {
        Self
    }

    fn join(&mut self, Self: Self) {}

    fn edge(&mut self, world: &World, from: &State, action: &Action, to: &State, _is_new: bool) {
        let made = world.take(from, action);
        assert_eq!(made.as_ref(), Some(to), "{action:?}");
        assert_eq!(Fingerprint::of(&forgetful(to)), Fingerprint::of(to));
    }
}

/// The same state with every digest to be computed again.
fn forgetful(state: &State) -> State {
    let mut state = state.clone();
    state.producers.iter_mut().for_each(|p| p.txn += 0);
    state.coordinators.iter_mut().for_each(|c| c.epoch.0 += 0);
    state.log.epoch.0 += 0;
    state.partitions.iter_mut().for_each(|p| p.log_end.0 += 0);
    state.group.iter_mut().for_each(|g| g.generation.0 += 0);
    state
}

#[test]
fn every_step_of_every_scenario() {
    for entry in CATALOGUE {
        // A crowd's states are large, and each has hundreds of successors.
        let max_states = if entry.name.starts_with("crowd") {
            50
        } else {
            2_000
        };
        let options = Options {
            max_states: Some(max_states),
            ..Options::default()
        };
        for rules in [RuleSet::Tv1, RuleSet::Tv2, RuleSet::Upgrade] {
            let world = World::new(entry.scenario(rules), entry.rules(rules));
            let plain = fencepost_search::run_bfs(&world, &Checks::none(), &options);
            let checks = Checks::none().stepping(|world: &World, from, action, to| {
                world.take_into(from, &action, to, |_| ())
            });
            let (written, _) = run_bfs_observed(&world, &checks, &options, Compare);
            assert_eq!(
                (plain.distinct, plain.generated, plain.digest),
                (written.distinct, written.generated, written.digest),
                "{} {}",
                entry.name,
                rules.name()
            );
        }
    }
}
