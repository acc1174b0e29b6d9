//! A step on which the two sides differ, and how it came about.

use super::judge::{names, with_ghosts};
use fencepost_spec::mutants::Mutant;
use fencepost_spec::properties::{Id, violated};
use fencepost_spec::scenario::{Entry, RuleSet};
use fencepost_spec::trace::{Expect, Fact, Line, TraceFile, changes, facts, violated_at_end};
use fencepost_spec::world::{State, World};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// How the two sides differ after a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// They send different messages.
    Sent {
        /// What the model sends, one a line.
        model: Vec<String>,
        /// What production sends.
        production: Vec<String>,
    },
    /// They are in different states.
    States(Box<(State, State)>),
    /// They differ in something that is not part of a state.
    Value {
        /// What.
        what: String,
        /// The model's.
        model: String,
        /// Production's.
        production: String,
    },
    /// Production cannot take the step.
    Refused(String),
}

impl Mismatch {
    /// The differences, one a line: what, the model's, production's.
    pub fn lines(&self) -> Vec<String> {
        let pair = |what: &str, model: &str, production: &str| {
            format!("{what}: model {model}; production {production}")
        };
        match self {
            Self::Sent { model, production } => {
                let missing = model.iter().filter(|it| !production.contains(it));
                let extra = production.iter().filter(|it| !model.contains(it));
                let mut lines: Vec<String> = missing
                    .map(|message| format!("only the model sends: {message}"))
                    .chain(extra.map(|message| format!("only production sends: {message}")))
                    .collect();
                if lines.is_empty() {
                    lines.push(format!(
                        "the model sends {model:?}, production {production:?}"
                    ));
                }
                lines
            }
            Self::States(states) => {
                let (model, production) = &**states;
                let found = changes(&facts(model), &facts(production));
                let none = || "nothing".to_owned();
                let mut lines: Vec<String> = found
                    .into_iter()
                    .map(|it| {
                        let what = format!("{} {}", it.actor, it.field);
                        let model = it.before.unwrap_or_else(none);
                        let production = it.after.unwrap_or_else(none);
                        pair(&what, &model, &production)
                    })
                    .collect();
                lines.extend(raw_differences(model, production));
                lines
            }
            Self::Value {
                what,
                model,
                production,
            } => vec![pair(what, model, production)],
            Self::Refused(why) => vec![format!("production: {why}")],
        }
    }
}

/// The lines in which the debug texts of the actors differ: whatever the facts leave out.
fn raw_differences(model: &State, production: &State) -> Vec<String> {
    let text = |state: &State| {
        format!(
            "{:#?}\n{:#?}\n{:#?}",
            state.coordinators, state.partitions, state.group
        )
    };
    let (model, production) = (text(model), text(production));
    let (left, right): (Vec<&str>, Vec<&str>) =
        (model.lines().collect(), production.lines().collect());
    let mut lines = Vec::new();
    let mut context = "";
    for (a, b) in left.iter().zip(&right) {
        if a == b {
            if a.ends_with('{') || a.ends_with('[') {
                context = a;
            }
        } else {
            lines.push(format!(
                "in {}: model {}; production {}",
                context.trim(),
                a.trim(),
                b.trim()
            ));
            if lines.len() == 8 {
                break;
            }
        }
    }
    lines
}

/// The first divergence of a run: a shortest trace, and how the sides differ after its last step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Divergence {
    /// The trace, as a file that replays on the model up to its last step.
    pub trace: String,
    /// How many steps it has.
    pub steps: usize,
    /// The request on which the sides differ, where it is one that the model leaves waiting after the last step.
    pub waiting: Option<String>,
    /// Both sides' states then.
    pub states: Vec<Side>,
    /// How the sides differ.
    pub differences: Vec<String>,
    /// The properties that production's state violates and the model's does not.
    pub broken: Vec<&'static str>,
}

/// A fact of one side or both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Whose, and which.
    pub what: String,
    /// In the model.
    pub model: Option<String>,
    /// In production; `None` where it has nothing of the kind, or its state cannot be said.
    pub production: Option<String>,
}

/// Where a run was found to diverge.
pub(super) struct Place<'a> {
    pub(super) entry: &'static Entry,
    pub(super) rules: RuleSet,
    pub(super) mutant: Option<&'static Mutant>,
    pub(super) lines: Vec<Line>,
    pub(super) waiting: Option<Line>,
    /// The model's state after the last step.
    pub(super) after: &'a State,
    /// Both sides then, in the form of comparison, where production's can be said.
    pub(super) sides: Option<(State, State)>,
}

impl Divergence {
    /// The divergence of a trace's last step.
    pub(super) fn new(world: &World, place: Place<'_>, mismatch: &Mismatch) -> Self {
        let differences = mismatch.lines();
        let first = differences.first().cloned().unwrap_or_default();
        let steps = place.lines.len();
        let violated: Vec<Id> = Id::in_mask(violated_at_end(world, place.after)).collect();
        let file = TraceFile {
            story: format!("Model and production differ after the last step: {first}."),
            scenario: place.entry,
            rules: place.rules,
            mutant: place.mutant,
            expect: if violated.is_empty() {
                Expect::Holds
            } else {
                Expect::Violates(violated)
            },
            lines: (1..).zip(place.lines).collect(),
        };
        let (states, broken) = match &place.sides {
            Some((model, production)) => (
                side_by_side(&facts(model), Some(&facts(production))),
                broken_by_production(world, place.after, production),
            ),
            None => (side_by_side(&facts(place.after), None), Vec::new()),
        };
        Self {
            trace: file.to_string(),
            steps,
            waiting: place.waiting.map(|line| line.to_string()),
            states,
            differences,
            broken,
        }
    }
}

fn side_by_side(model: &[Fact], production: Option<&[Fact]>) -> Vec<Side> {
    let what = |fact: &Fact| format!("{} {}", fact.actor, fact.field);
    let same = |of: &[Fact], fact: &Fact| {
        let mut of = of.iter();
        let found = of.find(|it| it.actor == fact.actor && it.field == fact.field);
        found.map(|it| it.value.clone())
    };
    let mut sides: Vec<Side> = model
        .iter()
        .map(|fact| Side {
            what: what(fact),
            model: Some(fact.value.clone()),
            production: production.and_then(|of| same(of, fact)),
        })
        .collect();
    let more = production.unwrap_or_default().iter();
    let more = more.filter(|fact| same(model, fact).is_none());
    sides.extend(more.map(|fact| Side {
        what: what(fact),
        model: None,
        production: Some(fact.value.clone()),
    }));
    sides
}

fn broken_by_production(world: &World, after: &State, production: &State) -> Vec<&'static str> {
    let found = with_ghosts(after, production.clone(), false);
    names(violated(world, &found) & !violated(world, after))
}

impl Divergence {
    /// Saves it as a regression trace of this name in a directory: it replays on the model, and fails on production
    /// until the difference is gone.
    ///
    /// # Errors
    /// What the file system says.
    pub fn save(&self, directory: &Path, name: &str) -> io::Result<PathBuf> {
        std::fs::create_dir_all(directory)?;
        let path = directory.join(format!("{name}.trace"));
        std::fs::write(&path, self.to_string())?;
        Ok(path)
    }
}

impl Side {
    /// Whether the sides say different things.
    pub fn differs(&self) -> bool {
        self.model != self.production
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.trace)?;
        if let Some(waiting) = &self.waiting {
            writeln!(f, "# The request that the model leaves waiting: {waiting}")?;
        }
        writeln!(f, "# The sides differ:")?;
        for line in &self.differences {
            writeln!(f, "#   {line}")?;
        }
        if !self.broken.is_empty() {
            writeln!(f, "# Production violates {}.", self.broken.join(", "))?;
        }
        writeln!(f, "# Both sides' states, `!` where they differ:")?;
        let compared = self.states.iter().any(|side| side.production.is_some());
        for side in &self.states {
            let nothing = || "nothing".to_owned();
            let model = side.model.clone().unwrap_or_else(nothing);
            if compared && side.differs() {
                let production = side.production.clone().unwrap_or_else(nothing);
                let what = &side.what;
                writeln!(f, "# ! {what}: model {model}; production {production}")?;
            } else {
                writeln!(f, "#   {}: {model}", side.what)?;
            }
        }
        Ok(())
    }
}
