//! The fixed 61 bytes in front of a batch's records.

use bytes::Buf;

use super::error::BatchError;
use crate::types::{LeaderEpoch, Offset, ProducerEpoch, ProducerId, Sequence, Timestamp};

/// Bytes from the base offset to the record count.
pub const HEADER_LEN: usize = 61;
/// Bytes in front of those that the length field counts.
pub(super) const LOG_OVERHEAD: usize = 12;
/// Where the leader epoch lies.
pub(super) const LEADER_EPOCH_AT: usize = 12;
/// Where the bytes begin that the checksum covers: the attributes.
pub(super) const CRC_COVERS_FROM: usize = 21;
/// Where the checksum lies.
pub(super) const CRC_AT: usize = 17;
const MAGIC: i8 = 2;

const COMPRESSION_MASK: i16 = 0b0111;
const TRANSACTIONAL_BIT: i16 = 0b1_0000;
const CONTROL_BIT: i16 = 0b10_0000;

/// How the records of a batch are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip.
    Gzip,
    /// snappy.
    Snappy,
    /// lz4.
    Lz4,
    /// zstd.
    Zstd,
}

impl Compression {
    fn from_attributes(attributes: i16) -> Result<Self, BatchError> {
        match attributes & COMPRESSION_MASK {
            0 => Ok(Self::None),
            1 => Ok(Self::Gzip),
            2 => Ok(Self::Snappy),
            3 => Ok(Self::Lz4),
            4 => Ok(Self::Zstd),
            unknown => Err(BatchError::Compression(unknown as u8)),
        }
    }
}

/// Who wrote a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchProducer {
    /// The producer id.
    pub producer_id: ProducerId,
    /// The epoch of that id.
    pub producer_epoch: ProducerEpoch,
    /// The sequence of the first record; none on markers and on a group coordinator's records.
    pub base_sequence: Option<Sequence>,
}

/// A batch's header, read once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// The offset of the first record.
    pub base_offset: Offset,
    /// The leadership under which the batch was appended.
    pub leader_epoch: Option<LeaderEpoch>,
    /// How the records are compressed.
    pub compression: Compression,
    /// Whether the batch belongs to a transaction.
    pub is_transactional: bool,
    /// Whether the batch holds a marker rather than data.
    pub is_control: bool,
    /// Offsets from the first record to the last one; at least 0.
    pub last_offset_delta: i32,
    /// The time that record timestamps count from, in milliseconds; -1 says that the producer gave none.
    pub base_timestamp: Timestamp,
    /// The latest record timestamp, in milliseconds; -1 says that the producer gave none.
    pub max_timestamp: Timestamp,
    /// Who wrote it; none for a producer that is not idempotent.
    pub producer: Option<BatchProducer>,
    /// How many records follow; at least 0.
    pub record_count: i32,
}

impl Header {
    /// Reads the header of a batch that is whole: `batch` is cut to the announced length, which is at least
    /// [`HEADER_LEN`].
    ///
    /// # Errors
    /// Whatever [`BatchError`] says about a header, the checksum included.
    pub(super) fn read(batch: &[u8]) -> Result<Self, BatchError> {
        let (mut head, _) = batch
            .split_at_checked(HEADER_LEN)
            .ok_or(BatchError::Truncated {
                needed: HEADER_LEN as u64,
                available: batch.len() as u64,
            })?;
        let base_offset = head.get_i64();
        let _length = head.get_i32();
        let leader_epoch = head.get_i32();
        let magic = head.get_i8();
        if magic != MAGIC {
            return Err(BatchError::Magic(magic));
        }
        let stored = head.get_u32();
        let computed = crc32c::crc32c(&batch[CRC_COVERS_FROM..]);
        if seeded!(TornBatchAccepted, stored != computed, false) {
            return Err(BatchError::Crc { stored, computed });
        }
        let attributes = head.get_i16();
        let last_offset_delta = head.get_i32();
        let base_timestamp = Timestamp::from_millis(head.get_i64());
        let max_timestamp = Timestamp::from_millis(head.get_i64());
        let producer = producer(head.get_i64(), head.get_i16(), head.get_i32())?;
        let record_count = head.get_i32();
        if record_count < 0 {
            return Err(BatchError::RecordCount(record_count));
        }
        Ok(Self {
            base_offset: checked_base(base_offset, last_offset_delta)?,
            leader_epoch: LeaderEpoch::from_wire(leader_epoch),
            compression: Compression::from_attributes(attributes)?,
            is_transactional: attributes & TRANSACTIONAL_BIT != 0,
            is_control: attributes & CONTROL_BIT != 0,
            last_offset_delta,
            base_timestamp,
            max_timestamp,
            producer,
            record_count,
        })
    }
}

fn producer(id: i64, epoch: i16, sequence: i32) -> Result<Option<BatchProducer>, BatchError> {
    let Some(producer_id) = ProducerId::from_wire(id) else {
        return Ok(None);
    };
    Ok(Some(BatchProducer {
        producer_id,
        producer_epoch: ProducerEpoch::from_wire(epoch).ok_or(BatchError::ProducerEpoch)?,
        base_sequence: Sequence::from_wire(sequence),
    }))
}

/// The base offset, when the offset after the last record exists too.
fn checked_base(base: i64, last_offset_delta: i32) -> Result<Offset, BatchError> {
    let base = Offset::from_wire(base).ok_or(BatchError::OffsetRange)?;
    base.plus(i64::from(last_offset_delta))
        .and_then(|last| last.plus(1))
        .ok_or(BatchError::OffsetRange)?;
    Ok(base)
}

/// The attributes field of an uncompressed batch with timestamps set by its writer.
pub(super) fn attributes(is_transactional: bool, is_control: bool) -> i16 {
    let transactional = if is_transactional {
        TRANSACTIONAL_BIT
    } else {
        0
    };
    let control = if is_control { CONTROL_BIT } else { 0 };
    transactional | control
}
