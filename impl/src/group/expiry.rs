//! Removing offsets that nobody has committed for long, and groups that have nothing left.

use super::generation::GroupPhase;
use super::offset_commit::new_batch;
use super::{Effect, GroupCoordinator};
use crate::batch::NewRecord;
use crate::partition::CoordinatorAppend;
use crate::records::group_metadata::GroupMetadataKey;
use crate::records::offset_commit::OffsetCommitKey;
use crate::types::{GroupId, Timestamp};

impl GroupCoordinator {
    /// Appends tombstones for what is too old. An offset that some undecided transaction has staged stays, and so does
    /// its group: a tombstone would take the staged offset along (B68).
    pub(super) fn expire_offsets(&mut self, now: Timestamp) -> Vec<Effect> {
        let offsets = self.expired_offsets(now);
        let groups = self.expired_groups(&offsets);
        let keys = offsets.iter().map(OffsetCommitKey::encode);
        let group_keys = groups
            .iter()
            .filter(|id| {
                let group = self.groups.get(*id);
                group.is_some_and(|group| group.record_offset.is_some())
            })
            .map(|group| {
                let key = GroupMetadataKey {
                    group: group.clone(),
                };
                key.encode()
            });
        // A key that was read from the log or written to it can be encoded.
        let records: Vec<NewRecord> = keys
            .chain(group_keys)
            .flatten()
            .map(|key| NewRecord::new(now, Some(key), None))
            .collect();
        let mut effects = Vec::new();
        if !records.is_empty() {
            let batch = new_batch(records, None);
            let Ok(batch) = self
                .partition
                .append_records(CoordinatorAppend { batch, guard: None })
            else {
                return effects;
            };
            self.follow(&batch);
            effects.push(Effect::Append(batch));
        }
        for group in groups {
            self.groups.remove(&group);
        }
        effects
    }

    fn expired_offsets(&self, now: Timestamp) -> Vec<OffsetCommitKey> {
        let offsets = self.offsets.latest();
        offsets
            .iter()
            .filter(|(key, offset)| {
                let since = match self.groups.get(&key.group) {
                    // Members may come back to any of their offsets.
                    Some(group) if group.phase() != GroupPhase::Empty => return false,
                    Some(group) => group.state_timestamp,
                    None => None,
                };
                let since = since.map_or(offset.value.commit_timestamp, |since| {
                    since.max(offset.value.commit_timestamp)
                });
                let is_old = match offset.value.expire_timestamp {
                    Some(expiry) => now >= expiry,
                    None => now.millis_since(since) >= self.config.offsets_retention_ms,
                };
                is_old && !offsets.is_staged(key)
            })
            .map(|(key, _)| key.clone())
            .collect()
    }

    /// Groups without members that would have no offset left.
    fn expired_groups(&self, expired: &[OffsetCommitKey]) -> Vec<GroupId> {
        self.groups
            .iter()
            .filter(|(id, group)| {
                let left = self.offsets.latest().partitions_of(id);
                let gone = expired.iter().filter(|key| key.group == **id).count();
                group.phase() == GroupPhase::Empty && group.pending.is_empty() && left.len() == gone
            })
            .map(|(id, _)| id.clone())
            .collect()
    }
}
