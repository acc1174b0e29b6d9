//! What `fencepost check` reports, as data.

use crate::args::{Check, Mode};
use crate::bounds::Bounds;
use crate::exit::Failure;
use crate::explorer::{ModelName, explorer_url};
use crate::fair::{self, Judged};
use crate::junit;
use crate::modes::{self, How, Never, Plan, Searched, Symmetry};
use crate::run::{self, Found};
use crate::select::{self, Run};
use crate::traces;
use fencepost_search::{Hit, HitPlace, Lasso, Verdict};
use fencepost_spec::mutants::Mutant;
use fencepost_spec::properties::Id;
use fencepost_spec::scenario::Scenario;
use fencepost_spec::trace::Line;
use fencepost_spec::world::{Action, State};
use serde::Serialize;

/// What is the same for every run of a command.
pub struct Context<'a> {
    /// The flags.
    pub args: &'a Check,
    /// How runs are searched.
    pub plan: &'a Plan,
    /// The mutant that is on.
    pub mutant: Option<&'static Mutant>,
}

/// The report of a command.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Distinct states of all runs.
    pub distinct: u64,
    /// Seconds of all runs.
    pub seconds: f64,
    /// What all runs together never did; `None` where a resumed run cannot say.
    pub never: Option<Never>,
    /// The runs.
    pub runs: Vec<RunReport>,
}

/// The report of one run.
#[derive(Debug, Serialize)]
pub struct RunReport {
    /// `safety` for a search of states, `liveness` for one of fair cycles.
    pub kind: &'static str,
    pub scenario: &'static str,
    pub rules: &'static str,
    pub mutant: Option<&'static str>,
    pub ok: bool,
    pub mode: &'static str,
    pub seed: Option<u64>,
    /// What symmetry did, where it was asked for.
    pub symmetry: Option<Symmetry>,
    pub bounds: Bounds,
    pub distinct: u64,
    pub generated: u64,
    pub depth: u32,
    pub terminal: u64,
    /// Terminal states in which something is left undone.
    pub deadlocks: u64,
    pub digest: String,
    pub seconds: f64,
    pub per_second: f64,
    pub bytes_per_state: f64,
    pub collision_probability: f64,
    pub verdict: &'static str,
    pub incomplete: Option<String>,
    pub expected: &'static str,
    pub expected_violations: Vec<&'static str>,
    pub missing: Vec<&'static str>,
    pub unexpected: Vec<&'static str>,
    pub violations: Vec<Violation>,
    /// Actions that might have happened in this run and never did; `None` where a resumed run cannot say.
    pub never: Option<Vec<String>>,
    /// Cells of the decision tables that decided in this run.
    pub cells: Option<usize>,
}

/// A property that is violated, with its shortest counterexample.
#[derive(Debug, Serialize)]
pub struct Violation {
    pub property: String,
    pub steps: usize,
    /// Whether it shows only because nothing can follow.
    pub terminal: bool,
    pub last_action: Option<String>,
    /// For a lasso: after which step the cycle begins; the last step for a run that stays where it is.
    pub loop_start: Option<usize>,
    pub trace: Vec<String>,
    pub saved: Option<String>,
    /// The command that opens it in the Explorer.
    pub explore: String,
    /// The address that opens it while `fencepost explore` runs.
    pub url: String,
    /// Each last action that breaks it, with its shortest counterexample.
    pub ways: Vec<Way>,
}

/// One last action that breaks a property.
#[derive(Debug, Serialize)]
pub struct Way {
    pub last_action: String,
    pub steps: usize,
    pub terminal: bool,
    pub trace: Vec<String>,
}

impl Report {
    /// The report of these runs.
    pub fn of(runs: Vec<RunReport>, never: Option<Never>) -> Self {
        Self {
            distinct: runs.iter().map(|run| run.distinct).sum(),
            seconds: runs.iter().map(|run| run.seconds).sum(),
            never,
            runs,
        }
    }

    /// Whether every run is as expected.
    pub fn is_ok(&self) -> bool {
        self.runs.iter().all(|run| run.ok)
    }
}

/// The report of a run that was searched.
pub fn of(
    context: &Context<'_>,
    run: Run,
    scenario: &Scenario,
    searched: &Searched,
) -> Result<RunReport, Failure> {
    let found = &searched.found;
    let (known, broken) = (select::known_broken(run), run::violated(found));
    let names = |ids: &mut dyn Iterator<Item = &Id>| ids.map(|id| id.name()).collect::<Vec<_>>();
    let must = modes::must_break(context.plan, run);
    let missing = names(&mut must.iter().filter(|id| !broken.contains(id)));
    let unexpected = names(&mut broken.iter().filter(|id| !known.contains(id)));
    let (mode, seed) = match &context.plan.how {
        How::Bfs(_) => (Mode::Bfs, None),
        How::Dfs => (Mode::Dfs, None),
        How::Simulate(walks) => (Mode::Simulate, Some(walks.seed)),
    };
    // Random walks show nothing to hold, and need not find what is broken.
    let sampled = mode == Mode::Simulate;
    let seen = searched.seen.as_ref();
    Ok(RunReport {
        kind: "safety",
        scenario: run.0.name,
        rules: run.1.name(),
        mutant: context.mutant.map(|m| m.id),
        ok: missing.is_empty() && unexpected.is_empty() && (sampled || found.incomplete.is_none()),
        mode: mode.name(),
        seed,
        symmetry: searched.symmetry.clone(),
        bounds: Bounds::of(scenario),
        distinct: found.distinct,
        generated: found.generated,
        depth: found.depth,
        terminal: found.terminal,
        deadlocks: found.deadlocks,
        digest: found.digest.to_string(),
        seconds: found.seconds,
        per_second: found.per_second(),
        bytes_per_state: found.bytes_per_state,
        collision_probability: found.collision_probability,
        verdict: verdict(found.verdict()),
        incomplete: found.incomplete.map(|reason| reason.to_string()),
        expected: match (known, sampled) {
            ([], false) => "holds",
            ([], true) => "incomplete",
            ([_, ..], _) => "violated",
        },
        expected_violations: names(&mut known.iter()),
        missing,
        unexpected,
        violations: violations(context, run, found)?,
        never: seen.map(|seen| modes::never(scenario, seen)),
        cells: seen.map(|seen| seen.cells.len()),
    })
}

fn violations(context: &Context<'_>, run: Run, found: &Found) -> Result<Vec<Violation>, Failure> {
    let ways = |hit: &Hit<State, Action>| {
        let of_it = found.ways.iter().filter(|way| way.bit == hit.bit);
        of_it.filter_map(way).collect()
    };
    found
        .violations
        .iter()
        .map(|hit| violation(context, run, hit, ways(hit)))
        .collect()
}

fn violation(
    context: &Context<'_>,
    run: Run,
    hit: &Hit<State, Action>,
    ways: Vec<Way>,
) -> Result<Violation, Failure> {
    let id = select::property(&hit.name)?;
    let trace = traces::of_violation(run, context.mutant, id, &hit.trace.actions);
    let saved = match &context.args.traces {
        Some(directory) => Some(traces::save(directory, &trace)?.display().to_string()),
        None => None,
    };
    let explore = match &saved {
        Some(path) => format!("fencepost explore {path}"),
        None => explore_command(run, context.mutant, id),
    };
    Ok(Violation {
        property: hit.name.clone(),
        steps: hit.trace.len(),
        terminal: hit.place == HitPlace::Terminal,
        last_action: modes::last_action(hit),
        loop_start: None,
        trace: lines(&hit.trace.actions),
        saved,
        explore,
        url: explorer_url(run, context.mutant, id),
        ways,
    })
}

fn way(hit: &Hit<State, Action>) -> Option<Way> {
    Some(Way {
        last_action: modes::last_action(hit)?,
        steps: hit.trace.len(),
        terminal: hit.place == HitPlace::Terminal,
        trace: lines(&hit.trace.actions),
    })
}

fn lines(actions: &[Action]) -> Vec<String> {
    let lines = actions.iter().map(Line::from);
    lines.map(|line| line.to_string()).collect()
}

/// The report of a run that was judged on fair cycles.
pub fn of_fair(context: &Context<'_>, run: Run, judged: &Judged) -> Result<RunReport, Failure> {
    let found = &judged.found;
    let (known, broken) = (fair::known_broken(run), fair::violated(judged));
    let without = |ids: &[Id], others: &[Id]| {
        let ids = ids.iter().filter(|id| !others.contains(id));
        ids.map(|id| id.name()).collect::<Vec<_>>()
    };
    let (missing, unexpected) = (without(&known, &broken), without(&broken, &known));
    let violations = found.violations.iter();
    Ok(RunReport {
        kind: "liveness",
        scenario: run.0.name,
        rules: run.1.name(),
        mutant: context.mutant.map(|m| m.id),
        ok: missing.is_empty() && unexpected.is_empty() && found.incomplete.is_none(),
        mode: Mode::Bfs.name(),
        seed: None,
        symmetry: None,
        bounds: Bounds::of(&judged.world.scenario),
        distinct: found.distinct,
        generated: found.edges + 1,
        depth: found.depth,
        terminal: 0,
        deadlocks: 0,
        digest: found.digest.to_string(),
        seconds: found.seconds,
        per_second: found.distinct as f64 / found.seconds.max(1e-9),
        bytes_per_state: 0.0,
        collision_probability: found.collision_probability,
        verdict: verdict(found.verdict()),
        incomplete: found.incomplete.map(|reason| reason.to_string()),
        expected: if known.is_empty() {
            "holds"
        } else {
            "violated"
        },
        expected_violations: without(&known, &[]),
        missing,
        unexpected,
        violations: violations
            .map(|lasso| of_lasso(context, run, lasso))
            .collect::<Result<_, _>>()?,
        never: None,
        cells: None,
    })
}

fn of_lasso(
    context: &Context<'_>,
    run: Run,
    lasso: &Lasso<State, Action>,
) -> Result<Violation, Failure> {
    let trace = fair::trace(run, context.mutant, lasso)?;
    let saved = match &context.args.traces {
        Some(directory) => Some(traces::save(directory, &trace)?.display().to_string()),
        None => None,
    };
    let explore = match &saved {
        Some(path) => format!("fencepost explore {path}"),
        None => format!(
            "fencepost check {} --rules {}{} --traces DIR, then fencepost explore the trace in it",
            run.0.name,
            run.1.name(),
            with_mutant(context.mutant)
        ),
    };
    Ok(Violation {
        property: lasso.property.clone(),
        steps: lasso.trace.len(),
        terminal: lasso.stutters(),
        last_action: None,
        loop_start: Some(lasso.loop_start),
        trace: lines(&lasso.trace.actions),
        saved,
        explore,
        url: ModelName {
            run,
            mutant: context.mutant,
            answering: true,
        }
        .url(),
        ways: Vec::new(),
    })
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated => "violated",
        Verdict::Incomplete(_) => "incomplete",
    }
}

fn with_mutant(mutant: Option<&Mutant>) -> String {
    mutant.map_or_else(String::new, |m| format!(" --mutant {}", m.id))
}

fn explore_command((entry, rules): Run, mutant: Option<&Mutant>, id: Id) -> String {
    format!(
        "fencepost explore {} --rules {}{} --at {}",
        entry.name,
        rules.name(),
        with_mutant(mutant),
        id.name()
    )
}

/// The run as a case of the JUnit report.
pub fn case(run: &RunReport) -> junit::Case {
    let mut why = Vec::new();
    why.extend(
        run.missing
            .iter()
            .map(|id| format!("{id} is not violated as expected")),
    );
    why.extend(run.unexpected.iter().map(|id| format!("{id} is violated")));
    why.extend(
        run.incomplete
            .iter()
            .map(|reason| format!("incomplete: {reason}")),
    );
    junit::Case {
        name: match run.kind {
            "safety" => format!("{} {}", run.scenario, run.rules),
            kind => format!("{} {} {kind}", run.scenario, run.rules),
        },
        seconds: run.seconds,
        failure: (!run.ok).then(|| why.join("; ")),
    }
}
