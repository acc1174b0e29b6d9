//! The world with all of safety as one property, so that stateright judges a state once, as this engine does.

use crate::exit::Failure;
use fencepost_search::Checks;
use fencepost_spec::properties;
use fencepost_spec::world::{Action, State, World};
use stateright::{Model, Property};

/// A world with one property.
#[derive(Clone)]
pub struct Judged(pub World);

impl Model for Judged {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        self.0.init_states()
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.0.actions(state, actions);
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        self.0.next_state(state, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("safety", |judged: &Self, state| {
            properties::violated(&judged.0, state) == 0
        })]
    }
}

/// What this engine judges in `check`: each property by itself, and terminal states too.
pub fn checks() -> Result<Checks<Judged>, Failure> {
    let checks = Checks::new(
        properties::NAMES.iter().copied(),
        |judged: &Judged, state| u64::from(properties::violated(&judged.0, state)),
        |judged: &Judged, state| u64::from(properties::violated_terminally(&judged.0, state)),
    )
    .map_err(|error| Failure::Internal(error.to_string()))?;
    Ok(checks.stepping(|judged, from, action, to| judged.0.take_into(from, &action, to, |_| ())))
}
