//! The records that Kafka keeps in its internal topics and logs, byte for byte.
//!
//! Reading trusts nothing: every length and count is checked against the bytes that are left before anything is
//! allocated, and every failure is a [`RecordError`]. Fields whose wire default is `-1` are `Option`s here. The markers
//! that end transactions in a log are control records, so they are in [`crate::batch`].

mod codec;
pub mod group_metadata;
pub mod offset_commit;
pub mod transaction_log;

#[cfg(test)]
mod hostile_tests;

use thiserror::Error;

/// Why bytes are not the record they should be, or a record cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum RecordError {
    /// The bytes end inside a field.
    #[error("the record ends inside a field")]
    UnexpectedEnd,
    /// Bytes are left after the last field.
    #[error("{0} bytes follow the last field")]
    TrailingBytes(usize),
    /// A length or a count is negative where it must not be, or larger than the bytes that are left.
    #[error("a length or count does not fit the record")]
    InvalidLength,
    /// A text is not UTF-8.
    #[error("a text is not UTF-8")]
    InvalidText,
    /// A field that must have a value has none, or a value outside its range.
    #[error("the field {0} has no valid value")]
    InvalidField(&'static str),
    /// The record begins with a version that this crate does not know. Kafka skips such records with a warning.
    #[error("unknown record version {0}")]
    UnknownVersion(i16),
    /// A text or an array is too long for the field that should hold it.
    #[error("a text or array is too long for its field")]
    TooLong,
}
