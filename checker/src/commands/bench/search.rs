//! `fencepost bench search`: this engine against stateright's, on the identical model and state, and on the actor model.

use super::judged::{self, Judged};
use crate::args::Bench;
use crate::exit::{Exit, Failure};
use crate::output::{bold, say, say_json};
use crate::run;
use fencepost_search::{BenchReport, BenchRow, bench_bfs, bench_known_models, bench_spawn_bfs};
use fencepost_spec::actor_model::actor_model;
use fencepost_spec::scenario::{CATALOGUE, Profile, RuleSet, Scenario};
use fencepost_spec::world::World;
use serde::Serialize;
use std::collections::BTreeMap;

/// The scenarios of the model that are measured: large enough to tell, small enough to wait for.
const MEASURED: [(&str, RuleSet); 3] = [
    ("markers", RuleSet::Tv2),
    ("election", RuleSet::Tv2),
    ("offsets", RuleSet::Tv2),
];

#[derive(Serialize)]
struct Report {
    results: Vec<Row>,
    ratios: BTreeMap<String, f64>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    tool: &'static str,
    threads: usize,
    distinct: u64,
    generated: u64,
    depth: u32,
    seconds: f64,
    per_second: f64,
    bytes_per_state: Option<f64>,
    state_type: &'static str,
    state_size: usize,
}

/// Runs it.
pub fn run(args: &Bench, json: bool) -> Result<Exit, Failure> {
    let repeats = usize::from(args.repeats);
    let mut measured = bench_known_models(repeats, args.large)
        .map_err(|error| Failure::Internal(error.to_string()))?;
    for (name, rules) in MEASURED {
        let world = world(name, rules, |scenario| scenario)?;
        let name = format!("{name}_{}", rules.name());
        measured.compare(&name, &Judged(world), &judged::checks()?, repeats);
    }
    against_actors(&mut measured, repeats)?;
    least(&mut measured);
    let report = Report {
        results: measured.rows.into_iter().map(Row::from).collect(),
        ratios: measured.ratios.into_iter().collect(),
    };
    if json {
        say_json(true, &report)?;
    } else {
        say(&text(&report))?;
    }
    Ok(Exit::AsExpected)
}

/// The world of a scenario of the default set, with a change to it.
fn world(
    name: &str,
    rules: RuleSet,
    change: impl Fn(Scenario) -> Scenario,
) -> Result<World, Failure> {
    let entry = CATALOGUE
        .iter()
        .find(|entry| entry.name == name && entry.profile != Profile::Nightly);
    let gone = || Failure::Internal(format!("the measured scenario {name} is gone"));
    let world = run::world((entry.ok_or_else(gone)?, rules), None);
    Ok(World::new(change(world.scenario), world.rules))
}

/// The world against stateright's search of the actor model: the same step functions, and the same counts.
fn against_actors(measured: &mut BenchReport, repeats: usize) -> Result<(), Failure> {
    // The actor model drops no message and really sends retriable answers.
    let world = world("retry", RuleSet::Tv2, |scenario| Scenario {
        prune: false,
        ..scenario.answering()
    })?;
    let Some(actors) = actor_model(&world) else {
        return Err(Failure::Internal(
            "the actor model lacks something of the scenario retry".to_owned(),
        ));
    };
    let (checks, judged) = (judged::checks()?, Judged(world));
    let name = "retry_unpruned_tv2";
    let own = fastest(repeats, || bench_bfs(name, &judged, &checks, 1));
    let spawn = fastest(repeats, || bench_spawn_bfs(name, actors.clone(), 1));
    measured.add_ratio("world_vs_actor_model".to_owned(), &own, &spawn);
    measured.rows.extend([own, spawn]);
    Ok(())
}

fn fastest(repeats: usize, measure: impl Fn() -> BenchRow) -> BenchRow {
    let rows = (1..repeats).map(|_| measure());
    rows.fold(measure(), |best, row| {
        if row.seconds < best.seconds {
            row
        } else {
            best
        }
    })
}

/// Of each ratio that every measured scenario has, the least.
fn least(measured: &mut BenchReport) {
    let of = |name: &dyn Fn(&str) -> String| {
        let names = MEASURED.map(|(scenario, rules)| name(&format!("{scenario}_{}", rules.name())));
        let ratios = measured.ratios.iter();
        let ours = ratios.filter(|(name, _)| names.contains(name));
        ours.map(|(_, ratio)| *ratio).reduce(f64::min)
    };
    let least = [
        (
            "world_vs_spawn_bfs",
            of(&|name| format!("{name}_vs_spawn_bfs")),
        ),
        ("threads_2_world", of(&|name| format!("threads_2_{name}"))),
    ];
    for (name, ratio) in least {
        measured
            .ratios
            .extend(ratio.map(|ratio| (name.to_owned(), ratio)));
    }
}

impl From<BenchRow> for Row {
    fn from(row: BenchRow) -> Self {
        Self {
            name: row.name,
            tool: row.tool,
            threads: row.threads,
            distinct: row.distinct,
            generated: row.generated,
            depth: row.depth,
            seconds: row.seconds,
            per_second: row.per_second,
            bytes_per_state: row.bytes_per_state,
            state_type: row.state_type,
            state_size: row.state_size,
        }
    }
}

fn text(report: &Report) -> String {
    let mut text = bold(&format!(
        "{:<18} {:<10} {:>7} {:>11} {:>12} {:>6} {:>8} {:>11} {:>9}",
        "search",
        "tool",
        "threads",
        "distinct",
        "generated",
        "depth",
        "seconds",
        "states/s",
        "B/state"
    ));
    text.push('\n');
    for row in &report.results {
        let bytes = row
            .bytes_per_state
            .map_or_else(|| "-".to_owned(), |b| format!("{b:.1}"));
        text.push_str(&format!(
            "{:<18} {:<10} {:>7} {:>11} {:>12} {:>6} {:>8.2} {:>11.0} {bytes:>9}\n",
            row.name,
            row.tool,
            row.threads,
            row.distinct,
            row.generated,
            row.depth,
            row.seconds,
            row.per_second
        ));
    }
    for (name, ratio) in &report.ratios {
        text.push_str(&format!("{name}: {ratio:.2}\n"));
    }
    text
}
