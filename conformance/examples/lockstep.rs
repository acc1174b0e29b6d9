//! Runs scenarios in lockstep: `lockstep SCENARIO RULES [MAX_PAIRS]`, `lockstep default [MAX_PAIRS]` for the default
//! cases, or `lockstep catalogue [MAX_PAIRS]` for every scenario under each of its rule sets.

use fencepost_conformance::lockstep::{DEFAULT, Options, Run, run, run_case};
use fencepost_spec::scenario::{CATALOGUE, RuleSet, find};
use std::collections::BTreeMap;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let options = |at: usize| Options {
        max_pairs: words.get(at).and_then(|word| word.parse().ok()),
        ..Options::default()
    };
    if words.first().is_some_and(|word| word == "default") {
        let report = run(DEFAULT, options(1));
        report.runs.iter().for_each(print);
        let mut left_out: BTreeMap<&str, u64> = BTreeMap::new();
        for row in report.runs.iter().flat_map(|run| &run.exclusions) {
            *left_out.entry(&row.what).or_default() += row.count;
        }
        for (what, count) in left_out {
            println!("left out {count} times: {what}");
        }
        println!("{}", report.claim());
        return;
    }
    if words.first().is_some_and(|word| word == "catalogue") {
        for entry in CATALOGUE {
            for (rules, _) in entry.runs {
                print(&run_case(entry, *rules, options(1)));
            }
        }
        return;
    }
    let (Some(entry), Some(rules)) = (
        words.first().and_then(|word| find(word)),
        words.get(1).and_then(|word| RuleSet::parse(word)),
    ) else {
        eprintln!(
            "usage: lockstep SCENARIO RULES [MAX_PAIRS] | default [MAX_PAIRS] | catalogue [MAX_PAIRS]"
        );
        return;
    };
    let run = run_case(entry, rules, options(2));
    print(&run);
    for row in &run.exclusions {
        println!(
            "  left out {} times: {} ({})",
            row.count, row.what, row.reason
        );
    }
    for row in &run.crash_points {
        println!("  {} crashes {}: {}", row.count, row.moment, row.write);
    }
    println!("  {:?}", run.properties);
    for row in &run.hidden_reasons {
        println!(
            "  hidden in {} of the first states: {}",
            row.count, row.what
        );
    }
    if let Some(divergence) = &run.divergence {
        println!("{divergence}");
    }
}

fn print(run: &Run) {
    println!(
        "{} {}: {} model states, {} edges, {} refused, {} production states, {} hidden, {}, {:.1} s, {:.0} edges/s",
        run.scenario,
        run.rules,
        run.model_states,
        run.edges,
        run.refused_actions,
        run.impl_states,
        run.hidden_states,
        match (&run.divergence, run.complete) {
            (Some(_), _) => "DIVERGES",
            (None, true) if run.properties.ok => "complete",
            (None, true) => "BREAKS OTHER PROPERTIES",
            (None, false) => "bounded",
        },
        run.seconds,
        run.edges as f64 / run.seconds
    );
}
