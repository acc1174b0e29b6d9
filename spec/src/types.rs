//! The small values that every actor shares, under Kafka's names.
//!
//! They are as narrow as the bounds allow (a transactional id is a `u8`), except for the
//! producer epoch, which is Kafka's real `i16`: exhaustion is a matter of its last two values.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::fmt;

/// A short inline list: spills to the heap only past `N` elements, never panics.
pub type List<T, const N: usize> = SmallVec<[T; N]>;

/// Kafka's `producer_id`. Model values count up from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProducerId(pub u8);

/// Kafka's `producer_epoch`: a real `i16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProducerEpoch(pub i16);

impl ProducerEpoch {
    /// The epoch of a new producer id.
    pub const FIRST: Self = Self(0);
    /// The last epoch that a client may hold (32766).
    pub const EXHAUSTED: Self = Self(i16::MAX - 1);
    /// Reserved for fences and markers (32767): no client is ever handed it.
    pub const MAX: Self = Self(i16::MAX);

    /// True from 32766 on: the next identity needs a new producer id.
    pub fn is_exhausted(self) -> bool {
        self >= Self::EXHAUSTED
    }

    /// The next epoch. Wraps past 32767, so that an overflow is seen as a negative epoch.
    pub fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

/// What a client is known by on the wire: producer id and epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// The producer id.
    pub producer_id: ProducerId,
    /// The producer epoch.
    pub producer_epoch: ProducerEpoch,
}

impl Identity {
    /// The identity `(producer_id, producer_epoch)`.
    pub fn new(producer_id: ProducerId, producer_epoch: ProducerEpoch) -> Self {
        Self {
            producer_id,
            producer_epoch,
        }
    }
}

/// Which producer instance (incarnation) of the scenario: 0 is P, 1 is Q, 2 is R.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProducerIndex(pub u8);

/// A transactional id, as an index into the scenario's ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TransactionalId(pub u8);

/// A partition of the scenario: data partitions first, then the offsets partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PartitionIndex(pub u8);

/// A broker that can lead the transaction-state partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BrokerId(pub u8);

/// The leader epoch of the transaction-state partition, as markers carry it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct CoordinatorEpoch(pub u8);

/// A batch's sequence number: a real `i32`, wrapping from `i32::MAX` to 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Sequence(pub i32);

impl Sequence {
    /// The first sequence of a new epoch.
    pub const FIRST: Self = Self(0);

    /// The sequence after this one: 0 after `i32::MAX`.
    pub fn next(self) -> Self {
        Self(self.0.checked_add(1).unwrap_or(0))
    }
}

/// An offset in a partition's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Offset(pub u8);

/// The generation of a consumer group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Generation(pub u8);

/// What a record says, compared by the properties (never by sequence).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Payload(pub u8);

/// A value that no actor may read: the true transaction that a record, a marker or a staged
/// offset belongs to. Only properties and monitors look inside; a test replaces the numbering and
/// shows that no count changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ghost(u8);

impl Ghost {
    /// No transaction: a batch of a producer without a transactional id.
    pub const NONE: Self = Self(u8::MAX);

    /// The ghost number of transaction `txn` of `producer` under a numbering `key`
    /// (0 in every checked run; another value only renames).
    pub fn of(producer: ProducerIndex, txn: u8, key: u8) -> Self {
        Self((producer.0 * 4 + txn) ^ key)
    }

    /// The `(producer, transaction)` that this number stands for, or `None` for [`Ghost::NONE`].
    pub fn ghost_reveal(self, key: u8) -> Option<(ProducerIndex, u8)> {
        if self == Self::NONE {
            return None;
        }
        let n = self.0 ^ key;
        Some((ProducerIndex(n / 4), n % 4))
    }
}

/// Commit or abort: EndTxn's `Committed` flag and the type of a control record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TransactionResult {
    /// Control record type 0.
    Abort,
    /// Control record type 1.
    Commit,
}

/// The rules that a transaction runs under (`transaction.version`): TV1 stands for version 1; 0
/// differs in the format of the log and in refusing TV2's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TransactionVersion {
    /// Classic: the epoch moves only on InitProducerId.
    Tv1,
    /// KIP-890 part 2: the epoch is bumped whenever a transaction is prepared.
    Tv2,
}

/// What a reader may see (Fetch's `isolation_level`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum IsolationLevel {
    /// Everything below the high watermark.
    ReadUncommitted,
    /// Decided data below the last stable offset.
    ReadCommitted,
}

/// A set of partitions (at most eight).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct PartitionSet(pub u8);

impl PartitionSet {
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// The set of one partition.
    pub fn one(partition: PartitionIndex) -> Self {
        Self(1 << partition.0)
    }

    /// Whether `partition` is in the set.
    pub fn contains(self, partition: PartitionIndex) -> bool {
        self.0 & (1 << partition.0) != 0
    }

    /// The set with `partition`.
    pub fn with(self, partition: PartitionIndex) -> Self {
        Self(self.0 | (1 << partition.0))
    }

    /// The set without `partition`.
    pub fn without(self, partition: PartitionIndex) -> Self {
        Self(self.0 & !(1 << partition.0))
    }

    /// Whether nothing is in the set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The partitions, in order.
    pub fn iter(self) -> impl Iterator<Item = PartitionIndex> {
        (0..8)
            .map(PartitionIndex)
            .filter(move |p| self.contains(*p))
    }
}

impl fmt::Display for ProducerIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", ["P", "Q", "R", "S"][usize::from(self.0 % 4)])
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.producer_id.0, self.producer_epoch.0)
    }
}

impl fmt::Display for TransactionResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Abort => "abort",
            Self::Commit => "commit",
        })
    }
}

impl fmt::Display for TransactionVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tv1 => "tv1",
            Self::Tv2 => "tv2",
        })
    }
}

impl fmt::Display for PartitionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (i, p) in self.iter().enumerate() {
            write!(f, "{}p{}", if i == 0 { "" } else { "," }, p.0)?;
        }
        f.write_str("}")
    }
}
