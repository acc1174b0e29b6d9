//! From a request's frame to what the model is asked: only the requests that it knows.

use bytes::Bytes;
use kafka_protocol::messages::{
    AddOffsetsToTxnRequest, AddPartitionsToTxnRequest, ConsumerGroupHeartbeatRequest,
    DeleteGroupsRequest, DeleteTopicsRequest, EndTxnRequest, FetchRequest, InitProducerIdRequest,
    OffsetCommitRequest, OffsetDeleteRequest, OffsetFetchRequest, ProduceRequest, RequestHeader,
    TxnOffsetCommitRequest, WriteTxnMarkersRequest,
};
use kafka_protocol::protocol::{Decodable, HeaderVersion};

use super::pair;
use crate::observed::event::{Addition, Asked, MarkerAsked, Place, Sent};
use crate::wire::{Reader, read_batch_headers, read_markers};

/// A request's body, after its header.
fn body<R: Decodable + HeaderVersion>(version: i16, mut frame: Bytes) -> Option<R> {
    RequestHeader::decode(&mut frame, R::header_version(version)).ok()?;
    R::decode(&mut frame, version).ok()
}

/// The request in a frame, if the model knows it.
pub fn asked(key: i16, version: i16, frame: Bytes) -> Option<Asked> {
    match key {
        0 => produce(version, &body(version, frame)?),
        1 => fetch(&body(version, frame)?),
        8 => {
            let request: OffsetCommitRequest = body(version, frame)?;
            let offsets = request.topics.iter().flat_map(|topic| {
                let name = topic.name.to_string();
                let lines = topic.partitions.iter();
                lines.map(move |it| ((name.clone(), it.partition_index), it.committed_offset))
            });
            Some(Asked::OffsetCommit {
                group: request.group_id.to_string(),
                offsets: offsets.collect(),
            })
        }
        9 => Some(offset_fetch(&body(version, frame)?)),
        20 => {
            let request: DeleteTopicsRequest = body(version, frame)?;
            let named = request.topics.iter().filter_map(|it| it.name.as_ref());
            let names = request.topic_names.iter().chain(named);
            Some(Asked::DeleteTopics {
                topics: names.map(|it| it.to_string()).collect(),
            })
        }
        22 if version >= 6 => two_phase(frame),
        22 => {
            let request: InitProducerIdRequest = body(version, frame)?;
            let expected = (request.producer_id.0, request.producer_epoch);
            Some(Asked::InitProducerId {
                id: request.transactional_id.map(|id| id.to_string()),
                expected: (expected != (-1, -1)).then_some(expected),
                two_phase: false,
                keep_prepared: false,
            })
        }
        24 if version >= 4 => Some(additions(&body(version, frame)?)),
        24 => {
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
        27 => markers(version, frame),
        28 => {
            let request: TxnOffsetCommitRequest = body(version, frame)?;
            let offsets = request.topics.iter().flat_map(|topic| {
                let name = topic.name.to_string();
                let lines = topic.partitions.iter();
                lines.map(move |it| ((name.clone(), it.partition_index), it.committed_offset))
            });
            Some(Asked::TxnOffsetCommit {
                version,
                id: request.transactional_id.to_string(),
                producer: (request.producer_id.0, request.producer_epoch),
                group: request.group_id.to_string(),
                offsets: offsets.collect(),
            })
        }
        42 => {
            let request: DeleteGroupsRequest = body(version, frame)?;
            let groups = request.groups_names.iter().map(|it| it.to_string());
            Some(Asked::ForgetOffsets {
                groups: groups.collect(),
            })
        }
        47 => {
            let request: OffsetDeleteRequest = body(version, frame)?;
            Some(Asked::ForgetOffsets {
                groups: vec![request.group_id.to_string()],
            })
        }
        68 => {
            let request: ConsumerGroupHeartbeatRequest = body(version, frame)?;
            Some(Asked::ConsumerGroup {
                group: request.group_id.to_string(),
            })
        }
        _ => None,
    }
}

/// KIP-939's InitProducerId, which the protocol crate lacks.
fn two_phase(mut frame: Bytes) -> Option<Asked> {
    let header = InitProducerIdRequest::header_version(5);
    RequestHeader::decode(&mut frame, header).ok()?;
    let mut request = Reader::new(frame);
    let length = request.unsigned_varint().ok()?;
    let id = match length.checked_sub(1) {
        Some(length) => {
            let bytes = request.take(length as usize).ok()?;
            Some(String::from_utf8(bytes.to_vec()).ok()?)
        }
        None => None,
    };
    request.i32().ok()?;
    let expected = (request.i64().ok()?, request.i16().ok()?);
    Some(Asked::InitProducerId {
        id,
        expected: (expected != (-1, -1)).then_some(expected),
        two_phase: request.i8().ok()? != 0,
        keep_prepared: request.i8().ok()? != 0,
    })
}

fn additions(request: &AddPartitionsToTxnRequest) -> Asked {
    let transactions = request.transactions.iter().map(|it| {
        let partitions = it.topics.iter().flat_map(|topic| {
            let name = topic.name.to_string();
            topic.partitions.iter().map(move |it| (name.clone(), *it))
        });
        Addition {
            id: it.transactional_id.to_string(),
            producer: (it.producer_id.0, it.producer_epoch),
            verify_only: it.verify_only,
            partitions: partitions.collect(),
        }
    });
    Asked::BrokerAdditions {
        transactions: transactions.collect(),
    }
}

fn markers(version: i16, mut frame: Bytes) -> Option<Asked> {
    let header = WriteTxnMarkersRequest::header_version(1);
    RequestHeader::decode(&mut frame, header).ok()?;
    let markers = read_markers(version, frame).ok()?.into_iter().map(|it| {
        let partitions = it.topics.iter().flat_map(|(name, indexes)| {
            let name = name.to_string();
            indexes.iter().map(move |index| (name.clone(), *index))
        });
        MarkerAsked {
            producer: (it.producer.id, it.producer.epoch),
            commit: it.committed,
            coordinator_epoch: it.coordinator_epoch,
            version: it.transaction_version,
            partitions: partitions.collect(),
        }
    });
    Some(Asked::WriteTxnMarkers {
        markers: markers.collect(),
    })
}

/// From version 8 on a request has several groups.
fn offset_fetch(request: &OffsetFetchRequest) -> Asked {
    let one = || {
        let partitions = request.topics.as_ref().map(|topics| {
            let all = topics.iter().flat_map(|topic| {
                let name = topic.name.to_string();
                let indexes = topic.partition_indexes.iter();
                indexes.map(move |index| (name.clone(), *index))
            });
            all.collect()
        });
        vec![(request.group_id.to_string(), partitions)]
    };
    let several = request.groups.iter().map(|of| {
        let partitions = of.topics.as_ref().map(|topics| {
            let all = topics.iter().flat_map(|topic| {
                let name = topic.name.to_string();
                let indexes = topic.partition_indexes.iter();
                indexes.map(move |index| (name.clone(), *index))
            });
            all.collect()
        });
        (of.group_id.to_string(), partitions)
    });
    let groups: Vec<(String, Option<Vec<Place>>)> = several.collect();
    Asked::OffsetFetch {
        require_stable: request.require_stable,
        groups: if groups.is_empty() { one() } else { groups },
    }
}

/// Whether no answer will come: a Produce that wants no acknowledgement.
pub fn is_unanswered(key: i16, version: i16, frame: Bytes) -> bool {
    let produce = || body::<ProduceRequest>(version, frame);
    key == 0 && produce().is_some_and(|it| it.acks == 0)
}

/// Only requests whose every partition has one batch that can be read.
fn produce(version: i16, request: &ProduceRequest) -> Option<Asked> {
    let mut batches = Vec::new();
    for topic in &request.topic_data {
        for data in &topic.partition_data {
            let views = read_batch_headers(data.records.as_ref()?).ok()?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Batch, Producer};
    use bytes::BytesMut;
    use kafka_protocol::messages::TopicName;
    use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
    use kafka_protocol::protocol::{Encodable, StrBytes};

    /// A batch whose records are packed: GZIP, in bytes that nobody here unpacks.
    fn packed() -> Bytes {
        let producer = Producer { id: 7, epoch: 3 };
        let mut bytes = Batch::transactional(producer, 5, "value").encode().to_vec();
        bytes[22] |= 1;
        let crc = crc32c::crc32c(&bytes[21..]);
        bytes[17..21].copy_from_slice(&crc.to_be_bytes());
        Bytes::from(bytes)
    }

    #[test]
    fn a_compressed_batch_is_read_by_its_header() {
        let data = PartitionProduceData::default()
            .with_index(2)
            .with_records(Some(packed()));
        let topic = TopicProduceData::default()
            .with_name(TopicName(StrBytes::from_static_str("topic")))
            .with_partition_data(vec![data]);
        let request = ProduceRequest::default()
            .with_acks(-1)
            .with_topic_data(vec![topic]);
        let mut frame = BytesMut::new();
        let header = RequestHeader::default().with_request_api_version(11);
        let version = ProduceRequest::header_version(11);
        header.encode(&mut frame, version).expect("a header");
        request.encode(&mut frame, 11).expect("a request");
        let sent = Sent {
            at: ("topic".to_owned(), 2),
            producer: (7, 3),
            sequence: 5,
            count: 1,
            transactional: true,
        };
        let frame = frame.freeze();
        assert!(!is_unanswered(0, 11, frame.clone()));
        assert_eq!(
            asked(0, 11, frame),
            Some(Asked::Produce {
                version: 11,
                id: None,
                batches: vec![sent],
            })
        );
    }
}
