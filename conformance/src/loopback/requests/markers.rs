//! WriteTxnMarkers: by hand, for the protocol crate lacks version 2 (KIP-1228), which adds the transaction version to
//! the end of each marker.

use bytes::Bytes;
use fencepost::error_code::ErrorCode;
use fencepost::group;
use fencepost::partition::{Input, WriteTxnMarker};
use fencepost::types::{
    CoordinatorEpoch, ProducerEpoch, ProducerId, RequestId, TopicPartition, TransactionResult,
    TransactionVersion,
};
use kafka_protocol::messages::write_txn_markers_response::{
    WritableTxnMarkerPartitionResult, WritableTxnMarkerResult, WritableTxnMarkerTopicResult,
};
use kafka_protocol::messages::{ProducerId as WireProducerId, TopicName, WriteTxnMarkersResponse};
use kafka_protocol::protocol::StrBytes;

use super::{Asked, Plan, by_topic, partition};
use crate::loopback::answer::body;
use crate::loopback::broker::OFFSETS_TOPIC;
use crate::loopback::desk::Desk;
use crate::wire::preflight::skip_tagged_fields;
use crate::wire::{Reader, WireError, malformed};

/// A marker as it stands on the wire.
struct Marker {
    producer_id: i64,
    producer_epoch: i16,
    result: TransactionResult,
    coordinator_epoch: i32,
    transaction_version: i16,
    asked: Asked,
}

pub(super) fn write_txn_markers(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let mut lists = Vec::new();
    for marker in read(desk.version(), bytes)? {
        let written = marker.written();
        for (topic, indexes) in &marker.asked {
            for index in indexes {
                ask(desk, partition(topic, *index), written.clone());
            }
        }
        lists.push((marker.producer_id, marker.asked));
    }
    Ok(Plan::Parts(Box::new(move |parts| {
        let mut parts = parts.into_iter();
        let markers = lists.into_iter().map(|(producer_id, asked)| {
            let count = asked.iter().map(|(_, indexes)| indexes.len()).sum();
            let own = parts.by_ref().take(count).collect();
            let topics = by_topic(asked, own, |_, index, part| {
                WritableTxnMarkerPartitionResult::default()
                    .with_partition_index(index)
                    .with_error_code(part.error().code())
            });
            let topics = topics.into_iter().map(|(name, lines)| {
                WritableTxnMarkerTopicResult::default()
                    .with_name(name)
                    .with_partitions(lines)
            });
            WritableTxnMarkerResult::default()
                .with_producer_id(WireProducerId(producer_id))
                .with_topics(topics.collect())
        });
        let answer = WriteTxnMarkersResponse::default().with_markers(markers.collect());
        // The answer of version 2 is that of version 1.
        body(1, &answer)
    })))
}

/// Brings a marker to its partition; one that no coordinator sends is refused here.
fn ask(desk: &mut Desk<'_>, at: TopicPartition, marker: Option<WriteTxnMarker>) {
    let Some(marker) = marker else {
        return desk.shell(ErrorCode::InvalidRequest);
    };
    if at.topic.as_str() == OFFSETS_TOPIC {
        desk.offsets_partition(at.partition, |request| {
            group::Input::WriteTxnMarker(WriteTxnMarker { request, ..marker })
        });
    } else {
        desk.data(at, |request| {
            Input::WriteTxnMarker(WriteTxnMarker { request, ..marker })
        });
    }
}

impl Marker {
    fn written(&self) -> Option<WriteTxnMarker> {
        Some(WriteTxnMarker {
            request: RequestId(0),
            producer_id: ProducerId::from_wire(self.producer_id)?,
            producer_epoch: ProducerEpoch::from_wire(self.producer_epoch)?,
            result: self.result,
            coordinator_epoch: CoordinatorEpoch::from_wire(self.coordinator_epoch)?,
            transaction_version: TransactionVersion::from_level(self.transaction_version)?,
        })
    }
}

fn read(version: i16, bytes: Bytes) -> Result<Vec<Marker>, WireError> {
    let mut reader = Reader::new(bytes);
    let mut markers = Vec::new();
    for _ in 0..count(&mut reader)? {
        let (producer_id, producer_epoch) = (reader.i64()?, reader.i16()?);
        let result = if reader.i8()? == 0 {
            TransactionResult::Abort
        } else {
            TransactionResult::Commit
        };
        let asked = topics(&mut reader)?;
        let coordinator_epoch = reader.i32()?;
        let transaction_version = if version >= 2 {
            i16::from(reader.i8()?)
        } else {
            TransactionVersion::V0.level()
        };
        skip_tags(&mut reader)?;
        markers.push(Marker {
            producer_id,
            producer_epoch,
            result,
            coordinator_epoch,
            transaction_version,
            asked,
        });
    }
    Ok(markers)
}

fn topics(reader: &mut Reader) -> Result<Asked, WireError> {
    let mut asked = Asked::new();
    for _ in 0..count(reader)? {
        let length = count(reader)?;
        let name =
            StrBytes::from_utf8(reader.take(length)?).map_err(|_| malformed("topic is no text"))?;
        let mut indexes = Vec::new();
        for _ in 0..count(reader)? {
            indexes.push(reader.i32()?);
        }
        skip_tags(reader)?;
        asked.push((TopicName(name), indexes));
    }
    Ok(asked)
}

/// A compact length or count.
fn count(reader: &mut Reader) -> Result<usize, WireError> {
    Ok(reader.unsigned_varint()?.saturating_sub(1) as usize)
}

fn skip_tags(reader: &mut Reader) -> Result<(), WireError> {
    let tags = skip_tagged_fields(&reader.rest())?;
    reader.take(tags).map(drop)
}
