//! Answers and states in the table's short words.

use std::fmt::Write as _;

use fencepost_conformance::wire::{
    Connection, ErrorCode, IsolationLevel, PartitionErrors, Producer, TopicPartition,
    TransactionDescription, TransactionLogValue, transaction_log_key,
};

use super::harness::FAR_EPOCH;
use super::story::Story;

impl Story<'_> {
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
        let key = transaction_log_key(&self.id);
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
