//! Model and production in lockstep, and that such a run can fail.

use fencepost_conformance::lockstep::{Case, MUTATION, Options, Report, Tamper, replay, run};
use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::message::{AddPartitionsToTxn, EndTxn, Message, WriteTxnMarkers};
use fencepost_spec::scenario::RuleSet;
use fencepost_spec::trace::TraceFile;
use fencepost_spec::types::*;
use fencepost_spec::world::Action;

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
    }
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
