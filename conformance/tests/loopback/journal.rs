//! What our cores write down of themselves is a behaviour of the model, and a fault in them is refused at the first
//! event that shows it.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use fencepost::coordinator::{Effect, LogRecord};
use fencepost::records::transaction_log::{TransactionLogValue, TransactionLogValueVersion};
use fencepost::types::ProducerEpoch;
use fencepost::types::TransactionVersion::{self, V2};
use fencepost_conformance::cases::{Level, Options, Verdict, run};
use fencepost_conformance::loopback::{Loopback, LoopbackConfig, Tamper};
use fencepost_conformance::observed::{Asked, Event, Proxy, Refusal, Summary, Validator};
use fencepost_spec::rules::Rules;
use fencepost_spec::types as spec;

use super::at;
use super::faults::FAULTS;

/// A log in memory.
#[derive(Clone, Default)]
struct Tape(Arc<Mutex<Vec<u8>>>);

impl Tape {
    fn events(&self) -> Vec<Event> {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes)
            .lines()
            .map(|line| serde_json::from_str(line).expect("an event"))
            .collect()
    }
}

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut tape = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tape.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What a broker writes down while `client` uses it.
fn logged(
    level: TransactionVersion,
    tamper: Tamper,
    client: impl FnOnce(SocketAddr),
) -> Vec<Event> {
    let tape = Tape::default();
    let config = LoopbackConfig {
        tamper,
        ..LoopbackConfig::new(level)
    };
    let log = Box::new(tape.clone());
    let broker = Loopback::start_logged(config, log).expect("a free port of 127.0.0.1");
    client(broker.address());
    drop(broker);
    tape.events()
}

fn validated(level: TransactionVersion, events: &[Event]) -> Result<Summary, Refusal> {
    let level = match level {
        TransactionVersion::V2 => spec::TransactionVersion::Tv2,
        TransactionVersion::V0 | TransactionVersion::V1 => spec::TransactionVersion::Tv1,
    };
    let mut validator = Validator::new(Rules::kafka(level));
    for event in events {
        validator.event(event)?;
    }
    Ok(validator.summary())
}

/// The refusal with what came before it.
fn told(events: &[Event], refusal: &Refusal) -> String {
    let before = events.iter().take(refusal.event as usize);
    let story: Vec<String> = before.map(|it| format!("{it:?}")).collect();
    let tail = &story[story.len().saturating_sub(30)..];
    format!("{refusal}\n{}", tail.join("\n"))
}

#[test]
fn every_case_leaves_a_behaviour_of_the_model() {
    for level in [TransactionVersion::V2, TransactionVersion::V1] {
        for cases in [Level::Full, Level::Admin, Level::TwoPhase, Level::Fault] {
            let events = logged(level, Tamper::NONE, |address| {
                run(address, &at(cases), |_| {}).expect("a broker");
            });
            match validated(level, &events) {
                Ok(summary) => println!("{level:?} {cases:?}: {summary:?}"),
                Err(refusal) => panic!("{level:?} {cases:?}: {}", told(&events, &refusal)),
            }
        }
    }
}

/// The same cases through a proxy, which sees only what passes: nothing is refused there either.
#[test]
fn every_case_is_recorded_as_a_behaviour_of_the_model() {
    let (mut offsets, mut two_phase) = (0, 0);
    for cases in [Level::Full, Level::Admin, Level::TwoPhase, Level::Fault] {
        let broker = Loopback::start(LoopbackConfig::new(V2)).expect("a free port");
        let tape = Tape::default();
        let loopback = ([127, 0, 0, 1], 0).into();
        let proxy = Proxy::start(loopback, broker.address(), Box::new(tape.clone()));
        let proxy = proxy.expect("a free port of 127.0.0.1");
        let report = run(proxy.address(), &at(cases), |_| {}).expect("a broker");
        assert_eq!(report.failed, 0, "{cases:?}: {}", report.summary());
        let events = tape.events();
        offsets += count(&events, |it| matches!(it, Asked::OffsetFetch { .. }));
        two_phase += count(&events, |it| {
            matches!(
                it,
                Asked::InitProducerId {
                    two_phase: true,
                    ..
                }
            )
        });
        match validated(V2, &events) {
            Ok(summary) => println!("{cases:?}: {summary:?}"),
            Err(refusal) => panic!("{cases:?}: {}", told(&events, &refusal)),
        }
    }
    assert!(offsets > 10 && two_phase > 2, "{offsets}, {two_phase}");
}

fn count(events: &[Event], is: fn(&Asked) -> bool) -> usize {
    let asked = events.iter().filter(|event| match event {
        Event::Asked { request, .. } => is(request),
        _ => false,
    });
    asked.count()
}

/// What the validator says of each fault; nothing where it cannot see it.
const SAYS: [(&str, &str); 22] = [
    ("an expected identity is ignored", "InitProducerId"),
    // One refusal has two words, by the version that is asked in: which of them is left to the cases.
    ("old versions are told PRODUCER_FENCED", ""),
    (
        "a new instance takes the open transaction over",
        "logged as Ongoing",
    ),
    ("verifyOnly adds", "logged as Ongoing"),
    ("the broker's form only verifies", "AddPartitionsToTxn"),
    (
        "EndTxn v5 follows the rules of v4",
        "logged as PrepareCommit",
    ),
    ("EndTxn v4 raises the epoch", "logged as PrepareCommit"),
    ("every transaction is committed", "logged as PrepareCommit"),
    (
        "whoever meets an open transaction is told to give up",
        "InitProducerId",
    ),
    ("markers end the other way", "appends a commit marker"),
    (
        "markers are judged by the rules before KIP-1228",
        "appends an abort marker",
    ),
    (
        "the epoch of a marker's coordinator is ignored",
        "appends an abort marker",
    ),
    ("Produce v12 does not add", "Produce"),
    ("old producers are told TRANSACTION_ABORTABLE", ""),
    ("a write waits for nobody's word", "appends data"),
    ("an answer names the offset after the record's", "S6"),
    ("no aborted transaction is listed", "S2"),
    ("the last stable offset is the high watermark", "S11"),
    (
        "readers do not ask for stable offsets",
        "UNSTABLE_OFFSET_COMMIT",
    ),
    // Who is a member of a group is not followed.
    ("any generation may stage offsets", ""),
    ("staged offsets are committed at once", "TxnOffsetCommit"),
    (
        "an abort commits the staged offsets",
        "appends a commit marker",
    ),
];

fn one(id: &str) -> Options {
    Options {
        globs: vec![id.to_owned()],
        ..Options::default()
    }
}

#[test]
fn a_fault_is_refused_at_the_first_event_that_shows_it() {
    for ((fault, id, tamper), (same, says)) in FAULTS.into_iter().zip(SAYS) {
        assert_eq!(fault, same);
        let events = logged(V2, tamper, |address| {
            run(address, &one(id), |_| {}).expect("a broker");
        });
        match validated(V2, &events) {
            Ok(summary) => assert_eq!(says, "", "{fault}: not refused, {summary:?}"),
            Err(refusal) => {
                let refused = !says.is_empty() && refusal.why.contains(says);
                assert!(refused, "{fault}: {}", told(&events, &refusal));
            }
        }
    }
}

/// Changes the records that the coordinator appends.
fn rewritten(effect: Effect, change: fn(&mut TransactionLogValue)) -> Effect {
    match effect {
        Effect::Append {
            ticket,
            timestamp,
            records,
        } => {
            let records = records.into_iter().map(|record| {
                let bytes = record.value.as_ref().expect("no tombstone here");
                let mut value = TransactionLogValue::decode(bytes).expect("an own record");
                change(&mut value);
                let version = TransactionLogValueVersion::of(V2);
                let value = value.encode(version).expect("an own value");
                LogRecord {
                    value: Some(value),
                    ..record
                }
            });
            Effect::Append {
                ticket,
                timestamp,
                records: records.collect(),
            }
        }
        other => other,
    }
}

/// A fault, what is done to the coordinator's effects, and what the refusal says.
type Hidden = (&'static str, fn(Effect) -> Effect, &'static str);

/// Faults of the log that no client and no reader can see before a reload.
const HIDDEN: [Hidden; 4] = [
    (
        "a commit is logged as an abort",
        |effect| {
            rewritten(effect, |value| {
                if value.transaction_status == 2 {
                    value.transaction_status = 3;
                }
            })
        },
        // The record alone may be the timer's.
        "EndTxn",
    ),
    (
        "a partition is not logged",
        |effect| {
            rewritten(effect, |value| {
                if value.transaction_status == 1 {
                    value.transaction_partitions = Some(Vec::new());
                }
            })
        },
        "logged as Ongoing",
    ),
    (
        "the completion is logged with the epoch before",
        |effect| {
            rewritten(effect, |value| {
                if value.transaction_status == 4 {
                    value.producer_epoch =
                        ProducerEpoch::from_wire(ProducerEpoch::to_wire(value.producer_epoch) - 1);
                }
            })
        },
        "logged as CompleteCommit",
    ),
    (
        "nothing is logged",
        |effect| match effect {
            Effect::Append {
                ticket, timestamp, ..
            } => Effect::Append {
                ticket,
                timestamp,
                records: Vec::new(),
            },
            other => other,
        },
        "InitProducerId",
    ),
];

#[test]
fn what_only_the_cores_see_is_refused_too() {
    for (fault, coordinator_asks, says) in HIDDEN {
        let tamper = Tamper {
            coordinator_asks,
            ..Tamper::NONE
        };
        let events = logged(V2, tamper, |address| {
            let report = run(address, &one("visible/01"), |_| {}).expect("a broker");
            let case = &report.cases[0];
            assert_eq!(case.verdict, Verdict::Pass, "{fault}: {}", case.story());
        });
        let refusal = validated(V2, &events).expect_err(fault);
        assert!(
            refusal.why.contains(says),
            "{fault}: {}",
            told(&events, &refusal)
        );
        let outside: Vec<Event> = events
            .into_iter()
            .filter(|event| matches!(event, Event::Asked { .. } | Event::Answered { .. }))
            .collect();
        let summary =
            validated(V2, &outside).unwrap_or_else(|refusal| panic!("{fault}: {refusal}"));
        assert!(summary.judged > 2, "{fault}: {summary:?}");
    }
}
