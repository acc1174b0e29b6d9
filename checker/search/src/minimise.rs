//! Making a counterexample shorter: delta debugging (Zeller and Hildebrandt 2002) on its actions.

use std::hash::Hash;

use stateright::Model;

use crate::checks::Checks;
use crate::model::SearchModel;
use crate::outcome::{Hit, HitPlace};
use crate::trace::Trace;

/// A trace through fewer of the same actions, in the same order and from the same initial state, that is still bad.
///
/// Every candidate is replayed on the model and judged anew by `is_bad`. The result is cut at its first bad state, and
/// no single action can be left out of it. A trace that is not bad, or not one of the model, is given back as it is.
pub fn minimise<M>(
    model: &M,
    trace: &Trace<M::State, M::Action>,
    is_bad: impl Fn(&M::State) -> bool,
) -> Trace<M::State, M::Action>
where
    M: SearchModel,
    M::Action: PartialEq,
{
    let initial = trace
        .first()
        .and_then(|first| model.init_states().iter().position(|state| state == first));
    let Some(initial) = initial else {
        return trace.clone();
    };
    let attempt = |actions: Vec<M::Action>| {
        let trace = Trace::from_actions(model, initial, actions).ok()?;
        cut_at_first(trace, &is_bad)
    };
    let Some(mut best) = attempt(trace.actions.clone()) else {
        return trace.clone();
    };
    let mut chunk = best.len().max(1);
    while chunk > 0 {
        match without_a_chunk(&best, chunk, &attempt) {
            Some(shorter) => best = shorter,
            None => chunk /= 2,
        }
        chunk = chunk.min(best.len());
    }
    best
}

/// The trace without some `chunk` consecutive actions, if it is still bad without them.
fn without_a_chunk<S, A: Clone>(
    trace: &Trace<S, A>,
    chunk: usize,
    attempt: &impl Fn(Vec<A>) -> Option<Trace<S, A>>,
) -> Option<Trace<S, A>> {
    // From the end: what was done last is needed least often by what came after.
    (0..=trace.actions.len().checked_sub(chunk)?)
        .rev()
        .step_by(chunk)
        .find_map(|from| {
            let mut actions = trace.actions.clone();
            actions.drain(from..from + chunk);
            attempt(actions)
        })
}

fn cut_at_first<S, A>(mut trace: Trace<S, A>, is_bad: &impl Fn(&S) -> bool) -> Option<Trace<S, A>> {
    let bad = trace.states.iter().position(is_bad)?;
    trace.states.truncate(bad + 1);
    trace.actions.truncate(bad);
    Some(trace)
}

impl<S, A> Hit<S, A> {
    /// This hit of a property with a [`minimise`]d trace.
    #[must_use]
    pub fn minimised<M>(&self, model: &M, checks: &Checks<M>) -> Self
    where
        M: SearchModel + Model<State = S, Action = A>,
        S: Clone + Hash + Eq + Send + Sync,
        A: Clone + PartialEq + Send,
    {
        let is_bad = |state: &S| match self.place {
            HitPlace::State => checks.violated(model, state) >> self.bit & 1 == 1,
            HitPlace::Terminal => {
                checks.terminal(model, state) >> self.bit & 1 == 1
                    && model.next_states(state).is_empty()
            }
        };
        Self {
            bit: self.bit,
            name: self.name.clone(),
            place: self.place,
            trace: minimise(model, &self.trace, is_bad),
        }
    }
}
