//! A recorded run: one event a line, as JSON.

use serde::{Deserialize, Serialize};

/// Producer id and epoch, -1 for none.
pub type Pair = (i64, i16);
/// Topic and partition.
pub type Place = (String, i32);

/// Something that passed the proxy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A request, before the broker has it.
    Asked {
        /// Which exchange.
        exchange: u64,
        /// What was asked.
        request: Asked,
    },
    /// Its answer, before the client has it.
    Answered {
        /// Which exchange.
        exchange: u64,
        /// What was answered.
        answer: Answered,
    },
    /// The connection ended without an answer.
    Lost {
        /// Which exchange.
        exchange: u64,
    },
}

/// A request that the model knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Asked {
    /// InitProducerId.
    InitProducerId {
        /// Transactional id, none for an idempotent producer.
        id: Option<String>,
        /// KIP-360: the identity that the client believes to hold.
        expected: Option<Pair>,
    },
    /// AddPartitionsToTxn as clients send it.
    AddPartitions {
        /// Transactional id.
        id: String,
        /// Who.
        producer: Pair,
        /// The partitions.
        partitions: Vec<Place>,
    },
    /// AddOffsetsToTxn.
    AddOffsets {
        /// Transactional id.
        id: String,
        /// Who.
        producer: Pair,
    },
    /// EndTxn.
    EndTxn {
        /// From 5 on TV2's table applies.
        version: i16,
        /// Transactional id.
        id: String,
        /// Who.
        producer: Pair,
        /// Commit or abort.
        commit: bool,
    },
    /// Produce.
    Produce {
        /// From 12 on the leader adds its partition to the transaction.
        version: i16,
        /// Transactional id.
        id: Option<String>,
        /// A batch for each partition.
        batches: Vec<Sent>,
    },
    /// TxnOffsetCommit.
    TxnOffsetCommit {
        /// From 5 on the group coordinator adds its partition to the transaction.
        version: i16,
        /// Transactional id.
        id: String,
        /// Who.
        producer: Pair,
    },
    /// Fetch.
    Fetch {
        /// read_committed.
        committed: bool,
        /// Partitions, each with the offset from which it is read.
        partitions: Vec<(Place, i64)>,
    },
}

/// A batch on its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// Where to.
    pub at: Place,
    /// Who.
    pub producer: Pair,
    /// First sequence, -1 for none.
    pub sequence: i32,
    /// Records.
    pub count: i32,
    /// The transactional flag.
    pub transactional: bool,
}

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
    },
    /// AddPartitionsToTxn, AddOffsetsToTxn, TxnOffsetCommit: the first error.
    Plain {
        /// Refusal, 0 for none.
        error: i16,
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
