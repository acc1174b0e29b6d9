//! Ids, epochs, offsets, partitions, versions.

use super::Unmapped;
use fencepost::types as i;
use fencepost_spec::types as s;

/// The topic of the scenario's data partitions.
pub const DATA_TOPIC: &str = "data";
/// The topic of the offsets partition.
pub const OFFSETS_TOPIC: &str = "__consumer_offsets";

/// A producer id.
pub fn producer_id(id: s::ProducerId) -> i::ProducerId {
    i::ProducerId::new(i64::from(id.0))
}

/// A producer id, back.
///
/// # Errors
/// [`Unmapped`] past 255.
pub fn spec_producer_id(id: i::ProducerId) -> Result<s::ProducerId, Unmapped> {
    u8::try_from(id.get())
        .map(s::ProducerId)
        .map_err(|_| Unmapped::new("producer id", id))
}

/// An epoch.
///
/// # Errors
/// [`Unmapped`] for a negative one, which only an overflow of the model makes.
pub fn producer_epoch(epoch: s::ProducerEpoch) -> Result<i::ProducerEpoch, Unmapped> {
    i::ProducerEpoch::from_wire(epoch.0).ok_or_else(|| Unmapped::new("producer epoch", epoch))
}

/// An epoch, back.
pub fn spec_producer_epoch(epoch: i::ProducerEpoch) -> s::ProducerEpoch {
    s::ProducerEpoch(epoch.get())
}

/// Producer id and epoch.
///
/// # Errors
/// [`Unmapped`], as [`producer_epoch`].
pub fn identity(identity: s::Identity) -> Result<i::ProducerIdAndEpoch, Unmapped> {
    Ok(i::ProducerIdAndEpoch {
        producer_id: producer_id(identity.producer_id),
        producer_epoch: producer_epoch(identity.producer_epoch)?,
    })
}

/// Producer id and epoch, back.
///
/// # Errors
/// [`Unmapped`], as [`spec_producer_id`].
pub fn spec_identity(identity: i::ProducerIdAndEpoch) -> Result<s::Identity, Unmapped> {
    Ok(s::Identity::new(
        spec_producer_id(identity.producer_id)?,
        spec_producer_epoch(identity.producer_epoch),
    ))
}

/// The texts of a scenario's transactional ids.
const TRANSACTIONAL_IDS: [&str; 8] = [
    "id-0", "id-1", "id-2", "id-3", "id-4", "id-5", "id-6", "id-7",
];

/// A transactional id: the model's index as a text. There are eight.
pub fn transactional_id(id: s::TransactionalId) -> i::TransactionalId {
    i::TransactionalId::new(TRANSACTIONAL_IDS[usize::from(id.0) % TRANSACTIONAL_IDS.len()])
}

/// A transactional id, back.
///
/// # Errors
/// [`Unmapped`] for a text that no scenario uses.
pub fn spec_transactional_id(id: &i::TransactionalId) -> Result<s::TransactionalId, Unmapped> {
    (0..)
        .map(s::TransactionalId)
        .zip(TRANSACTIONAL_IDS)
        .find(|(_, text)| *text == id.as_str())
        .map(|(id, _)| id)
        .ok_or_else(|| Unmapped::new("transactional id", id))
}

/// Which partitions of a scenario there are: `data` of them hold data, the next one holds offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Topics {
    /// How many data partitions.
    pub data: u8,
}

impl Topics {
    /// The topic and number of a partition.
    pub fn partition(self, partition: s::PartitionIndex) -> i::TopicPartition {
        if partition.0 == self.data {
            i::TopicPartition::new(OFFSETS_TOPIC, 0)
        } else {
            i::TopicPartition::new(DATA_TOPIC, i32::from(partition.0))
        }
    }

    /// The partition of a topic and number.
    ///
    /// # Errors
    /// [`Unmapped`] for one that the scenario does not have.
    pub fn spec_partition(
        self,
        partition: &i::TopicPartition,
    ) -> Result<s::PartitionIndex, Unmapped> {
        let unmapped = || Unmapped::new("partition", partition);
        match (partition.topic.as_str(), partition.partition) {
            (OFFSETS_TOPIC, 0) => Ok(s::PartitionIndex(self.data)),
            (DATA_TOPIC, number) => u8::try_from(number)
                .ok()
                .filter(|number| *number < self.data)
                .map(s::PartitionIndex)
                .ok_or_else(unmapped),
            (_, _) => Err(unmapped()),
        }
    }

    /// A set of partitions.
    ///
    /// # Errors
    /// [`Unmapped`], as [`Topics::spec_partition`].
    pub fn spec_set(self, partitions: &[i::TopicPartition]) -> Result<s::PartitionSet, Unmapped> {
        partitions
            .iter()
            .try_fold(s::PartitionSet::EMPTY, |set, partition| {
                Ok(set.with(self.spec_partition(partition)?))
            })
    }

    /// The partitions of a set, by topic and number.
    pub fn partitions(self, set: s::PartitionSet) -> Vec<i::TopicPartition> {
        let mut partitions: Vec<_> = set.iter().map(|it| self.partition(it)).collect();
        partitions.sort_unstable();
        partitions
    }
}

/// The leader epoch of the transaction-state partition.
pub fn coordinator_epoch(epoch: s::CoordinatorEpoch) -> i::CoordinatorEpoch {
    i::CoordinatorEpoch::new(i32::from(epoch.0))
}

/// The leader epoch of the transaction-state partition, back.
///
/// # Errors
/// [`Unmapped`] past 255.
pub fn spec_coordinator_epoch(epoch: i::CoordinatorEpoch) -> Result<s::CoordinatorEpoch, Unmapped> {
    u8::try_from(epoch.get())
        .map(s::CoordinatorEpoch)
        .map_err(|_| Unmapped::new("coordinator epoch", epoch))
}

/// An offset.
pub fn offset(offset: s::Offset) -> i::Offset {
    i::Offset::new(i64::from(offset.0))
}

/// An offset, back.
///
/// # Errors
/// [`Unmapped`] past 255.
pub fn spec_offset(offset: i::Offset) -> Result<s::Offset, Unmapped> {
    u8::try_from(offset.get())
        .map(s::Offset)
        .map_err(|_| Unmapped::new("offset", offset))
}

/// A sequence.
///
/// # Errors
/// [`Unmapped`] for a negative one.
pub fn sequence(sequence: s::Sequence) -> Result<i::Sequence, Unmapped> {
    i::Sequence::from_wire(sequence.0).ok_or_else(|| Unmapped::new("sequence", sequence))
}

/// A sequence, back.
pub fn spec_sequence(sequence: i::Sequence) -> s::Sequence {
    s::Sequence(sequence.get())
}

/// Commit or abort.
pub fn result(result: s::TransactionResult) -> i::TransactionResult {
    match result {
        s::TransactionResult::Abort => i::TransactionResult::Abort,
        s::TransactionResult::Commit => i::TransactionResult::Commit,
    }
}

/// Commit or abort, back.
pub fn spec_result(result: i::TransactionResult) -> s::TransactionResult {
    match result {
        i::TransactionResult::Abort => s::TransactionResult::Abort,
        i::TransactionResult::Commit => s::TransactionResult::Commit,
    }
}

/// The cluster's level: TV1 writes flexible records, so that nothing of a record is lost.
pub fn cluster_version(version: s::TransactionVersion) -> i::TransactionVersion {
    match version {
        s::TransactionVersion::Tv1 => i::TransactionVersion::V1,
        s::TransactionVersion::Tv2 => i::TransactionVersion::V2,
    }
}

/// A client's version, as transactions and markers carry it.
pub fn client_version(version: s::TransactionVersion) -> i::TransactionVersion {
    match version {
        s::TransactionVersion::Tv1 => i::TransactionVersion::V0,
        s::TransactionVersion::Tv2 => i::TransactionVersion::V2,
    }
}

/// A client's version, back: TV1 stands for 0 and 1.
pub fn spec_version(version: i::TransactionVersion) -> s::TransactionVersion {
    match version {
        i::TransactionVersion::V0 | i::TransactionVersion::V1 => s::TransactionVersion::Tv1,
        i::TransactionVersion::V2 => s::TransactionVersion::Tv2,
    }
}

/// What a reader may see.
pub fn isolation(level: s::IsolationLevel) -> i::IsolationLevel {
    match level {
        s::IsolationLevel::ReadUncommitted => i::IsolationLevel::ReadUncommitted,
        s::IsolationLevel::ReadCommitted => i::IsolationLevel::ReadCommitted,
    }
}
