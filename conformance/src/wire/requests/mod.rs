//! One request a file: what is sent, what comes back, in Kafka's words.

mod add_offsets_to_txn;
mod add_partitions_to_txn;
mod api_versions;
mod describe;
mod end_txn;
mod fetch;
mod find_coordinator;
mod group;
mod groups;
mod init_producer_id;
mod list_offsets;
mod list_transactions;
mod membership;
mod offset_commit;
mod offset_fetch;
mod produce;
mod topics;
mod txn_offset_commit;
mod write_txn_markers;

pub use add_partitions_to_txn::TransactionToAdd;
pub use api_versions::{ApiVersionsAnswer, VersionRange};
pub use describe::{ActiveProducer, TransactionDescription};
pub use end_txn::{EndTxnAnswer, TransactionResult};
pub use fetch::{FetchAnswer, IsolationLevel};
pub use find_coordinator::{CoordinatorAnswer, CoordinatorKey};
pub use group::JoinGroupAnswer;
pub use init_producer_id::{InitProducerId, InitProducerIdAnswer};
pub use list_transactions::ListedTransaction;
pub use membership::{GenerationAnswer, Terms};
pub use offset_fetch::CommittedOffset;
pub use produce::ProduceAnswer;
pub use topics::{Broker, PartitionLeader, TopicSpec};
pub use txn_offset_commit::{GroupMember, TxnOffsetCommit};
pub use write_txn_markers::Marker;
pub(crate) use write_txn_markers::{AskedMarker, read_markers};

use kafka_protocol::messages::{TopicName, TransactionalId};
use kafka_protocol::protocol::StrBytes;

use super::error::{ErrorCode, WireError};

/// A producer id with an epoch, as they stand on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Producer {
    /// Producer id, -1 for none.
    pub id: i64,
    /// Producer epoch, -1 for none.
    pub epoch: i16,
}

impl Producer {
    /// No producer: (-1, -1).
    pub const NONE: Self = Self { id: -1, epoch: -1 };

    /// The same producer id at `epoch`.
    #[must_use]
    pub const fn at(self, epoch: i16) -> Self {
        Self { id: self.id, epoch }
    }
}

impl std::fmt::Display for Producer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({}, {})", self.id, self.epoch)
    }
}

/// A partition of a topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicPartition {
    /// Topic.
    pub topic: String,
    /// Partition, from 0.
    pub partition: i32,
}

impl TopicPartition {
    /// Partition `partition` of `topic`.
    #[must_use]
    pub fn new(topic: &str, partition: i32) -> Self {
        Self {
            topic: topic.to_owned(),
            partition,
        }
    }
}

fn text(value: &str) -> StrBytes {
    StrBytes::from_string(value.to_owned())
}

fn topic_name(value: &str) -> TopicName {
    TopicName(text(value))
}

fn transactional_id(value: &str) -> TransactionalId {
    TransactionalId(text(value))
}

/// The only element of an answer's array, where one was asked for.
fn only<T>(items: Vec<T>, what: &str) -> Result<T, WireError> {
    let count = items.len();
    let mut items = items.into_iter();
    match (items.next(), items.next()) {
        (Some(item), None) => Ok(item),
        _ => Err(WireError::Malformed(format!("{count} {what}, asked for 1"))),
    }
}

/// Partitions by topic, in the order of first mention.
fn by_topic(partitions: &[TopicPartition]) -> Vec<(&str, Vec<i32>)> {
    let mut topics: Vec<(&str, Vec<i32>)> = Vec::new();
    for partition in partitions {
        match topics.iter_mut().find(|(name, _)| *name == partition.topic) {
            Some((_, indexes)) => indexes.push(partition.partition),
            None => topics.push((&partition.topic, vec![partition.partition])),
        }
    }
    topics
}

/// An error for each partition.
pub type PartitionErrors = Vec<(TopicPartition, ErrorCode)>;
