//! Reads: first the bound, then the data below it, then the aborted transactions of exactly that data.
//!
//! The three are separate because the order matters: with the bound taken once and first, whatever lies below it stays
//! decided and replicated while the rest is read (B36, B37).

use super::{AbortedTxn, Partition};
use crate::batch::RecordBatch;
use crate::error_code::ErrorCode;
use crate::types::{IsolationLevel, Offset};

/// Batches that a reader gets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FetchData {
    /// Whole batches, the first one holding the offset asked for.
    pub batches: Vec<RecordBatch>,
    /// The offset after the last of them, or the offset asked for when there is none.
    pub upper: Offset,
}

/// An answer to a fetch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fetched {
    /// The data.
    pub data: FetchData,
    /// For read_committed only: the aborted transactions that the data may hold records of.
    pub aborted_transactions: Option<Vec<AbortedTxn>>,
    /// The high watermark.
    pub high_watermark: Offset,
    /// The last stable offset, as it was when the bound was taken.
    pub last_stable_offset: Offset,
    /// The first offset of the log.
    pub log_start_offset: Offset,
}

impl Partition {
    /// What a reader may read below.
    #[must_use]
    pub fn fetch_bound(&self, isolation: IsolationLevel) -> Offset {
        match isolation {
            IsolationLevel::ReadUncommitted => self.high_watermark(),
            IsolationLevel::ReadCommitted => self.last_stable_offset(),
        }
    }

    /// Whole batches from the one that holds `from` on that end at or below `bound` and fit `max_bytes`; the first one
    /// comes even if it alone is larger, so that a reader always gets on.
    ///
    /// # Errors
    /// OFFSET_OUT_OF_RANGE outside the log.
    pub fn fetch_data(
        &self,
        from: Offset,
        bound: Offset,
        max_bytes: usize,
    ) -> Result<FetchData, ErrorCode> {
        if from < self.log.start_offset() || from > self.log.end_offset() {
            return Err(ErrorCode::OffsetOutOfRange);
        }
        let mut data = FetchData {
            batches: Vec::new(),
            upper: from,
        };
        let mut bytes = 0_usize;
        let below = self
            .log
            .batches_from(from)
            .take_while(|batch| batch.next_offset() <= bound);
        for batch in below {
            bytes = bytes.saturating_add(batch.bytes().len());
            if bytes > max_bytes && !data.batches.is_empty() {
                break;
            }
            data.upper = batch.next_offset();
            data.batches.push(batch.clone());
        }
        Ok(data)
    }

    /// The aborted transactions that may have records in `from..upper`, where `upper` is the end of the data, not of
    /// the log.
    #[must_use]
    pub fn fetch_aborted(&self, from: Offset, upper: Offset) -> Vec<AbortedTxn> {
        seed!(AbortedListEmpty, return Vec::new());
        self.aborted.collect(from, upper)
    }

    /// Bound, data and aborted transactions in one.
    ///
    /// # Errors
    /// NOT_LEADER_OR_FOLLOWER on a follower, OFFSET_OUT_OF_RANGE outside the log.
    pub fn fetch(
        &self,
        from: Offset,
        isolation: IsolationLevel,
        max_bytes: usize,
    ) -> Result<Fetched, ErrorCode> {
        self.leading()?;
        let bound = self.fetch_bound(isolation);
        let data = self.fetch_data(from, bound, max_bytes)?;
        let aborted_transactions = match isolation {
            IsolationLevel::ReadUncommitted => None,
            IsolationLevel::ReadCommitted => Some(self.fetch_aborted(from, data.upper)),
        };
        Ok(Fetched {
            data,
            aborted_transactions,
            high_watermark: self.high_watermark(),
            last_stable_offset: self.last_stable_offset(),
            log_start_offset: self.log.start_offset(),
        })
    }
}
