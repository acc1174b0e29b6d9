//! `fencepost conform`: the production cores in lockstep with the model.

use super::conform_broker;
use crate::args::{Conform, ConformProfile, RulesArg};
use crate::exit::{Exit, Failure};
use crate::junit;
use crate::output::{bold, say, say_json};
use crate::select;
use crate::traces;
use fencepost_conformance::lockstep::{self, Options, Report, Run};
use fencepost_spec::scenario::{CATALOGUE, Profile};
use serde::Serialize;
use std::fmt::Write;

#[derive(Serialize)]
struct Json<'a> {
    runs: &'a [Run],
    claim: String,
}

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
    if args.level.is_some() || args.known_failures.is_some() || !args.report.is_empty() {
        let message = "--level, --known-failures and --report go with --bootstrap HOST:PORT";
        return Err(Failure::Usage(message.to_owned()));
    }
    let mut runs = Vec::new();
    for (entry, rules) in selected(args)? {
        let run = lockstep::run_case(entry, rules, Options::default());
        if !json {
            say(&text(&run))?;
        }
        runs.push(run);
    }
    let report = Report::of(runs);
    if let Some(path) = &args.junit {
        let cases: Vec<_> = report.runs.iter().map(case).collect();
        traces::write(path, &junit::report("fencepost conform", &cases))?;
    }
    if json {
        say_json(
            report.ok,
            &Json {
                runs: &report.runs,
                claim: report.claim(),
            },
        )?;
    } else {
        say(&format!("{}\n", report.claim()))?;
    }
    Ok(Exit::of_report(report.ok))
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
