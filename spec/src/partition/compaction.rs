//! Compaction of a finished abort: first its data, then its marker, and the marker only once every
//! replica has it.
//!
//! SOURCE: KIP-98 (delete horizon); KAFKA-14055, KAFKA-8351 (data first).

use super::{Partition, Record, RecordKind};
use crate::rules::StorageRules;
use crate::step::Step;

impl Partition {
    /// One step of the cleaner on the oldest aborted transaction.
    pub fn compact(&mut self, rules: &StorageRules) -> Step {
        let Some(aborted) = self.aborted.first().copied() else {
            return Step::NotEnabled;
        };
        if self.recovering || aborted.last >= self.last_stable_offset() {
            return Step::NotEnabled;
        }
        let is_data = |r: &Record| {
            r.kind == RecordKind::Data
                && r.identity.producer_id == aborted.producer_id
                && r.offset >= aborted.first
                && r.offset < aborted.last
        };
        let has_data = self.log.iter().any(is_data);
        let has_marker = self.record_at(aborted.last).is_some();
        if has_data && (rules.compact_data_first || !has_marker) {
            self.empty_batches(is_data);
            return Step::Handled;
        }
        let replicated = match &self.follower {
            None => true,
            Some(follower) => follower.iter().any(|r| r.offset >= aborted.last),
        };
        if !has_marker || (rules.compact_after_replicas && !replicated) {
            return Step::NotEnabled;
        }
        self.log.retain(|r| r.offset != aborted.last);
        if !has_data {
            self.aborted.remove(0);
        }
        Step::Handled
    }

    /// Removes the records; the last batch of the producer stays, emptied, for its sequence.
    fn empty_batches(&mut self, is_data: impl Fn(&Record) -> bool) {
        let last = self.log.iter().rev().find(|r| is_data(r)).map(|r| r.offset);
        self.log.retain(|r| !is_data(r) || Some(r.offset) == last);
        for record in &mut self.log {
            if Some(record.offset) == last {
                record.kind = RecordKind::Emptied;
            }
        }
    }

    /// The replica that was away fetches the next record that the leader still has.
    pub fn follower_fetch(&mut self) -> Step {
        let Some(follower) = self.follower.as_mut() else {
            return Step::NotEnabled;
        };
        let after = follower.last().map(|r| r.offset);
        let next = self.log.iter().find(|r| after.is_none_or(|a| r.offset > a));
        match next {
            Some(record) => {
                follower.push(*record);
                Step::Handled
            }
            None => Step::NotEnabled,
        }
    }
}
