//! Scratch: the ledger with every broken property.
use fencepost_search::{Checks, Options, run_bfs};
use fencepost_spec::{mutants::*, properties, scenario, world::World};
fn run(w: &World, max: u64) -> (u64, u32, f64, Vec<(String, usize)>, bool) {
    let checks = Checks::new(
        properties::NAMES.iter().copied(),
        |w: &World, s| u64::from(properties::violated(w, s)),
        |w: &World, s| u64::from(properties::violated_terminally(w, s)),
    )
    .unwrap();
    let mut o = Options::default();
    o.max_states = Some(max);
    o.threads = 2;
    let out = run_bfs(w, &checks, &o);
    (
        out.distinct,
        out.depth,
        out.seconds,
        out.violations
            .iter()
            .map(|v| (v.name.clone(), v.trace.actions.len()))
            .collect(),
        out.incomplete.is_some(),
    )
}
fn main() {
    let only: Vec<String> = std::env::args().skip(1).collect();
    for m in MUTANTS {
        if !only.is_empty() && !only.iter().any(|o| m.id.starts_with(o.as_str())) {
            continue;
        }
        for p in m.plans {
            let Some(e) = scenario::find(p.scenario) else {
                println!("{} NO SCENARIO {}", m.id, p.scenario);
                continue;
            };
            let Some((_, base)) = e.runs.iter().find(|(r, _)| *r == p.rules) else {
                println!("{} NO RULES {:?} in {}", m.id, p.rules, p.scenario);
                continue;
            };
            let mut rules = e.rules(p.rules);
            (m.edit)(&mut rules);
            let (d, dep, sec, v, inc) = run(&World::new(e.scenario(p.rules), rules), 400_000);
            let new: Vec<_> = v
                .iter()
                .filter(|(n, _)| !base.iter().any(|b| b.name() == n))
                .collect();
            let (want, ok) = match p.expect {
                Expect::Killed(id) => (
                    format!("killed {}", id.name()),
                    new.iter().any(|(n, _)| n == id.name()),
                ),
                Expect::Equivalent {
                    guard_off,
                    pair_breaks,
                    ..
                } => {
                    let mut rules = e.rules(p.rules);
                    (m.edit)(&mut rules);
                    guard_off(&mut rules);
                    let (_, _, _, pv, _) = run(&World::new(e.scenario(p.rules), rules), 400_000);
                    let killed = pv.iter().any(|(n, _)| n == pair_breaks.name());
                    (
                        format!("eq, pair {} -> {:?}", pair_breaks.name(), pv),
                        new.is_empty() && !inc && killed,
                    )
                }
                Expect::Expected { breaks, .. } => (
                    format!("expected {}", breaks.name()),
                    v.iter().any(|(n, _)| n == breaks.name()),
                ),
                Expect::Pending { .. } => ("pending".into(), true),
            };
            println!(
                "{} {:<9} {:<8} {:<18} {:>7} d{} {:.1}s{} want {} new {:?}",
                if ok { "ok  " } else { "FAIL" },
                m.id,
                p.rules.name(),
                p.scenario,
                d,
                dep,
                sec,
                if inc { " INC" } else { "" },
                want,
                new
            );
        }
    }
}
