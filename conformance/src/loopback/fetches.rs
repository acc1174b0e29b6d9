//! Fetch: answered at once where there is data, and otherwise when some comes or the client's patience ends.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use fencepost::partition::Fetched;
use fencepost::types::{IsolationLevel, Offset, TopicPartition};
use kafka_protocol::messages::fetch_request::FetchPartition;
use kafka_protocol::messages::fetch_response::{
    AbortedTransaction, FetchableTopicResponse, PartitionData,
};
use kafka_protocol::messages::{FetchRequest, FetchResponse, ProducerId, TopicName};

use super::Tamper;
use super::answer::{body, reply};
use super::broker::Reply;
use super::frame::Head;
use super::journal::Journal;
use super::topics::Topics;

/// The longest that a fetch waits, whatever its client asks for.
const MAX_WAIT: Duration = Duration::from_secs(60);

struct Waiting {
    head: Head,
    /// Its number in the journal.
    exchange: Option<u64>,
    request: FetchRequest,
    answer: mpsc::Sender<Reply>,
    until: Instant,
}

/// Fetches that have no answer yet.
#[derive(Default)]
pub(super) struct Fetches {
    waiting: Vec<Waiting>,
}

impl Fetches {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn add(
        &mut self,
        (head, exchange): (Head, Option<u64>),
        request: FetchRequest,
        answer: mpsc::Sender<Reply>,
        now: Instant,
    ) {
        let wait = u64::try_from(request.max_wait_ms).unwrap_or(0);
        let until = now + Duration::from_millis(wait).min(MAX_WAIT);
        self.waiting.push(Waiting {
            head,
            exchange,
            request,
            answer,
            until,
        });
    }

    /// Answers those that have enough to read, or have waited for long enough.
    pub(super) fn answer(
        &mut self,
        topics: &Topics,
        tamper: Tamper,
        journal: &mut Journal,
        now: Instant,
    ) {
        self.waiting.retain(|it| {
            let (answer, enough) = read(topics, tamper, &it.request);
            let ready = enough || now >= it.until;
            if ready {
                let reply = reply(&it.head, body(it.head.version, &answer));
                journal.answered(it.exchange, &it.head, &reply);
                // The client may be gone by now.
                let _ = it.answer.send(reply);
            }
            !ready
        });
    }
}

/// The answer as of now, and whether it is worth sending: it has the bytes that were asked for, or an error.
fn read(topics: &Topics, tamper: Tamper, request: &FetchRequest) -> (FetchResponse, bool) {
    let mut left = usize::try_from(request.max_bytes).unwrap_or(0);
    let (mut found, mut failed) = (0, false);
    let isolation = match request.isolation_level {
        1 => IsolationLevel::ReadCommitted,
        _ => IsolationLevel::ReadUncommitted,
    };
    let mut responses = Vec::new();
    for topic in &request.topics {
        let mut partitions = Vec::new();
        for asked in &topic.partitions {
            let data = one(topics, tamper, &topic.topic, asked, isolation, left);
            let bytes = data.records.as_ref().map_or(0, Bytes::len);
            found += bytes;
            left = left.saturating_sub(bytes);
            failed |= data.error_code != 0;
            partitions.push(data);
        }
        responses.push(
            FetchableTopicResponse::default()
                .with_topic(topic.topic.clone())
                .with_partitions(partitions),
        );
    }
    let wanted = usize::try_from(request.min_bytes).unwrap_or(0);
    let answer = FetchResponse::default().with_responses(responses);
    (answer, failed || found >= wanted)
}

fn one(
    topics: &Topics,
    tamper: Tamper,
    topic: &TopicName,
    asked: &FetchPartition,
    isolation: IsolationLevel,
    left: usize,
) -> PartitionData {
    const OFFSET_OUT_OF_RANGE: i16 = 1;
    const UNKNOWN_TOPIC_OR_PARTITION: i16 = 3;
    let refused = |code| {
        PartitionData::default()
            .with_partition_index(asked.partition)
            .with_error_code(code)
            .with_high_watermark(-1)
            .with_records(Some(Bytes::new()))
    };
    let at = TopicPartition::new(topic.as_str(), asked.partition);
    let Some(partition) = topics.get(&at) else {
        return refused(UNKNOWN_TOPIC_OR_PARTITION);
    };
    let Some(from) = Offset::from_wire(asked.fetch_offset) else {
        return refused(OFFSET_OUT_OF_RANGE);
    };
    let max_bytes = usize::try_from(asked.partition_max_bytes)
        .unwrap_or(0)
        .min(left);
    match partition.fetch(from, isolation, max_bytes) {
        Ok(fetched) => given(asked.partition, (tamper.gives)(fetched)),
        Err(code) => refused(code.code()),
    }
}

fn given(index: i32, fetched: Fetched) -> PartitionData {
    let mut records = BytesMut::new();
    for batch in &fetched.data.batches {
        records.extend_from_slice(batch.bytes());
    }
    let aborted = fetched.aborted_transactions.map(|list| {
        list.iter()
            .map(|it| {
                AbortedTransaction::default()
                    .with_producer_id(ProducerId(it.producer_id.get()))
                    .with_first_offset(it.first_offset.get())
            })
            .collect()
    });
    PartitionData::default()
        .with_partition_index(index)
        .with_high_watermark(fetched.high_watermark.get())
        .with_last_stable_offset(fetched.last_stable_offset.get())
        .with_log_start_offset(fetched.log_start_offset.get())
        .with_aborted_transactions(aborted)
        .with_records(Some(records.freeze()))
}
