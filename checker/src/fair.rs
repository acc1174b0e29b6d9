//! Judging liveness on fair cycles: a run of a scenario with every retriable answer really sent.

use crate::exit::Failure;
use crate::run;
use crate::select::{self, Run};
use crate::traces;
use fencepost_search::{
    Goal, Lasso, Liveness, LivenessOutcome, Options, Reason, Strength, run_liveness,
};
use fencepost_spec::mutants::Mutant;
use fencepost_spec::properties::Id;
use fencepost_spec::properties::fair::{FAIR_CLASSES, ON_CYCLES, fair_class, settled};
use fencepost_spec::trace::TraceFile;
use fencepost_spec::world::{Action, State, World};

/// What a search for lassos found.
pub struct Judged {
    /// The world that was searched.
    pub world: World,
    /// The engine's outcome.
    pub found: LivenessOutcome<State, Action>,
}

/// The world of a run in which every retriable answer is really sent.
pub fn world(run: Run, mutant: Option<&Mutant>) -> World {
    let world = run::world(run, mutant);
    World::new(world.scenario.answering(), world.rules)
}

/// Looks for a fair run that violates each liveness property. Each lasso has been checked twice by code that shares
/// nothing with the search: the engine's on the model, and the trace's on the text of its steps.
///
/// # Errors
/// [`Failure::Internal`] for a lasso that is none.
pub fn judge(
    run: Run,
    mutant: Option<&'static Mutant>,
    options: &Options,
) -> Result<Judged, Failure> {
    let world = world(run, mutant);
    let found = run_liveness(&world, &liveness(), options);
    if found.incomplete == Some(Reason::NotReproducible) {
        return Err(Failure::Internal("a lasso does not replay".to_owned()));
    }
    for lasso in &found.violations {
        check(&trace(run, mutant, lasso)?)?;
    }
    Ok(Judged { world, found })
}

/// Every liveness property under the protocol's fairness.
fn liveness() -> Liveness<World> {
    let mut liveness = Liveness::new();
    for (index, class) in FAIR_CLASSES.iter().enumerate() {
        let strength = if class.strong {
            Strength::Strong
        } else {
            Strength::Weak
        };
        liveness = liveness.fair(class.name, strength, move |_: &World, _, action| {
            fair_class(action) == Some(index)
        });
    }
    for id in ON_CYCLES {
        let goal = Goal::AlwaysEventually(Box::new(move |w: &World, s: &State| settled(w, s, id)));
        liveness = liveness.property(id.name(), goal);
    }
    liveness
}

/// A lasso as a trace.
pub fn trace(
    run: Run,
    mutant: Option<&'static Mutant>,
    lasso: &Lasso<State, Action>,
) -> Result<TraceFile, Failure> {
    let id = select::property(&lasso.property)?;
    Ok(traces::of_lasso(
        run,
        mutant,
        (id, lasso.loop_start),
        &lasso.trace.actions,
    ))
}

/// Replays a lasso from the text of its steps and judges it anew.
fn check(trace: &TraceFile) -> Result<(), Failure> {
    let internal = |why: String| Failure::Internal(format!("a lasso is none: {why}"));
    let replayed = trace
        .replay()
        .map_err(|refused| internal(refused.to_string()))?;
    match traces::shows(trace, &replayed) {
        true => Ok(()),
        false => Err(internal(trace.to_string())),
    }
}

/// The properties for which there is a lasso.
pub fn violated(judged: &Judged) -> Vec<Id> {
    let names = judged.found.violations.iter().map(|lasso| &lasso.property);
    names.filter_map(|name| Id::parse(name)).collect()
}

/// What the right rules break of liveness in a run.
pub fn known_broken(run: Run) -> Vec<Id> {
    let known = select::known_broken(run).iter().copied();
    known.filter(|id| ON_CYCLES.contains(id)).collect()
}
