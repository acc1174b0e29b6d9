//! The index of aborted transactions, and the decided ones whose marker is not replicated yet.
//!
//! SOURCE: KIP-98; `ProducerStateManager.completeTxn`, `TransactionIndex`.

use super::{Partition, Record};
use crate::types::*;
use serde::{Deserialize, Serialize};

/// An entry of the aborted index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AbortedTxn {
    /// Whose transaction.
    pub producer_id: ProducerId,
    /// Its first offset here.
    pub first: Offset,
    /// Its marker's offset.
    pub last: Offset,
}

impl Partition {
    /// A marker has decided the transaction that began at `first`.
    pub(super) fn decide(&mut self, first: Offset, marker: &Record, result: TransactionResult) {
        if marker.offset >= self.high_watermark {
            self.unreplicated.push((first, marker.offset));
        }
        if result == TransactionResult::Abort {
            self.aborted.push(AbortedTxn {
                producer_id: marker.identity.producer_id,
                first,
                last: marker.offset,
            });
        }
    }
}
