//! One transactional id on its way through some requests.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use fencepost_conformance::wire::{
    Batch, Connection, EndTxnAnswer, ErrorCode, InitProducerId, InitProducerIdAnswer, Marker,
    Producer, TopicPartition, TransactionDescription, TransactionResult,
};

use super::harness::{FAR_EPOCH, Facts, NOT_YET, Row, TIMEOUT};

pub use TransactionResult::{Abort, Commit};

const CONCURRENT_TRANSACTIONS: ErrorCode = ErrorCode(51);

/// A transactional id on its way through some requests; producer ids are called P, Q, R in the
/// order in which they appear.
pub struct Story<'a> {
    pub facts: &'a mut Facts,
    pub area: &'static str,
    pub id: String,
    pub partition: TopicPartition,
    pub start: String,
    /// The identity that the story's client holds.
    pub producer: Producer,
    pub names: BTreeMap<i64, String>,
    pub stuck: bool,
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
        let marker = Marker {
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
}
