//! `fencepost scenarios`: what there is, with bounds and what each rule set is expected to break.

use crate::bounds::Bounds;
use crate::exit::{Exit, Failure};
use crate::output::{bold, say, say_json};
use fencepost_spec::scenario::{CATALOGUE, Entry, Profile};
use serde::Serialize;
use std::fmt::Write;

#[derive(Serialize)]
struct Report {
    scenarios: Vec<Scenario>,
}

#[derive(Serialize)]
struct Scenario {
    name: &'static str,
    says: &'static str,
    profile: &'static str,
    runs: Vec<Run>,
}

#[derive(Serialize)]
struct Run {
    rules: &'static str,
    expected_violations: Vec<&'static str>,
    bounds: Bounds,
}

/// Runs it.
pub fn run(json: bool) -> Result<Exit, Failure> {
    let report = Report {
        scenarios: CATALOGUE.iter().map(scenario).collect(),
    };
    if json {
        say_json(true, &report)?;
    } else {
        for scenario in &report.scenarios {
            say(&text(scenario))?;
        }
    }
    Ok(Exit::AsExpected)
}

fn scenario(entry: &Entry) -> Scenario {
    Scenario {
        name: entry.name,
        says: entry.says,
        profile: match entry.profile {
            Profile::Default => "default",
            Profile::Nightly => "nightly",
            Profile::Named => "named",
        },
        runs: entry
            .runs
            .iter()
            .map(|(rules, broken)| Run {
                rules: rules.name(),
                expected_violations: broken.iter().map(|id| id.name()).collect(),
                bounds: Bounds::of(&entry.scenario(*rules)),
            })
            .collect(),
    }
}

fn text(scenario: &Scenario) -> String {
    let mut text = format!(
        "{} ({})\n  {}\n",
        bold(scenario.name),
        scenario.profile,
        scenario.says
    );
    for run in &scenario.runs {
        let broken = match run.expected_violations.as_slice() {
            [] => "holds".to_owned(),
            ids => format!("breaks {}", ids.join(", ")),
        };
        let _ = writeln!(text, "  {}: {broken}. {}.", run.rules, run.bounds.text);
    }
    text.push('\n');
    text
}
