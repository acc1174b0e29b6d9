//! Fetch: the bound, the data below it, and the aborted list; and what a read_committed consumer
//! makes of them.
//!
//! SOURCE: KIP-98; KAFKA-9807 (one bound per fetch), KAFKA-5376 (the list of a fetch that waited).

use super::{AbortedTxn, Partition, Record, RecordKind};
use crate::rules::FetchRules;
use crate::types::*;
use serde::{Deserialize, Serialize};

/// The bound of a fetch, and whether nothing was open when it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Bound {
    /// No record at or past this offset is returned.
    pub upper: Offset,
    /// It was the high watermark itself.
    pub at_high_watermark: bool,
}

impl Partition {
    /// Takes the bound of a fetch; `None` while the leader does not serve.
    pub fn fetch_bound(&self, rules: &FetchRules, level: IsolationLevel) -> Option<Bound> {
        if self.deleted || (self.recovering && rules.serve_after_recovery) {
            return None;
        }
        let hw = if rules.bound_by_high_watermark {
            self.high_watermark
        } else {
            self.log_end
        };
        let upper = match level {
            IsolationLevel::ReadUncommitted => hw,
            IsolationLevel::ReadCommitted if !rules.bound_by_lso => hw,
            IsolationLevel::ReadCommitted => self.committed_bound(rules),
        };
        Some(Bound {
            upper,
            at_high_watermark: upper == hw,
        })
    }

    fn committed_bound(&self, rules: &FetchRules) -> Offset {
        let (hw, stable) = (self.high_watermark, self.last_stable_offset());
        let known = stable < self.applied;
        let stable = match (rules.bound_by_applied, known) {
            (true, _) => stable.min(self.applied),
            (false, true) => stable,
            // The fault: "nothing is open" was concluded from a state that lags.
            (false, false) => hw,
        };
        if rules.bound_exclusive || stable >= hw {
            stable
        } else {
            Offset(stable.0 + 1)
        }
    }

    /// The aborted transactions that a fetch of `[from, upper)` lists.
    pub fn aborted_in(&self, from: Offset, upper: Offset) -> List<AbortedTxn, 2> {
        self.aborted
            .iter()
            .filter(|a| a.last >= from && a.first < upper)
            .copied()
            .collect()
    }
}

/// What a read_committed consumer delivers of `records`, given the list that came with them:
/// it knows aborted transactions by producer id, until their abort marker passes.
pub fn read_committed_view<'a>(
    records: impl Iterator<Item = &'a Record>,
    listed: &[AbortedTxn],
) -> Vec<Record> {
    let mut waiting: Vec<AbortedTxn> = listed.to_vec();
    waiting.sort_by_key(|a| a.first);
    let mut aborting: Vec<ProducerId> = Vec::new();
    let mut delivered = Vec::new();
    for record in records {
        while waiting.first().is_some_and(|a| a.first <= record.offset) {
            aborting.push(waiting.remove(0).producer_id);
        }
        let id = record.identity.producer_id;
        match record.kind {
            RecordKind::Marker(TransactionResult::Abort) => {
                if let Some(at) = aborting.iter().position(|p| *p == id) {
                    aborting.remove(at);
                }
            }
            RecordKind::Marker(TransactionResult::Commit) | RecordKind::Emptied => {}
            RecordKind::Data => {
                if !record.transactional || !aborting.contains(&id) {
                    delivered.push(*record);
                }
            }
        }
    }
    delivered
}

/// What the log says of a record: the next marker of its producer decides. Independent of the
/// index, of the last stable offset and of any epoch.
pub fn decided(log: &[Record], record: &Record) -> Option<TransactionResult> {
    if !record.transactional {
        return Some(TransactionResult::Commit);
    }
    log.iter()
        .filter(|r| r.offset > record.offset)
        .filter(|r| r.identity.producer_id == record.identity.producer_id)
        .find_map(|r| match r.kind {
            RecordKind::Marker(result) => Some(result),
            RecordKind::Data | RecordKind::Emptied => None,
        })
}
