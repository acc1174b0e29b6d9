//! Finding what the command line names.

use crate::args::RulesArg;
use crate::exit::Failure;
use fencepost_spec::mutants::{self, MUTANTS, Mutant};
use fencepost_spec::properties::{Id, PROPERTIES};
use fencepost_spec::scenario::{self, CATALOGUE, Entry, RuleSet};

/// One run: a scenario under rules.
pub type Run = (&'static Entry, RuleSet);

/// The scenario of this name.
pub fn scenario(name: &str) -> Result<&'static Entry, Failure> {
    scenario::find(name)
        .ok_or_else(|| Failure::unknown("scenario", name, CATALOGUE.iter().map(|e| e.name)))
}

/// The mutant of this id.
pub fn mutant(id: &str) -> Result<&'static Mutant, Failure> {
    mutants::find(id).ok_or_else(|| Failure::unknown("mutant", id, MUTANTS.iter().map(|m| m.id)))
}

/// The property of this id.
pub fn property(name: &str) -> Result<Id, Failure> {
    Id::parse(name)
        .ok_or_else(|| Failure::unknown("property", name, PROPERTIES.iter().map(|r| r.id.name())))
}

/// The runs of the named scenarios under the asked rules. A scenario that is named alone must run
/// under each rule set that is named.
pub fn runs(names: &[String], rules: RulesArg) -> Result<Vec<Run>, Failure> {
    let mut runs = Vec::new();
    for name in names {
        let entry = scenario(name)?;
        let before = runs.len();
        runs.extend(runs_of(entry, rules));
        if runs.len() == before {
            return Err(Failure::Usage(format!(
                "scenario `{name}` does not run under these rules; expected one of {}",
                entry
                    .runs
                    .iter()
                    .map(|(r, _)| r.name())
                    .collect::<Vec<_>>()
                    .join(", ")
            )));
        }
    }
    Ok(runs)
}

/// The runs of one scenario under the asked rules.
pub fn runs_of(entry: &'static Entry, rules: RulesArg) -> impl Iterator<Item = Run> {
    let sets = rules.sets();
    entry
        .runs
        .iter()
        .filter(move |(set, _)| sets.contains(set))
        .map(move |(set, _)| (entry, *set))
}

/// What the right rules are expected to break in a run.
pub fn known_broken((entry, rules): Run) -> &'static [Id] {
    entry
        .runs
        .iter()
        .find(|(set, _)| *set == rules)
        .map_or(&[], |(_, broken)| broken)
}
