//! What a read_committed consumer keeps of a fetch.

use std::collections::{BTreeSet, btree_set};

use crate::batch::{BatchError, ControlRecord, RecordBatch};
use crate::partition::AbortedTxn;
use crate::types::{Offset, ProducerId, TransactionResult};

/// What a consumer does with a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Its records go to the application.
    Deliver,
    /// It belongs to an aborted transaction.
    Aborted,
    /// It is a marker: it holds an offset and no data.
    Control,
}

/// The filter for the batches of one fetch, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReadCommittedFilter {
    /// Aborted transactions that have not begun yet, earliest first.
    ahead: BTreeSet<(Offset, ProducerId)>,
    /// Producers whose aborted transaction has begun and not ended.
    aborted: BTreeSet<ProducerId>,
}

impl ReadCommittedFilter {
    /// A filter for a fetch that came with these aborted transactions, in any order.
    #[must_use]
    pub fn new(aborted_transactions: &[AbortedTxn]) -> Self {
        Self {
            ahead: aborted_transactions
                .iter()
                .map(|txn| (txn.first_offset, txn.producer_id))
                .collect(),
            aborted: BTreeSet::new(),
        }
    }

    /// The producers whose batches are skipped at present.
    pub fn aborted(&self) -> btree_set::Iter<'_, ProducerId> {
        self.aborted.iter()
    }

    /// Looks at the next batch. Transactions are told apart by producer and place: from its first offset on, an aborted
    /// transaction hides its producer's transactional batches, until that producer's abort marker.
    ///
    /// # Errors
    /// A control batch whose record is malformed.
    pub fn verdict(&mut self, batch: &RecordBatch) -> Result<Verdict, BatchError> {
        let Some(producer) = batch.producer() else {
            return Ok(Verdict::Deliver);
        };
        let id = producer.producer_id;
        while let Some(first) = self.ahead.first().copied()
            && first.0 <= batch.last_offset()
        {
            self.ahead.remove(&first);
            self.aborted.insert(first.1);
        }
        if batch.header().is_control {
            match batch.control_record()? {
                Some(ControlRecord::EndTxn(marker)) => match marker.result {
                    TransactionResult::Abort => {
                        self.aborted.remove(&id);
                    }
                    TransactionResult::Commit => {}
                },
                Some(ControlRecord::Other(_)) | None => {}
            }
            return Ok(Verdict::Control);
        }
        if batch.header().is_transactional && self.aborted.contains(&id) {
            Ok(Verdict::Aborted)
        } else {
            Ok(Verdict::Deliver)
        }
    }
}

/// What a consumer takes from a fetch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Consumed {
    /// The batches whose records go to the application; those before the position asked for are still in them.
    pub batches: Vec<RecordBatch>,
    /// Where to go on: past what was skipped as well, or a fetch with nothing to deliver would be asked for ever (B92).
    pub position: Offset,
}

/// Filters the batches of a fetch that was asked for at `position`.
///
/// # Errors
/// A control batch whose record is malformed.
pub fn read_committed(
    position: Offset,
    batches: &[RecordBatch],
    aborted_transactions: &[AbortedTxn],
) -> Result<Consumed, BatchError> {
    let mut filter = ReadCommittedFilter::new(aborted_transactions);
    let mut consumed = Consumed {
        batches: Vec::new(),
        position,
    };
    for batch in batches {
        match filter.verdict(batch)? {
            Verdict::Deliver => consumed.batches.push(batch.clone()),
            Verdict::Aborted | Verdict::Control => {}
        }
        consumed.position = consumed.position.max(batch.next_offset());
    }
    Ok(consumed)
}
