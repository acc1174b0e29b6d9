//! Counts that TLC and other model checkers agree on, and digests that must never change.

use std::collections::{HashSet, VecDeque};

use fencepost_search::models::{InitPid, TwoPhase};
use fencepost_search::{Checks, Options, Outcome, SearchModel, Verdict, run_bfs};
use stateright::Model;

/// Counts as TLC prints them: distinct, generated, levels.
type Counts = (u64, u64, u32);

fn known<M: SearchModel + 'static>(
    model: &M,
    counts: Counts,
    digest: &str,
) -> Outcome<M::State, M::Action> {
    let checks = Checks::of_model(model).unwrap();
    let run = |threads| {
        let options = Options {
            threads,
            ..Options::default()
        };
        let outcome = run_bfs(model, &checks, &options);
        assert_eq!(
            (outcome.distinct, outcome.generated, outcome.depth),
            counts,
            "{threads} threads"
        );
        assert_eq!(outcome.digest.to_string(), digest, "{threads} threads");
        assert_eq!(outcome.verdict(), Verdict::Holds);
        assert_eq!(outcome.witnesses.len(), checks.witness_names().len());
        outcome
    };
    run(2);
    run(1)
}

#[test]
fn two_phase_commit() {
    known(
        &TwoPhase::new(5),
        (8_832, 58_146, 17),
        "8b9726cb5cdc1133fd81e3f28d53c66a",
    );
    known(
        &TwoPhase::new(7),
        (296_448, 2_744_706, 23),
        "6b8b3fd364695874c2ce4392a146004c",
    );
}

/// The levels grow by ten a client: 8, 18, 28, 38. (A count of 21 levels for two clients is also about; the oracle
/// below, which is no more than a queue and a set, finds 18 too.)
#[test]
fn init_pid_with_one_transactional_id() {
    known(
        &InitPid::new(2, 1, 1),
        (484, 861, 18),
        "4a180bc3361a069560d5c52e9b6e681b",
    );
    known(
        &InitPid::new(3, 1, 1),
        (24_362, 63_721, 28),
        "897dcb35c196e825924ea1a15126df26",
    );
}

#[test]
fn init_pid_with_two_transactional_ids_and_partitions() {
    known(
        &InitPid::new(2, 2, 2),
        (1_473, 2_657, 18),
        "dd50f907a8f86e1bb754509854c0069f",
    );
    known(
        &InitPid::new(3, 2, 2),
        (139_599, 353_869, 28),
        "4c9accd42362c6b6a17672e0043337b8",
    );
}

/// Steps written over older states lead where the model's own lead, and count alike.
#[test]
fn a_model_that_steps_in_place_counts_the_same() {
    let model = InitPid::new(3, 2, 2);
    let checks = Checks::of_model(&model)
        .unwrap()
        .stepping(InitPid::step_into);
    for threads in [1, 2] {
        let options = Options {
            threads,
            ..Options::default()
        };
        let outcome = run_bfs(&model, &checks, &options);
        assert_eq!(
            (outcome.distinct, outcome.generated, outcome.depth),
            (139_599, 353_869, 28)
        );
        assert_eq!(
            outcome.digest.to_string(),
            "4c9accd42362c6b6a17672e0043337b8"
        );
    }
}

#[test]
fn a_queue_and_a_set_find_the_same_levels() {
    for (model, counts) in [
        (InitPid::new(1, 1, 1), (14, 15, 8)),
        (InitPid::new(2, 1, 1), (484, 861, 18)),
        (InitPid::new(2, 2, 2), (1_473, 2_657, 18)),
    ] {
        let mut seen = HashSet::new();
        let mut queue =
            VecDeque::from_iter(model.init_states().into_iter().map(|state| (state, 1)));
        let (mut generated, mut levels) = (queue.len() as u64, 0);
        while let Some((state, level)) = queue.pop_front() {
            if seen.insert(state.clone()) {
                levels = levels.max(level);
                let next = model.next_states(&state);
                generated += next.len() as u64;
                queue.extend(next.into_iter().map(|next| (next, level + 1)));
            }
        }
        assert_eq!((seen.len() as u64, generated, levels), counts);
    }
}
