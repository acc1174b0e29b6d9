//! A walk through a model, and the place in the Explorer where it ends.

use super::{ModelName, Shown};
use crate::exit::Failure;
use crate::{run, traces};
use fencepost_search::Options;
use fencepost_spec::properties::Id;
use fencepost_spec::trace::{Expect, NotEnabled, TraceFile};
use fencepost_spec::world::{Action, State};
use std::time::Duration;

/// A search for one counterexample may take this long: a person waits for it.
const PATIENCE: Duration = Duration::from_secs(120);
/// And this many bytes.
const MEMORY: u64 = 4 << 30;

/// Steps from the initial state.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    actions: Vec<Action>,
    states: Vec<State>,
}

impl Walk {
    /// The steps of a trace.
    ///
    /// # Errors
    /// A step that is not enabled.
    pub fn of_trace(file: &TraceFile) -> Result<Self, NotEnabled> {
        let run = file.replay()?;
        Ok(Self {
            actions: run.actions,
            states: run.states,
        })
    }

    /// The shortest counterexample of a property.
    ///
    /// # Errors
    /// [`Failure::Usage`] where the property is not violated, or the search did not come to an
    /// end.
    pub fn to_violation(model: ModelName, property: Id) -> Result<Self, Failure> {
        let options = Options {
            stop_when: u64::from(property.bit()),
            time_limit: Some(PATIENCE),
            max_memory: Some(MEMORY),
            ..Options::default()
        };
        let found = run::search(&model.world(), &options)?;
        if let Some(hit) = found.violation(property.name()) {
            return Ok(Self {
                actions: hit.trace.actions.clone(),
                states: hit.trace.states.clone(),
            });
        }
        let (name, title) = (property.name(), model.title());
        Err(Failure::Usage(match found.incomplete {
            None => format!(
                "{name} is not violated in {title}; expected a property that is: {}",
                known(model)
            ),
            Some(reason) => format!(
                "{name} was not found violated in {title}, and not everything was seen: {reason}; \
                 `fencepost check {} --traces DIR` goes on to the end, and its trace opens here",
                model.arguments()
            ),
        }))
    }

    /// How many steps it has.
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// The places of its actions in the lists that the model gives; `None` if one is not in its list.
    fn places(&self, model: ModelName) -> Option<String> {
        Shown::new(model).places(&self.actions, &self.states)
    }

    /// The fragment of the Explorer's address after `step` steps of the walk, with the later ones
    /// ahead: the places of its actions in the lists that the model gives.
    ///
    /// # Errors
    /// [`Failure::Internal`] if an action is not in its list.
    pub fn fragment(&self, model: ModelName, step: usize) -> Result<String, Failure> {
        let places = self
            .places(model)
            .ok_or_else(|| Failure::Internal("a step of the walk is not listed".to_owned()))?;
        let ahead = self.len().saturating_sub(step);
        let offset = match ahead {
            0 => String::new(),
            _ => format!("?offset={ahead}"),
        };
        Ok(format!("#/steps{places}{offset}"))
    }
}

/// What a page says of the trace that it was opened for.
pub struct Told {
    /// Its name among the saved ones.
    pub name: String,
    /// What it says of itself.
    pub file: TraceFile,
    /// Where it repeats, if it does.
    pub lasso: Option<Lasso>,
}

/// A run that goes on for ever.
pub struct Lasso {
    /// After which step its cycle begins: after the last where it stays as it is.
    pub from: usize,
    /// The whole of it, as the Explorer's addresses name it.
    pub places: String,
}

impl Told {
    /// The trace in this file; `None` where it cannot be read.
    pub fn of(model: ModelName, name: String, path: &std::path::Path) -> Option<Self> {
        let file = traces::read(path).ok()?;
        let lasso = match file.expect {
            Expect::Lasso(_, from) => Walk::of_trace(&file)
                .ok()
                .and_then(|walk| walk.places(model))
                .map(|places| Lasso { from, places }),
            Expect::Holds | Expect::Violates(_) | Expect::Witness(_) => None,
        };
        Some(Self { name, file, lasso })
    }
}

fn known(model: ModelName) -> String {
    let known: Vec<_> = model.known_broken().iter().map(|id| id.name()).collect();
    match known.as_slice() {
        [] => "none is known".to_owned(),
        names => names.join(", "),
    }
}

/// The model of a trace.
pub fn model_of(file: &TraceFile) -> ModelName {
    ModelName {
        run: (file.scenario, file.rules),
        mutant: file.mutant,
        answering: matches!(file.expect, Expect::Lasso(..)),
    }
}

/// Reads a trace and walks it.
///
/// # Errors
/// A trace that cannot be read; a step that is not enabled is [`Failure::Usage`].
pub fn walk_file(path: &std::path::Path) -> Result<(TraceFile, Walk), Failure> {
    let file = traces::read(path)?;
    let walk = Walk::of_trace(&file).map_err(|refused| Failure::Usage(refused.to_string()))?;
    Ok((file, walk))
}
