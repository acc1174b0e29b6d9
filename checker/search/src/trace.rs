//! Traces: actions, and the states between them, derived by replay.

use stateright::Model;
use thiserror::Error;

/// A way through a model. Only actions are kept during a search; the states are derived by replay on the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace<S, A> {
    /// The actions, in order.
    pub actions: Vec<A>,
    /// The states: the initial one, then the one after each action; one more than there are actions.
    pub states: Vec<S>,
}

/// A trace does not run on the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReplayError {
    /// The model has no such initial state.
    #[error("the model has no initial state number {position}")]
    NoSuchInitialState {
        /// The position asked for.
        position: usize,
    },
    /// The action is not enabled.
    #[error("step {step} is not enabled")]
    NotEnabled {
        /// Which step, from 1.
        step: usize,
    },
}

impl<S: Clone, A: Clone> Trace<S, A> {
    /// Steps, one less than states.
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// True when the trace is an initial state alone.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// The first state; `None` only for a trace built by hand without states.
    pub fn first(&self) -> Option<&S> {
        self.states.first()
    }

    /// The last state; `None` only for a trace built by hand without states.
    pub fn last(&self) -> Option<&S> {
        self.states.last()
    }

    /// The trace from an initial state, given as its position, through actions, given as their positions in the
    /// lists that the model gives.
    ///
    /// # Errors
    /// [`ReplayError`] when there is no such state or action, or the action gives no state.
    pub fn from_positions<M: Model<State = S, Action = A>>(
        model: &M,
        initial: usize,
        actions: impl IntoIterator<Item = usize>,
    ) -> Result<Self, ReplayError> {
        let mut trace = Self::at(model, initial)?;
        let mut list = Vec::new();
        for position in actions {
            list.clear();
            model.actions(trace.tip(), &mut list);
            if position >= list.len() {
                return Err(trace.refused());
            }
            let action = list.swap_remove(position);
            trace.step(model, action)?;
        }
        Ok(trace)
    }

    /// The trace from an initial state, given as its position, through these actions.
    ///
    /// # Errors
    /// [`ReplayError`] when there is no such state, or an action is not among those that the model lists, or gives
    /// no state.
    pub fn from_actions<M: Model<State = S, Action = A>>(
        model: &M,
        initial: usize,
        actions: impl IntoIterator<Item = A>,
    ) -> Result<Self, ReplayError>
    where
        A: PartialEq,
    {
        let mut trace = Self::at(model, initial)?;
        let mut list = Vec::new();
        for action in actions {
            list.clear();
            model.actions(trace.tip(), &mut list);
            if !list.contains(&action) {
                return Err(trace.refused());
            }
            trace.step(model, action)?;
        }
        Ok(trace)
    }

    fn at<M: Model<State = S, Action = A>>(
        model: &M,
        position: usize,
    ) -> Result<Self, ReplayError> {
        let state = model
            .init_states()
            .into_iter()
            .nth(position)
            .ok_or(ReplayError::NoSuchInitialState { position })?;
        Ok(Self {
            actions: Vec::new(),
            states: vec![state],
        })
    }

    fn step<M: Model<State = S, Action = A>>(
        &mut self,
        model: &M,
        action: A,
    ) -> Result<(), ReplayError> {
        let next = model
            .next_state(self.tip(), action.clone())
            .ok_or(self.refused())?;
        self.actions.push(action);
        self.states.push(next);
        Ok(())
    }

    fn tip(&self) -> &S {
        // `at` puts one state in and nothing takes one out.
        &self.states[self.states.len() - 1]
    }

    fn refused(&self) -> ReplayError {
        ReplayError::NotEnabled {
            step: self.actions.len() + 1,
        }
    }
}
