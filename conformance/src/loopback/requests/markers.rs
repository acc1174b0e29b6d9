//! WriteTxnMarkers.

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

use super::{Asked, Plan, by_topic, partition};
use crate::loopback::answer::body;
use crate::loopback::broker::OFFSETS_TOPIC;
use crate::loopback::desk::Desk;
use crate::wire::{AskedMarker, WireError, read_markers};

pub(super) fn write_txn_markers(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let mut lists = Vec::new();
    for marker in read_markers(desk.version(), bytes)? {
        let written = written(&marker);
        let topics = marker.topics.into_iter();
        let asked: Asked = topics.map(|(name, it)| (TopicName(name), it)).collect();
        for (topic, indexes) in &asked {
            for index in indexes {
                ask(desk, partition(topic, *index), written.clone());
            }
        }
        lists.push((marker.producer.id, asked));
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

fn written(marker: &AskedMarker) -> Option<WriteTxnMarker> {
    Some(WriteTxnMarker {
        request: RequestId(0),
        producer_id: ProducerId::from_wire(marker.producer.id)?,
        producer_epoch: ProducerEpoch::from_wire(marker.producer.epoch)?,
        result: if marker.committed {
            TransactionResult::Commit
        } else {
            TransactionResult::Abort
        },
        coordinator_epoch: CoordinatorEpoch::from_wire(marker.coordinator_epoch)?,
        transaction_version: TransactionVersion::from_level(i16::from(marker.transaction_version))?,
    })
}
