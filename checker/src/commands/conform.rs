//! `fencepost conform`: the production cores in lockstep with the model.

use super::conform_broker;
use crate::args::{Conform, ConformProfile, RulesArg};
use crate::exit::{Exit, Failure};
use crate::junit;
use crate::output::{bold, say, say_json};
use crate::select;
use crate::traces;
use fencepost_conformance::cases::{self, CaseResult, OwnReport};
use fencepost_conformance::lockstep::{self, Options, Run};
use fencepost_spec::scenario::{CATALOGUE, Profile};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;
use std::sync::Mutex;

#[derive(Serialize)]
struct Json<'a> {
    runs: &'a [Run],
    #[serde(skip_serializing_if = "Option::is_none")]
    walks: Option<Walks>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cases: Option<OwnReport>,
    claim: String,
}

/// The random walks of a profile.
#[derive(Serialize)]
struct Walks {
    seed: u64,
    steps: u64,
    divergence: Option<lockstep::Divergence>,
}

/// How often each crowd is walked through, and the seed of the first walk.
const WALKS: (u64, u64) = (2, 890);

/// Runs it.
pub fn run(args: &Conform, json: bool) -> Result<Exit, Failure> {
    if args.list {
        return conform_broker::list(args, json);
    }
    if let Some(bootstrap) = &args.probe {
        return conform_broker::probe(bootstrap, json);
    }
    if let Some(bootstrap) = &args.bootstrap {
        return conform_broker::judge(args, bootstrap, json);
    }
    if let Some(configuration) = args.kafka {
        return conform_broker::judge_kafka(args, configuration, json);
    }
    if args.walk.is_some() {
        let message = "--walk goes with --bootstrap HOST:PORT or --kafka CONFIGURATION";
        return Err(Failure::Usage(message.to_owned()));
    }
    if args.level.is_some() || args.known_failures.is_some() || !args.report.is_empty() {
        let message = "--level, --known-failures and --report go with --bootstrap HOST:PORT";
        return Err(Failure::Usage(message.to_owned()));
    }
    let told = Mutex::new(Ok(()));
    let report = lockstep::run_all(&selected(args)?, Options::default(), &|run| {
        let said = if json { Ok(()) } else { say(&text(run)) };
        let saved = save(args.traces.as_deref(), run);
        if let Ok(mut told) = told.lock()
            && told.is_ok()
        {
            *told = said.and(saved);
        }
    });
    told.into_inner().unwrap_or(Ok(()))?;
    let beside = asks_for_more(args);
    let walks = beside.then(walks);
    let cases = beside
        .then(|| cases::judge_our_own(&cases::MUTATION))
        .transpose()
        .map_err(|error| Failure::Unreachable(error.to_string()))?;
    let strayed = walks.as_ref().and_then(|it| it.divergence.as_ref());
    let passed = cases.as_ref().is_none_or(|it| it.bad.is_empty());
    let ok = report.ok && strayed.is_none() && passed;
    if let Some(path) = &args.junit {
        let cases: Vec<_> = report.runs.iter().map(case).collect();
        traces::write(path, &junit::report("fencepost conform", &cases))?;
    }
    if json {
        say_json(
            ok,
            &Json {
                runs: &report.runs,
                claim: report.claim(),
                walks,
                cases,
            },
        )?;
    } else {
        if let Some(walks) = &walks {
            let (seed, steps) = (walks.seed, walks.steps);
            let verdict = strayed.map_or("agree".to_owned(), |found| format!("DIVERGED\n{found}"));
            say(&format!(
                "random walks from seed {seed}, {steps} steps: {verdict}\n"
            ))?;
        }
        if let Some(cases) = &cases {
            let bad: String = cases.bad.iter().map(CaseResult::story).collect();
            say(&format!(
                "our cores behind a port: {} cases and walks passed, {} skipped, {} exchanges judged\n{bad}",
                cases.passed, cases.skipped, cases.exchanges
            ))?;
        }
        say(&format!("{}\n", report.claim()))?;
    }
    Ok(Exit::of_report(ok))
}

/// The mutation profile goes beyond scenarios that can be searched.
fn asks_for_more(args: &Conform) -> bool {
    args.names.is_empty() && args.profile == ConformProfile::Mutation
}

/// Walks through scenarios that are too large to search.
fn walks() -> Walks {
    let (times, seed) = WALKS;
    let (steps, divergence) = match lockstep::walk_crowds(times, seed, true) {
        Ok(steps) => (steps, None),
        Err(found) => (0, Some(*found)),
    };
    Walks {
        seed,
        steps,
        divergence,
    }
}

/// Saves the trace of a run's divergence, where a place is named.
fn save(directory: Option<&Path>, run: &Run) -> Result<(), Failure> {
    let (Some(directory), Some(divergence)) = (directory, &run.divergence) else {
        return Ok(());
    };
    let name = format!("{}_{}.trace", run.scenario.replace('-', "_"), run.rules);
    traces::write(&directory.join(name), &divergence.to_string())
}

fn selected(args: &Conform) -> Result<Vec<select::Run>, Failure> {
    if !args.names.is_empty() {
        return select::runs(&args.names, args.rules);
    }
    let sets = args.rules.sets();
    let named = |cases: &[lockstep::Case]| {
        cases
            .iter()
            .filter(|case| sets.contains(&case.rules))
            .map(|case| Ok((select::scenario(case.scenario)?, case.rules)))
            .collect()
    };
    match args.profile {
        ConformProfile::Default => named(lockstep::DEFAULT),
        ConformProfile::Mutation => named(lockstep::MUTATION),
        ConformProfile::Nightly => Ok(CATALOGUE
            .iter()
            .filter(|entry| entry.profile == Profile::Default)
            .flat_map(|entry| select::runs_of(entry, RulesArg::All))
            .filter(|(_, rules)| sets.contains(rules))
            .collect()),
    }
}

fn text(run: &Run) -> String {
    let mut text = format!(
        "{} under {}: {}. {} model states, {} steps compared, {} refusals as predicted, {} production states, \
         {} model states with more than one, {:.1} s\n",
        bold(&run.scenario),
        run.rules,
        match (&run.divergence, run.complete) {
            (Some(_), _) => "DIVERGED",
            (None, true) => "agrees",
            (None, false) => "incomplete",
        },
        run.model_states,
        run.edges,
        run.refused_actions,
        run.impl_states,
        run.hidden_states,
        run.seconds
    );
    let crashes: u64 = run.crash_points.iter().map(|row| row.count).sum();
    let _ = writeln!(
        text,
        "  {crashes} crash points recovered as the model recovers{}",
        of_kinds(run)
    );
    let properties = &run.properties;
    let _ = writeln!(
        text,
        "  properties judged on {} states and {} steps of production: {} violated{}",
        properties.states,
        properties.steps,
        list(&properties.violated),
        if properties.ok {
            ", as expected".to_owned()
        } else {
            format!(", NOT AS EXPECTED: {}", list(&properties.expected))
        }
    );
    for row in &run.hidden_reasons {
        let _ = writeln!(
            text,
            "  production states of one model state differ {} times: {}",
            row.count, row.what
        );
    }
    for row in &run.exclusions {
        let _ = writeln!(
            text,
            "  left out {} times: {} ({})",
            row.count, row.what, row.reason
        );
    }
    if let Some(divergence) = &run.divergence {
        let _ = writeln!(text, "{divergence}");
    }
    text
}

/// The crash points by what was being written; each was taken before, torn and after.
fn of_kinds(run: &Run) -> String {
    let mut by_kind: Vec<(&str, u64)> = Vec::new();
    for row in &run.crash_points {
        match by_kind.iter_mut().find(|(kind, _)| *kind == row.write) {
            Some((_, count)) => *count += row.count,
            None => by_kind.push((row.write, row.count)),
        }
    }
    let kinds: Vec<String> = by_kind
        .into_iter()
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    if kinds.is_empty() {
        String::new()
    } else {
        format!(" ({})", kinds.join(", "))
    }
}

fn list(names: &[&str]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

fn case(run: &Run) -> junit::Case {
    let failure = match (&run.divergence, run.complete) {
        (Some(divergence), _) => Some(divergence.to_string()),
        (None, true) => None,
        (None, false) => Some("not every pair was explored".to_owned()),
    };
    junit::Case {
        name: format!("{} {}", run.scenario, run.rules),
        seconds: run.seconds,
        failure,
    }
}
