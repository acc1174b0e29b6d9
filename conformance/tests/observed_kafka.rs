//! Kafka's own producer and consumer, recorded on their way to Apache Kafka, are a behaviour of the
//! model.
//!
//! Without java or mvn the test prints a line and passes; with `FENCEPOST_REQUIRE_ALL=1` it fails.

use std::io::Write;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use fencepost_conformance::cases::{Configuration, Judge};
use fencepost_conformance::kafka_server::{StartError, classpath};
use fencepost_conformance::observed::{Asked, Event, Proxy, Validator};
use fencepost_conformance::wire::{Connection, ErrorCode, TopicSpec};
use fencepost_spec::rules::Rules;
use fencepost_spec::types::TransactionVersion;

/// A recording in memory.
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

fn judge(transaction_version: i16) -> Option<Judge> {
    match Judge::start(Configuration::OneNode, transaction_version) {
        Ok(judge) => Some(judge),
        Err(StartError::Missing(what)) => {
            assert!(
                std::env::var_os("FENCEPOST_REQUIRE_ALL").is_none_or(|value| value != "1"),
                "FENCEPOST_REQUIRE_ALL=1, but Apache Kafka cannot run here: {what}"
            );
            let line = format!("SKIPPED: Apache Kafka cannot run here: {what}\n");
            std::io::stderr()
                .write_all(line.as_bytes())
                .expect("stderr");
            None
        }
        Err(StartError::Failed(why)) => panic!("Apache Kafka did not start: {why}"),
    }
}

#[test]
fn kafkas_own_clients_are_a_behaviour_of_the_model() {
    let versions = [(2, TransactionVersion::Tv2), (1, TransactionVersion::Tv1)];
    for (level, version) in versions {
        let Some(judge) = judge(level) else { return };
        let mut wire = Connection::open(judge.bootstrap(), std::time::Duration::from_secs(10))
            .expect("Kafka accepts");
        let topic = TopicSpec {
            replicas: vec![1, 1],
            ..TopicSpec::one_partition("recorded")
        };
        assert_eq!(wire.create_topic(&topic).expect("a topic"), ErrorCode::NONE);
        let tape = Tape::default();
        let loopback = ([127, 0, 0, 1], 0).into();
        let proxy =
            Proxy::start(loopback, judge.bootstrap(), Box::new(tape.clone())).expect("a port");
        let output = Command::new("java")
            .args(["-Xmx256m", "-XX:+UseSerialGC", "-cp"])
            .arg(classpath().expect("Kafka's classpath"))
            .arg(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/kafka/Transactions.java"
            ))
            .arg(proxy.address().to_string())
            .args(["recorded", "20"])
            .output()
            .expect("java");
        let said = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}{complaint}");
        let events = tape.events();
        let mut validator = Validator::new(Rules::kafka(version));
        for event in &events {
            if let Err(refusal) = validator.event(event) {
                let before = events.iter().take(refusal.event as usize);
                let story: Vec<String> = before.map(|it| format!("{it:?}")).collect();
                let tail = &story[story.len().saturating_sub(12)..];
                panic!(
                    "transaction.version {level}: {refusal}\n{}",
                    tail.join("\n")
                );
            }
        }
        let summary = validator.summary();
        println!("transaction.version {level}: {summary:?}");
        assert_eq!((summary.ids, summary.given_up), (2, 0), "{summary:?}");
        assert!(summary.judged > 200, "{summary:?}");
        assert!(summary.consumer_groups > 0, "{summary:?}");
        let asks_offsets = |event: &&Event| {
            matches!(
                event,
                Event::Asked {
                    request: Asked::OffsetFetch {
                        require_stable: true,
                        ..
                    },
                    ..
                }
            )
        };
        assert!(events.iter().filter(asks_offsets).count() > 3);
    }
}
