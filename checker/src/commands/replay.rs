//! `fencepost replay`: runs a trace and compares what it shows with what its header says.

use super::conform_broker;
use super::replay_impl;
use crate::args::{On, Replay};
use crate::exit::{Exit, Failure};
use crate::output::{bold, say, say_json};
use crate::{story, traces};
use fencepost_spec::trace::{Line, NotEnabled, Replayed, TraceFile};
use serde::Serialize;

#[derive(Serialize)]
struct Report {
    trace: String,
    on: &'static str,
    story: String,
    scenario: &'static str,
    rules: &'static str,
    mutant: Option<&'static str>,
    expected: String,
    steps: usize,
    violations: Vec<&'static str>,
    not_enabled: Option<Refused>,
}

#[derive(Serialize)]
struct Refused {
    line: usize,
    step: usize,
    action: String,
    enabled: Vec<String>,
}

/// Runs it.
pub fn run(args: &Replay, json: bool) -> Result<Exit, Failure> {
    let file = traces::read(&args.trace)?;
    if let Some(bootstrap) = &args.bootstrap {
        return conform_broker::replay(&args.trace, &file, bootstrap, json);
    }
    match args.on {
        On::Spec => {}
        On::Impl => return replay_impl::run(args, &file, json),
    }
    let replayed = file.replay();
    let ok = replayed.as_ref().is_ok_and(|run| traces::shows(&file, run));
    let report = report(args, &file, &replayed);
    if json {
        say_json(ok, &report)?;
    } else {
        say(&text(&file, &replayed, ok))?;
    }
    Ok(Exit::of_report(ok))
}

fn report(args: &Replay, file: &TraceFile, replayed: &Result<Replayed, NotEnabled>) -> Report {
    let (violations, not_enabled) = match replayed {
        Ok(run) => (run.violations(), None),
        Err(refused) => (
            Vec::new(),
            Some(Refused {
                line: refused.line,
                step: refused.step,
                action: refused.action.to_string(),
                enabled: refused.enabled.iter().map(Line::to_string).collect(),
            }),
        ),
    };
    Report {
        trace: args.trace.display().to_string(),
        on: "spec",
        story: file.story.clone(),
        scenario: file.scenario.name,
        rules: file.rules.name(),
        mutant: file.mutant.map(|m| m.id),
        expected: file.expect.to_string(),
        steps: file.lines.len(),
        violations: violations.iter().map(|id| id.name()).collect(),
        not_enabled,
    }
}

fn text(file: &TraceFile, replayed: &Result<Replayed, NotEnabled>, ok: bool) -> String {
    let mutant = file
        .mutant
        .map_or_else(String::new, |m| format!(" with {}", m.id));
    let mut text = format!(
        "{}\n  {} under {}{mutant}, {} steps\n",
        bold(&file.story),
        file.scenario.name,
        file.rules.name(),
        file.lines.len()
    );
    match replayed {
        Err(refused) => {
            text.push_str(&format!("{refused}\n  Enabled there:\n"));
            text.extend(refused.enabled.iter().map(|line| format!("    {line}\n")));
        }
        Ok(run) => {
            text.push_str(&story::steps(&run.actions, &run.states));
            let broken: Vec<_> = run.violations().iter().map(|id| id.name()).collect();
            let shown = if broken.is_empty() {
                "nothing".to_owned()
            } else {
                broken.join(", ")
            };
            let mark = if ok { "as expected" } else { "NOT AS EXPECTED" };
            text.push_str(&format!(
                "  Violated at the end: {shown}. Expected: {}: {mark}.\n",
                file.expect
            ));
        }
    }
    text
}
