//! Reads a whole log file: where it is good, and what kind of damage ends it.

use bytes::Bytes;

use super::error::BatchError;
use super::record_batch::RecordBatch;
use crate::types::Offset;

/// How the bytes of a log end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScanEnd {
    /// With the last whole batch.
    Clean,
    /// With a batch that was not written to its end: nothing that follows is whole, so the log may be cut here.
    TornTail(BatchError),
    /// With a damaged batch that whole ones follow: cutting here would lose what was once whole.
    Damaged(BatchError),
}

/// What a log's bytes hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scan {
    /// The whole batches up to the end or to the first bad one.
    pub batches: Vec<RecordBatch>,
    /// Bytes that those batches take.
    pub valid_bytes: usize,
    /// How the bytes end.
    pub end: ScanEnd,
}

/// Reads batch after batch. Offsets must rise: a batch that does not begin at or after the end of the one before it is
/// damage.
#[must_use]
pub fn scan(bytes: Bytes) -> Scan {
    let mut batches: Vec<RecordBatch> = Vec::new();
    let mut rest = bytes.clone();
    let end = loop {
        if rest.is_empty() {
            break ScanEnd::Clean;
        }
        let expected = batches.last().map(RecordBatch::next_offset);
        let read = RecordBatch::parse_first(rest.clone()).and_then(|(batch, after)| {
            if expected.is_some_and(|expected| batch.base_offset() < expected) {
                return Err(BatchError::OffsetRange);
            }
            Ok((batch, after))
        });
        match read {
            Ok((batch, after)) => {
                batches.push(batch);
                rest = after;
            }
            Err(error) if is_torn(&rest, expected) => break ScanEnd::TornTail(error),
            Err(error) => break ScanEnd::Damaged(error),
        }
    };
    Scan {
        batches,
        valid_bytes: bytes.len() - rest.len(),
        end,
    }
}

/// A write that was cut off has nothing whole after it. A whole batch further on, at a later offset, says that these
/// bytes were once good (B2 of the seeds: damage in the middle never passes as a torn tail). A record value that happens
/// to hold such a batch makes a torn tail look like damage: that errs towards asking.
fn is_torn(rest: &Bytes, expected: Option<Offset>) -> bool {
    !(1..rest.len()).any(|at| {
        RecordBatch::parse_first(rest.slice(at..))
            .is_ok_and(|(batch, _)| Some(batch.base_offset()) > expected)
    })
}
