//! Model and production in lockstep, and that such a run can fail.

use fencepost_conformance::actors::Moment;
use fencepost_conformance::lockstep::{
    Case, Exclusion, Lockstep, MUTATION, Options, ReplayError, Report, Tamper, WriteKind,
    out_of_sight, replay, run, run_all,
};
use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::message::{AddPartitionsToTxn, EndTxn, Message, WriteTxnMarkers};
use fencepost_spec::scenario::{RuleSet, find};
use fencepost_spec::trace::TraceFile;
use fencepost_spec::types::*;
use fencepost_spec::world::{Action, World};
use std::collections::BTreeSet;
use std::path::Path;

fn report(runs: &Report) -> String {
    runs.runs
        .iter()
        .filter_map(|run| {
            let divergence = run.divergence.as_ref()?;
            Some(format!("{} {}\n{divergence}", run.scenario, run.rules))
        })
        .collect()
}

#[test]
fn small_scenarios_agree_to_their_end() {
    let found = run(MUTATION, Options::default());
    assert!(found.ok, "{}", report(&found));
    assert_eq!(found.runs.len(), MUTATION.len());
    let edges: u64 = found.runs.iter().map(|run| run.edges).sum();
    let refused: u64 = found.runs.iter().map(|run| run.refused_actions).sum();
    assert!(edges > 150_000, "{edges}");
    assert!(refused > 20_000, "{refused}");
    for run in &found.runs {
        assert!(
            run.impl_states > 1,
            "{}: production did nothing",
            run.scenario
        );
        for row in &run.exclusions {
            assert!(row.count > 0 && !row.reason.is_empty(), "{row:?}");
        }
        let properties = &run.properties;
        assert!(properties.ok, "{}: {properties:?}", run.scenario);
        assert_eq!(properties.steps, run.edges);
        assert!(properties.states >= run.model_states);
        assert!(properties.terminal_states > 0, "{}", run.scenario);
    }
    let unsound = found.runs.iter().filter(|run| run.rules == "tv1");
    let violated: Vec<&str> = unsound
        .flat_map(|run| run.properties.violated.clone())
        .collect();
    assert!(
        violated.contains(&"S2"),
        "TV1's expected violations: {violated:?}"
    );
}

#[test]
fn every_kind_of_write_is_crashed_before_inside_and_after() {
    let found = run(MUTATION, Options::default());
    assert!(found.ok, "{}", report(&found));
    for kind in WriteKind::ALL {
        for moment in Moment::ALL {
            let rows = found.runs.iter().flat_map(|run| &run.crash_points);
            let same = rows.filter(|row| row.write == kind.name() && row.moment == moment.name());
            let count: u64 = same.map(|row| row.count).sum();
            assert!(count > 500, "{} {}: {count}", moment.name(), kind.name());
        }
    }
}

/// An exclusion that is never met has nothing to say, and might hide something one day.
#[test]
fn every_exclusion_is_met() {
    let bounded = Options {
        max_pairs: Some(20_000),
        ..Options::default()
    };
    let more = [
        "reader-fail-over",
        "two-phase-rotation",
        "two-phase",
        "rebalance",
        "storage",
        "any-client-kept",
        "offsets-late",
        "pipeline",
    ];
    let more = more.into_iter().filter_map(find);
    let runs: Vec<_> = more
        .flat_map(|entry| entry.runs.iter().map(move |(rules, _)| (entry, *rules)))
        .collect();
    let found = run_all(&runs, bounded, &|_| {});
    let mutation = run(MUTATION, bounded);
    let rows = found
        .runs
        .iter()
        .chain(&mutation.runs)
        .flat_map(|run| &run.exclusions);
    let mut met: BTreeSet<&str> = rows.map(|row| row.what.as_str()).collect();
    // Where answers are really sent and batches given up, a client may ask in vain: that takes a crowd.
    let entry = find("crowd").expect("the catalogue has it");
    let rules = entry.rules(RuleSet::Tv1);
    let crowd = Lockstep::new(World::new(entry.scenario(RuleSet::Tv1), rules));
    let choices: Vec<u32> = (0..24_000)
        .map(|at: u32| at.wrapping_mul(2_654_435_761))
        .collect();
    for choices in choices.chunks(3_000) {
        let exclusions = crowd.walk(choices).exclusions;
        met.extend(exclusions.iter().map(|(exclusion, _)| exclusion.what()));
    }
    let all = Exclusion::ALL.iter();
    let never: Vec<_> = all.filter(|it| !met.contains(it.what())).collect();
    assert!(never.is_empty(), "never met: {never:?}");
}

/// Seed B3: once PREPARE is durable the outcome is decided. A coordinator may crash and another be elected at every step
/// of commit and abort, and each end has the decided outcome with every marker written.
#[test]
fn b3_a_crash_anywhere_after_the_decision_ends_in_the_decided_outcome() {
    let cases = [RuleSet::Tv1, RuleSet::Tv2].map(|rules| case("offsets-election", rules));
    let found = run(&cases, Options::default());
    assert!(found.ok, "{}", report(&found));
    for run in &found.runs {
        let properties = &run.properties;
        assert!(properties.terminal_states > 0);
        for id in ["S12", "L2", "L1", "L3"] {
            assert!(!properties.violated.contains(&id), "{} {id}", run.rules);
        }
        let mut rows = run.crash_points.iter();
        let row = rows.find(|row| row.write == "transaction-state append" && row.moment == "after");
        assert!(row.is_some_and(|row| row.count > 0), "{}", run.rules);
    }
}

/// A counterexample of a mutant parts from production where the mutant's rule matters, or the mutant is about what is
/// the model's own on both sides.
#[test]
fn every_saved_counterexample_parts_from_production() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/traces/counterexample");
    let (mut diverged, mut left_out, mut unseen) = (0, 0, 0);
    let mut followed = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a trace is text");
        let file = TraceFile::read(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        match replay(&file) {
            Err(ReplayError::Differs(_)) => diverged += 1,
            Err(ReplayError::Excluded { .. }) => left_out += 1,
            Err(ReplayError::NotEnabled(refused)) => panic!("{path:?}: {refused}"),
            Ok(_) if out_of_sight(&file).is_some() => unseen += 1,
            Ok(_) => followed.push(path),
        }
    }
    println!(
        "{diverged} part from production, {left_out} have a step that it lacks, {unseen} are about the model's own"
    );
    assert!(followed.is_empty(), "production follows {followed:#?}");
    assert!(diverged > 60 && unseen > 10, "{diverged} {unseen}");
}

const fn case(scenario: &'static str, rules: RuleSet) -> Case {
    Case { scenario, rules }
}

/// A fault, and the case that catches it.
struct Fault {
    name: &'static str,
    case: Case,
    tamper: Tamper,
}

const FAULTS: &[Fault] = &[
    Fault {
        name: "a commit is decided as an abort",
        case: case("smoke", RuleSet::Tv2),
        tamper: Tamper {
            takes: |action| {
                Some(with_message(action, |message| match message {
                    Message::EndTxn(m) => Message::EndTxn(EndTxn {
                        result: TransactionResult::Abort,
                        ..m
                    }),
                    other => other,
                }))
            },
            ..Tamper::NONE
        },
    },
    Fault {
        name: "EndTxn of TV2 is judged by TV1's table: no bump (B01)",
        case: case("smoke", RuleSet::Tv2),
        tamper: Tamper {
            takes: |action| {
                Some(with_message(action, |message| match message {
                    Message::EndTxn(m) => Message::EndTxn(EndTxn {
                        version: TransactionVersion::Tv1,
                        ..m
                    }),
                    other => other,
                }))
            },
            ..Tamper::NONE
        },
    },
    Fault {
        name: "a marker is written at the epoch before (B05)",
        case: case("smoke", RuleSet::Tv2),
        tamper: Tamper {
            takes: |action| Some(with_message(action, older_marker)),
            ..Tamper::NONE
        },
    },
    Fault {
        name: "an abort marker is written as a commit",
        case: case("smoke", RuleSet::Tv1),
        tamper: Tamper {
            takes: |action| {
                Some(with_message(action, |message| match message {
                    Message::WriteTxnMarkers(m) => Message::WriteTxnMarkers(WriteTxnMarkers {
                        result: TransactionResult::Commit,
                        ..m
                    }),
                    other => other,
                }))
            },
            ..Tamper::NONE
        },
    },
    Fault {
        name: "a marker's acknowledgement is not counted (B11)",
        case: case("smoke", RuleSet::Tv1),
        tamper: Tamper {
            takes: |action| match action {
                Action::Deliver {
                    message: Message::WriteTxnMarkersAnswer(_),
                    ..
                } => None,
                other => Some(other),
            },
            ..Tamper::NONE
        },
    },
    Fault {
        name: "a failed append counts as written",
        case: case("failed-append", RuleSet::Tv2),
        tamper: Tamper {
            takes: |action| {
                Some(with_message(action, |message| match message {
                    Message::AppendTxnRecordAnswer(mut m) => {
                        m.error = ErrorCode::None;
                        Message::AppendTxnRecordAnswer(m)
                    }
                    other => other,
                }))
            },
            ..Tamper::NONE
        },
    },
    Fault {
        name: "a refused verification counts as granted (B02)",
        case: case("late", RuleSet::Tv1),
        tamper: Tamper {
            takes: |action| {
                Some(with_message(action, |message| match message {
                    Message::VerifyAnswer {
                        partition,
                        identity,
                        sequence,
                        coordinator_epoch,
                        ..
                    } => Message::VerifyAnswer {
                        partition,
                        identity,
                        sequence,
                        error: ErrorCode::None,
                        coordinator_epoch,
                    },
                    other => other,
                }))
            },
            ..Tamper::NONE
        },
    },
    Fault {
        name: "another partition is added",
        case: case("smoke", RuleSet::Tv1),
        tamper: Tamper {
            takes: |action| {
                Some(with_message(action, |message| match message {
                    Message::AddPartitionsToTxn(m) => {
                        Message::AddPartitionsToTxn(AddPartitionsToTxn {
                            partition: PartitionIndex(0),
                            ..m
                        })
                    }
                    other => other,
                }))
            },
            ..Tamper::NONE
        },
    },
    Fault {
        name: "the timer leaves an open transaction alone (L1)",
        case: case("timer", RuleSet::Tv2),
        tamper: Tamper {
            takes: |action| match action {
                Action::Timeout(..) => None,
                other => Some(other),
            },
            ..Tamper::NONE
        },
    },
    Fault {
        name: "a deposed coordinator does not resign",
        case: case("offsets-election", RuleSet::Tv2),
        tamper: Tamper {
            takes: |action| match action {
                Action::Resign(_) => None,
                other => Some(other),
            },
            ..Tamper::NONE
        },
    },
    Fault {
        name: "a new coordinator does not read its log",
        case: case("offsets-election", RuleSet::Tv1),
        tamper: Tamper {
            takes: |action| match action {
                Action::Load(_) => None,
                other => Some(other),
            },
            ..Tamper::NONE
        },
    },
    Fault {
        name: "a batch keeps its flag but loses its transaction",
        case: case("smoke", RuleSet::Tv1),
        tamper: Tamper {
            takes: |action| {
                Some(with_message(action, |message| match message {
                    Message::Produce(mut m) => {
                        m.transactional = false;
                        Message::Produce(m)
                    }
                    other => other,
                }))
            },
            ..Tamper::NONE
        },
    },
    Fault {
        name: "a restarted replica loses the end of its log",
        case: case("storage", RuleSet::Tv2),
        tamper: Tamper {
            takes: |action| match action {
                Action::Restart(partition) => Some(Action::FailOver(partition)),
                other => Some(other),
            },
            ..Tamper::NONE
        },
    },
    Fault {
        name: "a staged offset is another one",
        case: case("offsets-only", RuleSet::Tv1),
        tamper: Tamper {
            takes: |action| {
                Some(with_message(action, |message| match message {
                    Message::TxnOffsetCommit(mut m) => {
                        m.offset = Payload(m.offset.0 + 1);
                        Message::TxnOffsetCommit(m)
                    }
                    other => other,
                }))
            },
            ..Tamper::NONE
        },
    },
    Fault {
        name: "a rebalance gives the input to nobody else",
        case: case("rebalance", RuleSet::Tv1),
        tamper: Tamper {
            takes: |action| match action {
                Action::CompleteRebalance(_) => Some(Action::CompleteRebalance(ProducerIndex(0))),
                other => Some(other),
            },
            ..Tamper::NONE
        },
    },
    Fault {
        name: "a fenced producer is told that it succeeded",
        case: case("zombie", RuleSet::Tv1),
        tamper: Tamper {
            sends: |message| {
                Some(match message {
                    Message::CoordinatorAnswer(mut m) if m.error == ErrorCode::ProducerFenced => {
                        m.error = ErrorCode::None;
                        Message::CoordinatorAnswer(m)
                    }
                    other => other,
                })
            },
            ..Tamper::NONE
        },
    },
    Fault {
        name: "a question to the coordinator is never asked",
        case: case("pipeline", RuleSet::Tv2),
        tamper: Tamper {
            sends: |message| match message {
                Message::VerifyPartition(_) => None,
                other => Some(other),
            },
            ..Tamper::NONE
        },
    },
    Fault {
        name: "a record carries the epoch before",
        case: case("rotation", RuleSet::Tv2),
        tamper: Tamper {
            sends: |message| {
                Some(match message {
                    Message::AppendTxnRecord(mut m) => {
                        if let Some(value) = m.value.as_mut() {
                            value.producer_epoch = ProducerEpoch(value.producer_epoch.0 - 1);
                        }
                        Message::AppendTxnRecord(m)
                    }
                    other => other,
                })
            },
            ..Tamper::NONE
        },
    },
];

fn with_message(action: Action, change: fn(Message) -> Message) -> Action {
    match action {
        Action::Deliver { message, broker } => Action::Deliver {
            message: change(message),
            broker,
        },
        other => other,
    }
}

fn older_marker(message: Message) -> Message {
    match message {
        Message::WriteTxnMarkers(mut m) => {
            m.identity.producer_epoch = ProducerEpoch(m.identity.producer_epoch.0 - 1);
            Message::WriteTxnMarkers(m)
        }
        other => other,
    }
}

#[test]
fn every_fault_is_caught_with_a_trace_that_replays() {
    for fault in FAULTS {
        let options = Options {
            tamper: Some(fault.tamper),
            ..Options::default()
        };
        let found = run(&[fault.case], options);
        assert!(!found.ok, "{} was not caught", fault.name);
        let divergence = found.runs[0].divergence.as_ref();
        let divergence = divergence.unwrap_or_else(|| panic!("{}: no divergence", fault.name));
        assert!(!divergence.differences.is_empty(), "{}", fault.name);
        let file = TraceFile::read(&divergence.to_string());
        let file = file.unwrap_or_else(|error| panic!("{}: {error}", fault.name));
        // The fault is not in production itself, so there the trace is harmless.
        assert_eq!(replay(&file).ok(), Some(divergence.steps), "{}", fault.name);
        let replayed = file.replay();
        assert!(replayed.is_ok(), "{}: {replayed:?}", fault.name);
        assert_eq!(replayed.map(|it| it.actions.len()), Ok(divergence.steps));
    }
}
