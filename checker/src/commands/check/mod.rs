//! `fencepost check`: searches runs and compares what they break with what is expected.

mod report;
mod text;

use crate::args::{Check, ProfileArg, RulesArg};
use crate::exit::{Exit, Failure};
use crate::fair;
use crate::junit;
use crate::modes::{self, Never, Plan, Seen};
use crate::output::{say, say_json};
use crate::run;
use crate::select::{self, Run};
use crate::traces;
use fencepost_search::Options;
use fencepost_spec::properties::fair::FAIR_SCENARIOS;
use fencepost_spec::scenario::{CATALOGUE, Profile};
use report::{Context, Report, RunReport};

/// Runs it.
pub fn run(args: &Check, json: bool, progress: bool) -> Result<Exit, Failure> {
    let mutant = args.mutant.as_deref().map(select::mutant).transpose()?;
    let selected = selected(args)?;
    let plan = Plan::of(args, &selected, mutant)?;
    let context = Context {
        args,
        plan: &plan,
        mutant,
    };
    let mut runs = Vec::new();
    let mut seen = Some(Seen::default());
    for run in selected {
        let world = run::world(run, mutant);
        let name = run::name(run, mutant);
        let options = run::options(&name, &args.limits, args.limits.thread_count(), progress);
        let bounds = world.scenario.clone();
        let searched = modes::search(&plan, run, mutant, world, &options)?;
        let report = report::of(&context, run, &bounds, &searched)?;
        if !json {
            say(&text::of_run(
                &report,
                &searched.found,
                !args.scenarios.is_empty(),
            )?)?;
        }
        seen = seen.zip(searched.seen).map(|(mut all, one)| {
            all.join(&one);
            all
        });
        runs.push(report);
        if plan.judges_liveness() && FAIR_SCENARIOS.contains(&run.0.name) {
            runs.push(on_fair_cycles(&context, run, &options, json)?);
        }
    }
    finish(args, json, runs, seen.as_ref())
}

/// Judges a run on fair cycles.
fn on_fair_cycles(
    context: &Context<'_>,
    run: Run,
    options: &Options,
    json: bool,
) -> Result<RunReport, Failure> {
    let judged = fair::judge(run, context.mutant, options)?;
    let report = report::of_fair(context, run, &judged)?;
    if !json {
        let told = !context.args.scenarios.is_empty();
        say(&text::of_fair(&report, &judged, told)?)?;
    }
    Ok(report)
}

fn finish(
    args: &Check,
    json: bool,
    runs: Vec<RunReport>,
    seen: Option<&Seen>,
) -> Result<Exit, Failure> {
    let report = Report::of(runs, seen.map(Never::of));
    if let Some(path) = &args.junit {
        let cases: Vec<_> = report.runs.iter().map(report::case).collect();
        traces::write(path, &junit::report("fencepost check", &cases))?;
    }
    let ok = report.is_ok();
    if json {
        say_json(ok, &report)?;
    } else {
        say(&text::of_all(&report, args.scenarios.is_empty()))?;
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
