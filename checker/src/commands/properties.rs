//! `fencepost properties`: each with its source, its witness and the mutants that break it.

use crate::args::Properties;
use crate::exit::{Exit, Failure};
use crate::output::{bold, say, say_json};
use crate::{run, select, traces};
use fencepost_search::{Checks, Options, run_bfs};
use fencepost_spec::mutants::{Expect, FAIR_PLANS, FairPlan, MUTANTS};
use fencepost_spec::properties::witness::{self, WITNESSES, Witness};
use fencepost_spec::properties::{self, Id, Kind, PROPERTIES, Row};
use fencepost_spec::world::{State, World};
use serde::Serialize;
use std::path::Path;

/// No witness is further away than this many states.
const WITHIN: u64 = 500_000;

#[derive(Serialize)]
struct Report {
    properties: Vec<Property>,
}

#[derive(Serialize)]
struct Property {
    id: &'static str,
    name: &'static str,
    says: &'static str,
    source: &'static str,
    kind: &'static str,
    witness: Option<Reached>,
    mutants: Vec<&'static str>,
}

#[derive(Serialize)]
struct Reached {
    scenario: &'static str,
    rules: &'static str,
    says: &'static str,
    /// The length of a shortest way there; `None` where the search did not find it.
    steps: Option<usize>,
    /// Where its trace was saved.
    saved: Option<String>,
}

/// Runs it.
pub fn run(args: &Properties, json: bool) -> Result<Exit, Failure> {
    let properties = PROPERTIES
        .iter()
        .map(|row| property(row, args.traces.as_deref()))
        .collect::<Result<Vec<_>, _>>()?;
    let ok = properties
        .iter()
        .all(|p| p.witness.as_ref().is_some_and(|w| w.steps.is_some()) && !p.mutants.is_empty());
    let report = Report { properties };
    if json {
        say_json(ok, &report)?;
    } else {
        for property in &report.properties {
            say(&text(property))?;
        }
    }
    Ok(Exit::of_report(ok))
}

fn property(row: &Row, save: Option<&Path>) -> Result<Property, Failure> {
    let witness = WITNESSES
        .iter()
        .find(|w| w.id == row.id)
        .map(|witness| reached(witness, save))
        .transpose()?;
    Ok(Property {
        id: row.id.name(),
        name: row.name,
        says: row.says,
        source: row.source,
        kind: match row.kind {
            Kind::Safety => "safety",
            Kind::Liveness => "liveness",
        },
        witness,
        mutants: mutants(row.id),
    })
}

fn reached(witness: &Witness, save: Option<&Path>) -> Result<Reached, Failure> {
    let bit = u64::from(witness.id.bit());
    let checks = Checks::new(
        properties::NAMES.iter().copied(),
        move |world: &World, state: &State| u64::from(witness::reached(world, state)) & bit,
        |_, _| 0,
    )
    .map_err(|error| Failure::Internal(error.to_string()))?;
    let options = Options {
        max_states: Some(WITHIN),
        stop_when: bit,
        ..Options::default()
    };
    let run = (select::scenario(witness.scenario)?, witness.rules);
    let found = run_bfs(&run::world(run, None), &checks, &options);
    let hit = found.violation(witness.id.name());
    let saved = match (hit, save) {
        (Some(hit), Some(directory)) => {
            let trace = traces::of_witness(run, witness, &hit.trace.actions);
            Some(traces::save(directory, &trace)?.display().to_string())
        }
        (_, None) | (None, Some(_)) => None,
    };
    Ok(Reached {
        scenario: witness.scenario,
        rules: witness.rules.name(),
        says: witness.says,
        steps: hit.map(|hit| hit.trace.len()),
        saved,
    })
}

/// The mutants that a plan expects to break a property.
fn mutants(id: Id) -> Vec<&'static str> {
    let breaks = |expect: &Expect| match expect {
        Expect::Killed(broken) => *broken == id,
        Expect::Equivalent { pair_breaks, .. } => *pair_breaks == id,
        Expect::Expected { breaks, .. } => *breaks == id,
        Expect::Pending { .. } => false,
    };
    MUTANTS
        .iter()
        .filter(|mutant| {
            let on_cycles = |plan: &&FairPlan| plan.mutant == mutant.id && plan.breaks == id;
            mutant.plans.iter().any(|plan| breaks(&plan.expect))
                || FAIR_PLANS.iter().find(on_cycles).is_some()
        })
        .map(|mutant| mutant.id)
        .collect()
}

fn text(property: &Property) -> String {
    let witness = match &property.witness {
        None => "none".to_owned(),
        Some(Reached {
            scenario,
            rules,
            says,
            steps,
            ..
        }) => match steps {
            Some(steps) => format!("{says} ({scenario} under {rules}, {steps} steps)"),
            None => format!("NOT REACHED in {scenario} under {rules}: {says}"),
        },
    };
    let mutants = match property.mutants.as_slice() {
        [] => "NONE".to_owned(),
        ids => ids.join(", "),
    };
    format!(
        "{} ({})\n  {}\n  Source: {}\n  Witness: {witness}\n  Mutants: {mutants}\n\n",
        bold(&format!("{} {}", property.id, property.name)),
        property.kind,
        property.says,
        property.source
    )
}
