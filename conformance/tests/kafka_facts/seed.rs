//! Records written into `__transaction_state`, for a restart to load.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use fencepost_conformance::wire::{
    Batch, ErrorCode, Producer, TopicPartition, TransactionLogValue, transaction_log_key,
};

use super::harness::Facts;
use super::story::Story;
use super::words::status_name;

pub const EMPTY: i8 = 0;
pub const ONGOING: i8 = 1;
pub const PREPARE_COMMIT: i8 = 2;
pub const PREPARE_ABORT: i8 = 3;
pub const COMPLETE_COMMIT: i8 = 4;
pub const COMPLETE_ABORT: i8 = 5;

/// A seeded id: its story goes on after the restart.
pub struct Seed {
    pub id: String,
    pub partition: TopicPartition,
    pub producer: Producer,
    pub start: String,
}

impl Seed {
    /// The story of the seeded id, on the restarted broker.
    pub fn go_on<'a>(&self, facts: &'a mut Facts) -> Story<'a> {
        let mut story = facts.story("seeded");
        story.id.clone_from(&self.id);
        story.partition.clone_from(&self.partition);
        story.producer = self.producer;
        story.name(self.producer.id);
        story.start.clone_from(&self.start);
        story
    }
}

/// A record for a new id, with the real producer id that the broker gives it.
pub fn seed(
    facts: &mut Facts,
    status: i8,
    epoch: i16,
    timeout_ms: i32,
    tags: &[(u32, i64)],
) -> Seed {
    let story = facts.story("seed").empty_at(0);
    let seed = Seed {
        id: story.id.clone(),
        partition: story.partition.clone(),
        producer: story.producer.at(epoch),
        start: format!("{} (P,{epoch}) loaded", status_name(status)),
    };
    write(facts, &seed, status, timeout_ms, tags);
    seed
}

/// A data partition with an open transaction of (P,1), and a coordinator that has (P,3) Ongoing.
pub fn older_open(facts: &mut Facts) -> Seed {
    let story = facts.story("seed").ongoing_at(1);
    let seed = Seed {
        id: story.id.clone(),
        partition: story.partition.clone(),
        producer: story.producer.at(3),
        start: "Ongoing (P,3) loaded; the partition has (P,1) open".to_owned(),
    };
    write(facts, &seed, ONGOING, 60_000, &[(2, 2)]);
    seed
}

fn write(facts: &Facts, seed: &Seed, status: i8, timeout_ms: i32, tags: &[(u32, i64)]) {
    let now = now_ms();
    let in_transaction = [ONGOING, PREPARE_COMMIT, PREPARE_ABORT].contains(&status);
    let value = TransactionLogValue {
        version: 1,
        producer: seed.producer,
        timeout_ms,
        status,
        // Null only in Empty: a broker that loads null in another state gives up on the partition.
        partitions: match (status, in_transaction) {
            (EMPTY, _) => None,
            (_, true) => Some(vec![seed.partition.clone()]),
            (_, false) => Some(Vec::new()),
        },
        last_update_timestamp: now,
        start_timestamp: if in_transaction { now } else { -1 },
        tags: tags
            .iter()
            .map(|(tag, number)| (*tag, tag_bytes(*tag, *number)))
            .collect(),
    };
    let batch = Batch {
        producer: Producer::NONE,
        base_sequence: -1,
        transactional: false,
        records: vec![(Some(transaction_log_key(&seed.id)), Some(value.encode()))],
    };
    let log = TopicPartition::new("__transaction_state", partition_for(&seed.id));
    let answer = facts
        .connect_as_admin()
        .produce(11, None, &log, &batch)
        .expect("Produce");
    assert_eq!(answer.error, ErrorCode::NONE, "{:?}", answer.message);
}

/// Tags 0 and 1 are producer ids, 2 is a version.
fn tag_bytes(tag: u32, number: i64) -> Bytes {
    match tag {
        0 | 1 => Bytes::copy_from_slice(&number.to_be_bytes()),
        _ => Bytes::copy_from_slice(&(number as i16).to_be_bytes()),
    }
}

/// Java's String.hashCode over the three partitions, as Kafka spreads ids.
fn partition_for(id: &str) -> i32 {
    let hash = id.encode_utf16().fold(0_i32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(i32::from(unit))
    });
    hash.checked_abs().unwrap_or(0) % 3
}

fn now_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as i64)
}
