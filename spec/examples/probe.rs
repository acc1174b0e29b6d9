//! Scratch runner.
use fencepost_search::{Checks, Options, run_bfs};
use fencepost_spec::{properties, scenario, world::World};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let verbose = args.iter().any(|a| a == "-v");
    for e in scenario::CATALOGUE
        .iter()
        .filter(|e| args[1] == "all" || e.name == args[1])
    {
        for (rs, expected) in e.runs {
            if args[2] != "all" && rs.name() != args[2] {
                continue;
            }
            let mut rules = e.rules(*rs);
            let sc = e.scenario(*rs);
            if let Some(m) = args.get(3).filter(|m| !m.starts_with('-')) {
                let m = fencepost_spec::mutants::find(m).expect("mutant");
                (m.edit)(&mut rules);
            }
            let w = World::new(sc, rules);
            let checks = Checks::new(
                properties::NAMES.iter().copied(),
                |w: &World, s| u64::from(properties::violated(w, s)),
                |w: &World, s| u64::from(properties::violated_terminally(w, s)),
            )
            .unwrap();
            let mut o = Options::default();
            o.max_states = Some(12_000_000);
            o.threads = 2;
            let out = run_bfs(&w, &checks, &o);
            println!(
                "{} {} distinct {} generated {} depth {} terminal {} {:.1}s {:.0}/s {:.0}B verdict {:?} expected {:?}",
                e.name,
                rs.name(),
                out.distinct,
                out.generated,
                out.depth,
                out.terminal,
                out.seconds,
                out.per_second(),
                out.bytes_per_state,
                out.verdict(),
                expected
            );
            for v in &out.violations {
                println!(
                    "   {} {:?} {} steps",
                    v.name,
                    v.place,
                    v.trace.actions.len()
                );
            }
            if verbose {
                let want = args
                    .iter()
                    .position(|a| a == "-p")
                    .map(|i| args[i + 1].clone());
                if let Some(v) = out
                    .violations
                    .iter()
                    .filter(|v| want.as_ref().is_none_or(|w| *w == v.name))
                    .min_by_key(|v| v.trace.actions.len())
                {
                    for a in &v.trace.actions {
                        println!("      {}", fencepost_spec::trace::Line::from(a));
                    }
                    if args.iter().any(|a| a == "-s") {
                        println!("{:?}", v.trace.states.last().unwrap());
                    }
                }
            }
        }
    }
}
