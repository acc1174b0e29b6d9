//! `fencepost bench search`: this engine against stateright's, on the identical model and state.

use crate::args::Bench;
use crate::exit::{Exit, Failure};
use crate::output::{bold, say, say_json};
use crate::run;
use fencepost_search::{BenchRow, bench_bfs, bench_known_models, bench_spawn_bfs};
use fencepost_spec::scenario::{CATALOGUE, Profile, RuleSet};
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
    let known = bench_known_models(repeats, args.large)
        .map_err(|error| Failure::Internal(error.to_string()))?;
    let mut report = Report {
        results: known.rows.into_iter().map(Row::from).collect(),
        ratios: known.ratios.into_iter().collect(),
    };
    for (name, rules) in MEASURED {
        measure(&mut report, name, rules, repeats)?;
    }
    if json {
        say_json(true, &report)?;
    } else {
        say(&text(&report))?;
    }
    Ok(Exit::AsExpected)
}

/// One scenario on one and two threads, and with stateright's search on one.
fn measure(
    report: &mut Report,
    scenario: &str,
    rules: RuleSet,
    repeats: usize,
) -> Result<(), Failure> {
    let entry = CATALOGUE
        .iter()
        .find(|entry| entry.name == scenario && entry.profile != Profile::Nightly);
    let Some(entry) = entry else {
        return Err(Failure::Internal(format!(
            "the measured scenario {scenario} is gone"
        )));
    };
    let world = run::world((entry, rules), None);
    let checks = run::checks()?;
    let name = format!("{scenario}_{}", rules.name());
    let one = fastest(repeats, || bench_bfs(&name, &world, &checks, 1));
    let two = fastest(repeats, || bench_bfs(&name, &world, &checks, 2));
    let spawn = bench_spawn_bfs(&name, world.clone(), 1);
    let ratios = [
        ("vs_spawn_bfs", one.times_as_fast_as(&spawn)),
        ("two_threads", two.times_as_fast_as(&one)),
    ];
    for (what, ratio) in ratios {
        report
            .ratios
            .extend(ratio.map(|ratio| (format!("{name}_{what}"), ratio)));
    }
    report
        .results
        .extend([one, two, spawn].into_iter().map(Row::from));
    Ok(())
}

fn fastest(repeats: usize, measure: impl Fn() -> BenchRow) -> BenchRow {
    (1..repeats).fold(measure(), |best, _| {
        let row = measure();
        if row.seconds < best.seconds {
            row
        } else {
            best
        }
    })
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
