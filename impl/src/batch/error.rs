//! What can be wrong with the bytes of a batch.

use thiserror::Error;

use crate::error_code::ErrorCode;

/// Why bytes are not a record batch, or a batch does not hold the records it announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum BatchError {
    /// Fewer bytes than the header, or than the header announces.
    #[error("{available} bytes where {needed} are needed")]
    Truncated {
        /// Bytes that the batch needs, from its first one.
        needed: u64,
        /// Bytes that are there.
        available: u64,
    },
    /// The length field is smaller than a header.
    #[error("a batch length of {0} is too small for a header")]
    Length(i32),
    /// Not message format v2.
    #[error("magic {0}, not 2")]
    Magic(i8),
    /// The CRC-32C of the attributes and all that follows is not the stored one.
    #[error("checksum {stored:#010x} stored, {computed:#010x} computed")]
    Crc {
        /// The header's field.
        stored: u32,
        /// What the bytes give.
        computed: u32,
    },
    /// The base offset or the last offset delta is negative, or their sum is past the largest offset.
    #[error("the offset range is not valid")]
    OffsetRange,
    /// A producer id without an epoch.
    #[error("a producer id without a producer epoch")]
    ProducerEpoch,
    /// A compression codec that format v2 does not have.
    #[error("compression codec {0} does not exist")]
    Compression(u8),
    /// The record count is negative, or does not fit the offsets or the bytes.
    #[error("{0} records announced")]
    RecordCount(i32),
    /// The records are compressed, so they cannot be read here.
    #[error("the records are compressed")]
    Compressed,
    /// A record's own lengths contradict each other or leave the batch.
    #[error("record {index} is malformed")]
    Record {
        /// The record's position in the batch, from 0.
        index: i32,
    },
    /// Bytes remain after the last record.
    #[error("bytes remain after the last record")]
    TrailingBytes,
    /// A control record whose key or value is not one.
    #[error("a control record has a malformed key or value")]
    ControlRecord,
}

impl BatchError {
    /// The code that a produce request is answered with.
    #[must_use]
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::Truncated { .. } | Self::Length(_) | Self::Crc { .. } => {
                ErrorCode::CorruptMessage
            }
            Self::Magic(_) => ErrorCode::UnsupportedForMessageFormat,
            Self::OffsetRange
            | Self::ProducerEpoch
            | Self::Compression(_)
            | Self::RecordCount(_)
            | Self::Compressed
            | Self::Record { .. }
            | Self::TrailingBytes
            | Self::ControlRecord => ErrorCode::InvalidRecord,
        }
    }
}
