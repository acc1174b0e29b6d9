//! Stories told to a running Kafka, and the table of what it answered.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use fencepost_conformance::kafka_server::{KafkaConfig, KafkaServer, StartError};
use fencepost_conformance::wire::{
    Batch, Connection, CoordinatorKey, EndTxnAnswer, ErrorCode, InitProducerId,
    InitProducerIdAnswer, IsolationLevel, PartitionErrors, Producer, TopicPartition, TopicSpec,
    TransactionDescription, TransactionLogValue, TransactionResult,
};

pub use TransactionResult::{Abort, Commit};

/// How long anything may take.
pub const TIMEOUT: Duration = Duration::from_secs(15);
/// COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR.
const NOT_YET: [i16; 3] = [14, 15, 16];
const CONCURRENT_TRANSACTIONS: ErrorCode = ErrorCode(51);
/// A coordinator epoch that no real coordinator reaches in a test.
pub const FAR_EPOCH: i32 = 1_000_000;

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    area: &'static str,
    start: String,
    request: String,
    semantics: String,
    kafka: String,
    after: String,
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
            assert!(Instant::now() < end, "no coordinator: {found:?} {described:?}");
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

/// A transactional id on its way through some requests; producer ids are called P, Q, R in the
/// order in which they appear.
pub struct Story<'a> {
    pub facts: &'a mut Facts,
    area: &'static str,
    pub id: String,
    pub partition: TopicPartition,
    pub start: String,
    /// The identity that the story's client holds.
    pub producer: Producer,
    names: BTreeMap<i64, String>,
    stuck: bool,
}

impl Story<'_> {
    /// What the story begins with, for the table.
    pub fn named(mut self, start: &str) -> Self {
        start.clone_into(&mut self.start);
        self
    }

    pub fn wire(&mut self) -> &mut Connection {
        &mut self.facts.wire
    }

    // --- setting the scene: these insist ---

    /// Empty at epoch `epoch`.
    pub fn empty_at(mut self, epoch: i16) -> Self {
        loop {
            let answer = self.init_raw(5, Producer::NONE);
            if NOT_YET.contains(&answer.error.0) {
                std::thread::sleep(Duration::from_millis(20));
                continue;
            }
            assert_eq!(answer.error, ErrorCode::NONE, "init of {}", self.id);
            self.producer = answer.producer;
            self.name(answer.producer.id);
            if answer.producer.epoch == epoch {
                break;
            }
        }
        self.named(&format!("Empty (P,{epoch})"))
    }

    /// Ongoing at epoch `epoch` with the story's partition and one record in it.
    pub fn ongoing_at(self, epoch: i16) -> Self {
        let mut story = self.empty_at(epoch);
        story.begin();
        story.named(&format!("Ongoing (P,{epoch})"))
    }

    /// Adds the partition and produces one record; insists.
    pub fn begin(&mut self) {
        self.add_insisting();
        let batch = Batch::transactional(self.producer, 0, "v");
        let (id, partition) = (self.id.clone(), self.partition.clone());
        let answer = self
            .wire()
            .produce(11, Some(&id), &partition, &batch)
            .expect("Produce");
        assert_eq!(answer.error, ErrorCode::NONE, "{:?}", answer.message);
    }

    pub fn add_insisting(&mut self) {
        let end = Instant::now() + TIMEOUT;
        loop {
            let error = self.add_raw(3, self.producer);
            if error == ErrorCode::NONE {
                return;
            }
            assert_eq!(error, CONCURRENT_TRANSACTIONS);
            assert!(Instant::now() < end);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// CompleteCommit or CompleteAbort, ended from epoch `epoch` by EndTxn v4 or v5.
    pub fn complete_from(self, epoch: i16, result: TransactionResult, version: i16) -> Self {
        let mut story = self.ongoing_at(epoch);
        let answer = story.end_raw(version, story.producer, result);
        assert_eq!(answer.error, ErrorCode::NONE);
        story.settle();
        let described = story.describe();
        story.producer = described.producer;
        let start = format!("{} by EndTxn v{version}", story.state_of(&described));
        story.named(&start)
    }

    /// Prepare*, held there: a marker from a far higher coordinator epoch fences the coordinator
    /// at the data partition, which makes it give the transaction up until it is reloaded.
    pub fn stuck_from(self, epoch: i16, result: TransactionResult, version: i16) -> Self {
        let mut story = self.ongoing_at(epoch);
        story.hold_markers();
        let answer = story.end_raw(version, story.producer, result);
        assert_eq!(answer.error, ErrorCode::NONE);
        story.producer = Producer {
            id: story.producer.id,
            epoch: story.describe().producer.epoch,
        };
        std::thread::sleep(Duration::from_millis(30));
        let start = story.state();
        story.named(&start)
    }

    /// Fences every real coordinator at the story's partition for the story's producer.
    pub fn hold_markers(&mut self) {
        let marker = fencepost_conformance::wire::Marker {
            producer: self.producer,
            result: Abort,
            coordinator_epoch: FAR_EPOCH,
            transaction_version: 1,
            partition: self.partition.clone(),
        };
        let error = self.wire().write_txn_markers(1, &marker).expect("marker");
        assert_eq!(error, ErrorCode::NONE);
        self.stuck = true;
    }

    /// From here on the story does not wait for Prepare* to pass.
    pub fn hold(&mut self) {
        self.stuck = true;
    }

    /// The end of [`Self::hold`].
    pub fn let_go(&mut self) {
        self.stuck = false;
        self.settle();
    }

    /// Waits until no marker is outstanding.
    pub fn settle(&mut self) {
        let end = Instant::now() + TIMEOUT;
        while self.describe().state.starts_with("Prepare") {
            assert!(Instant::now() < end, "{} never settles", self.id);
            std::thread::sleep(Duration::from_millis(2));
        }
        // DescribeTransactions shows Complete* once it is applied; CT may still be answered in
        // the instant before pendingState is cleared, which is the same instant.
    }

    /// As [`Self::settle`], unless the story holds its markers back.
    pub fn settle_unless_stuck(&mut self) {
        if !self.stuck {
            self.settle();
        }
    }

    // --- single requests ---

    pub fn init_raw(&mut self, version: i16, expected: Producer) -> InitProducerIdAnswer {
        let id = self.id.clone();
        self.wire()
            .init_producer_id(version, InitProducerId::plain(&id).expecting(expected))
            .expect("InitProducerId")
    }

    pub fn add_raw(&mut self, version: i16, producer: Producer) -> ErrorCode {
        let (id, partition) = (self.id.clone(), self.partition.clone());
        let errors = self
            .wire()
            .add_partitions_to_txn(version, &id, producer, &[partition])
            .expect("AddPartitionsToTxn");
        errors[0].1
    }

    pub fn end_raw(
        &mut self,
        version: i16,
        producer: Producer,
        result: TransactionResult,
    ) -> EndTxnAnswer {
        let id = self.id.clone();
        self.wire()
            .end_txn(version, &id, producer, result)
            .expect("EndTxn")
    }

    pub fn describe(&mut self) -> TransactionDescription {
        let id = self.id.clone();
        self.wire().describe_transaction(&id).expect("Describe")
    }

    // --- cells: one request, one line ---

    /// InitProducerId v5 with an expected pair, or [`Producer::NONE`].
    pub fn init(&mut self, expected: Producer, semantics: &str) -> InitProducerIdAnswer {
        self.init_version(5, expected, semantics)
    }

    pub fn init_version(
        &mut self,
        version: i16,
        expected: Producer,
        semantics: &str,
    ) -> InitProducerIdAnswer {
        let request = if expected == Producer::NONE {
            format!("Init v{version}")
        } else {
            let expected = self.pair(expected);
            format!("Init v{version} expecting {expected}")
        };
        let answer = self.init_raw(version, expected);
        let shown = self.init_text(&answer);
        self.row(&request, semantics, &shown);
        answer
    }

    pub fn init_text(&mut self, answer: &InitProducerIdAnswer) -> String {
        let mut text = self.with_pair(answer.error, answer.producer);
        if answer.ongoing != Producer::NONE {
            let ongoing = self.pair(answer.ongoing);
            let _ = write!(text, " ongoing {ongoing}");
        }
        text
    }

    pub fn add(&mut self, version: i16, producer: Producer, semantics: &str) {
        let error = self.add_raw(version, producer);
        let request = format!("AddPartitions v{version} {}", self.pair(producer));
        self.row(&request, semantics, &error.to_string());
    }

    pub fn end(
        &mut self,
        version: i16,
        producer: Producer,
        result: TransactionResult,
        semantics: &str,
    ) -> EndTxnAnswer {
        let answer = self.end_raw(version, producer, result);
        let request = format!("EndTxn v{version} {result:?} {}", self.pair(producer));
        let shown = self.with_pair(answer.error, answer.producer);
        self.row(&request, semantics, &shown);
        answer
    }

    /// A line with the coordinator's state after it; the next line starts from that state.
    pub fn row(&mut self, request: &str, semantics: &str, kafka: &str) {
        self.settle_unless_stuck();
        let after = self.state();
        self.row_after(request, semantics, kafka, &after);
    }

    /// A line with a state of the caller's choice after it.
    pub fn row_after(&mut self, request: &str, semantics: &str, kafka: &str, after: &str) {
        let row = Row {
            area: self.area,
            start: self.start.clone(),
            request: request.to_owned(),
            semantics: semantics.to_owned(),
            kafka: kafka.to_owned(),
            after: after.to_owned(),
        };
        self.facts.rows.push(row);
        self.start = "…".to_owned();
    }

    // --- words ---

    /// P, Q, R for producer ids in the order in which they appear.
    pub fn name(&mut self, id: i64) -> String {
        if id < 0 {
            return id.to_string();
        }
        let next = char::from(b'P' + self.names.len() as u8).to_string();
        self.names.entry(id).or_insert(next).clone()
    }

    pub fn pair(&mut self, producer: Producer) -> String {
        let name = self.name(producer.id);
        format!("({name},{})", producer.epoch)
    }

    /// An error code, and the pair where the answer carries one.
    pub fn with_pair(&mut self, error: ErrorCode, producer: Producer) -> String {
        if producer == Producer::NONE {
            return error.to_string();
        }
        let pair = self.pair(producer);
        format!("{error} {pair}")
    }

    pub fn errors(&mut self, errors: &PartitionErrors) -> String {
        let texts: Vec<String> = errors.iter().map(|(_, error)| error.to_string()).collect();
        texts.join(", ")
    }

    pub fn state(&mut self) -> String {
        let described = self.describe();
        self.state_of(&described)
    }

    pub fn state_of(&mut self, described: &TransactionDescription) -> String {
        if described.error != ErrorCode::NONE {
            return described.error.to_string();
        }
        let pair = self.pair(described.producer);
        let mut text = format!("{} {pair}", described.state);
        if !described.partitions.is_empty() {
            let _ = write!(text, " {} part.", described.partitions.len());
        }
        text
    }

    /// What the data partition holds of every producer.
    pub fn producers(&mut self) -> String {
        let mut leader = self.facts.connect();
        self.producers_at(&mut leader)
    }

    /// As [`Self::producers`], from the partition's leader. The epoch of a real coordinator counts
    /// its restarts and is left out.
    pub fn producers_at(&mut self, leader: &mut Connection) -> String {
        let partition = self.partition.clone();
        let (error, producers) = leader
            .describe_producers(&partition)
            .expect("DescribeProducers");
        if error != ErrorCode::NONE {
            return error.to_string();
        }
        let texts: Vec<String> = producers
            .iter()
            .map(|it| {
                let pair = self.pair(it.producer);
                let coordinator = match it.coordinator_epoch {
                    FAR_EPOCH => "far".to_owned(),
                    -1 => "none".to_owned(),
                    epoch if self.area == "markers" => epoch.to_string(),
                    _ => "real".to_owned(),
                };
                let open = match it.current_txn_start_offset {
                    -1 => "none".to_owned(),
                    offset => offset.to_string(),
                };
                format!(
                    "{pair} seq {} coord {coordinator} open {open}",
                    it.last_sequence
                )
            })
            .collect();
        if texts.is_empty() {
            return "no producers".to_owned();
        }
        texts.join("; ")
    }

    /// High watermark, last stable offset, and the log in short: data batches as `d`, markers as
    /// `C` and `A` with their epochs.
    pub fn log(&mut self) -> String {
        let mut leader = self.facts.connect();
        self.log_at(&mut leader)
    }

    /// As [`Self::log`], from the partition's leader.
    pub fn log_at(&mut self, leader: &mut Connection) -> String {
        let partition = self.partition.clone();
        let mut batches = Vec::new();
        let mut offset = 0;
        // Kafka may stop an answer at a batch's end, so it is asked until nothing is left.
        let answer = loop {
            let mut answer = leader
                .fetch(&partition, offset, IsolationLevel::ReadUncommitted)
                .expect("Fetch");
            let Some(last) = answer.batches.last() else {
                break answer;
            };
            offset = last.last_offset + 1;
            batches.append(&mut answer.batches);
        };
        let committed = leader
            .fetch(&partition, 0, IsolationLevel::ReadCommitted)
            .expect("Fetch");
        let batches: Vec<String> = batches
            .iter()
            .map(|batch| match batch.control {
                Some(marker) if marker.committed => format!("C{}", batch.producer.epoch),
                Some(_) => format!("A{}", batch.producer.epoch),
                None if batch.transactional => format!("d{}", batch.producer.epoch),
                None => "n".to_owned(),
            })
            .collect();
        let aborted = committed.aborted.unwrap_or_default().len();
        format!(
            "[{}] hw {} lso {} aborted {aborted}",
            batches.join(" "),
            answer.high_watermark,
            committed.last_stable_offset
        )
    }

    /// The last record of the id in `__transaction_state`, in short.
    pub fn stored(&mut self) -> String {
        let Some(value) = self.stored_value() else {
            return "nothing stored".to_owned();
        };
        let pair = self.pair(value.producer);
        let mut text = format!(
            "stored v{} {} {pair}",
            value.version,
            status_name(value.status)
        );
        for (number, label) in [
            (0, "prev"),
            (1, "next"),
            (2, "clientTV"),
            (3, "nextEpoch"),
            (4, "lastEpoch"),
        ] {
            if let Some(number) = value.tag(number) {
                let shown = if number >= 0 && (label == "prev" || label == "next") {
                    self.name(number)
                } else {
                    number.to_string()
                };
                let _ = write!(text, " {label}={shown}");
            }
        }
        let unknown: Vec<u32> = value
            .tags
            .iter()
            .map(|(tag, _)| *tag)
            .filter(|tag| *tag > 4)
            .collect();
        if !unknown.is_empty() {
            let _ = write!(text, " tags {unknown:?}");
        }
        text
    }

    pub fn stored_value(&mut self) -> Option<TransactionLogValue> {
        let key = fencepost_conformance::wire::transaction_log_key(&self.id);
        let mut last = None;
        for partition in 0..3 {
            let partition = TopicPartition::new("__transaction_state", partition);
            let mut offset = 0;
            loop {
                let answer = self
                    .wire()
                    .fetch(&partition, offset, IsolationLevel::ReadUncommitted)
                    .expect("Fetch");
                let Some(end) = answer.batches.last().map(|batch| batch.last_offset + 1) else {
                    break;
                };
                for record in answer.batches.into_iter().flat_map(|batch| batch.records) {
                    if record.key.as_ref() == Some(&key) {
                        last = record.value;
                    }
                }
                offset = end;
            }
        }
        last.map(|value| TransactionLogValue::decode(&value).expect("stored value"))
    }
}

pub fn status_name(status: i8) -> &'static str {
    match status {
        0 => "Empty",
        1 => "Ongoing",
        2 => "PrepareCommit",
        3 => "PrepareAbort",
        4 => "CompleteCommit",
        5 => "CompleteAbort",
        6 => "Dead",
        7 => "PrepareEpochFence",
        _ => "unknown",
    }
}
