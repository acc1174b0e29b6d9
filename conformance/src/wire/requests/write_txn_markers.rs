//! WriteTxnMarkers v1 by the protocol crate, v2 (KIP-1228) by hand: v2 only adds a byte, the
//! transaction version, to the end of each marker.

use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::messages::write_txn_markers_request::{
    WritableTxnMarker, WritableTxnMarkerTopic,
};
use kafka_protocol::messages::write_txn_markers_response::WritableTxnMarkerPartitionResult;
use kafka_protocol::messages::{ProducerId, WriteTxnMarkersRequest, WriteTxnMarkersResponse};
use kafka_protocol::protocol::{Decodable, Encodable, StrBytes};

use super::{ErrorCode, Producer, TopicPartition, TransactionResult, WireError, only, topic_name};
use crate::wire::preflight::skip_tagged_fields;
use crate::wire::{Connection, Frame, Reader, malformed, preflight, shapes};

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

/// A marker of a request as it stands on the wire, with its partitions by topic.
pub(crate) struct AskedMarker {
    pub(crate) producer: Producer,
    pub(crate) committed: bool,
    pub(crate) coordinator_epoch: i32,
    /// 0 where the request does not say.
    pub(crate) transaction_version: i8,
    pub(crate) topics: Vec<(StrBytes, Vec<i32>)>,
}

/// The markers of a request's body, by hand for every version.
pub(crate) fn read_markers(version: i16, body: Bytes) -> Result<Vec<AskedMarker>, WireError> {
    let mut reader = Reader::new(body);
    let mut markers = Vec::new();
    for _ in 0..count(&mut reader)? {
        let producer = Producer {
            id: reader.i64()?,
            epoch: reader.i16()?,
        };
        let committed = reader.i8()? != 0;
        let topics = read_topics(&mut reader)?;
        let coordinator_epoch = reader.i32()?;
        let transaction_version = if version >= 2 { reader.i8()? } else { 0 };
        skip_tags(&mut reader)?;
        markers.push(AskedMarker {
            producer,
            committed,
            coordinator_epoch,
            transaction_version,
            topics,
        });
    }
    Ok(markers)
}

fn read_topics(reader: &mut Reader) -> Result<Vec<(StrBytes, Vec<i32>)>, WireError> {
    let mut topics = Vec::new();
    for _ in 0..count(reader)? {
        let length = count(reader)?;
        let name =
            StrBytes::from_utf8(reader.take(length)?).map_err(|_| malformed("topic is no text"))?;
        let mut indexes = Vec::new();
        for _ in 0..count(reader)? {
            indexes.push(reader.i32()?);
        }
        skip_tags(reader)?;
        topics.push((name, indexes));
    }
    Ok(topics)
}

/// A compact length or count.
fn count(reader: &mut Reader) -> Result<usize, WireError> {
    Ok(reader.unsigned_varint()?.saturating_sub(1) as usize)
}

fn skip_tags(reader: &mut Reader) -> Result<(), WireError> {
    let tags = skip_tagged_fields(&reader.rest())?;
    reader.take(tags).map(drop)
}
