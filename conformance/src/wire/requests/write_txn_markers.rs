//! WriteTxnMarkers v1 by the protocol crate, v2 (KIP-1228) by hand: v2 only adds a byte, the
//! transaction version, to the end of each marker.

use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::messages::write_txn_markers_request::{
    WritableTxnMarker, WritableTxnMarkerTopic,
};
use kafka_protocol::messages::write_txn_markers_response::WritableTxnMarkerPartitionResult;
use kafka_protocol::messages::{ProducerId, WriteTxnMarkersRequest, WriteTxnMarkersResponse};
use kafka_protocol::protocol::{Decodable, Encodable};

use super::{ErrorCode, Producer, TopicPartition, TransactionResult, WireError, only, topic_name};
use crate::wire::{Connection, Frame, preflight, shapes};

/// A marker for one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Producer id, and the epoch that the marker carries.
    pub producer: Producer,
    /// Commit or abort.
    pub result: TransactionResult,
    /// Epoch of the coordinator.
    pub coordinator_epoch: i32,
    /// The transaction version that v2 carries; not sent in v1.
    pub transaction_version: i8,
    /// Where it is to be written.
    pub partition: TopicPartition,
}

impl Connection {
    /// WriteTxnMarkers with one marker, v1 or v2.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn write_txn_markers(
        &mut self,
        version: i16,
        marker: &Marker,
    ) -> Result<ErrorCode, WireError> {
        let answer = if version <= 1 {
            self.call(version, &request(marker))?
        } else {
            self.write_txn_markers_by_hand(version, marker)?
        };
        let marker = only(answer.markers, "markers")?;
        let topic = only(marker.topics, "topics")?;
        let result: WritableTxnMarkerPartitionResult = only(topic.partitions, "partitions")?;
        Ok(ErrorCode(result.error_code))
    }

    fn write_txn_markers_by_hand(
        &mut self,
        version: i16,
        marker: &Marker,
    ) -> Result<WriteTxnMarkersResponse, WireError> {
        let mut encoded = BytesMut::new();
        request(marker)
            .encode(&mut encoded, 1)
            .map_err(|error| WireError::Unencodable(error.to_string()))?;
        // The v1 body ends with the marker's and the request's empty tagged fields, a byte each.
        let mut body = BytesMut::from(&encoded[..encoded.len() - 2]);
        body.put_i8(marker.transaction_version);
        body.put_slice(&[0, 0]);
        let frame = Frame {
            api_key: 27,
            api_version: version,
            request_header: 2,
            response_header: 1,
        };
        let mut answer: Bytes = self.call_raw(frame, &body)?;
        preflight::check(&shapes::WRITE_TXN_MARKERS, 1, &answer)?;
        WriteTxnMarkersResponse::decode(&mut answer, 1)
            .map_err(|error| WireError::Malformed(error.to_string()))
    }
}

fn request(marker: &Marker) -> WriteTxnMarkersRequest {
    let topic = WritableTxnMarkerTopic::default()
        .with_name(topic_name(&marker.partition.topic))
        .with_partition_indexes(vec![marker.partition.partition]);
    let written = WritableTxnMarker::default()
        .with_producer_id(ProducerId(marker.producer.id))
        .with_producer_epoch(marker.producer.epoch)
        .with_transaction_result(marker.result == TransactionResult::Commit)
        .with_topics(vec![topic])
        .with_coordinator_epoch(marker.coordinator_epoch);
    WriteTxnMarkersRequest::default().with_markers(vec![written])
}
