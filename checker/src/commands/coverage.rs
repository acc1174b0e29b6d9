//! `fencepost coverage`: which cells of the decision tables the scenarios reach.

use crate::args::{Coverage, RulesArg};
use crate::cells::Named;
use crate::exit::{Exit, Failure};
use crate::output::{bold, say, say_json};
use crate::select::{self, Run};
use crate::{run, tables};
use fencepost_conformance::lockstep::CROWDS;
use fencepost_search::{Checks, Observer, run_bfs_observed};
use fencepost_spec::coverage::Cell;
use fencepost_spec::scenario::{CATALOGUE, Profile};
use fencepost_spec::world::{Action, State, World};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Report {
    runs: Vec<Searched>,
    cells: Vec<Reached>,
    never: Vec<Named>,
}

#[derive(Serialize)]
struct Searched {
    scenario: &'static str,
    rules: &'static str,
    distinct: u64,
    incomplete: Option<String>,
}

#[derive(Serialize)]
struct Reached {
    #[serde(flatten)]
    cell: Named,
    count: u64,
    printed: bool,
}

/// Counts the cells that deliveries take, those included that leave their request waiting.
#[derive(Default)]
struct Cells {
    counts: BTreeMap<Cell, u64>,
    candidates: Vec<Action>,
    /// Room for the state that a decision leads to.
    scratch: Option<State>,
}

impl Observer<World> for Cells {
    fn fork(&self) -> Self {
        Self::default()
    }

    fn join(&mut self, other: Self) {
        for (cell, count) in other.counts {
            *self.counts.entry(cell).or_default() += count;
        }
    }

    fn state(&mut self, world: &World, state: &State) {
        self.candidates.clear();
        world.candidates(state, &mut self.candidates);
        let scratch = self.scratch.get_or_insert_with(|| state.clone());
        for action in &self.candidates {
            if let Some(cell) = world.cell(state, action, scratch) {
                *self.counts.entry(cell).or_default() += 1;
            }
        }
    }
}

/// Runs it.
pub fn run(args: &Coverage, json: bool, progress: bool) -> Result<Exit, Failure> {
    let selected = selected(args)?;
    let mut cells = Cells::default();
    let mut runs = Vec::new();
    for run in selected {
        let name = run::name(run, None);
        let options = run::options(&name, &args.limits, args.limits.thread_count(), progress);
        let world = run::world(run, None);
        let (found, seen) = run_bfs_observed(&world, &Checks::none(), &options, Cells::default());
        cells.join(seen);
        runs.push(Searched {
            scenario: run.0.name,
            rules: run.1.name(),
            distinct: found.distinct,
            incomplete: found.incomplete.map(|reason| reason.to_string()),
        });
    }
    let report = report(runs, &cells.counts);
    // With some scenarios left out, a cell that is not reached is no finding.
    let ok = !args.scenarios.is_empty() || report.never.is_empty();
    if json {
        say_json(ok, &report)?;
    } else {
        say(&text(&report))?;
    }
    Ok(Exit::of_report(ok))
}

fn selected(args: &Coverage) -> Result<Vec<Run>, Failure> {
    if !args.scenarios.is_empty() {
        return select::runs(&args.scenarios, RulesArg::All);
    }
    Ok(CATALOGUE
        .iter()
        .filter(|entry| entry.profile != Profile::Nightly)
        // Crowds are too large to search.
        .filter(|entry| !CROWDS.contains(&entry.name))
        .flat_map(|entry| select::runs_of(entry, RulesArg::All))
        .collect())
}

fn report(runs: Vec<Searched>, counts: &BTreeMap<Cell, u64>) -> Report {
    let printed = tables::printed();
    let never = printed.iter().filter(|cell| !counts.contains_key(cell));
    Report {
        runs,
        cells: counts
            .iter()
            .map(|(cell, count)| Reached {
                cell: Named::from(cell),
                count: *count,
                printed: printed.contains(cell),
            })
            .collect(),
        never: never.map(Named::from).collect(),
    }
}

fn text(report: &Report) -> String {
    let states: u64 = report.runs.iter().map(|run| run.distinct).sum();
    let mut text = format!(
        "{}\n",
        bold(&format!(
            "{} cells reached in {} runs of {states} states",
            report.cells.len(),
            report.runs.len()
        ))
    );
    for cell in &report.cells {
        let mark = if cell.printed { "" } else { "  (in no table)" };
        text.push_str(&format!("  {:>12} {}{mark}\n", cell.count, cell.cell));
    }
    text.push_str(&format!("{}\n", bold("Printed and never reached")));
    if report.never.is_empty() {
        text.push_str("  none\n");
    }
    text.extend(report.never.iter().map(|cell| format!("  {}\n", cell)));
    for run in &report.runs {
        if let Some(reason) = &run.incomplete {
            text.push_str(&format!(
                "Not everything was seen of {} under {}: {reason}.\n",
                run.scenario, run.rules
            ));
        }
    }
    text
}
