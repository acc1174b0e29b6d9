//! The answers of a recorded run.

use serde::{Deserialize, Serialize};

use super::event::{Pair, Place};

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Answered {
    /// InitProducerId, EndTxn.
    Identity {
        /// Refusal, 0 for none.
        error: i16,
        /// What the client goes on with.
        producer: Pair,
        /// KIP-939: the transaction that goes on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ongoing: Option<Pair>,
    },
    /// AddPartitionsToTxn, AddOffsetsToTxn, TxnOffsetCommit: the first error.
    Plain {
        /// Refusal, 0 for none.
        error: i16,
    },
    /// AddPartitionsToTxn of a broker, OffsetCommit, WriteTxnMarkers.
    Each {
        /// For each partition.
        verdicts: Vec<Verdict>,
    },
    /// OffsetFetch.
    Offsets {
        /// The groups.
        groups: Vec<OffsetsOf>,
    },
    /// Produce, in the broker's order.
    Produce {
        /// One for each batch.
        written: Vec<Written>,
    },
    /// Fetch.
    Fetch {
        /// The partitions.
        partitions: Vec<Fetched>,
    },
}

/// What became of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Where.
    pub at: Place,
    /// Refusal, 0 for none.
    pub error: i16,
    /// Offset of its first record, -1 for none.
    pub offset: i64,
}

/// A partition of a Fetch's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fetched {
    /// Which.
    pub at: Place,
    /// Refusal, 0 for none.
    pub error: i16,
    /// High watermark.
    pub high_watermark: i64,
    /// Last stable offset, -1 for none.
    pub last_stable_offset: i64,
    /// Aborted transactions: producer id and first offset.
    pub aborted: Vec<(i64, i64)>,
    /// The batches.
    pub batches: Vec<Stored>,
}

/// A batch in a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// Offset of its first record.
    pub offset: i64,
    /// Offset of its last record.
    pub last: i64,
    /// Who.
    pub producer: Pair,
    /// First sequence, -1 for none.
    pub sequence: i32,
    /// The transactional flag.
    pub transactional: bool,
    /// A marker: true for commit.
    pub marker: Option<bool>,
}

/// What was answered for one partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Whose: a transactional id, a producer id, a group.
    pub of: String,
    /// Which.
    pub at: Place,
    /// Refusal, 0 for none.
    pub error: i16,
}

/// A group's offsets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OffsetsOf {
    /// The group.
    pub group: String,
    /// Refusal of the whole, 0 for none.
    pub error: i16,
    /// For each partition the offset, -1 for none, and its refusal.
    pub offsets: Vec<(Place, i64, i16)>,
}
