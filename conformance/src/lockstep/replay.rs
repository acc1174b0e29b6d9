//! One trace on both sides.

use super::divergence::Place;
use super::{Divergence, Edge, Exclusion, Exclusions, Lockstep, Mismatch, Tally};
use fencepost_spec::rules::Rules;
use fencepost_spec::trace::{Line, NotEnabled, TraceFile};
use fencepost_spec::world::{Action, State};
use thiserror::Error;

/// Why a trace does not show that the two sides agree.
#[derive(Clone, Debug, Error)]
pub enum ReplayError {
    /// The model does not take a line.
    #[error(transparent)]
    NotEnabled(#[from] NotEnabled),
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
        /// Why.
        reason: &'static str,
    },
}

/// Replays a trace on the model and on production, every step and every waiting request compared; how many steps. Where
/// the trace names a mutant, the model has it and production does not.
///
/// # Errors
/// [`ReplayError`] at the first step that cannot be taken or on which the sides differ.
pub fn replay(trace: &TraceFile) -> Result<usize, ReplayError> {
    follow(trace, &mut Tally::default())
}

fn follow(trace: &TraceFile, tally: &mut Tally) -> Result<usize, ReplayError> {
    let actions = trace.replay()?.actions;
    let lockstep = Lockstep::new(trace.world());
    let differs =
        |steps: usize, after: &State, waiting: Option<Action>, sides, found: &Mismatch| {
            let place = Place {
                entry: trace.scenario,
                rules: trace.rules,
                mutant: trace.mutant,
                lines: actions[..steps].iter().map(Line::from).collect(),
                waiting: waiting.as_ref().map(Line::from),
                after,
                sides,
            };
            let divergence = Divergence::new(&lockstep.world, place, found);
            ReplayError::Differs(Box::new(divergence))
        };
    let initial = lockstep.world.initial();
    let started = lockstep.start(tally);
    let (mut state, began) = started.map_err(|found| differs(0, &initial, None, None, &found))?;
    let mut production = began.production;
    let refusals = lockstep.refusals(&state, &production, tally);
    refusals.map_err(|(waiting, found)| differs(0, &state, Some(waiting), None, &found))?;
    for (step, action) in (1..).zip(&actions) {
        let Some(after) = lockstep.world.take(&state, action) else {
            break;
        };
        let met = tally.exclusions.clone();
        let edge = lockstep.step(&state, action, &after, &production, tally);
        let edge = edge.map_err(|found| {
            let sides = lockstep.sides(&state, action, &production);
            differs(step, &after, None, sides, &found)
        });
        match edge? {
            Edge::Taken(next) => (state, production) = (after, next.production),
            Edge::Excluded => {
                let (what, reason) = newly_met(&met, &tally.exclusions);
                return Err(ReplayError::Excluded { step, what, reason });
            }
        }
        let refusals = lockstep.refusals(&state, &production, tally);
        refusals.map_err(|(waiting, found)| differs(step, &state, Some(waiting), None, &found))?;
    }
    Ok(actions.len())
}

/// Why production cannot be expected to part from a mutant's trace: the mutant edits nothing, or only what is the model's
/// own on both sides. `None` where production must part from it.
pub fn out_of_sight(trace: &TraceFile) -> Option<&'static str> {
    let right = trace.scenario.rules(trace.rules);
    let world = trace.world();
    let clients = Rules {
        client: right.client.clone(),
        ..world.rules.clone()
    };
    let readers = Rules {
        fetch: right.fetch.clone(),
        ..world.rules.clone()
    };
    if trace.mutant.is_none() {
        None
    } else if world.rules == right {
        Some("the mutant is what Kafka does, and edits nothing")
    } else if clients == right && leaves_a_client_out(trace) {
        Some("the client that has the fault is left out by then")
    } else if readers == right && world.scenario.pace.apply_lag {
        Some("what readers are given is left out where application lags behind the log")
    } else {
        None
    }
}

/// Whether a client is not compared to the trace's end.
fn leaves_a_client_out(trace: &TraceFile) -> bool {
    let mut tally = Tally::default();
    let followed = follow(trace, &mut tally).is_ok();
    let mut met = tally.exclusions.iter();
    followed
        && met.any(|(exclusion, _)| match exclusion {
            Exclusion::Client(gap) => gap.leaves_out(),
            Exclusion::Environment
            | Exclusion::Ghost
            | Exclusion::DecidedPartitions
            | Exclusion::OffsetsSequences
            | Exclusion::MarkerAhead
            | Exclusion::KeptIdentity
            | Exclusion::KeptTv1
            | Exclusion::SnapshotBatches
            | Exclusion::Applied
            | Exclusion::Action(_) => false,
        })
}

/// What was met since.
fn newly_met(before: &Exclusions, after: &Exclusions) -> (&'static str, &'static str) {
    let count = |of: &Exclusions, wanted: Exclusion| {
        let found = of.iter().find(|(exclusion, _)| *exclusion == wanted);
        found.map_or(0, |(_, count)| count)
    };
    let new = after.iter().find(|(exclusion, count_after)| {
        exclusion.cuts() && *count_after > count(before, *exclusion)
    });
    let named = |(exclusion, _): (Exclusion, u64)| (exclusion.what(), exclusion.reason());
    new.map_or(("nothing", "no reason"), named)
}
