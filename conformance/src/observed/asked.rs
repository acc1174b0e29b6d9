//! The requests of a recorded run.

use serde::{Deserialize, Serialize};

use super::event::{Pair, Place};

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
        /// KIP-939: enable2Pc.
        #[serde(default)]
        two_phase: bool,
        /// KIP-939: keepPreparedTxn.
        #[serde(default)]
        keep_prepared: bool,
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
    /// AddPartitionsToTxn as brokers send it.
    BrokerAdditions {
        /// For each transaction.
        transactions: Vec<Addition>,
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
        /// The group.
        #[serde(default)]
        group: String,
        /// What is to be staged.
        #[serde(default)]
        offsets: Vec<(Place, i64)>,
    },
    /// OffsetCommit, outside of any transaction.
    OffsetCommit {
        /// The group.
        group: String,
        /// What is to be committed.
        offsets: Vec<(Place, i64)>,
    },
    /// OffsetFetch.
    OffsetFetch {
        /// Partitions with an undecided offset are to be refused (KIP-447).
        require_stable: bool,
        /// The groups, each with its partitions; none for all.
        groups: Vec<(String, Option<Vec<Place>>)>,
    },
    /// OffsetDelete and DeleteGroups: offsets of these groups may be gone.
    ForgetOffsets {
        /// The groups.
        groups: Vec<String>,
    },
    /// ConsumerGroupHeartbeat (KIP-848): a kind of group that the model does not have.
    ConsumerGroup {
        /// The group.
        group: String,
    },
    /// WriteTxnMarkers, as an operator or a coordinator sends it.
    WriteTxnMarkers {
        /// The markers.
        markers: Vec<MarkerAsked>,
    },
    /// DeleteTopics.
    DeleteTopics {
        /// By name.
        topics: Vec<String>,
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

/// A transaction of an AddPartitionsToTxn that a broker sends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addition {
    /// Transactional id.
    pub id: String,
    /// Who.
    pub producer: Pair,
    /// Only ask whether the partitions are in it.
    pub verify_only: bool,
    /// The partitions.
    pub partitions: Vec<Place>,
}

/// A marker on its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkerAsked {
    /// Producer id and the marker's epoch.
    pub producer: Pair,
    /// Commit or abort.
    pub commit: bool,
    /// Epoch of the coordinator.
    pub coordinator_epoch: i32,
    /// The transaction's version (KIP-1228), 0 where the request does not say.
    pub version: i8,
    /// Where to.
    pub partitions: Vec<Place>,
}
