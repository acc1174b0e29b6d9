//! `fencepost explore`: stateright's Explorer on a scenario, or at the end of a trace.

use crate::args::Explore;
use crate::exit::{Exit, Failure};
use crate::explorer::{Shown, serve};
use crate::output::{say, say_json};
use crate::{run, select, traces};
use fencepost_search::Options;
use fencepost_spec::mutants::Mutant;
use fencepost_spec::scenario;
use fencepost_spec::world::{Action, State};
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
struct Opened {
    url: String,
    scenario: &'static str,
    rules: &'static str,
    mutant: Option<&'static str>,
    steps: usize,
}

/// What is to be opened.
struct Target {
    run: select::Run,
    mutant: Option<&'static Mutant>,
    actions: Vec<Action>,
    states: Vec<State>,
}

/// Runs it, until the process is ended.
pub fn run(args: &Explore, json: bool) -> Result<Exit, Failure> {
    let Some(target) = target(args)? else {
        return Ok(Exit::Finding);
    };
    let world = run::world(target.run, target.mutant);
    let shown = Shown::new(world, run::name(target.run, target.mutant));
    let path = shown
        .path_of(&target.actions, &target.states)
        .ok_or_else(|| Failure::Internal("a replayed step is not listed".to_owned()))?;
    serve(shown, &args.address, |address| {
        let opened = Opened {
            url: format!("http://{address}/#/steps{path}"),
            scenario: target.run.0.name,
            rules: target.run.1.name(),
            mutant: target.mutant.map(|m| m.id),
            steps: target.actions.len(),
        };
        if json {
            say_json(true, &opened)
        } else {
            say(&format!("Open {}\nEnd it with Ctrl-C.\n", opened.url))
        }
    })?;
    Ok(Exit::AsExpected)
}

/// The named scenario, or the named trace; `None` where a step of the trace is not enabled.
fn target(args: &Explore) -> Result<Option<Target>, Failure> {
    let path = Path::new(&args.target);
    if scenario::find(&args.target).is_none() && path.is_file() {
        let file = traces::read(path)?;
        return Ok(match file.replay() {
            Ok(replayed) => Some(Target {
                run: (file.scenario, file.rules),
                mutant: file.mutant,
                actions: replayed.actions,
                states: replayed.states,
            }),
            Err(refused) => {
                Failure::told(&refused.to_string());
                None
            }
        });
    }
    of_scenario(args).map(Some)
}

fn of_scenario(args: &Explore) -> Result<Target, Failure> {
    let names = [args.target.clone()];
    let rules = args.rules.unwrap_or(crate::args::RulesArg::All);
    let runs = select::runs(&names, rules)?;
    let run = *runs
        .last()
        .ok_or_else(|| Failure::Internal("a scenario without rules".to_owned()))?;
    let mutant = args.mutant.as_deref().map(select::mutant).transpose()?;
    let (actions, states) = match &args.at {
        None => (Vec::new(), Vec::new()),
        Some(name) => way_to(run, mutant, name)?,
    };
    Ok(Target {
        run,
        mutant,
        actions,
        states,
    })
}

/// The shortest counterexample of a property.
fn way_to(
    run: select::Run,
    mutant: Option<&Mutant>,
    name: &str,
) -> Result<(Vec<Action>, Vec<State>), Failure> {
    let id = select::property(name)?;
    let options = Options {
        stop_when: u64::from(id.bit()),
        ..Options::default()
    };
    let found = run::search(&run::world(run, mutant), &options)?;
    match found.violation(id.name()) {
        Some(hit) => Ok((hit.trace.actions.clone(), hit.trace.states.clone())),
        None => Err(Failure::Usage(format!(
            "{name} is not violated in {}; expected a property that is",
            run::name(run, mutant)
        ))),
    }
}
