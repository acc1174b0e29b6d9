//! Writes batches: control batches, a group coordinator's records, and data in tests and tools.

use bytes::{BufMut, Bytes};

use super::control::EndTxnMarker;
use super::error::BatchError;
use super::header::{BatchProducer, CRC_AT, CRC_COVERS_FROM, HEADER_LEN, LOG_OVERHEAD, attributes};
use super::record_batch::RecordBatch;
use super::varint::{put_i32, put_i64};
use crate::types::{LeaderEpoch, Offset, ProducerEpoch, ProducerId, Sequence, Timestamp};

/// A header of a record to write.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NewHeader {
    /// The name.
    pub key: Bytes,
    /// The value.
    pub value: Option<Bytes>,
}

/// A record to write.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NewRecord {
    /// Its time, in milliseconds.
    pub timestamp: Timestamp,
    /// Its key.
    pub key: Option<Bytes>,
    /// Its value; none is a tombstone.
    pub value: Option<Bytes>,
    /// Its headers, in order.
    pub headers: Vec<NewHeader>,
}

impl NewRecord {
    /// A record without headers.
    #[must_use]
    pub fn new(timestamp: Timestamp, key: Option<Bytes>, value: Option<Bytes>) -> Self {
        Self {
            timestamp,
            key,
            value,
            headers: Vec::new(),
        }
    }
}

/// A batch to write, uncompressed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NewBatch {
    /// The offset of its first record.
    pub base_offset: Offset,
    /// The leadership that appends it.
    pub leader_epoch: Option<LeaderEpoch>,
    /// Who writes.
    pub producer: Option<BatchProducer>,
    /// Whether it belongs to a transaction.
    pub is_transactional: bool,
    /// Whether it holds a marker.
    pub is_control: bool,
    /// The records.
    pub records: Vec<NewRecord>,
}

impl NewBatch {
    /// The batch that ends the transaction of a producer in one partition.
    #[must_use]
    pub fn end_txn_marker(
        producer_id: ProducerId,
        producer_epoch: ProducerEpoch,
        marker: EndTxnMarker,
        timestamp: Timestamp,
    ) -> Self {
        Self {
            base_offset: Offset::ZERO,
            leader_epoch: None,
            producer: Some(BatchProducer {
                producer_id,
                producer_epoch,
                base_sequence: None,
            }),
            is_transactional: true,
            is_control: true,
            records: vec![NewRecord::new(
                timestamp,
                Some(marker.key()),
                Some(marker.value()),
            )],
        }
    }

    /// The bytes, as a batch that has been read back.
    ///
    /// # Errors
    /// [`BatchError::RecordCount`] without records or with more than a batch can count, [`BatchError::Length`] when
    /// the batch is larger than its length field, [`BatchError::OffsetRange`] when its offsets do not exist.
    pub fn write(&self) -> Result<RecordBatch, BatchError> {
        let first = self.records.first().ok_or(BatchError::RecordCount(0))?;
        let count =
            i32::try_from(self.records.len()).map_err(|_| BatchError::RecordCount(i32::MAX))?;
        let base_timestamp = first.timestamp;
        let max_timestamp = self
            .records
            .iter()
            .map(|record| record.timestamp)
            .max()
            .unwrap_or(base_timestamp);
        let producer = self.producer;
        let mut out = Vec::with_capacity(HEADER_LEN);
        out.put_i64(self.base_offset.get());
        out.put_i32(0);
        out.put_i32(LeaderEpoch::to_wire(self.leader_epoch));
        out.put_i8(2);
        out.put_u32(0);
        out.put_i16(attributes(self.is_transactional, self.is_control));
        out.put_i32(count - 1);
        out.put_i64(base_timestamp.as_millis());
        out.put_i64(max_timestamp.as_millis());
        out.put_i64(ProducerId::to_wire(producer.map(|it| it.producer_id)));
        out.put_i16(ProducerEpoch::to_wire(producer.map(|it| it.producer_epoch)));
        out.put_i32(Sequence::to_wire(producer.and_then(|it| it.base_sequence)));
        out.put_i32(count);
        let mut body = Vec::new();
        for (delta, record) in (0..count).zip(&self.records) {
            body.clear();
            put_record(&mut body, record, base_timestamp, delta)?;
            put_i32(&mut out, checked_length(body.len())?);
            out.extend_from_slice(&body);
        }
        let length = checked_length(out.len())? - LOG_OVERHEAD as i32;
        out[8..LOG_OVERHEAD].copy_from_slice(&length.to_be_bytes());
        let crc = crc32c::crc32c(&out[CRC_COVERS_FROM..]);
        out[CRC_AT..CRC_COVERS_FROM].copy_from_slice(&crc.to_be_bytes());
        RecordBatch::parse(out.into())
    }
}

fn put_record(
    out: &mut Vec<u8>,
    record: &NewRecord,
    base_timestamp: Timestamp,
    offset_delta: i32,
) -> Result<(), BatchError> {
    out.put_i8(0);
    put_i64(out, record.timestamp.millis_since(base_timestamp));
    put_i32(out, offset_delta);
    put_bytes(out, record.key.as_deref())?;
    put_bytes(out, record.value.as_deref())?;
    put_i32(out, checked_length(record.headers.len())?);
    for header in &record.headers {
        put_bytes(out, Some(&header.key))?;
        put_bytes(out, header.value.as_deref())?;
    }
    Ok(())
}

fn put_bytes(out: &mut Vec<u8>, bytes: Option<&[u8]>) -> Result<(), BatchError> {
    let Some(bytes) = bytes else {
        put_i32(out, -1);
        return Ok(());
    };
    put_i32(out, checked_length(bytes.len())?);
    out.extend_from_slice(bytes);
    Ok(())
}

fn checked_length(length: usize) -> Result<i32, BatchError> {
    i32::try_from(length).map_err(|_| BatchError::Length(i32::MAX))
}
