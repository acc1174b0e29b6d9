//! The topics, with the replica of each of their partitions.

use std::collections::BTreeMap;

use fencepost::partition::{Input, Partition, PartitionConfig};
use fencepost::types::{LeaderEpoch, Timestamp, TopicPartition};

use crate::wire::ErrorCode;

/// The leader epoch of every partition: nothing here ever changes its leader.
pub(super) const LEADER_EPOCH: LeaderEpoch = LeaderEpoch::new(0);
/// The most partitions that one topic may have.
const MAX_PARTITIONS: usize = 1000;
/// The most bytes of a topic's name, as in Kafka.
const MAX_NAME: usize = 249;

/// INVALID_TOPIC_EXCEPTION.
const INVALID_TOPIC: ErrorCode = ErrorCode(17);
/// TOPIC_ALREADY_EXISTS.
const TOPIC_ALREADY_EXISTS: ErrorCode = ErrorCode(36);
/// INVALID_PARTITIONS.
const INVALID_PARTITIONS: ErrorCode = ErrorCode(37);
/// UNKNOWN_TOPIC_OR_PARTITION.
pub(super) const UNKNOWN_TOPIC: ErrorCode = ErrorCode(3);

/// Every topic but those of the coordinators.
#[derive(Debug)]
pub(super) struct Topics {
    config: PartitionConfig,
    by_name: BTreeMap<String, Vec<Partition>>,
}

impl Topics {
    pub(super) fn new(config: PartitionConfig) -> Self {
        Self {
            config,
            by_name: BTreeMap::new(),
        }
    }

    /// Creates a topic whose partitions this broker leads.
    pub(super) fn create(
        &mut self,
        name: &str,
        partitions: i32,
        now: Timestamp,
    ) -> Result<(), ErrorCode> {
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.is_empty()
            || name.len() > MAX_NAME
            || name.starts_with("__")
            || !name.chars().all(legal)
        {
            return Err(INVALID_TOPIC);
        }
        if self.by_name.contains_key(name) {
            return Err(TOPIC_ALREADY_EXISTS);
        }
        let count = usize::try_from(partitions)
            .ok()
            .filter(|count| (1..=MAX_PARTITIONS).contains(count))
            .ok_or(INVALID_PARTITIONS)?;
        let replicas = (0..count).map(|_| {
            let mut replica = Partition::new(self.config);
            let leads = Input::BecomeLeader {
                leader_epoch: LEADER_EPOCH,
            };
            replica.step(leads, now);
            replica
        });
        self.by_name.insert(name.to_owned(), replicas.collect());
        Ok(())
    }

    /// Deletes a topic with everything in it.
    pub(super) fn delete(&mut self, name: &str) -> Result<(), ErrorCode> {
        self.by_name.remove(name).map(drop).ok_or(UNKNOWN_TOPIC)
    }

    /// Names, and how many partitions each topic has.
    pub(super) fn counts(&self) -> impl Iterator<Item = (&str, usize)> {
        self.by_name
            .iter()
            .map(|(name, it)| (name.as_str(), it.len()))
    }

    /// How many partitions a topic has, if it exists.
    pub(super) fn count(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).map(Vec::len)
    }

    pub(super) fn get(&self, at: &TopicPartition) -> Option<&Partition> {
        let index = usize::try_from(at.partition).ok()?;
        self.by_name.get(at.topic.as_str())?.get(index)
    }

    pub(super) fn get_mut(&mut self, at: &TopicPartition) -> Option<&mut Partition> {
        let index = usize::try_from(at.partition).ok()?;
        self.by_name.get_mut(at.topic.as_str())?.get_mut(index)
    }

    /// Every partition.
    pub(super) fn partitions_mut(&mut self) -> impl Iterator<Item = &mut Partition> {
        self.by_name.values_mut().flatten()
    }
}
