//! One whole batch: its raw bytes and its header.

use bytes::{Bytes, BytesMut};

use super::control::ControlRecord;
use super::error::BatchError;
use super::header::{
    BatchProducer, Compression, HEADER_LEN, Header, LEADER_EPOCH_AT, LOG_OVERHEAD,
};
use super::record::Records;
use crate::types::{LeaderEpoch, Offset, Sequence};

/// A batch whose header and checksum have been found good. The records inside are checked by
/// [`RecordBatch::check_records`] or while [`RecordBatch::records`] reads them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordBatch {
    bytes: Bytes,
    header: Header,
}

impl RecordBatch {
    /// Reads bytes that hold exactly one batch.
    ///
    /// # Errors
    /// Any [`BatchError`] of a header, and `TrailingBytes` when more follows.
    pub fn parse(bytes: Bytes) -> Result<Self, BatchError> {
        let (batch, rest) = Self::parse_first(bytes)?;
        if rest.is_empty() {
            Ok(batch)
        } else {
            Err(BatchError::TrailingBytes)
        }
    }

    /// Reads the first batch and returns it with the bytes after it.
    ///
    /// # Errors
    /// Any [`BatchError`] of a header.
    pub fn parse_first(mut bytes: Bytes) -> Result<(Self, Bytes), BatchError> {
        let available = bytes.len() as u64;
        let truncated = |needed: usize| BatchError::Truncated {
            needed: needed as u64,
            available,
        };
        let length = bytes
            .get(8..LOG_OVERHEAD)
            .and_then(|field| <[u8; 4]>::try_from(field).ok())
            .map(i32::from_be_bytes)
            .ok_or_else(|| truncated(HEADER_LEN))?;
        let whole = usize::try_from(length)
            .ok()
            .and_then(|length| length.checked_add(LOG_OVERHEAD))
            .filter(|whole| *whole >= HEADER_LEN)
            .ok_or(BatchError::Length(length))?;
        if bytes.len() < whole {
            return Err(truncated(whole));
        }
        let rest = bytes.split_off(whole);
        let header = Header::read(&bytes)?;
        Ok((Self { bytes, header }, rest))
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The raw bytes.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The offset of the first record.
    #[must_use]
    pub fn base_offset(&self) -> Offset {
        self.header.base_offset
    }

    /// The offset of the last record.
    #[must_use]
    pub fn last_offset(&self) -> Offset {
        Offset::new(self.header.base_offset.get() + i64::from(self.header.last_offset_delta))
    }

    /// The offset after the last record.
    #[must_use]
    pub fn next_offset(&self) -> Offset {
        Offset::new(self.last_offset().get() + 1)
    }

    /// Who wrote it.
    #[must_use]
    pub fn producer(&self) -> Option<BatchProducer> {
        self.header.producer
    }

    /// The sequence of the last record, where the batch has sequences.
    #[must_use]
    pub fn last_sequence(&self) -> Option<Sequence> {
        let first = self.header.producer?.base_sequence?;
        Some(first.plus(self.header.last_offset_delta))
    }

    /// The records of an uncompressed batch.
    ///
    /// # Errors
    /// [`BatchError::Compressed`]; later items are errors where a record is malformed.
    pub fn records(&self) -> Result<Records<'_>, BatchError> {
        if self.header.compression != Compression::None {
            return Err(BatchError::Compressed);
        }
        Ok(Records::new(&self.header, &self.bytes[HEADER_LEN..]))
    }

    /// Reads every record of an uncompressed batch once; a compressed batch is left to whoever can open it.
    ///
    /// # Errors
    /// The first [`BatchError`] that a record gives.
    pub fn check_records(&self) -> Result<(), BatchError> {
        match self.header.compression {
            Compression::None => self.records()?.try_for_each(|record| record.map(drop)),
            Compression::Gzip | Compression::Snappy | Compression::Lz4 | Compression::Zstd => {
                Ok(())
            }
        }
    }

    /// The control record of a control batch; `None` for a data batch and for a control batch whose record compaction
    /// has removed (B67: such a batch is legal, and says nothing).
    ///
    /// # Errors
    /// A malformed record, or a key or value that is not a control record's.
    pub fn control_record(&self) -> Result<Option<ControlRecord>, BatchError> {
        if !self.header.is_control {
            return Ok(None);
        }
        match self.records()?.next() {
            None => Ok(None),
            Some(record) => ControlRecord::read(&record?).map(Some),
        }
    }

    /// The same batch at another place in the log. The two fields that change are not under the checksum.
    ///
    /// # Errors
    /// [`BatchError::OffsetRange`] when the last offset would be past the largest one.
    pub fn placed_at(
        self,
        base_offset: Offset,
        leader_epoch: Option<LeaderEpoch>,
    ) -> Result<Self, BatchError> {
        let mut header = self.header;
        base_offset
            .plus(i64::from(header.last_offset_delta))
            .and_then(|last| last.plus(1))
            .ok_or(BatchError::OffsetRange)?;
        header.base_offset = base_offset;
        header.leader_epoch = leader_epoch;
        // No copy where this is the only holder of the bytes.
        let mut bytes = self
            .bytes
            .try_into_mut()
            .unwrap_or_else(|shared| BytesMut::from(&shared[..]));
        bytes[..8].copy_from_slice(&base_offset.get().to_be_bytes());
        bytes[LEADER_EPOCH_AT..LEADER_EPOCH_AT + 4]
            .copy_from_slice(&LeaderEpoch::to_wire(leader_epoch).to_be_bytes());
        Ok(Self {
            bytes: bytes.freeze(),
            header,
        })
    }
}
