//! Judging a mutant on fair cycles.

use super::{Row, Status, Task};
use crate::args::Limits;
use crate::exit::Failure;
use crate::{fair, run, traces};
use fencepost_spec::mutants::FairPlan;
use fencepost_spec::properties::Kind;
use std::path::Path;

/// Judges a mutant under a plan: killed by a lasso of the property that the plan names.
pub fn judge(
    task: &Task,
    plan: &FairPlan,
    limits: &Limits,
    save: Option<&Path>,
    progress: bool,
) -> Result<Row, Failure> {
    let name = format!("{} on fair cycles", run::name(task.run, Some(task.mutant)));
    let options = run::options(&name, limits, 1, progress);
    let judged = fair::judge(task.run, Some(task.mutant), &options)?;
    let row = Row {
        distinct: judged.found.distinct,
        seconds: judged.found.seconds,
        ..task.row(Status::Killed, Kind::Liveness)
    };
    let broken = plan.breaks.name();
    let survived = |reason: String| Row {
        status: Status::Survived,
        reason: Some(reason),
        ..row.clone()
    };
    let Some(lasso) = judged.found.violation(broken) else {
        let seen = match judged.found.incomplete {
            Some(reason) => format!("not everything was seen ({reason})"),
            None => "everything was seen".to_owned(),
        };
        return Ok(survived(format!("no fair run violates {broken}; {seen}")));
    };
    if fair::known_broken(task.run).contains(&plan.breaks) {
        return Ok(survived(format!(
            "the right rules break {broken} there, too"
        )));
    }
    let saved = match save {
        Some(directory) => {
            let trace = fair::trace(task.run, Some(task.mutant), lasso)?;
            Some(traces::save(directory, &trace)?.display().to_string())
        }
        None => None,
    };
    Ok(Row {
        property: Some(broken),
        steps: Some(lasso.trace.len()),
        loop_start: Some(lasso.loop_start),
        saved,
        ..row
    })
}
