//! `fencepost replay --on impl`: steps the production cores through a trace, beside the model.

use crate::args::Replay;
use crate::exit::{Exit, Failure};
use crate::output::{bold, say, say_json};
use fencepost_conformance::lockstep::{self, Divergence, ReplayError};
use fencepost_spec::trace::TraceFile;
use serde::Serialize;

#[derive(Serialize)]
struct Report {
    trace: String,
    on: &'static str,
    story: String,
    scenario: &'static str,
    rules: &'static str,
    mutant: Option<&'static str>,
    steps: usize,
    /// How many steps both sides took alike.
    agreed: usize,
    happened: String,
    divergence: Option<Divergence>,
}

/// What became of a trace.
enum Happened {
    /// Both sides took every step alike.
    Agreed,
    /// They differ.
    Diverged(Box<Divergence>),
    /// A step is one that is left out.
    LeftOut { step: usize, why: String },
    /// The model does not take a step.
    NotEnabled { step: usize, why: String },
}

/// Runs it.
pub fn run(args: &Replay, file: &TraceFile, json: bool) -> Result<Exit, Failure> {
    let happened = match lockstep::replay(file) {
        Ok(_) => Happened::Agreed,
        Err(ReplayError::Differs(divergence)) => Happened::Diverged(divergence),
        Err(ReplayError::Excluded { step, what, reason }) => Happened::LeftOut {
            step,
            why: format!("{what} ({reason})"),
        },
        Err(ReplayError::NotEnabled(refused)) => Happened::NotEnabled {
            step: refused.step,
            why: refused.to_string(),
        },
    };
    let ok = is_expected(file, &happened);
    if json {
        say_json(ok, &report(args, file, happened))?;
    } else {
        say(&text(file, &happened, ok))?;
    }
    Ok(Exit::of_report(ok))
}

/// A trace of the right rules is followed. One of a mutant must part from production where the mutant's rule matters,
/// unless that is a rule of what is the model's on both sides.
fn is_expected(file: &TraceFile, happened: &Happened) -> bool {
    match happened {
        Happened::Agreed => file.mutant.is_none() || lockstep::out_of_sight(file).is_some(),
        Happened::Diverged(_) | Happened::LeftOut { .. } => file.mutant.is_some(),
        Happened::NotEnabled { .. } => false,
    }
}

fn agreed(file: &TraceFile, happened: &Happened) -> usize {
    match happened {
        Happened::Agreed => file.lines.len(),
        Happened::Diverged(divergence) if divergence.waiting.is_some() => divergence.steps,
        Happened::Diverged(divergence) => divergence.steps.saturating_sub(1),
        Happened::LeftOut { step, .. } | Happened::NotEnabled { step, .. } => step - 1,
    }
}

fn sentence(file: &TraceFile, happened: &Happened) -> String {
    if let (Happened::Agreed, Some(why)) = (happened, lockstep::out_of_sight(file)) {
        return format!("Production takes every step: {why}.");
    }
    match (happened, file.mutant) {
        (Happened::Agreed, None) => "Production takes every step as the model does.".to_owned(),
        (Happened::Agreed, Some(mutant)) => {
            format!(
                "Production takes every step, so it has the fault of {}.",
                mutant.id
            )
        }
        (Happened::Diverged(_), None) => "Model and production differ.".to_owned(),
        (Happened::Diverged(_), Some(mutant)) => {
            format!(
                "Here the rule of {} matters: production does otherwise.",
                mutant.id
            )
        }
        (Happened::LeftOut { step, why }, _) => {
            format!("Step {step} is none that production takes: {why}.")
        }
        (Happened::NotEnabled { why, .. }, _) => format!("The model refuses: {why}."),
    }
}

fn report(args: &Replay, file: &TraceFile, happened: Happened) -> Report {
    Report {
        trace: args.trace.display().to_string(),
        on: "impl",
        story: file.story.clone(),
        scenario: file.scenario.name,
        rules: file.rules.name(),
        mutant: file.mutant.map(|mutant| mutant.id),
        steps: file.lines.len(),
        agreed: agreed(file, &happened),
        happened: sentence(file, &happened),
        divergence: match happened {
            Happened::Diverged(divergence) => Some(*divergence),
            Happened::Agreed | Happened::LeftOut { .. } | Happened::NotEnabled { .. } => None,
        },
    }
}

fn text(file: &TraceFile, happened: &Happened, ok: bool) -> String {
    let mutant = file
        .mutant
        .map_or_else(String::new, |m| format!(" with {}", m.id));
    let mut text = format!(
        "{}\n  {} under {}{mutant}, on the production cores\n",
        bold(&file.story),
        file.scenario.name,
        file.rules.name(),
    );
    let agreed = agreed(file, happened);
    for (number, (_, line)) in (1..).zip(&file.lines).take(agreed) {
        text.push_str(&format!("  {number:>3}. {}\n", line.sentence()));
    }
    text.push_str(&format!(
        "  {agreed} of {} steps alike. {}\n",
        file.lines.len(),
        sentence(file, happened)
    ));
    if let Happened::Diverged(divergence) = happened {
        let comments = divergence.to_string();
        let comments = comments.lines().filter_map(|line| line.strip_prefix("# "));
        text.extend(comments.map(|line| format!("  {line}\n")));
        if let Some((_, line)) = file.lines.get(agreed) {
            text.push_str(&format!(
                "  That is step {}: {}\n",
                agreed + 1,
                line.sentence()
            ));
        }
    }
    text.push_str(if ok {
        "  As expected.\n"
    } else {
        "  NOT AS EXPECTED.\n"
    });
    text
}
