//! What Kafka's transaction index says of a log, worked out from the log alone: the judge of the index that a partition
//! keeps as it goes.

use std::collections::BTreeMap;

use fencepost::batch::{ControlRecord, RecordBatch};
use fencepost::partition::AbortedTxn;
use fencepost::types::{Offset, ProducerId, TransactionResult};

/// Each aborted transaction in the order of the markers, with the first offset after its marker that is not decided:
/// that of the earliest transaction that was open then, or else the one after the marker.
pub(super) fn aborted(batches: &[RecordBatch]) -> Vec<AbortedTxn> {
    let mut open: BTreeMap<ProducerId, Offset> = BTreeMap::new();
    let mut found = Vec::new();
    for batch in batches {
        let Some(producer_id) = batch.producer().map(|it| it.producer_id) else {
            continue;
        };
        if !batch.header().is_control {
            if batch.header().is_transactional {
                open.entry(producer_id).or_insert(batch.base_offset());
            }
            continue;
        }
        let Ok(Some(ControlRecord::EndTxn(marker))) = batch.control_record() else {
            continue;
        };
        let Some(first_offset) = open.remove(&producer_id) else {
            continue;
        };
        if marker.result == TransactionResult::Abort {
            let undecided = open.values().min().copied();
            found.push(AbortedTxn {
                producer_id,
                first_offset,
                last_offset: batch.last_offset(),
                last_stable_offset: undecided.unwrap_or_else(|| batch.next_offset()),
            });
        }
    }
    found
}
