//! `fencepost explore`: the start page, or a scenario or the end of a trace in the Explorer.

use crate::args::{Explore, RulesArg};
use crate::exit::{Exit, Failure};
use crate::explorer::{ModelName, Settings, Walk, listen, model_of, serve};
use crate::output::{say, say_json};
use crate::{select, traces};
use fencepost_spec::scenario;
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
struct Opened {
    url: String,
    #[serde(flatten)]
    model: Option<OpenedModel>,
}

#[derive(Serialize)]
struct OpenedModel {
    scenario: &'static str,
    rules: &'static str,
    mutant: Option<&'static str>,
    steps: usize,
}

/// What is to be opened.
struct Target {
    model: ModelName,
    walk: Walk,
}

/// Runs it, until the process is ended.
pub fn run(args: &Explore, json: bool) -> Result<Exit, Failure> {
    let listener = listen(&args.address)?;
    let address = listener
        .local_addr()
        .map_err(|error| Failure::Internal(error.to_string()))?;
    let target = match (&args.target, &args.mutant) {
        (None, None) if args.rules.is_some() || args.at.is_some() => {
            return Err(Failure::Usage(
                "--rules and --at need a scenario or a mutant beside them".to_owned(),
            ));
        }
        (None, None) => None,
        (name, _) => match target(args, name.as_deref())? {
            None => return Ok(Exit::Finding),
            target => target,
        },
    };
    let path = target.as_ref().map_or_else(|| Ok("/".to_owned()), path)?;
    let opened = Opened {
        url: format!("http://{address}{path}"),
        model: target.map(|target| OpenedModel {
            scenario: target.model.run.0.name,
            rules: target.model.run.1.name(),
            mutant: target.model.mutant.map(|mutant| mutant.id),
            steps: target.walk.len(),
        }),
    };
    if json {
        say_json(true, &opened)?;
    } else {
        say(&format!("Open {}\nEnd it with Ctrl-C.\n", opened.url))?;
    }
    let traces = args.traces.clone();
    serve(
        listener,
        Settings {
            traces: traces.unwrap_or_else(|| PathBuf::from(".")),
            models: usize::from(args.models),
            idle: args.idle,
        },
    )?;
    Ok(Exit::AsExpected)
}

fn path(target: &Target) -> Result<String, Failure> {
    let fragment = target.walk.fragment(target.model, target.walk.len())?;
    Ok(target.model.page() + &fragment)
}

/// The named scenario, or the named trace; `None` where a step of the trace is not enabled.
fn target(args: &Explore, name: Option<&str>) -> Result<Option<Target>, Failure> {
    let path = name.map(Path::new).filter(|path| path.is_file());
    let Some(path) = path.filter(|_| name.and_then(scenario::find).is_none()) else {
        return of_model(args, name).map(Some);
    };
    if args.rules.is_some() || args.mutant.is_some() || args.at.is_some() {
        return Err(Failure::Usage(
            "a trace has its own rules; expected no --rules, --mutant or --at beside one"
                .to_owned(),
        ));
    }
    let file = traces::read(path)?;
    Ok(match Walk::of_trace(&file) {
        Ok(walk) => Some(Target {
            model: model_of(&file),
            walk,
        }),
        Err(refused) => {
            Failure::told(&refused.to_string());
            None
        }
    })
}

/// A model at its start; at the end of a counterexample where one was asked for, or the mutant is
/// judged there by one.
fn of_model(args: &Explore, name: Option<&str>) -> Result<Target, Failure> {
    let model = model(args, name)?;
    let walk = match &args.at {
        Some(property) => Walk::to_violation(model, select::property(property)?)?,
        None if model.mutant.is_some() => match model.known_broken().first() {
            Some(property) => Walk::to_violation(model, *property)?,
            None => Walk::default(),
        },
        None => Walk::default(),
    };
    Ok(Target { model, walk })
}

/// The model that the arguments name: a mutant alone stands where it is first judged.
fn model(args: &Explore, name: Option<&str>) -> Result<ModelName, Failure> {
    let mutant = args.mutant.as_deref().map(select::mutant).transpose()?;
    let plan = mutant.and_then(|mutant| {
        let asked = args.rules.unwrap_or(RulesArg::All).sets();
        let here = |scenario| name.is_none_or(|name| name == scenario);
        mutant
            .plans
            .iter()
            .find(|plan| here(plan.scenario) && asked.contains(&plan.rules))
    });
    if let Some(plan) = plan {
        let run = (select::scenario(plan.scenario)?, plan.rules);
        return Ok(ModelName::of(run, mutant));
    }
    let name = name.ok_or_else(|| {
        Failure::Usage("the mutant is not judged under these rules; expected a scenario".to_owned())
    })?;
    let rules = args.rules.unwrap_or(RulesArg::All);
    let runs = select::runs(&[name.to_owned()], rules)?;
    let run = runs.last().copied();
    let run = run.ok_or_else(|| Failure::Internal("a scenario without rules".to_owned()))?;
    Ok(ModelName::of(run, mutant))
}
