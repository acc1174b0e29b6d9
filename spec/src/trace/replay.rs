//! Replays a trace on the model: each line must be the text of an action that is enabled.

use super::{Line, TraceFile};
use crate::properties::{self, Id};
use crate::world::{Action, State, World};
use thiserror::Error;

/// A trace that ran to its end.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The actions taken.
    pub actions: Vec<Action>,
    /// The states: the initial one, then the one after each action.
    pub states: Vec<State>,
    /// The properties that the last state violates, as a mask of bits; what only shows where
    /// nothing can follow is in it when nothing can.
    pub violated: u32,
}

/// A known action that is not enabled where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: step {step} is not enabled: {action}")]
pub struct NotEnabled {
    /// The line of the file, from 1.
    pub line: usize,
    /// The step, from 1.
    pub step: usize,
    /// The action as it stands in the file.
    pub action: Line,
    /// What was enabled.
    pub enabled: Vec<Line>,
}

impl TraceFile {
    /// Replays it on the model.
    ///
    /// # Errors
    /// [`NotEnabled`] for the first line that is not the text of an enabled action.
    pub fn replay(&self) -> Result<Replayed, NotEnabled> {
        replay(&self.world(), &self.lines)
    }
}

/// Replays numbered lines on a world.
///
/// # Errors
/// [`NotEnabled`] for the first line that is not the text of an enabled action.
pub fn replay(world: &World, lines: &[(usize, Line)]) -> Result<Replayed, NotEnabled> {
    let mut state = world.initial();
    let mut run = Replayed {
        actions: Vec::new(),
        states: Vec::new(),
        violated: 0,
    };
    for (step, (line, wanted)) in (1..).zip(lines) {
        let enabled = world.enabled(&state);
        let text = wanted.to_string();
        let found = enabled
            .iter()
            .find(|(action, _)| Line::from(action).to_string() == text);
        let Some((action, next)) = found else {
            return Err(NotEnabled {
                line: *line,
                step,
                action: wanted.clone(),
                enabled: enabled
                    .iter()
                    .map(|(action, _)| Line::from(action))
                    .collect(),
            });
        };
        run.actions.push(*action);
        run.states.push(std::mem::replace(&mut state, next.clone()));
    }
    run.violated = violated_at_end(world, &state);
    run.states.push(state);
    Ok(run)
}

/// What a state violates, counting what shows only where nothing can follow.
pub fn violated_at_end(world: &World, state: &State) -> u32 {
    let mut violated = properties::violated(world, state);
    if world.enabled(state).is_empty() {
        violated |= properties::violated_terminally(world, state);
    }
    violated
}

impl Replayed {
    /// The properties that the last state violates.
    pub fn violations(&self) -> Vec<Id> {
        Id::in_mask(self.violated).collect()
    }

    /// The last state.
    pub fn last(&self) -> &State {
        // `replay` puts the initial state in and takes nothing out.
        &self.states[self.states.len() - 1]
    }
}
