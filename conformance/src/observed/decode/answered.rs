//! From an answer's frame to what the model is asked about.

use bytes::Bytes;
use kafka_protocol::messages::{
    AddOffsetsToTxnResponse, AddPartitionsToTxnResponse, ConsumerGroupHeartbeatResponse,
    DeleteGroupsResponse, DeleteTopicsResponse, EndTxnResponse, FetchResponse,
    InitProducerIdResponse, OffsetCommitResponse, OffsetDeleteResponse, OffsetFetchResponse,
    ProduceResponse, ResponseHeader, TopicName, TxnOffsetCommitResponse, WriteTxnMarkersResponse,
};
use kafka_protocol::protocol::{Decodable, HeaderVersion};

use super::pair;
use crate::observed::event::{Answered, Fetched, OffsetsOf, Stored, Verdict, Written};
use crate::wire::{BatchView, Reader, read_batch_headers};

/// An answer's body, after its header.
fn answer_body<R: Decodable + HeaderVersion>(version: i16, mut frame: Bytes) -> Option<R> {
    ResponseHeader::decode(&mut frame, R::header_version(version)).ok()?;
    R::decode(&mut frame, version).ok()
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
        8 => {
            let answer: OffsetCommitResponse = answer_body(version, frame)?;
            let lines = answer.topics.iter().flat_map(|topic| {
                let lines = topic.partitions.iter();
                lines.map(|it| verdict("", &topic.name, it.partition_index, it.error_code))
            });
            Some(Answered::Each {
                verdicts: lines.collect(),
            })
        }
        9 => Some(offsets(&answer_body(version, frame)?)),
        20 => {
            let answer: DeleteTopicsResponse = answer_body(version, frame)?;
            Some(plain(answer.responses.iter().map(|it| it.error_code)))
        }
        22 if version >= 6 => prepared_identity(frame),
        22 => {
            let answer: InitProducerIdResponse = answer_body(version, frame)?;
            Some(Answered::Identity {
                error: answer.error_code,
                producer: (answer.producer_id.0, answer.producer_epoch),
                ongoing: None,
            })
        }
        24 if version >= 4 => Some(added(&answer_body(version, frame)?)),
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
                ongoing: None,
            })
        }
        // The answer of version 2 is that of version 1.
        27 => Some(marked(&answer_body(1, frame)?)),
        28 => {
            let answer: TxnOffsetCommitResponse = answer_body(version, frame)?;
            let errors = answer
                .topics
                .iter()
                .flat_map(|topic| &topic.partitions)
                .map(|it| it.error_code);
            Some(plain(errors))
        }
        42 => {
            let answer: DeleteGroupsResponse = answer_body(version, frame)?;
            Some(plain(answer.results.iter().map(|it| it.error_code)))
        }
        47 => {
            let answer: OffsetDeleteResponse = answer_body(version, frame)?;
            Some(plain([answer.error_code].into_iter()))
        }
        68 => {
            let answer: ConsumerGroupHeartbeatResponse = answer_body(version, frame)?;
            Some(plain([answer.error_code].into_iter()))
        }
        _ => None,
    }
}

/// KIP-939, which the protocol crate lacks.
fn prepared_identity(mut frame: Bytes) -> Option<Answered> {
    let header = InitProducerIdResponse::header_version(5);
    ResponseHeader::decode(&mut frame, header).ok()?;
    let mut answer = Reader::new(frame);
    answer.i32().ok()?;
    let error = answer.i16().ok()?;
    let producer = (answer.i64().ok()?, answer.i16().ok()?);
    let ongoing = (answer.i64().ok()?, answer.i16().ok()?);
    Some(Answered::Identity {
        error,
        producer,
        ongoing: (ongoing.0 >= 0).then_some(ongoing),
    })
}

fn verdict(of: &str, topic: &TopicName, index: i32, error: i16) -> Verdict {
    Verdict {
        of: of.to_owned(),
        at: (topic.to_string(), index),
        error,
    }
}

fn added(answer: &AddPartitionsToTxnResponse) -> Answered {
    let verdicts = answer.results_by_transaction.iter().flat_map(|of| {
        of.topic_results.iter().flat_map(|topic| {
            let lines = topic.results_by_partition.iter();
            lines.map(|it| {
                let error = match answer.error_code {
                    0 => it.partition_error_code,
                    error => error,
                };
                verdict(&of.transactional_id, &topic.name, it.partition_index, error)
            })
        })
    });
    Answered::Each {
        verdicts: verdicts.collect(),
    }
}

fn marked(answer: &WriteTxnMarkersResponse) -> Answered {
    let verdicts = answer.markers.iter().flat_map(|of| {
        let producer = of.producer_id.0.to_string();
        of.topics.iter().flat_map(move |topic| {
            let producer = producer.clone();
            let lines = topic.partitions.iter();
            lines.map(move |it| verdict(&producer, &topic.name, it.partition_index, it.error_code))
        })
    });
    Answered::Each {
        verdicts: verdicts.collect(),
    }
}

/// Up to version 7 one group stands in the answer itself, without its name.
fn offsets(answer: &OffsetFetchResponse) -> Answered {
    let whole = OffsetsOf {
        group: String::new(),
        error: answer.error_code,
        offsets: answer
            .topics
            .iter()
            .flat_map(|topic| {
                let lines = topic.partitions.iter();
                lines.map(|it| {
                    let at = (topic.name.to_string(), it.partition_index);
                    (at, it.committed_offset, it.error_code)
                })
            })
            .collect(),
    };
    let named = answer.groups.iter().map(|of| OffsetsOf {
        group: of.group_id.to_string(),
        error: of.error_code,
        offsets: of
            .topics
            .iter()
            .flat_map(|topic| {
                let lines = topic.partitions.iter();
                lines.map(|it| {
                    let at = (topic.name.to_string(), it.partition_index);
                    (at, it.committed_offset, it.error_code)
                })
            })
            .collect(),
    });
    let groups: Vec<OffsetsOf> = named.collect();
    Answered::Offsets {
        groups: if groups.is_empty() {
            vec![whole]
        } else {
            groups
        },
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
                batches: read_batch_headers(&records)
                    .ok()?
                    .iter()
                    .map(stored)
                    .collect(),
            });
        }
    }
    Some(Answered::Fetch { partitions })
}

/// A batch as a log holds it.
pub fn stored(batch: &BatchView) -> Stored {
    Stored {
        offset: batch.base_offset,
        last: batch.last_offset,
        producer: pair(batch),
        sequence: batch.base_sequence,
        transactional: batch.transactional,
        marker: batch.control.map(|it| it.committed),
    }
}
