//! Produce, Fetch, ListOffsets.

use bytes::Bytes;
use fencepost::error_code::ErrorCode;
use fencepost::partition::{Acks, Answer, Input, Partition, Produce, TransactionSupport};
use fencepost::types::{IsolationLevel, TransactionalId};
use kafka_protocol::messages::list_offsets_response::{
    ListOffsetsPartitionResponse, ListOffsetsTopicResponse,
};
use kafka_protocol::messages::produce_response::{PartitionProduceResponse, TopicProduceResponse};
use kafka_protocol::messages::{
    ListOffsetsRequest, ListOffsetsResponse, ProduceRequest, ProduceResponse, TopicName,
};

use super::{Asked, Plan, by_topic, partition};
use crate::loopback::answer::{Part, body};
use crate::loopback::desk::Desk;
use crate::loopback::topics::{LEADER_EPOCH, Topics};
use crate::wire::WireError;

pub(super) fn produce(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let (request, version): (ProduceRequest, i16) = (desk.decode(bytes)?, desk.version());
    let acks = match request.acks {
        0 => Some(Acks::None),
        1 => Some(Acks::Leader),
        -1 => Some(Acks::All),
        _ => None,
    };
    let transactional_id = request.transactional_id.map(|id| TransactionalId::new(&id));
    let support = TransactionSupport::of_produce(version);
    let mut asked = Asked::new();
    for topic in request.topic_data {
        for data in &topic.partition_data {
            let Some(acks) = acks else {
                desk.shell(ErrorCode::InvalidRequiredAcks);
                continue;
            };
            let write = |request| {
                Input::Produce(Produce {
                    request,
                    transactional_id: transactional_id.clone(),
                    support,
                    acks,
                    records: data.records.clone().unwrap_or_default(),
                })
            };
            let at = partition(&topic.name, data.index);
            match acks {
                Acks::None => desk.data_unanswered(at, write),
                Acks::Leader | Acks::All => desk.data(at, write),
            }
        }
        let indexes = topic.partition_data.iter().map(|data| data.index);
        asked.push((topic.name, indexes.collect()));
    }
    Ok(Plan::Parts(Box::new(move |parts| {
        if acks == Some(Acks::None) {
            return Ok(None);
        }
        let topics = by_topic(asked, parts, |_, index, part| {
            produced(version, index, &part)
        });
        let responses = topics.into_iter().map(|(name, lines)| {
            TopicProduceResponse::default()
                .with_name(name)
                .with_partition_responses(lines)
        });
        body(
            version,
            &ProduceResponse::default().with_responses(responses.collect()),
        )
    })))
}

fn produced(version: i16, index: i32, part: &Part) -> PartitionProduceResponse {
    let line = PartitionProduceResponse::default().with_index(index);
    match part {
        Part::Data(Answer::Produce(Ok(produced))) => {
            let line = line.with_base_offset(produced.base_offset.get());
            if version >= 5 {
                line.with_log_start_offset(0)
            } else {
                line
            }
        }
        Part::Data(_) | Part::Coordinator(_) | Part::Group(_) | Part::Shell(_) => line
            .with_error_code(part.error().code())
            .with_base_offset(-1),
    }
}

pub(super) fn fetch(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    Ok(Plan::Fetch(desk.decode(bytes)?))
}

const LATEST: i64 = -1;
const EARLIEST: i64 = -2;

pub(super) fn list_offsets(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let (request, version): (ListOffsetsRequest, i16) = (desk.decode(bytes)?, desk.version());
    let isolation = match request.isolation_level {
        1 => IsolationLevel::ReadCommitted,
        _ => IsolationLevel::ReadUncommitted,
    };
    let topics = request.topics.into_iter().map(|topic| {
        let lines = topic.partitions.iter().map(|asked| {
            let line = ListOffsetsPartitionResponse::default()
                .with_partition_index(asked.partition_index)
                .with_timestamp(-1)
                .with_offset(-1);
            let at = (&topic.name, asked.partition_index);
            match listed(&desk.broker.topics, at, isolation, asked.timestamp) {
                Ok((timestamp, offset)) => {
                    let line = line.with_timestamp(timestamp).with_offset(offset);
                    if version >= 4 {
                        line.with_leader_epoch(LEADER_EPOCH.get())
                    } else {
                        line
                    }
                }
                Err(code) => line.with_error_code(code.code()),
            }
        });
        let lines = lines.collect();
        ListOffsetsTopicResponse::default()
            .with_name(topic.name)
            .with_partitions(lines)
    });
    let answer = ListOffsetsResponse::default().with_topics(topics.collect());
    Ok(Plan::Body(body(version, &answer)))
}

/// Timestamp and offset: of the end, of the start, or of the first batch that is not older than a time.
fn listed(
    topics: &Topics,
    (topic, index): (&TopicName, i32),
    isolation: IsolationLevel,
    timestamp: i64,
) -> Result<(i64, i64), ErrorCode> {
    let found = topics
        .get(&partition(topic, index))
        .ok_or(ErrorCode::UnknownTopicOrPartition)?;
    match timestamp {
        LATEST => Ok((-1, found.fetch_bound(isolation).get())),
        EARLIEST => Ok((-1, found.log().start_offset().get())),
        0.. => Ok(first_at(found, isolation, timestamp).unwrap_or((-1, -1))),
        _ => Err(ErrorCode::InvalidRequest),
    }
}

fn first_at(found: &Partition, isolation: IsolationLevel, timestamp: i64) -> Option<(i64, i64)> {
    let bound = found.fetch_bound(isolation);
    let log = found.log();
    log.batches_from(log.start_offset())
        .take_while(|batch| batch.next_offset() <= bound)
        .map(|batch| {
            (
                batch.header().max_timestamp.as_millis(),
                batch.base_offset().get(),
            )
        })
        .find(|(at, _)| *at >= timestamp)
}
