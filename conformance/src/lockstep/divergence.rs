//! A step on which the two sides differ, and how it came about.

use fencepost_spec::scenario::{Entry, RuleSet};
use fencepost_spec::trace::{Expect, Line, TraceFile, changes, facts};
use fencepost_spec::world::State;
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
    /// The model's state after it, as facts.
    pub model: Vec<String>,
    /// How the sides differ.
    pub differences: Vec<String>,
}

impl Divergence {
    /// The divergence of a trace's last step.
    pub(super) fn new(
        entry: &'static Entry,
        rules: RuleSet,
        lines: Vec<Line>,
        after: &State,
        mismatch: &Mismatch,
    ) -> Self {
        let differences = mismatch.lines();
        let first = differences.first().cloned().unwrap_or_default();
        let steps = lines.len();
        let file = TraceFile {
            story: format!("Model and production differ after the last step: {first}."),
            scenario: entry,
            rules,
            mutant: None,
            expect: Expect::Holds,
            lines: (1..).zip(lines).collect(),
        };
        Self {
            trace: file.to_string(),
            steps,
            model: facts(after).iter().map(ToString::to_string).collect(),
            differences,
        }
    }
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

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.trace)?;
        writeln!(f, "# the model is then:")?;
        for fact in &self.model {
            writeln!(f, "#   {fact}")?;
        }
        writeln!(f, "# and differs:")?;
        for line in &self.differences {
            writeln!(f, "#   {line}")?;
        }
        Ok(())
    }
}
