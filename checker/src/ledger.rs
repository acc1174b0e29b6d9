//! Judging one mutant under one plan.

use crate::args::Limits;
use crate::exit::Failure;
use crate::run::{self, Found};
use crate::select::{self, Run};
use crate::traces;
use fencepost_search::Options;
use fencepost_spec::mutants::{Expect, Mutant, Plan};
use fencepost_spec::properties::Id;
use fencepost_spec::rules::Rules;
use fencepost_spec::world::World;
use serde::Serialize;
use std::path::Path;

/// How a mutant came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It breaks the property that the plan names.
    Killed,
    /// It breaks nothing more than the right rules, and with the guard that masks it off it does.
    Equivalent,
    /// A known limitation of the right rules showed, as it must.
    Expected,
    /// Only fair-cycle liveness can see it.
    Pending,
    /// None of these: a property, a fault or a step is missing.
    Survived,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 5] = [
        Self::Killed,
        Self::Equivalent,
        Self::Expected,
        Self::Pending,
        Self::Survived,
    ];

    /// Its word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::Equivalent => "equivalent",
            Self::Expected => "expected",
            Self::Pending => "pending",
            Self::Survived => "survived",
        }
    }
}

/// A row of the ledger.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The mutant.
    pub id: &'static str,
    /// The public bug that it seeds.
    pub bug: &'static str,
    /// What is wrong in it.
    pub says: &'static str,
    /// Where it was judged.
    pub scenario: &'static str,
    /// Under which rules.
    pub rules: &'static str,
    /// How it came out.
    pub status: Status,
    /// The property that it breaks.
    pub property: Option<&'static str>,
    /// The steps of the shortest counterexample.
    pub steps: Option<usize>,
    /// Distinct states searched.
    pub distinct: u64,
    /// Seconds taken.
    pub seconds: f64,
    /// Why it is no plain kill.
    pub reason: Option<String>,
    /// For an equivalent one: the mutant with the guard that masks it off.
    pub pair: Option<Pair>,
    /// Where the counterexample was saved.
    pub saved: Option<String>,
}

/// A mutant with the guard that masks it off.
#[derive(Clone, Debug, Serialize)]
pub struct Pair {
    /// The guard.
    pub guard_off: &'static str,
    /// Whether the pair breaks the property that the plan names.
    pub killed: bool,
    /// That property.
    pub property: &'static str,
    /// The steps of the shortest counterexample.
    pub steps: Option<usize>,
    /// Distinct states searched.
    pub distinct: u64,
    /// Seconds taken.
    pub seconds: f64,
}

/// A mutant under a plan.
pub struct Task {
    mutant: &'static Mutant,
    plan: &'static Plan,
    run: Run,
}

/// Every plan of these mutants, in order.
pub fn tasks(mutants: &[&'static Mutant]) -> Result<Vec<Task>, Failure> {
    mutants
        .iter()
        .flat_map(|mutant| mutant.plans.iter().map(move |plan| (*mutant, plan)))
        .map(|(mutant, plan)| {
            let run = (select::scenario(plan.scenario)?, plan.rules);
            Ok(Task { mutant, plan, run })
        })
        .collect()
}

/// Judges a mutant under a plan.
pub fn judge(
    task: &Task,
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
    match &task.plan.expect {
        Expect::Killed(id) => judge.killed(*id),
        Expect::Equivalent {
            masked_by,
            guard_off,
            pair_breaks,
        } => judge.equivalent(masked_by, *guard_off, *pair_breaks),
        Expect::Expected { breaks, why } => judge.expected(*breaks, why),
        Expect::Pending { why } => Ok(Row {
            reason: Some((*why).to_owned()),
            ..judge.row(Status::Pending)
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
    fn row(&self, status: Status) -> Row {
        Row {
            id: self.task.mutant.id,
            bug: self.task.mutant.bug,
            says: self.task.mutant.says,
            scenario: self.task.plan.scenario,
            rules: self.task.plan.rules.name(),
            status,
            property: None,
            steps: None,
            distinct: 0,
            seconds: 0.0,
            reason: None,
            pair: None,
            saved: None,
        }
    }

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
            ..self.row(status)
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
            ..self.row(status)
        })
    }
}
