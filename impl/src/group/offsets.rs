//! The offsets of the groups of one `__consumer_offsets` partition: committed ones, and ones staged in transactions
//! that are not decided yet.

use std::collections::BTreeSet;

use im::{OrdMap, OrdSet};

use crate::records::offset_commit::{OffsetCommitKey, OffsetCommitValue};
use crate::types::{GroupId, Offset, ProducerId, TopicPartition};

/// An offset with its place in the log.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommittedOffset {
    /// Where its record lies: the later of two records of one key wins, whichever becomes visible first.
    pub record_offset: Offset,
    /// What was committed.
    pub value: OffsetCommitValue,
}

/// Offsets as the log up to some point says. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Offsets {
    pub(super) committed: OrdMap<OffsetCommitKey, CommittedOffset>,
    pub(super) staged: OrdMap<ProducerId, OrdMap<OffsetCommitKey, CommittedOffset>>,
    /// Which producers have staged each key: looked up by every fetch that asks for stable offsets.
    pub(super) stagers: OrdMap<OffsetCommitKey, OrdSet<ProducerId>>,
}

impl Offsets {
    /// The committed offset of one key.
    #[must_use]
    pub fn committed(&self, key: &OffsetCommitKey) -> Option<&CommittedOffset> {
        self.committed.get(key)
    }

    /// Every committed offset, by group and partition.
    pub fn iter(&self) -> impl Iterator<Item = (&OffsetCommitKey, &CommittedOffset)> {
        self.committed.iter()
    }

    /// Every staged offset: the producer, then group and partition.
    pub fn staged(&self) -> impl Iterator<Item = (ProducerId, &OffsetCommitKey, &CommittedOffset)> {
        self.staged
            .iter()
            .flat_map(|(id, entries)| entries.iter().map(|(key, it)| (*id, key, it)))
    }

    /// Whether some undecided transaction has staged an offset for the key.
    #[must_use]
    pub fn is_staged(&self, key: &OffsetCommitKey) -> bool {
        self.stagers.contains_key(key)
    }

    /// The partitions of a group that have a committed offset.
    pub(super) fn committed_of<'a>(
        &'a self,
        group: &'a GroupId,
    ) -> impl Iterator<Item = &'a TopicPartition> {
        of_group(&self.committed, group).map(|(key, _)| &key.partition)
    }

    /// The partitions of a group that have a committed or a staged offset.
    pub(super) fn partitions_of(&self, group: &GroupId) -> Vec<TopicPartition> {
        let committed = self.committed_of(group);
        let staged = of_group(&self.stagers, group).map(|(key, _)| &key.partition);
        let all: BTreeSet<&TopicPartition> = committed.chain(staged).collect();
        all.into_iter().cloned().collect()
    }

    /// Whether the group has any offset, committed or staged.
    #[must_use]
    pub fn has_group(&self, group: &GroupId) -> bool {
        of_group(&self.committed, group).next().is_some()
            || of_group(&self.stagers, group).next().is_some()
    }

    /// Follows a plain commit.
    pub(super) fn commit(&mut self, key: OffsetCommitKey, offset: CommittedOffset) {
        self.committed.insert(key, offset);
    }

    /// Follows a commit inside a transaction: the last one of a transaction counts (B55).
    pub(super) fn stage(
        &mut self,
        producer_id: ProducerId,
        key: OffsetCommitKey,
        offset: CommittedOffset,
    ) {
        self.stagers
            .entry(key.clone())
            .or_default()
            .insert(producer_id);
        self.staged
            .entry(producer_id)
            .or_default()
            .insert(key, offset);
    }

    /// Follows a tombstone, which takes staged offsets of the key along. One for a key that is not there, as compaction
    /// leaves it, changes nothing (B69).
    pub(super) fn remove(&mut self, key: &OffsetCommitKey) {
        self.committed.remove(key);
        for producer_id in self.stagers.remove(key).unwrap_or_default() {
            if let Some(entries) = self.staged.get_mut(&producer_id) {
                entries.remove(key);
                if entries.is_empty() {
                    self.staged.remove(&producer_id);
                }
            }
        }
    }

    /// Takes all that a producer has staged.
    pub(super) fn take_staged(
        &mut self,
        producer_id: ProducerId,
    ) -> OrdMap<OffsetCommitKey, CommittedOffset> {
        let entries = self.staged.remove(&producer_id).unwrap_or_default();
        for key in entries.keys() {
            if let Some(stagers) = self.stagers.get_mut(key) {
                stagers.remove(&producer_id);
                if stagers.is_empty() {
                    self.stagers.remove(key);
                }
            }
        }
        entries
    }
}

fn of_group<'a, V: Clone>(
    map: &'a OrdMap<OffsetCommitKey, V>,
    group: &'a GroupId,
) -> impl Iterator<Item = (&'a OffsetCommitKey, &'a V)> {
    let first = OffsetCommitKey {
        group: group.clone(),
        partition: TopicPartition::new("", i32::MIN),
    };
    map.range(first..)
        .take_while(move |(key, _)| key.group == *group)
}
