//! What `conform --profile mutation` runs, up to the first difference: a mutation campaign runs it against each mutant of
//! the cores (docs/MUTATION.md). Walks through crowds come first, since most mutants fall within a second there.

use fencepost_conformance::cases::{self, judge_our_own};
use fencepost_conformance::lockstep::{MUTATION, Options, run_case, walk_crowds};
use fencepost_spec::scenario::find;

#[test]
fn the_mutation_profile_agrees() {
    if let Err(differs) = walk_crowds(2, 890, false) {
        panic!("{}", differs.differences.join("; "));
    }
    let outside = judge_our_own(&cases::MUTATION).expect("a free port of 127.0.0.1");
    let bad: Vec<String> = outside.bad.iter().map(|case| case.story()).collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    for case in MUTATION {
        let entry = find(case.scenario).expect("the profile names scenarios of the catalogue");
        let run = run_case(entry, case.rules, Options::default());
        let differs = run.divergence.as_ref().map(|it| it.to_string());
        let hidden = &run.hidden_reasons;
        assert!(
            run.is_ok(),
            "{case:?}\n{}\n{hidden:?}\n{:?}",
            differs.unwrap_or_default(),
            run.properties
        );
    }
}
