//! Properties of steps rather than of states: what a step breaks is noted in the state, by the
//! property's bit. In a run that holds nothing is ever noted, so the counts are those of the
//! states alone.

use super::{Action, State, World};
use crate::coordinator::{TransactionMetadata, TransactionState};
use crate::partition::{Partition, ProducerEntry, Record, RecordKind, decided};
use crate::properties::Id;
use crate::types::*;

impl World {
    /// Notes in a state what the step to it has broken.
    pub(super) fn monitor(&self, before: &State, action: &Action, after: &mut State) {
        after.ghost_broken |= self.broken_by(before, action, after);
    }

    /// The properties that a step breaks by its two ends, as a mask of bits.
    pub fn broken_by(&self, before: &State, action: &Action, after: &State) -> u32 {
        let mut broken = 0;
        for (old, new) in before.partitions.iter().zip(&after.partitions) {
            if !new.may_differ(old) {
                continue;
            }
            if self.appends_for_fenced(before, old, new) {
                broken |= Id::S5.bit();
            }
            if self.stable_offset_went_back(old, new) {
                broken |= Id::S10.bit();
            }
        }
        for reader in &after.readers {
            let partition = &after.partitions[usize::from(reader.partition.0)];
            if reader.position > partition.log_end {
                broken |= Id::S10.bit();
            }
        }
        if after.log.may_differ(&before.log) {
            broken |= self.record_broken(before, after);
        }
        match action {
            Action::Timeout(b, id) => {
                let slot = &before.coordinators[usize::from(b.0)].slots[usize::from(id.0)];
                if slot.metadata.is_some_and(|m| m.two_phase) {
                    broken |= Id::S13.bit();
                }
            }
            Action::Materialise if publishes_anothers(before, after) => broken |= Id::S4.bit(),
            Action::Recover(p) if self.recovery_differs(after, *p) => broken |= Id::S9.bit(),
            _ => {}
        }
        broken
    }

    /// S5: data or a staged offset of an instance appended after a newer one got its identity.
    fn appends_for_fenced(&self, before: &State, old: &Partition, new: &Partition) -> bool {
        if new.log.len() <= old.log.len() {
            return false;
        }
        let Some(record) = new.log.last() else {
            return false;
        };
        let Some((producer, _)) = record.ghost.ghost_reveal(self.scenario.ghost_key) else {
            return false;
        };
        if record.kind != RecordKind::Data {
            return false;
        }
        let Some(id) = self.workload(producer).transactional_id else {
            return false;
        };
        before.ghost_newest[usize::from(id.0)].is_some_and(|newest| {
            // KIP-939: what is taken over is still the older instance's transaction.
            let taken_over = self.workload(newest).takes_over.is_some()
                && before.log.committed[usize::from(id.0)].is_some_and(|m| m.ghost == record.ghost);
            newest != producer && !taken_over
        })
    }

    /// S5: a commit of an instance is decided after a newer one got its identity.
    fn commits_for_fenced(&self, before: &State, record: &TransactionMetadata) -> bool {
        let Some((producer, _)) = record.ghost.ghost_reveal(self.scenario.ghost_key) else {
            return false;
        };
        let Some(id) = self.workload(producer).transactional_id else {
            return false;
        };
        record.state == TransactionState::PrepareCommit
            && before.ghost_newest[usize::from(id.0)].is_some_and(|newest| {
                newest != producer && self.workload(newest).takes_over.is_none()
            })
    }

    /// S12: every record of an id follows from the one before, and a decision is written once.
    fn record_broken(&self, before: &State, after: &State) -> u32 {
        let pairs = before.log.committed.iter().zip(&after.log.committed);
        let mut broken = 0;
        for (old, new) in pairs {
            if old == new {
                continue;
            }
            broken |= match (old, new) {
                (Some(old), Some(new)) if !old.state.may_become(new.state) => Id::S12.bit(),
                // A tombstone forgets only what is neither open nor decided.
                (Some(old), None) if !old.state.may_expire() => Id::S12.bit(),
                (_, Some(new)) if self.commits_for_fenced(before, new) => Id::S5.bit(),
                (_, _) => 0,
            };
        }
        broken
    }

    /// S9: what recovery rebuilt differs from what the whole log says. A snapshot has only the last
    /// batch of each producer, so that older ones may be forgotten.
    fn recovery_differs(&self, state: &State, partition: PartitionIndex) -> bool {
        let partition = &state.partitions[usize::from(partition.0)];
        let replayed = Partition::replayed(&self.rules, partition);
        let (rebuilt, whole) = (&partition.producers, &replayed.producers);
        rebuilt.len() != whole.len()
            || rebuilt.iter().zip(whole).any(|(one, other)| {
                let last = one.batches.last() == other.batches.last();
                let forgot = last && other.batches.ends_with(&one.batches);
                let batches = other.batches.clone();
                !forgot
                    || ProducerEntry {
                        batches,
                        ..one.clone()
                    } != *other
            })
    }

    /// S10: neither the last stable offset nor the bound of a read_committed fetch goes back at a leader that serves.
    ///
    /// Where the leader stops, what it served is compared with what comes after recovery at once: until then nothing
    /// changes that recovery starts from.
    fn stable_offset_went_back(&self, old: &Partition, new: &Partition) -> bool {
        let Some(before) = self.served(old) else {
            return false;
        };
        let recovered = new.recovering.then(|| {
            let mut recovered = new.clone();
            recovered.recover(&self.rules);
            recovered
        });
        [Some(new), recovered.as_ref()]
            .into_iter()
            .flatten()
            .filter_map(|partition| self.served(partition))
            .any(|after| after.0 < before.0 || after.1 < before.1)
    }

    /// The last stable offset and the bound of a read_committed fetch; `None` while the leader does not serve.
    fn served(&self, partition: &Partition) -> Option<(Offset, Offset)> {
        let bound = partition.fetch_bound(&self.rules.fetch, IsolationLevel::ReadCommitted)?;
        Some((partition.last_stable_offset(), bound.upper))
    }

    /// S2, S1, S10: what a stepwise reader was given, against the log's own verdicts.
    pub(super) fn check_delivery(
        &self,
        state: &mut State,
        reader: usize,
        isolation: IsolationLevel,
        (from, upper): (Offset, Offset),
        delivered: &[Record],
    ) {
        let partition = &state.partitions[usize::from(state.readers[reader].partition.0)];
        let mut broken = 0;
        if upper > partition.high_watermark {
            broken |= Id::S11.bit();
        }
        let in_range =
            |r: &&Record| r.kind == RecordKind::Data && r.offset >= from && r.offset < upper;
        for record in partition.log.iter().filter(in_range) {
            let given = delivered.iter().any(|d| d.offset == record.offset);
            let verdict = decided(&partition.log, record);
            broken |= match (isolation, verdict, given) {
                (IsolationLevel::ReadCommitted, Some(TransactionResult::Commit), false) => {
                    Id::S1.bit()
                }
                (IsolationLevel::ReadCommitted, Some(TransactionResult::Abort), true) => {
                    Id::S2.bit()
                }
                (IsolationLevel::ReadCommitted, None, true) => Id::S2.bit(),
                (IsolationLevel::ReadUncommitted, _, false) => Id::S1.bit(),
                (IsolationLevel::ReadCommitted, _, _) | (IsolationLevel::ReadUncommitted, _, _) => {
                    0
                }
            };
        }
        state.ghost_broken |= broken;
    }
}

/// S4: a marker has published an offset that another transaction had staged.
fn publishes_anothers(before: &State, after: &State) -> bool {
    let (Some(old), Some(new)) = (&before.group, &after.group) else {
        return false;
    };
    let Some(marker) = old.unapplied.first() else {
        return false;
    };
    new.ghost_published
        .iter()
        .any(|ghost| !old.ghost_published.contains(ghost) && *ghost != marker.ghost)
}
