//! Record batches, format v2 (magic 2): a checked view over raw bytes, and a writer.
//!
//! A batch is kept as the bytes that its producer sent: nothing is decoded and encoded again, so whatever a client put
//! into its records comes back unchanged. Every length and count is checked against the bytes that are there before it
//! is used, and no input makes these functions panic.

mod control;
mod error;
mod header;
mod record;
mod record_batch;
mod scan;
mod varint;
mod writer;

#[cfg(test)]
mod tests;

pub use control::{ControlRecord, EndTxnMarker};
pub use error::BatchError;
pub use header::{BatchProducer, Compression, HEADER_LEN, Header};
pub use record::{Record, RecordHeader, RecordHeaders, Records};
pub use record_batch::RecordBatch;
pub use scan::{Scan, ScanEnd, scan};
pub use writer::{NewBatch, NewHeader, NewRecord};
