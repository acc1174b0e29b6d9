//! Runs scenarios in lockstep: `lockstep SCENARIO RULES [MAX_PAIRS]`.

use fencepost_conformance::lockstep::{Options, run_case};
use fencepost_spec::scenario::{RuleSet, find};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let max_pairs = words.get(2).and_then(|word| word.parse().ok());
    let (Some(entry), Some(rules)) = (
        words.first().and_then(|word| find(word)),
        words.get(1).and_then(|word| RuleSet::parse(word)),
    ) else {
        eprintln!("usage: lockstep SCENARIO RULES [MAX_PAIRS]");
        return;
    };
    let options = Options {
        max_pairs,
        ..Options::default()
    };
    let run = run_case(entry, rules, options);
    println!(
        "{} {}: {} model states, {} edges, {} refused, {} production states, {} hidden, complete {}, {:.1} s, {:.0} edges/s",
        run.scenario,
        run.rules,
        run.model_states,
        run.edges,
        run.refused_actions,
        run.impl_states,
        run.hidden_states,
        run.complete,
        run.seconds,
        run.edges as f64 / run.seconds
    );
    for row in &run.exclusions {
        println!("  left out {} times: {} ({})", row.count, row.what, row.reason);
    }
    if let Some(divergence) = &run.divergence {
        println!("{divergence}");
    }
}
