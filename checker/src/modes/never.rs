//! What a run, or all of them, never did: actions that did not happen, cells of the decision tables that did not
//! decide.

use super::watched::Seen;
use crate::cells::Named;
use crate::tables;
use fencepost_spec::scenario::Scenario;
use fencepost_spec::trace::fault_verb;
use fencepost_spec::trace::vocabulary::VERBS;
use serde::Serialize;
use std::collections::BTreeSet;

/// What all runs together never did.
#[derive(Debug, Serialize)]
pub struct Never {
    /// Verbs of the vocabulary.
    pub actions: Vec<String>,
    /// Cells that `fencepost table` prints.
    pub cells: Vec<Named>,
}

impl Never {
    /// What runs that have seen this never did.
    pub fn of(seen: &Seen) -> Self {
        let printed = tables::printed();
        let cells = printed.iter().filter(|cell| !seen.cells.contains(cell));
        Self {
            actions: names((0..VERBS.len()).filter(|verb| !seen.taken.contains(verb))),
            cells: cells.map(Named::from).collect(),
        }
    }
}

/// What a run of a scenario never did although it might have: actions that were tried in some state and enabled in
/// none, and faults that it has a budget for.
pub fn never(scenario: &Scenario, seen: &Seen) -> Vec<String> {
    let faults = scenario
        .budgets
        .iter()
        .filter_map(|(fault, _)| fault_verb(fault));
    let possible: BTreeSet<_> = seen.tried.iter().copied().chain(faults).collect();
    // A producer is asked whether it prepares even where none can.
    let two_phase = scenario.workloads.iter().any(|w| w.two_phase);
    let may = |verb: &usize| two_phase || VERBS[*verb].word != "prepare";
    names(
        possible
            .into_iter()
            .filter(|verb| may(verb) && !seen.taken.contains(verb)),
    )
}

fn names(verbs: impl Iterator<Item = usize>) -> Vec<String> {
    verbs.map(|verb| VERBS[verb].name()).collect()
}
