//! `fencepost mutants`: judges each mutant where its plans say, or lists them.

use crate::args::Mutants;
use crate::exit::{Exit, Failure};
use crate::ledger::guards::{self, GuardRow, Shown};
use crate::ledger::{Judgement, Row, Status, Task, judge, tasks};
use crate::output::{bold, say, say_json};
use crate::select;
use fencepost_spec::mutants::{Expect, MUTANTS, Mutant};
use serde::Serialize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Serialize)]
struct Report {
    seconds: f64,
    mutants: Vec<Row>,
    /// Empty where only some mutants were asked for.
    guards: Vec<GuardRow>,
}

#[derive(Serialize)]
struct Listing {
    mutants: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    id: &'static str,
    bug: &'static str,
    says: &'static str,
    scenario: &'static str,
    rules: &'static str,
    judged: &'static str,
    expect: &'static str,
    property: Option<&'static str>,
}

/// Runs it.
pub fn run(args: &Mutants, json: bool, progress: bool) -> Result<Exit, Failure> {
    let mutants = selected(&args.ids)?;
    let tasks = tasks(&mutants)?;
    if args.list {
        return list(&tasks, json);
    }
    let started = std::time::Instant::now();
    let each = |at: usize| {
        let row = judge(&tasks[at], &args.limits, args.traces.as_deref(), progress)?;
        if !json {
            say(&line(&row))?;
        }
        Ok(row)
    };
    let rows = in_parallel(args, tasks.len(), each)?;
    let guards = match args.ids.as_slice() {
        [] => guards::rows(show_guards(args, progress)?),
        _ => Vec::new(),
    };
    let shown = guards
        .iter()
        .flat_map(|guard| &guard.cannot)
        .all(Shown::holds);
    let ok = shown && rows.iter().all(|row| row.status != Status::Survived);
    let report = Report {
        seconds: started.elapsed().as_secs_f64(),
        mutants: rows,
        guards,
    };
    if json {
        say_json(ok, &report)?;
    } else {
        say(&summary(&report))?;
    }
    Ok(Exit::of_report(ok))
}

fn selected(ids: &[String]) -> Result<Vec<&'static Mutant>, Failure> {
    if ids.is_empty() {
        return Ok(MUTANTS.iter().collect());
    }
    ids.iter().map(|id| select::mutant(id)).collect()
}

/// Searches for what the guards' rows say there is not.
fn show_guards(args: &Mutants, progress: bool) -> Result<Vec<(&'static str, Shown)>, Failure> {
    let searches = guards::searches();
    in_parallel(args, searches.len(), |at| {
        let (guard, kind, cannot) = searches[at];
        let shown = guards::show(kind, cannot, &args.limits, progress)?;
        Ok((guard.rule, shown))
    })
}

/// Does `count` things on as many threads as there are; the results come in their order.
fn in_parallel<T: Send>(
    args: &Mutants,
    count: usize,
    each: impl Fn(usize) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<T, Failure>)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..args.limits.thread_count().min(count) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        return;
                    }
                    let result = each(at);
                    if let Ok(mut done) = done.lock() {
                        done.push((at, result));
                    }
                }
            });
        }
    });
    let mut results = done
        .into_inner()
        .map_err(|_| Failure::Internal("a thread that judged mutants has stopped".to_owned()))?;
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

fn list(tasks: &[Task], json: bool) -> Result<Exit, Failure> {
    let mutants: Vec<_> = tasks.iter().map(listed).collect();
    if json {
        say_json(true, &Listing { mutants })?;
    } else {
        for m in &mutants {
            say(&format!(
                "{:<7} {:<4} {:<8} {:<18} {:<11} {} {}: {}\n",
                m.id,
                m.bug,
                m.rules,
                m.scenario,
                m.judged,
                m.expect,
                m.property.unwrap_or("-"),
                m.says
            ))?;
        }
    }
    Ok(Exit::AsExpected)
}

fn listed(task: &Task) -> Listed {
    let (scenario, rules, judged, (expect, property)) = match task.judgement {
        Judgement::States(plan) => (
            plan.scenario,
            plan.rules,
            "states",
            expectation(&plan.expect),
        ),
        Judgement::FairCycles(plan) => {
            let expect = ("killed", Some(plan.breaks.name()));
            (plan.scenario, plan.rules, "fair cycles", expect)
        }
    };
    Listed {
        id: task.mutant.id,
        bug: task.mutant.bug,
        says: task.mutant.says,
        scenario,
        rules: rules.name(),
        judged,
        expect,
        property,
    }
}

fn expectation(expect: &Expect) -> (&'static str, Option<&'static str>) {
    match expect {
        Expect::Killed(id) => ("killed", Some(id.name())),
        Expect::Equivalent { pair_breaks, .. } => ("equivalent", Some(pair_breaks.name())),
        Expect::Expected { breaks, .. } => ("expected", Some(breaks.name())),
        Expect::Pending { .. } => ("pending", None),
    }
}

fn line(row: &Row) -> String {
    let property = row.property.unwrap_or("-");
    let steps = match (row.steps, row.loop_start) {
        (Some(steps), Some(from)) if steps == from => format!(" after {from} steps, for ever"),
        (Some(steps), Some(from)) => format!(" after {from} steps, {} over and over", steps - from),
        (Some(steps), None) => format!(" in {steps} steps"),
        (None, _) => String::new(),
    };
    let reason = row
        .reason
        .as_ref()
        .map_or_else(String::new, |r| format!("  {r}"));
    format!(
        "{:<7} {:<4} {:<8} {:<18} {:<11} {:<10} {property}{steps}, {} states, {:.2} s{reason}\n",
        row.id,
        row.bug,
        row.rules,
        row.scenario,
        row.judged,
        row.status.name(),
        row.distinct,
        row.seconds
    )
}

fn summary(report: &Report) -> String {
    let count = |status| {
        report
            .mutants
            .iter()
            .filter(|row| row.status == status)
            .count()
    };
    let parts: Vec<_> = Status::ALL
        .into_iter()
        .map(|status| format!("{} {}", count(status), status.name()))
        .collect();
    let of_kind = |kind| report.mutants.iter().filter(|row| row.kind == kind).count();
    let total = format!(
        "{} in {:.0} s; {} of safety, {} of liveness",
        parts.join(", "),
        report.seconds,
        of_kind("safety"),
        of_kind("liveness")
    );
    format!("{}{}\n", guards_text(&report.guards), bold(&total))
}

/// The guards without a mutant on one side, with what was searched to show it.
fn guards_text(guards: &[GuardRow]) -> String {
    let mut text = String::new();
    for guard in guards {
        for shown in &guard.cannot {
            let verdict = match (shown.complete, shown.breaks.as_slice()) {
                (false, _) => "NOT SEEN TO THE END".to_owned(),
                (true, []) => "holds".to_owned(),
                (true, broken) => format!("BREAKS {}", broken.join(", ")),
            };
            text += &format!(
                "{:<36} {:<8} cannot: {} ({} in {} under {} {verdict}, {} states, {:.2} s)\n",
                guard.rule,
                shown.kind,
                shown.why,
                shown.mutant,
                shown.scenario,
                shown.rules,
                shown.distinct,
                shown.seconds
            );
        }
    }
    if !guards.is_empty() {
        let both = guards
            .iter()
            .filter(|guard| guard.cannot.is_empty())
            .count();
        text += &format!(
            "{} guards: {both} with a mutant on either side, {} with a reason for one side and the run above that shows it within its bounds\n",
            guards.len(),
            guards.len() - both
        );
    }
    text
}
