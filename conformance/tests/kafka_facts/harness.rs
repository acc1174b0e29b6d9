//! Stories told to a running Kafka, and the table of what it answered.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fencepost_conformance::kafka_server::{KafkaConfig, KafkaServer, StartError};
use fencepost_conformance::wire::{
    Connection, CoordinatorKey, ErrorCode, InitProducerId, IsolationLevel, Producer,
    TopicPartition, TopicSpec,
};

use super::story::Story;

/// How long anything may take.
pub const TIMEOUT: Duration = Duration::from_secs(15);
/// COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR.
pub const NOT_YET: [i16; 3] = [14, 15, 16];
/// A coordinator epoch that no real coordinator reaches in a test.
pub const FAR_EPOCH: i32 = 1_000_000;

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub area: &'static str,
    pub start: String,
    pub request: String,
    pub semantics: String,
    pub kafka: String,
    pub after: String,
}

impl Row {
    /// The line as it stands in docs/FINDINGS-kafka-4.4.md.
    pub fn line(&self) -> String {
        let differs = if self.semantics == self.kafka {
            ""
        } else if self.semantics == "?" {
            "settled"
        } else if self.semantics.starts_with("KIP-939") && self.kafka == "UNSUPPORTED_VERSION" {
            "not judged"
        } else {
            "**DIFFERS**"
        };
        format!(
            "| {} | {} | {} | {} | {} | {} | {differs} |",
            self.area, self.start, self.request, self.semantics, self.kafka, self.after
        )
    }
}

/// A running Kafka and the lines so far.
pub struct Facts {
    pub server: KafkaServer,
    pub wire: Connection,
    pub transaction_version: i16,
    pub rows: Vec<Row>,
    serial: u32,
}

impl Facts {
    pub fn start(config: &KafkaConfig) -> Result<Self, StartError> {
        let server = KafkaServer::start(config)?;
        let wire = Connection::open(server.bootstrap(), TIMEOUT).expect("Kafka accepts");
        let mut facts = Self {
            server,
            wire,
            transaction_version: config.transaction_version,
            rows: Vec::new(),
            serial: 0,
        };
        facts.await_coordinator("warm-up");
        facts.await_producer_ids();
        Ok(facts)
    }

    /// Waits until the coordinator of a group answers.
    pub fn await_group(&mut self, group_id: &str) {
        let end = Instant::now() + Duration::from_secs(30);
        let partition = TopicPartition::new("none", 0);
        loop {
            let found = self
                .wire
                .find_coordinator(CoordinatorKey::Group(group_id))
                .expect("FindCoordinator");
            let fetched = self
                .wire
                .offset_fetch(group_id, &partition, false)
                .expect("OffsetFetch");
            if found.error == ErrorCode::NONE && !NOT_YET.contains(&fetched.error.0) {
                return;
            }
            assert!(Instant::now() < end, "no group coordinator: {found:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the broker has its first block of producer ids.
    fn await_producer_ids(&mut self) {
        let end = Instant::now() + Duration::from_secs(10);
        let idempotent = InitProducerId {
            transactional_id: None,
            ..InitProducerId::plain("")
        };
        while self
            .wire
            .init_producer_id(5, idempotent)
            .expect("InitProducerId")
            .error
            != ErrorCode::NONE
        {
            assert!(Instant::now() < end, "no producer ids");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the coordinator of `id` answers.
    pub fn await_coordinator(&mut self, id: &str) {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let found = self
                .wire
                .find_coordinator(CoordinatorKey::Transaction(id))
                .expect("FindCoordinator");
            let described = self.wire.describe_transaction(id).expect("Describe");
            let ready = found.error == ErrorCode::NONE
                && (found.node_id != 1 || !NOT_YET.contains(&described.error.0));
            if ready {
                return;
            }
            assert!(
                Instant::now() < end,
                "no coordinator: {found:?} {described:?}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Stops the broker in good order and starts it again on its data. Not with SIGKILL: Kafka then
    /// elects the leaders of its partitions one after the other, and a coordinator that comes up
    /// before a data partition's leader drops that partition's markers (KAFKA-20734), or not.
    pub fn restart(&mut self) {
        self.server.stop(1).expect("SIGTERM");
        self.server.restart(1).expect("restart");
        self.wire = Connection::open(self.server.bootstrap(), TIMEOUT).expect("Kafka accepts");
        // One id for each partition of __transaction_state.
        for id in ["a", "b", "c"] {
            self.await_coordinator(id);
        }
        self.await_producer_ids();
    }

    /// A second connection.
    pub fn connect(&self) -> Connection {
        Connection::open(self.server.bootstrap(), TIMEOUT).expect("Kafka accepts")
    }

    /// A connection that may write to internal topics.
    pub fn connect_as_admin(&self) -> Connection {
        Connection::open_as("__admin_client", self.server.bootstrap(), TIMEOUT)
            .expect("Kafka accepts")
    }

    /// A new story with its own transactional id and topic.
    pub fn story(&mut self, area: &'static str) -> Story<'_> {
        self.serial += 1;
        let id = format!("id-{}", self.serial);
        let topic = TopicSpec {
            replicas: vec![1],
            ..TopicSpec::one_partition(&format!("topic-{}", self.serial))
        };
        assert_eq!(
            self.wire.create_topic(&topic).expect("CreateTopics"),
            ErrorCode::NONE
        );
        let partition = TopicPartition::new(&topic.name, 0);
        let end = Instant::now() + Duration::from_secs(10);
        loop {
            let (error, _) = self
                .wire
                .latest_offset(&partition, IsolationLevel::ReadUncommitted)
                .expect("ListOffsets");
            if error == ErrorCode::NONE {
                break;
            }
            assert!(Instant::now() < end, "topic without leader");
            std::thread::sleep(Duration::from_millis(5));
        }
        Story {
            facts: self,
            area,
            id,
            partition,
            start: String::new(),
            producer: Producer::NONE,
            names: BTreeMap::new(),
            stuck: false,
        }
    }
}

/// Asks until the answer is yes.
pub fn wait_until(what: &str, mut ready: impl FnMut() -> bool) {
    let end = Instant::now() + TIMEOUT;
    while !ready() {
        assert!(Instant::now() < end, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
