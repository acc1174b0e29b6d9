//! The ledger: judging each mutant under each of its plans, by a search of states or on fair cycles.

mod fair_cycles;
pub mod guards;
mod states;

use crate::args::Limits;
use crate::exit::Failure;
use crate::select::{self, Run};
use fencepost_spec::mutants::{FAIR_PLANS, FairPlan, Mutant, Plan};
use fencepost_spec::properties::Kind;
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
    /// `safety` or `liveness`: of the property that it is to break.
    pub kind: &'static str,
    /// Whether states were searched or fair cycles.
    pub judged: &'static str,
    /// How it came out.
    pub status: Status,
    /// The property that it breaks.
    pub property: Option<&'static str>,
    /// The steps of the shortest counterexample.
    pub steps: Option<usize>,
    /// For a lasso: after which step its cycle begins.
    pub loop_start: Option<usize>,
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
    /// The mutant.
    pub mutant: &'static Mutant,
    /// The plan.
    pub judgement: Judgement,
    run: Run,
}

/// How a mutant is judged.
#[derive(Clone, Copy, Debug)]
pub enum Judgement {
    /// By a search of states.
    States(&'static Plan),
    /// On fair cycles.
    FairCycles(&'static FairPlan),
}

/// Every plan of these mutants, in order.
pub fn tasks(mutants: &[&'static Mutant]) -> Result<Vec<Task>, Failure> {
    let mut tasks = Vec::new();
    for mutant in mutants {
        for plan in mutant.plans {
            tasks.push(Task {
                mutant,
                judgement: Judgement::States(plan),
                run: (select::scenario(plan.scenario)?, plan.rules),
            });
        }
        for plan in FAIR_PLANS.iter().filter(|plan| plan.mutant == mutant.id) {
            tasks.push(Task {
                mutant,
                judgement: Judgement::FairCycles(plan),
                run: (select::scenario(plan.scenario)?, plan.rules),
            });
        }
    }
    Ok(tasks)
}

/// Judges a mutant under a plan.
pub fn judge(
    task: &Task,
    limits: &Limits,
    save: Option<&Path>,
    progress: bool,
) -> Result<Row, Failure> {
    match task.judgement {
        Judgement::States(plan) => states::judge(task, plan, limits, save, progress),
        Judgement::FairCycles(plan) => fair_cycles::judge(task, plan, limits, save, progress),
    }
}

impl Task {
    /// A row about nothing that was searched yet.
    fn row(&self, status: Status, kind: Kind) -> Row {
        Row {
            id: self.mutant.id,
            bug: self.mutant.bug,
            says: self.mutant.says,
            scenario: self.run.0.name,
            rules: self.run.1.name(),
            kind: match kind {
                Kind::Safety => "safety",
                Kind::Liveness => "liveness",
            },
            judged: match self.judgement {
                Judgement::States(_) => "states",
                Judgement::FairCycles(_) => "fair cycles",
            },
            status,
            property: None,
            steps: None,
            loop_start: None,
            distinct: 0,
            seconds: 0.0,
            reason: None,
            pair: None,
            saved: None,
        }
    }
}
