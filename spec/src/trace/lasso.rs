//! Judging a lasso that was replayed: a fair run on which a liveness property is never satisfied again. It shares
//! nothing with the search that found it.

use super::Replayed;
use crate::properties::Id;
use crate::properties::fair::{FAIR_CLASSES, fair_class, settled};
use crate::world::{Action, State, World};
use std::collections::BTreeSet;
use thiserror::Error;

/// Why a replayed trace is no lasso of a property.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoLasso {
    /// There is no such step to go back to.
    #[error("the cycle begins after step {0}, which is not there")]
    NoSuchStep(usize),
    /// The last state is not the one in which the cycle begins.
    #[error("the last state is not the one after step {0}")]
    NotClosed(usize),
    /// The property is satisfied in the cycle.
    #[error("{} is satisfied after step {step}", id.name())]
    Satisfied {
        /// The property.
        id: Id,
        /// The step.
        step: usize,
    },
    /// A fair run would not stay.
    #[error("the run is not fair: {0} never again")]
    NotFair(&'static str),
}

impl Replayed {
    /// Checks that the run, going on from the state after step `from` to the last one over and over, is fair and
    /// violates `id`. With `from` the last step, it stays in its last state.
    ///
    /// # Errors
    /// [`NoLasso`] says why not.
    pub fn lasso(&self, world: &World, id: Id, from: usize) -> Result<(), NoLasso> {
        let cycle = self.states.get(from..).ok_or(NoLasso::NoSuchStep(from))?;
        let first = cycle.first().ok_or(NoLasso::NoSuchStep(from))?;
        if first != self.last() {
            return Err(NoLasso::NotClosed(from));
        }
        if let Some(at) = cycle.iter().position(|state| settled(world, state, id)) {
            return Err(NoLasso::Satisfied {
                id,
                step: from + at,
            });
        }
        let steps = cycle.windows(2).zip(&self.actions[from..]);
        let taken: BTreeSet<usize> = steps
            .filter(|(pair, _)| pair[0] != pair[1])
            .filter_map(|(_, action)| fair_class(action))
            .collect();
        let enabled: Vec<BTreeSet<usize>> = cycle.iter().map(|s| enabled(world, s)).collect();
        for (class, fair) in FAIR_CLASSES.iter().enumerate() {
            let again = if fair.strong {
                enabled.iter().any(|classes| classes.contains(&class))
            } else {
                enabled.iter().all(|classes| classes.contains(&class))
            };
            if again && !taken.contains(&class) {
                return Err(NoLasso::NotFair(fair.name));
            }
        }
        Ok(())
    }
}

/// The classes of the actions that change a state.
fn enabled(world: &World, state: &State) -> BTreeSet<usize> {
    let changes = |(_, next): &(Action, State)| next != state;
    let enabled = world.enabled(state).into_iter().filter(changes);
    enabled
        .filter_map(|(action, _)| fair_class(&action))
        .collect()
}
