//! Judging a mutant by a search of states.

use super::{Pair, Row, Status, Task};
use crate::args::Limits;
use crate::exit::Failure;
use crate::run::{self, Found};
use crate::select;
use crate::traces;
use fencepost_search::Options;
use fencepost_spec::mutants::{Expect, Plan};
use fencepost_spec::properties::{Id, Kind};
use fencepost_spec::rules::Rules;
use fencepost_spec::world::World;
use std::path::Path;

/// Judges a mutant under a plan.
pub fn judge(
    task: &Task,
    plan: &Plan,
    limits: &Limits,
    save: Option<&Path>,
    progress: bool,
) -> Result<Row, Failure> {
    let judge = Judge {
        task,
        limits,
        save,
        progress,
    };
    match &plan.expect {
        Expect::Killed(id) => judge.killed(*id),
        Expect::Equivalent {
            masked_by,
            guard_off,
            pair_breaks,
        } => judge.equivalent(masked_by, *guard_off, *pair_breaks),
        Expect::Expected { breaks, why } => judge.expected(*breaks, why),
        Expect::Pending { why } => Ok(Row {
            reason: Some((*why).to_owned()),
            ..task.row(Status::Pending, Kind::Liveness)
        }),
    }
}

struct Judge<'a> {
    task: &'a Task,
    limits: &'a Limits,
    save: Option<&'a Path>,
    progress: bool,
}

impl Judge<'_> {
    /// Searches the mutated world, with a further edit, until each of `stop_when` has a hit.
    fn search(&self, edit: Option<fn(&mut Rules)>, stop_when: u32) -> Result<Found, Failure> {
        let mut world: World = run::world(self.task.run, Some(self.task.mutant));
        if let Some(edit) = edit {
            edit(&mut world.rules);
        }
        let name = run::name(self.task.run, Some(self.task.mutant));
        let options = Options {
            stop_when: u64::from(stop_when),
            ..run::options(&name, self.limits, 1, self.progress)
        };
        run::search(&world, &options)
    }

    fn killed(&self, id: Id) -> Result<Row, Failure> {
        let found = self.search(None, id.bit())?;
        let row = self.found(&found, id, Status::Killed)?;
        if select::known_broken(self.task.run).contains(&id) {
            return Ok(Row {
                status: Status::Survived,
                reason: Some(format!("the right rules break {} there, too", id.name())),
                ..row
            });
        }
        Ok(row)
    }

    fn expected(&self, id: Id, why: &str) -> Result<Row, Failure> {
        let found = self.search(None, id.bit())?;
        let row = self.found(&found, id, Status::Expected)?;
        let reason = row.reason.clone().or_else(|| Some(why.to_owned()));
        Ok(Row { reason, ..row })
    }

    /// The row of a search for `id`: `status` if it was found.
    fn found(&self, found: &Found, id: Id, status: Status) -> Result<Row, Failure> {
        let row = Row {
            distinct: found.distinct,
            seconds: found.seconds,
            ..self.task.row(status, id.row().kind)
        };
        let Some(hit) = found.violation(id.name()) else {
            return Ok(Row {
                status: Status::Survived,
                reason: Some(self.why_not(found, id)),
                ..row
            });
        };
        let saved = match self.save {
            Some(directory) => {
                let trace = traces::of_violation(
                    self.task.run,
                    Some(self.task.mutant),
                    id,
                    &hit.trace.actions,
                );
                Some(traces::save(directory, &trace)?.display().to_string())
            }
            None => None,
        };
        Ok(Row {
            property: Some(id.name()),
            steps: Some(hit.trace.len()),
            saved,
            ..row
        })
    }

    fn why_not(&self, found: &Found, id: Id) -> String {
        let seen = match found.incomplete {
            Some(reason) => format!("not everything was seen ({reason})"),
            None => "everything was seen".to_owned(),
        };
        match self.news(found).as_slice() {
            [] => format!("{} is not broken, nor anything else; {seen}", id.name()),
            others => format!(
                "{} is not broken, but {}; {seen}",
                id.name(),
                others.join(", ")
            ),
        }
    }

    /// What is broken that the right rules keep.
    fn news(&self, found: &Found) -> Vec<&'static str> {
        let known = select::known_broken(self.task.run);
        let broken = run::violated(found);
        broken
            .iter()
            .filter(|id| !known.contains(id))
            .map(|id| id.name())
            .collect()
    }

    fn equivalent(
        &self,
        masked_by: &'static str,
        guard_off: fn(&mut Rules),
        breaks: Id,
    ) -> Result<Row, Failure> {
        let found = self.search(None, 0)?;
        let paired = self.search(Some(guard_off), breaks.bit())?;
        let hit = paired.violation(breaks.name());
        let news = self.news(&found);
        let (status, reason) = match (news.as_slice(), found.incomplete, hit) {
            ([], None, Some(_)) => (Status::Equivalent, format!("masked by {masked_by}")),
            ([_, ..], _, _) => (
                Status::Survived,
                format!("not equivalent: breaks {}", news.join(", ")),
            ),
            ([], Some(reason), _) => (
                Status::Survived,
                format!("not everything was seen ({reason})"),
            ),
            ([], None, None) => (
                Status::Survived,
                format!("with {masked_by} off, too, {} is not broken", breaks.name()),
            ),
        };
        Ok(Row {
            distinct: found.distinct,
            seconds: found.seconds,
            reason: Some(reason),
            pair: Some(Pair {
                guard_off: masked_by,
                killed: hit.is_some(),
                property: breaks.name(),
                steps: hit.map(|hit| hit.trace.len()),
                distinct: paired.distinct,
                seconds: paired.seconds,
            }),
            ..self.task.row(status, breaks.row().kind)
        })
    }
}
