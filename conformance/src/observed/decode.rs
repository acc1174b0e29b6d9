//! From the wire's frames to events: only the requests that the model knows.

use bytes::Bytes;
use kafka_protocol::messages::{
    AddOffsetsToTxnRequest, AddOffsetsToTxnResponse, AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse, EndTxnRequest, EndTxnResponse, FetchRequest, FetchResponse,
    InitProducerIdRequest, InitProducerIdResponse, ProduceRequest, ProduceResponse, RequestHeader,
    ResponseHeader, TxnOffsetCommitRequest, TxnOffsetCommitResponse,
};
use kafka_protocol::protocol::{Decodable, HeaderVersion};

use super::event::{Answered, Asked, Fetched, Pair, Sent, Stored, Written};
use crate::wire::{BatchView, read_batches};

/// A request's body, after its header.
fn body<R: Decodable + HeaderVersion>(version: i16, mut frame: Bytes) -> Option<R> {
    RequestHeader::decode(&mut frame, R::header_version(version)).ok()?;
    R::decode(&mut frame, version).ok()
}

/// An answer's body, after its header.
pub fn answer_body<R: Decodable + HeaderVersion>(version: i16, mut frame: Bytes) -> Option<R> {
    ResponseHeader::decode(&mut frame, R::header_version(version)).ok()?;
    R::decode(&mut frame, version).ok()
}

/// The request in a frame, if the model knows it.
pub fn asked(key: i16, version: i16, frame: Bytes) -> Option<Asked> {
    match key {
        0 => produce(version, &body(version, frame)?),
        1 => fetch(&body(version, frame)?),
        22 => {
            let request: InitProducerIdRequest = body(version, frame)?;
            let expected = (request.producer_id.0, request.producer_epoch);
            Some(Asked::InitProducerId {
                id: request.transactional_id.map(|id| id.to_string()),
                expected: (expected.0 >= 0).then_some(expected),
            })
        }
        24 if version <= 3 => {
            let request: AddPartitionsToTxnRequest = body(version, frame)?;
            let partitions = request.v3_and_below_topics.iter().flat_map(|topic| {
                let name = topic.name.to_string();
                topic.partitions.iter().map(move |it| (name.clone(), *it))
            });
            Some(Asked::AddPartitions {
                id: request.v3_and_below_transactional_id.to_string(),
                producer: (
                    request.v3_and_below_producer_id.0,
                    request.v3_and_below_producer_epoch,
                ),
                partitions: partitions.collect(),
            })
        }
        25 => {
            let request: AddOffsetsToTxnRequest = body(version, frame)?;
            Some(Asked::AddOffsets {
                id: request.transactional_id.to_string(),
                producer: (request.producer_id.0, request.producer_epoch),
            })
        }
        26 => {
            let request: EndTxnRequest = body(version, frame)?;
            Some(Asked::EndTxn {
                version,
                id: request.transactional_id.to_string(),
                producer: (request.producer_id.0, request.producer_epoch),
                commit: request.committed,
            })
        }
        28 => {
            let request: TxnOffsetCommitRequest = body(version, frame)?;
            Some(Asked::TxnOffsetCommit {
                version,
                id: request.transactional_id.to_string(),
                producer: (request.producer_id.0, request.producer_epoch),
            })
        }
        _ => None,
    }
}

/// Only requests whose every partition has one batch that can be read.
fn produce(version: i16, request: &ProduceRequest) -> Option<Asked> {
    let mut batches = Vec::new();
    for topic in &request.topic_data {
        for data in &topic.partition_data {
            let views = read_batches(data.records.as_ref()?).ok()?;
            let [batch] = views.as_slice() else {
                return None;
            };
            batches.push(Sent {
                at: (topic.name.to_string(), data.index),
                producer: pair(batch),
                sequence: batch.base_sequence,
                count: i32::try_from(batch.last_offset - batch.base_offset + 1).ok()?,
                transactional: batch.transactional,
            });
        }
    }
    Some(Asked::Produce {
        version,
        id: request.transactional_id.as_ref().map(|id| id.to_string()),
        batches,
    })
}

fn fetch(request: &FetchRequest) -> Option<Asked> {
    let partitions = request.topics.iter().flat_map(|topic| {
        let name = topic.topic.to_string();
        topic
            .partitions
            .iter()
            .map(move |it| ((name.clone(), it.partition), it.fetch_offset))
    });
    Some(Asked::Fetch {
        committed: request.isolation_level == 1,
        partitions: partitions.collect(),
    })
}

/// The answer in a frame.
pub fn answered(key: i16, version: i16, frame: Bytes) -> Option<Answered> {
    match key {
        0 => {
            let answer: ProduceResponse = answer_body(version, frame)?;
            let written = answer.responses.iter().flat_map(|topic| {
                let name = topic.name.to_string();
                topic.partition_responses.iter().map(move |it| Written {
                    at: (name.clone(), it.index),
                    error: it.error_code,
                    offset: it.base_offset,
                })
            });
            Some(Answered::Produce {
                written: written.collect(),
            })
        }
        1 => fetched(&answer_body(version, frame)?),
        22 => {
            let answer: InitProducerIdResponse = answer_body(version, frame)?;
            Some(Answered::Identity {
                error: answer.error_code,
                producer: (answer.producer_id.0, answer.producer_epoch),
            })
        }
        24 => {
            let answer: AddPartitionsToTxnResponse = answer_body(version, frame)?;
            let errors = answer
                .results_by_topic_v3_and_below
                .iter()
                .flat_map(|topic| &topic.results_by_partition)
                .map(|it| it.partition_error_code);
            Some(plain(errors))
        }
        25 => {
            let answer: AddOffsetsToTxnResponse = answer_body(version, frame)?;
            Some(plain([answer.error_code].into_iter()))
        }
        26 => {
            let answer: EndTxnResponse = answer_body(version, frame)?;
            Some(Answered::Identity {
                error: answer.error_code,
                producer: (answer.producer_id.0, answer.producer_epoch),
            })
        }
        28 => {
            let answer: TxnOffsetCommitResponse = answer_body(version, frame)?;
            let errors = answer
                .topics
                .iter()
                .flat_map(|topic| &topic.partitions)
                .map(|it| it.error_code);
            Some(plain(errors))
        }
        _ => None,
    }
}

/// The first refusal, or none.
fn plain(mut errors: impl Iterator<Item = i16>) -> Answered {
    Answered::Plain {
        error: errors.find(|error| *error != 0).unwrap_or(0),
    }
}

fn fetched(answer: &FetchResponse) -> Option<Answered> {
    let mut partitions = Vec::new();
    for topic in &answer.responses {
        for data in &topic.partitions {
            let records = data.records.clone().unwrap_or_default();
            let aborted = data.aborted_transactions.iter().flatten();
            partitions.push(Fetched {
                at: (topic.topic.to_string(), data.partition_index),
                error: data.error_code,
                high_watermark: data.high_watermark,
                last_stable_offset: data.last_stable_offset,
                aborted: aborted
                    .map(|it| (it.producer_id.0, it.first_offset))
                    .collect(),
                batches: read_batches(&records).ok()?.iter().map(stored).collect(),
            });
        }
    }
    Some(Answered::Fetch { partitions })
}

fn stored(batch: &BatchView) -> Stored {
    Stored {
        offset: batch.base_offset,
        last: batch.last_offset,
        producer: pair(batch),
        sequence: batch.base_sequence,
        transactional: batch.transactional,
        marker: batch.control.map(|it| it.committed),
    }
}

fn pair(batch: &BatchView) -> Pair {
    (batch.producer.id, batch.producer.epoch)
}
