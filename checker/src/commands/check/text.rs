//! What `fencepost check` reports, as a person reads it.

use super::report::{Report, RunReport, Violation};
use crate::cells::Named;
use crate::exit::Failure;
use crate::fair::Judged;
use crate::modes::{Never, Symmetry};
use crate::output::bold;
use crate::run::Found;
use crate::{select, story};
use fencepost_search::Hit;
use fencepost_spec::world::{Action, State};
use std::fmt::Write;

/// One run; its stories where they were asked for (`told`) or are news.
pub fn of_run(report: &RunReport, found: &Found, told: bool) -> Result<String, Failure> {
    let mut text = headline(report);
    if let Some(reason) = &report.incomplete {
        let _ = writeln!(text, "  Not everything was seen: {reason}.");
    }
    for name in &report.missing {
        let _ = writeln!(text, "  {name} was expected to be violated and is not.");
    }
    for (hit, violation) in found.violations.iter().zip(&report.violations) {
        let news = report.unexpected.contains(&violation.property.as_str());
        if told || news {
            tell(&mut text, hit, violation)?;
        } else {
            let name = select::property(&hit.name)?.row().name;
            let _ = writeln!(
                text,
                "  {} {name}: violated in {} steps, as {} does. Open it: {}",
                violation.property, violation.steps, report.rules, violation.explore
            );
        }
    }
    if let Some(symmetry) = &report.symmetry {
        let _ = writeln!(text, "  {}", in_words(symmetry));
    }
    if report.deadlocks > 0 {
        let _ = writeln!(
            text,
            "  {} of {} states that nothing can leave have something left undone.",
            report.deadlocks, report.terminal
        );
    }
    if let Some(never) = report.never.as_ref().filter(|never| !never.is_empty()) {
        let _ = writeln!(text, "  Never happened: {}.", never.join(", "));
    }
    let _ = writeln!(text, "  Bounds: {}.", report.bounds.text);
    let _ = writeln!(
        text,
        "  Chance that a state was missed: {:.1e}.\n",
        report.collision_probability
    );
    Ok(text)
}

/// One run that was judged on fair cycles.
pub fn of_fair(report: &RunReport, judged: &Judged, told: bool) -> Result<String, Failure> {
    let mut text = headline(report);
    if let Some(reason) = &report.incomplete {
        let _ = writeln!(text, "  Not everything was seen: {reason}.");
    }
    for name in &report.missing {
        let _ = writeln!(text, "  {name} was expected to be violated and is not.");
    }
    for (lasso, violation) in judged.found.violations.iter().zip(&report.violations) {
        let row = select::property(&lasso.property)?.row();
        let news = report.unexpected.contains(&violation.property.as_str());
        if told || news {
            text.push_str(&story::headline(row, violation.steps));
            let (actions, states) = (&lasso.trace.actions, &lasso.trace.states);
            text.push_str(&story::lasso(actions, states, lasso.loop_start));
        } else {
            let _ = writeln!(
                text,
                "  {} {}: violated, as expected.",
                row.id.name(),
                row.name
            );
        }
        let _ = writeln!(text, "  Open it: {}", violation.explore);
    }
    let _ = writeln!(text, "  Bounds: {}.", report.bounds.text);
    let _ = writeln!(
        text,
        "  Chance that a state was missed: {:.1e}.\n",
        report.collision_probability
    );
    Ok(text)
}

fn in_words(symmetry: &Symmetry) -> String {
    if symmetry.renamings.is_empty() {
        return "Symmetry: everybody has a part of its own here, so every state was visited (factor 1)."
            .to_owned();
    }
    let factor = symmetry.factor.map_or_else(
        || "by a factor that this run cannot say".to_owned(),
        |factor| format!("by a factor of {factor:.2}"),
    );
    format!(
        "Symmetry: states that differ by a renaming ({}) are one, {factor}.",
        symmetry.renamings.join("; ")
    )
}

fn headline(report: &RunReport) -> String {
    let mutant = report
        .mutant
        .map_or_else(String::new, |id| format!(" with {id}"));
    let mark = if report.ok {
        "as expected"
    } else {
        "NOT AS EXPECTED"
    };
    let mode = match (report.mode, report.seed) {
        (mode, Some(seed)) => format!(", {mode} with seed {seed}"),
        ("bfs", None) => String::new(),
        (mode, None) => format!(", {mode}"),
    };
    let kind = match report.kind {
        "safety" => "",
        _ => ", on fair cycles",
    };
    format!(
        "{} {mark}: {} distinct, {} generated, depth {}, {:.1} s{mode}, digest {}\n",
        bold(&format!(
            "{} under {}{mutant}{kind}: {}",
            report.scenario, report.rules, report.verdict
        )),
        report.distinct,
        report.generated,
        report.depth,
        report.seconds,
        report.digest
    )
}

/// A violation as a story.
fn tell(text: &mut String, hit: &Hit<State, Action>, violation: &Violation) -> Result<(), Failure> {
    let row = select::property(&hit.name)?.row();
    text.push_str(&story::headline(row, violation.steps));
    text.push_str(&story::steps(&hit.trace.actions, &hit.trace.states));
    if violation.terminal {
        text.push_str("  Nothing can follow.\n");
    }
    if violation.ways.len() > 1 {
        let ways: Vec<_> = violation
            .ways
            .iter()
            .map(|way| format!("{} ({} steps)", way.last_action, way.steps))
            .collect();
        let _ = writeln!(text, "  Last actions that break it: {}.", ways.join(", "));
    }
    let _ = writeln!(
        text,
        "  Open it: {}\n  Or, while `fencepost explore` runs: {}",
        violation.explore, violation.url
    );
    Ok(())
}

/// The end of the report. Cells are named where nobody chose the scenarios (`whole`): else most are missing.
pub fn of_all(report: &Report, whole: bool) -> String {
    let mut text = String::new();
    if let Some(never) = report.never.as_ref().filter(|_| whole) {
        never_in_any_run(&mut text, never);
    }
    let verdict = if report.is_ok() {
        "everything is as expected"
    } else {
        "not as expected"
    };
    let line = format!(
        "{} runs, {} distinct states, {:.1} s: {verdict}",
        report.runs.len(),
        report.distinct,
        report.seconds
    );
    let _ = writeln!(text, "{}", bold(&line));
    text
}

fn never_in_any_run(text: &mut String, never: &Never) {
    if !never.actions.is_empty() {
        let _ = writeln!(
            text,
            "Actions that never happened in these runs: {}.",
            never.actions.join(", ")
        );
    }
    if !never.cells.is_empty() {
        let _ = writeln!(
            text,
            "{} cells of the decision tables never decided in these runs:",
            never.cells.len()
        );
        for line in Named::by_request(&never.cells) {
            let _ = writeln!(text, "  {line}");
        }
    }
}
