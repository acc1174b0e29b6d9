//! One trace on both sides.

use super::{Divergence, Edge, Exclusion, Exclusions, Lockstep, Mismatch};
use fencepost_spec::trace::{Line, NotEnabled, TraceFile};
use fencepost_spec::world::{Action, State};
use thiserror::Error;

/// Why a trace does not show that the two sides agree.
#[derive(Clone, Debug, Error)]
pub enum ReplayError {
    /// The model does not take a line.
    #[error(transparent)]
    NotEnabled(#[from] NotEnabled),
    /// The trace was written for another model than Kafka's.
    #[error("the trace is about mutant {0}, which only the model has")]
    Mutant(&'static str),
    /// The sides differ.
    #[error("model and production differ at step {}", .0.steps)]
    Differs(Box<Divergence>),
    /// A step is left out of the comparison, and the sides are in different states after it.
    #[error("step {step} is left out: {what}")]
    Excluded {
        /// Which step, from 1.
        step: usize,
        /// What is left out.
        what: &'static str,
    },
}

/// Replays a trace on the model and on production, every step and every waiting request compared; how many steps.
///
/// # Errors
/// [`ReplayError`] at the first step that cannot be taken or on which the sides differ.
pub fn replay(trace: &TraceFile) -> Result<usize, ReplayError> {
    if let Some(mutant) = trace.mutant {
        return Err(ReplayError::Mutant(mutant.id));
    }
    let actions = trace.replay()?.actions;
    let lockstep = Lockstep::new(trace.world());
    let mut exclusions = Exclusions::default();
    let differs = |steps: usize, after: &State, mismatch: &Mismatch| {
        let lines: Vec<Line> = actions[..steps].iter().map(Line::from).collect();
        ReplayError::Differs(Box::new(Divergence::new(
            trace.scenario,
            trace.rules,
            lines,
            after,
            mismatch,
        )))
    };
    let initial = lockstep.world.initial();
    let started = lockstep.start(&mut exclusions);
    let (mut state, mut production) = started.map_err(|found| differs(0, &initial, &found))?;
    for (step, action) in (1..).zip(&actions) {
        let Some(after) = lockstep.world.take(&state, action) else {
            break;
        };
        let met = exclusions.clone();
        let edge = lockstep.step(&state, action, &after, &production, &mut exclusions);
        match edge.map_err(|found| differs(step, &after, &found))? {
            Edge::Taken(next) => (state, production) = (after, next),
            Edge::Excluded => {
                let what = newly_met(&met, &exclusions);
                return Err(ReplayError::Excluded { step, what });
            }
        }
        let refusals = lockstep.refusals(&state, &production, &mut exclusions);
        refusals.map_err(|(_, found): (Action, _)| differs(step, &state, &found))?;
    }
    Ok(actions.len())
}

/// What was met since.
fn newly_met(before: &Exclusions, after: &Exclusions) -> &'static str {
    let count = |of: &Exclusions, wanted: Exclusion| {
        let found = of.iter().find(|(exclusion, _)| *exclusion == wanted);
        found.map_or(0, |(_, count)| count)
    };
    let new = after.iter().find(|(exclusion, count_after)| {
        exclusion.cuts() && *count_after > count(before, *exclusion)
    });
    new.map_or("nothing", |(exclusion, _)| exclusion.what())
}
