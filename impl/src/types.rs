//! The words that every core shares: ids, epochs, offsets, times, names.
//!
//! No value here has a sentinel. `-1` on the wire or in a record is read as `None` (`from_wire`) and written from
//! `None` (`to_wire`) by the codecs and by nobody else.

use std::fmt;
use std::sync::Arc;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps the text as it is, the empty one included: which texts are valid is each request's own rule.
            #[must_use]
            pub fn new(text: &str) -> Self {
                Self(Arc::from(text))
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, out)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }
    };
}

text_id! {
    /// The name under which a producer's transactions survive its restarts.
    TransactionalId
}
text_id! {
    /// A consumer group's name.
    GroupId
}
text_id! {
    /// A topic's name.
    TopicName
}
text_id! {
    /// The name that a group coordinator gives to one member of a group; empty until it has given one.
    MemberId
}
text_id! {
    /// The name that a member brings along so that it keeps its place in the group over a restart. KIP-345.
    GroupInstanceId
}

macro_rules! count_from_zero {
    ($(#[$doc:meta])* $name:ident, $raw:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($raw);

        impl $name {
            /// The largest value.
            pub const MAX: Self = Self(<$raw>::MAX);

            /// A value known to be valid.
            ///
            /// # Panics
            /// If `raw` is negative: that is a mistake of the caller, who should have used [`Self::from_wire`].
            #[must_use]
            pub const fn new(raw: $raw) -> Self {
                assert!(raw >= 0, "a negative number is read with from_wire");
                Self(raw)
            }

            /// Reads a field of the wire or of a record, where a negative number says "none".
            #[must_use]
            pub const fn from_wire(raw: $raw) -> Option<Self> {
                if raw >= 0 { Some(Self(raw)) } else { None }
            }

            /// Writes a field of the wire or of a record: `-1` says "none".
            #[must_use]
            pub fn to_wire(value: Option<Self>) -> $raw {
                value.map_or(-1, Self::get)
            }

            /// The number.
            #[must_use]
            pub const fn get(self) -> $raw {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, out)
            }
        }
    };
}

count_from_zero! {
    /// The number that a coordinator gives to a producer. From 0.
    ProducerId, i64
}
count_from_zero! {
    /// Which incarnation of a producer id speaks. 0 to 32767, where 32767 is only for fencing and markers: no client
    /// is ever handed it.
    ProducerEpoch, i16
}
count_from_zero! {
    /// Which leadership of the coordinator's log partition speaks: the leader epoch of that partition. From 0.
    CoordinatorEpoch, i32
}
count_from_zero! {
    /// Which leadership of a partition speaks. From 0.
    LeaderEpoch, i32
}
count_from_zero! {
    /// A position in a log. From 0.
    Offset, i64
}
count_from_zero! {
    /// A producer's sequence number of a record. 0 to `i32::MAX`, then 0 again.
    Sequence, i32
}

count_from_zero! {
    /// Which round of membership of a group speaks. From 0.
    GenerationId, i32
}

/// The token by which an answer finds its request. Whoever runs a core chooses it, and never uses one twice while its
/// answer is outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

impl ProducerEpoch {
    /// The first epoch of a producer id.
    pub const ZERO: Self = Self(0);
    /// The last epoch that a client may hold: 32766. At or above it the producer id is exhausted.
    pub const LAST_USABLE: Self = Self(i16::MAX - 1);

    /// Whether the next identity must come from a fresh producer id.
    #[must_use]
    pub fn is_exhausted(self) -> bool {
        seeded!(NeverRotates, self >= Self::LAST_USABLE, false)
    }

    /// The next epoch, or `None` at 32767.
    #[must_use]
    pub fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(Self)
    }
}

impl Offset {
    /// The start of an empty log.
    pub const ZERO: Self = Self(0);

    /// The offset `records` further on, or `None` past the largest offset or when `records` is negative.
    #[must_use]
    pub fn plus(self, records: i64) -> Option<Self> {
        if records < 0 {
            return None;
        }
        self.0.checked_add(records).map(Self)
    }
}

impl Sequence {
    /// The first sequence of a producer epoch.
    pub const ZERO: Self = Self(0);

    /// The sequence `records` further on; it wraps from `i32::MAX` to 0. `records` must not be negative.
    #[must_use]
    pub fn plus(self, records: i32) -> Self {
        debug_assert!(records >= 0);
        Self(self.0.wrapping_add(records) & i32::MAX)
    }
}

/// A producer id with an epoch: who a client says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProducerIdAndEpoch {
    /// The producer id.
    pub producer_id: ProducerId,
    /// The epoch.
    pub producer_epoch: ProducerEpoch,
}

/// A moment in milliseconds since the Unix epoch, as the caller's clock gives it. It may step back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// A moment `millis` after (or, when negative, before) the Unix epoch.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The moment `millis` later, kept inside the range of the type.
    #[must_use]
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Milliseconds from `earlier` to this moment; negative when the clock stepped back.
    #[must_use]
    pub const fn millis_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// One partition of one topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicPartition {
    /// The topic's name.
    pub topic: TopicName,
    /// The partition's index, from 0.
    pub partition: i32,
}

impl TopicPartition {
    /// The partition `partition` of `topic`.
    #[must_use]
    pub fn new(topic: &str, partition: i32) -> Self {
        Self {
            topic: TopicName::new(topic),
            partition,
        }
    }
}

impl fmt::Display for TopicPartition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{}", self.topic, self.partition)
    }
}

/// How a transaction ends. On the wire a boolean: `true` is commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TransactionResult {
    /// What was written stays.
    Commit,
    /// What was written is to be skipped by read_committed readers.
    Abort,
}

/// The feature level `transaction.version`, of the cluster or of one client. KIP-890.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TransactionVersion {
    /// The first protocol, with version 0 values in the transaction log.
    V0,
    /// As [`Self::V0`] for clients, with flexible (version 1) values in the transaction log.
    V1,
    /// KIP-890 part 2: every prepared transaction raises the producer epoch.
    V2,
}

impl TransactionVersion {
    /// The level with this number, or `None` when there is no such level.
    #[must_use]
    pub fn from_level(level: i16) -> Option<Self> {
        [Self::V0, Self::V1, Self::V2]
            .into_iter()
            .find(|known| known.level() == level)
    }

    /// The level's number.
    #[must_use]
    pub const fn level(self) -> i16 {
        match self {
            Self::V0 => 0,
            Self::V1 => 1,
            Self::V2 => 2,
        }
    }

    /// Whether ending a transaction raises the producer epoch.
    #[must_use]
    pub const fn supports_epoch_bump(self) -> bool {
        match self {
            Self::V0 | Self::V1 => false,
            Self::V2 => true,
        }
    }
}

/// Which records a reader asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IsolationLevel {
    /// Everything below the high watermark.
    ReadUncommitted,
    /// Everything below the last stable offset, with the aborted transactions named.
    ReadCommitted,
}

#[cfg(test)]
mod tests {
    use super::{ProducerEpoch, ProducerId, Sequence, Timestamp};

    #[test]
    fn negative_numbers_are_none_and_none_is_minus_one() {
        assert_eq!(ProducerId::from_wire(-1), None);
        assert_eq!(ProducerId::from_wire(0), Some(ProducerId::new(0)));
        assert_eq!(ProducerId::to_wire(None), -1);
        assert_eq!(
            ProducerEpoch::to_wire(Some(ProducerEpoch::LAST_USABLE)),
            32766
        );
    }

    #[test]
    fn the_last_two_epochs_are_exhausted() {
        assert!(!ProducerEpoch::new(32765).is_exhausted());
        assert!(ProducerEpoch::new(32766).is_exhausted());
        assert!(ProducerEpoch::MAX.is_exhausted());
        assert_eq!(ProducerEpoch::MAX.next(), None);
    }

    #[test]
    fn sequences_wrap_to_zero() {
        assert_eq!(Sequence::MAX.plus(1), Sequence::ZERO);
        assert_eq!(Sequence::MAX.plus(3), Sequence::new(2));
    }

    #[test]
    fn times_never_overflow() {
        let end = Timestamp::from_millis(i64::MAX);
        assert_eq!(end.plus_millis(1), end);
        assert_eq!(Timestamp::from_millis(i64::MIN).millis_since(end), i64::MIN);
    }
}
