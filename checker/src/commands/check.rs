//! `fencepost check`: searches runs and compares what they break with what is expected.

use crate::args::{Check, ProfileArg, RulesArg};
use crate::bounds::Bounds;
use crate::exit::{Exit, Failure};
use crate::junit;
use crate::output::{bold, say, say_json};
use crate::run::{self, Found};
use crate::select::{self, Run};
use crate::{story, traces};
use fencepost_search::{Hit, HitPlace, Verdict};
use fencepost_spec::mutants::Mutant;
use fencepost_spec::properties::Id;
use fencepost_spec::scenario::{CATALOGUE, Profile};
use fencepost_spec::world::{Action, State, World};
use serde::Serialize;
use std::fmt::Write;

/// The report of one run.
#[derive(Debug, Serialize)]
pub struct RunReport {
    scenario: &'static str,
    rules: &'static str,
    mutant: Option<&'static str>,
    ok: bool,
    bounds: Bounds,
    distinct: u64,
    generated: u64,
    depth: u32,
    terminal: u64,
    digest: String,
    seconds: f64,
    per_second: f64,
    bytes_per_state: f64,
    collision_probability: f64,
    verdict: &'static str,
    incomplete: Option<String>,
    expected: &'static str,
    expected_violations: Vec<&'static str>,
    missing: Vec<&'static str>,
    unexpected: Vec<&'static str>,
    violations: Vec<Violation>,
}

#[derive(Debug, Serialize)]
struct Violation {
    property: String,
    steps: usize,
    terminal: bool,
    trace: Vec<String>,
    saved: Option<String>,
    explore: String,
}

#[derive(Serialize)]
struct Report {
    distinct: u64,
    seconds: f64,
    runs: Vec<RunReport>,
}

/// Runs it.
pub fn run(args: &Check, json: bool, progress: bool) -> Result<Exit, Failure> {
    let mutant = args.mutant.as_deref().map(select::mutant).transpose()?;
    let selected = selected(args)?;
    let told = !args.scenarios.is_empty();
    let mut runs = Vec::new();
    for run in selected {
        let world = run::world(run, mutant);
        let name = run::name(run, mutant);
        let options = run::options(&name, &args.limits, args.limits.thread_count(), progress);
        let found = run::search(&world, &options)?;
        let report = report(args, run, mutant, &world, &found)?;
        if !json {
            say(&text(run, &report, &found, told)?)?;
        }
        runs.push(report);
    }
    finish(args, json, runs)
}

fn finish(args: &Check, json: bool, runs: Vec<RunReport>) -> Result<Exit, Failure> {
    let ok = runs.iter().all(|run| run.ok);
    if let Some(path) = &args.junit {
        let cases: Vec<_> = runs.iter().map(case).collect();
        traces::write(path, &junit::report("fencepost check", &cases))?;
    }
    let report = Report {
        distinct: runs.iter().map(|run| run.distinct).sum(),
        seconds: runs.iter().map(|run| run.seconds).sum(),
        runs,
    };
    if json {
        say_json(ok, &report)?;
    } else {
        let verdict = if ok {
            "everything is as expected"
        } else {
            "not as expected"
        };
        say(&format!(
            "{}\n",
            bold(&format!(
                "{} runs, {} distinct states, {:.1} s: {verdict}",
                report.runs.len(),
                report.distinct,
                report.seconds
            ))
        ))?;
    }
    Ok(Exit::of_report(ok))
}

/// The runs that the arguments name; those of the profile where they name none.
fn selected(args: &Check) -> Result<Vec<Run>, Failure> {
    if !args.scenarios.is_empty() {
        return select::runs(&args.scenarios, args.rules);
    }
    let wanted = |profile| match args.profile {
        ProfileArg::Default => profile == Profile::Default,
        ProfileArg::Nightly => profile == Profile::Default || profile == Profile::Nightly,
    };
    let entries = CATALOGUE.iter().filter(|entry| wanted(entry.profile));
    let runs: Vec<_> = entries
        .flat_map(|entry| select::runs_of(entry, args.rules))
        .collect();
    if runs.is_empty() && args.rules != RulesArg::All {
        return Err(Failure::Usage(
            "no scenario of this profile runs under these rules".to_owned(),
        ));
    }
    Ok(runs)
}

fn report(
    args: &Check,
    run: Run,
    mutant: Option<&'static Mutant>,
    world: &World,
    found: &Found,
) -> Result<RunReport, Failure> {
    let known = select::known_broken(run);
    let broken = run::violated(found);
    let names = |ids: &mut dyn Iterator<Item = &Id>| ids.map(|id| id.name()).collect::<Vec<_>>();
    let missing = names(&mut known.iter().filter(|id| !broken.contains(id)));
    let unexpected = names(&mut broken.iter().filter(|id| !known.contains(id)));
    let violations = found
        .violations
        .iter()
        .map(|hit| violation(args, run, mutant, hit))
        .collect::<Result<Vec<_>, _>>()?;
    let verdict = found.verdict();
    Ok(RunReport {
        scenario: run.0.name,
        rules: run.1.name(),
        mutant: mutant.map(|m| m.id),
        ok: missing.is_empty() && unexpected.is_empty() && found.incomplete.is_none(),
        bounds: Bounds::of(&world.scenario),
        distinct: found.distinct,
        generated: found.generated,
        depth: found.depth,
        terminal: found.terminal,
        digest: found.digest.to_string(),
        seconds: found.seconds,
        per_second: found.per_second(),
        bytes_per_state: found.bytes_per_state,
        collision_probability: found.collision_probability,
        verdict: match verdict {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Incomplete(_) => "incomplete",
        },
        incomplete: found.incomplete.map(|reason| reason.to_string()),
        expected: if known.is_empty() {
            "holds"
        } else {
            "violated"
        },
        expected_violations: names(&mut known.iter()),
        missing,
        unexpected,
        violations,
    })
}

fn violation(
    args: &Check,
    run: Run,
    mutant: Option<&'static Mutant>,
    hit: &Hit<State, Action>,
) -> Result<Violation, Failure> {
    let id = select::property(&hit.name)?;
    let trace = traces::of_violation(run, mutant, id, &hit.trace.actions);
    let saved = match &args.traces {
        Some(directory) => Some(traces::save(directory, &trace)?.display().to_string()),
        None => None,
    };
    let explore = match &saved {
        Some(path) => format!("fencepost explore {path}"),
        None => explore_command(run, mutant, id),
    };
    Ok(Violation {
        property: hit.name.clone(),
        steps: hit.trace.len(),
        terminal: hit.place == HitPlace::Terminal,
        trace: trace
            .lines
            .iter()
            .map(|(_, line)| line.to_string())
            .collect(),
        saved,
        explore,
    })
}

fn explore_command((entry, rules): Run, mutant: Option<&Mutant>, id: Id) -> String {
    let mutant = mutant.map_or_else(String::new, |m| format!(" --mutant {}", m.id));
    format!(
        "fencepost explore {} --rules {}{mutant} --at {}",
        entry.name,
        rules.name(),
        id.name()
    )
}

/// What a person reads of a run; its stories where they were asked for or are news.
fn text(run: Run, report: &RunReport, found: &Found, told: bool) -> Result<String, Failure> {
    let mut text = String::new();
    let mutant = report
        .mutant
        .map_or_else(String::new, |id| format!(" with {id}"));
    let mark = if report.ok {
        "as expected"
    } else {
        "NOT AS EXPECTED"
    };
    let _ = writeln!(
        text,
        "{} {mark}: {} distinct, {} generated, depth {}, {:.1} s, digest {}",
        bold(&format!(
            "{} under {}{mutant}: {}",
            report.scenario, report.rules, report.verdict
        )),
        report.distinct,
        report.generated,
        report.depth,
        report.seconds,
        report.digest
    );
    if let Some(reason) = &report.incomplete {
        let _ = writeln!(text, "  Not everything was seen: {reason}.");
    }
    for name in &report.missing {
        let _ = writeln!(text, "  {name} was expected to be violated and is not.");
    }
    for (hit, violation) in found.violations.iter().zip(&report.violations) {
        let news = report.unexpected.contains(&violation.property.as_str());
        let row = select::property(&hit.name)?.row();
        if told || news {
            text.push_str(&story::headline(row, violation.steps));
            text.push_str(&story::steps(&hit.trace.actions, &hit.trace.states));
            if violation.terminal {
                text.push_str("  Nothing can follow.\n");
            }
            let _ = writeln!(text, "  Open it: {}", violation.explore);
        } else {
            let _ = writeln!(
                text,
                "  {} {}: violated in {} steps, as {} does. Open it: {}",
                violation.property,
                row.name,
                violation.steps,
                run.1.name(),
                violation.explore
            );
        }
    }
    let _ = writeln!(text, "  Bounds: {}.", report.bounds.text);
    let _ = writeln!(
        text,
        "  Chance that a state was missed: {:.1e}.\n",
        report.collision_probability
    );
    Ok(text)
}

fn case(run: &RunReport) -> junit::Case {
    let mut why = Vec::new();
    why.extend(
        run.missing
            .iter()
            .map(|id| format!("{id} is not violated as expected")),
    );
    why.extend(run.unexpected.iter().map(|id| format!("{id} is violated")));
    why.extend(
        run.incomplete
            .iter()
            .map(|reason| format!("incomplete: {reason}")),
    );
    junit::Case {
        name: format!("{} {}", run.scenario, run.rules),
        seconds: run.seconds,
        failure: (!run.ok).then(|| why.join("; ")),
    }
}
