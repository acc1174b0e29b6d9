//! The guards: which mutants open each of them, and the searches that show that none can.

use crate::args::Limits;
use crate::exit::Failure;
use crate::select::{self, Run};
use crate::{fair, run};
use fencepost_spec::mutants::{Cannot, GUARDS, Guard, Mutant, Side};
use fencepost_spec::properties::{Id, Kind};
use serde::Serialize;

/// A guard in the report.
#[derive(Clone, Debug, Serialize)]
pub struct GuardRow {
    /// Its rule.
    pub rule: &'static str,
    /// The mutant that breaks a safety property.
    pub safety: Option<&'static str>,
    /// The mutant that breaks a liveness property.
    pub liveness: Option<&'static str>,
    /// Where there is none: why, and the search that shows it.
    pub cannot: Vec<Shown>,
}

/// A search that shows that a guard has no mutant on one side.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    /// `safety` or `liveness`.
    pub kind: &'static str,
    /// The mutant that opens the guard.
    pub mutant: &'static str,
    /// Where it was searched.
    pub scenario: &'static str,
    /// Under which rules.
    pub rules: &'static str,
    /// Why it breaks nothing of this kind.
    pub why: &'static str,
    /// What it breaks nevertheless.
    pub breaks: Vec<&'static str>,
    /// Whether everything was seen.
    pub complete: bool,
    /// Distinct states searched.
    pub distinct: u64,
    /// Seconds taken.
    pub seconds: f64,
}

impl Shown {
    /// Whether the search shows what the row says.
    pub fn holds(&self) -> bool {
        self.complete && self.breaks.is_empty()
    }
}

/// What is searched for the guards: each side that no mutant breaks.
pub fn searches() -> Vec<(&'static Guard, Kind, &'static Cannot)> {
    let sides = GUARDS.iter().flat_map(|guard| {
        [
            (guard, Kind::Safety, &guard.safety),
            (guard, Kind::Liveness, &guard.liveness),
        ]
    });
    sides
        .filter_map(|(guard, kind, side)| match side {
            Side::By(_) => None,
            Side::Cannot(cannot) => Some((guard, kind, cannot)),
        })
        .collect()
}

/// Searches for what the row says there is not.
pub fn show(
    kind: Kind,
    cannot: &'static Cannot,
    limits: &Limits,
    progress: bool,
) -> Result<Shown, Failure> {
    let mutant = select::mutant(cannot.mutant)?;
    let at: Run = (select::scenario(cannot.scenario)?, cannot.rules);
    let (broken, complete, distinct, seconds) = searched(kind, mutant, at, limits, progress)?;
    let known = select::known_broken(at);
    let news = broken
        .into_iter()
        .filter(|id| id.row().kind == kind && !known.contains(id));
    Ok(Shown {
        kind: name(kind),
        mutant: cannot.mutant,
        scenario: cannot.scenario,
        rules: cannot.rules.name(),
        why: cannot.why,
        breaks: news.map(Id::name).collect(),
        complete,
        distinct,
        seconds,
    })
}

fn searched(
    kind: Kind,
    mutant: &'static Mutant,
    at: Run,
    limits: &Limits,
    progress: bool,
) -> Result<(Vec<Id>, bool, u64, f64), Failure> {
    let options = run::options(&run::name(at, Some(mutant)), limits, 1, progress);
    Ok(match kind {
        Kind::Safety => {
            let found = run::search(&run::world(at, Some(mutant)), &options)?;
            let complete = found.incomplete.is_none();
            (
                run::violated(&found),
                complete,
                found.distinct,
                found.seconds,
            )
        }
        Kind::Liveness => {
            let judged = fair::judge(at, Some(mutant), &options)?;
            let found = &judged.found;
            let complete = found.incomplete.is_none();
            (
                fair::violated(&judged),
                complete,
                found.distinct,
                found.seconds,
            )
        }
    })
}

/// The rows of the report, from what was searched.
pub fn rows(shown: Vec<(&'static str, Shown)>) -> Vec<GuardRow> {
    let by = |side: &Side| match side {
        Side::By(id) => Some(*id),
        Side::Cannot(_) => None,
    };
    let rows = GUARDS.iter().map(|guard| GuardRow {
        rule: guard.rule,
        safety: by(&guard.safety),
        liveness: by(&guard.liveness),
        cannot: shown
            .iter()
            .filter(|(rule, _)| *rule == guard.rule)
            .map(|(_, shown)| shown.clone())
            .collect(),
    });
    rows.collect()
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Safety => "safety",
        Kind::Liveness => "liveness",
    }
}
