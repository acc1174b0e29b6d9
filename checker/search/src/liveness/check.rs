//! Checking a lasso on the model alone, by code that shares nothing with the search that found it.

use stateright::Model;
use thiserror::Error;

use super::{Goal, Lasso, Liveness, Strength};
use crate::model::SearchModel;

/// What is wrong with a lasso.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LassoError {
    /// There is no such property.
    #[error("there is no liveness property {0:?}")]
    NoSuchProperty(String),
    /// The first state is not an initial state.
    #[error("the first state is not an initial state")]
    NotInitial,
    /// A step is not one of the model's.
    #[error("step {0} is not a step of the model")]
    NotAStep(usize),
    /// The last state is not where the cycle begins.
    #[error("the cycle does not close")]
    NotClosed,
    /// The property holds on this run.
    #[error("the property holds on this run")]
    Holds,
    /// The run is not fair to a class.
    #[error("the run is not fair to {0:?}")]
    NotFair(String),
}

impl<S, A> Lasso<S, A> {
    /// Checks that this is a fair run of the model that violates its property.
    ///
    /// # Errors
    /// [`LassoError`] says what is wrong.
    pub fn check<M>(&self, model: &M, liveness: &Liveness<M>) -> Result<(), LassoError>
    where
        M: SearchModel + Model<State = S, Action = A>,
        S: Clone + PartialEq,
        A: Clone,
    {
        self.check_run(model)?;
        let named = |(name, _): &&(String, Goal<M>)| *name == self.property;
        let (_, goal) = liveness
            .properties
            .iter()
            .find(named)
            .ok_or_else(|| LassoError::NoSuchProperty(self.property.clone()))?;
        if !self.violates(model, goal) {
            return Err(LassoError::Holds);
        }
        for class in &liveness.classes {
            let contains = |state: &S, action: &A| (class.contains)(model, state, action);
            if !self.is_fair(model, class.strength, contains) {
                return Err(LassoError::NotFair(class.name.clone()));
            }
        }
        Ok(())
    }

    fn check_run<M>(&self, model: &M) -> Result<(), LassoError>
    where
        M: Model<State = S, Action = A>,
        S: PartialEq,
        A: Clone,
    {
        let (states, actions) = (&self.trace.states, &self.trace.actions);
        if states
            .first()
            .is_none_or(|first| !model.init_states().contains(first))
        {
            return Err(LassoError::NotInitial);
        }
        if states.len() != actions.len() + 1 {
            return Err(LassoError::NotClosed);
        }
        for (step, (pair, action)) in states.windows(2).zip(actions).enumerate() {
            let leads = model.next_state(&pair[0], action.clone()).as_ref() == Some(&pair[1]);
            if !leads || !model.next_states(&pair[0]).contains(&pair[1]) {
                return Err(LassoError::NotAStep(step + 1));
            }
        }
        if states.get(self.loop_start) != states.last() {
            return Err(LassoError::NotClosed);
        }
        Ok(())
    }

    fn violates<M: Model<State = S, Action = A>>(&self, model: &M, goal: &Goal<M>) -> bool {
        let states = &self.trace.states;
        let cycle = &states[self.loop_start..];
        match goal {
            Goal::Eventually(good) => !states.iter().any(|state| good(model, state)),
            Goal::AlwaysEventually(good) => !cycle.iter().any(|state| good(model, state)),
            Goal::EventuallyAlways(good) => !cycle.iter().all(|state| good(model, state)),
            Goal::LeadsTo(trigger, good) => {
                let last_good = states.iter().rposition(|state| good(model, state));
                let rest = &states[last_good.map_or(0, |position| position + 1)..];
                rest.iter().any(|state| trigger(model, state))
                    && !cycle.iter().any(|state| good(model, state))
            }
        }
    }

    fn is_fair<M>(&self, model: &M, strength: Strength, contains: impl Fn(&S, &A) -> bool) -> bool
    where
        M: Model<State = S, Action = A>,
        S: PartialEq,
        A: Clone,
    {
        let steps = self.trace.states.windows(2).zip(&self.trace.actions);
        let taken = steps
            .skip(self.loop_start)
            .any(|(pair, action)| pair[0] != pair[1] && contains(&pair[0], action));
        let enabled = |state: &S| {
            let mut actions = Vec::new();
            model.actions(state, &mut actions);
            actions.into_iter().any(|action| {
                contains(state, &action)
                    && model
                        .next_state(state, action)
                        .is_some_and(|next| next != *state)
            })
        };
        let cycle = &self.trace.states[self.loop_start..];
        taken
            || match strength {
                Strength::Weak => !cycle.iter().all(enabled),
                Strength::Strong => !cycle.iter().any(enabled),
            }
    }
}
