//! What a run leaves out, by name: nothing is left out silently.

use crate::actors::Excluded;
use std::collections::BTreeMap;

/// Something that the two sides are not compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exclusion {
    /// Clients are the model's on both sides.
    Client,
    /// Ghost numbers.
    Ghost,
    /// Partitions of a decided transaction in memory.
    DecidedPartitions,
    /// Decided transactions whose marker is not replicated.
    Unreplicated,
    /// Sequences on the offsets partition.
    OffsetsSequences,
    /// A marker that is appended and not applied.
    MarkerAhead,
    /// An answer that depends on when a TV1 fence counts.
    TentativeFence,
    /// A request that meets a decision which its coordinator pursues no more.
    LostCompletion,
    /// A request that meets an id whose first identity is not logged.
    UnloggedId,
    /// A write of an old epoch whose guard is gone too.
    EpochBeforeGuard,
    /// An old epoch's TxnOffsetCommit that has not been asked about.
    EpochBeforeQuestion,
    /// A repeated batch of a transaction that is not open here.
    DuplicateAsked,
    /// A first sequence above 0 of a producer without transactions.
    FirstSequence,
    /// A coordinator's verdict on a TxnOffsetCommit that passes by itself.
    OffsetsRetriable,
    /// An InitProducerId that is refused for what it says, at a broker that does not serve it.
    RequestFirst,
    /// The refusal of a wrong identity while a transaction is kept.
    KeptIdentity,
    /// Batches that a snapshot does not hold.
    SnapshotBatches,
    /// A batch beside another one of its producer that is asked about.
    SequenceAsked,
    /// A TV1 coordinator's own abort of a transaction that a TV2 request has opened.
    FenceVersion,
    /// An offset that is staged between the append and the application of its producer's marker.
    StagedAfterMarker,
    /// TV1's EndTxn of a kept transaction.
    KeptTv1,
    /// Application behind the log.
    Applied,
    /// An action that production has no counterpart for.
    Action(Excluded),
}

impl Exclusion {
    /// What is left out.
    pub fn what(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Ghost => "ghost numbers",
            Self::DecidedPartitions => "partitions of a decided transaction in memory",
            Self::Unreplicated => "list of decided transactions whose marker is not replicated",
            Self::OffsetsSequences => "sequences on the offsets partition",
            Self::MarkerAhead => "OffsetFetch between a marker's append and its application",
            Self::TentativeFence => {
                "an old epoch's EndTxn or verification while a TV1 fence is being logged"
            }
            Self::LostCompletion => {
                "request at a deposed coordinator whose completion the log refused"
            }
            Self::UnloggedId => "request for an id whose first identity is not logged",
            Self::EpochBeforeGuard => "a verified Produce of an old epoch whose guard is gone",
            Self::EpochBeforeQuestion => "an old epoch's TxnOffsetCommit",
            Self::DuplicateAsked => "a repeated batch of a transaction that is not open here",
            Self::FirstSequence => "a first sequence above 0 of a producer without transactions",
            Self::OffsetsRetriable => "retriable verdict on a TxnOffsetCommit",
            Self::RequestFirst => "invalid InitProducerId at a broker that does not coordinate",
            Self::KeptIdentity => "refusal of a wrong identity while a transaction is kept",
            Self::SnapshotBatches => "remembered batches but the last, where snapshots are taken",
            Self::SequenceAsked => "a batch beside another one of its producer that is asked about",
            Self::FenceVersion => {
                "a TV1 coordinator's abort of a transaction that a TV2 request opened"
            }
            Self::StagedAfterMarker => {
                "an offset staged between a marker's append and its application"
            }
            Self::KeptTv1 => "TV1's EndTxn of a kept transaction",
            Self::Applied => "application behind the log",
            Self::Action(excluded) => excluded.what,
        }
    }

    /// Why.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Client => {
                "producers are the model's on both sides; the implementation's transaction manager is not driven yet"
            }
            Self::Ghost => "no actor knows them",
            Self::DecidedPartitions => {
                "production drops a partition when its marker is written; the markers that are left are compared"
            }
            Self::Unreplicated => {
                "private to the core; the last stable offset, which it bounds, is compared"
            }
            Self::OffsetsSequences => {
                "the model numbers staged offsets; records of the offsets partition have no sequences"
            }
            Self::MarkerAhead => "production applies a marker in the step that appends it",
            Self::TentativeFence => {
                "the model raises the epoch when the fence is durable, production (as Kafka) when it decides"
            }
            Self::LostCompletion => {
                "the model leaves the transition pending, production (as Kafka) clears it and answers by the table"
            }
            Self::UnloggedId => {
                "the model has no identity to compare yet, production (as Kafka) a producer id without an epoch"
            }
            Self::EpochBeforeGuard => {
                "the model names the guard, production (as Kafka since KAFKA-19690) the epoch"
            }
            Self::EpochBeforeQuestion => {
                "the model asks the coordinator first, production (as Kafka since KAFKA-18042) refuses at once"
            }
            Self::DuplicateAsked => {
                "the model answers the repeat at once, production (as Kafka) asks the coordinator before it looks"
            }
            Self::FirstSequence => {
                "the model refuses it for every TV2 batch, production (as Kafka) only for one that was asked about"
            }
            Self::OffsetsRetriable => {
                "the model says NOT_ENOUGH_REPLICAS as for Produce, production (as Kafka) passes the verdict on"
            }
            Self::RequestFirst => {
                "the model asks who leads first, production (as Kafka) what the request says"
            }
            Self::KeptIdentity => {
                "which refusal: KIP-939 does not say, Kafka 4.4 does not serve it"
            }
            Self::SnapshotBatches => {
                "the model's snapshot holds all of them, production's (as Kafka's) the last one"
            }
            Self::SequenceAsked => {
                "the model looks at questions of its own kind and epoch, production (as Kafka) at any of its producer's"
            }
            Self::FenceVersion => {
                "the model keeps the request's version, production (as Kafka) decides under the cluster's"
            }
            Self::StagedAfterMarker => {
                "the model's marker takes it too, production's (as Kafka's) only what was staged before it"
            }
            Self::KeptTv1 => {
                "production asks for version 5, the model judges by TV1's table: KIP-939 does not say"
            }
            Self::Applied => "production applies a record in the step that appends it",
            Self::Action(excluded) => excluded.reason,
        }
    }
}

impl Exclusion {
    /// Whether the two sides are in different states after it, so that the run does not go on from there.
    pub fn cuts(self) -> bool {
        match self {
            Self::EpochBeforeQuestion
            | Self::DuplicateAsked
            | Self::FirstSequence
            | Self::SequenceAsked
            | Self::FenceVersion
            | Self::StagedAfterMarker
            | Self::KeptTv1
            | Self::Action(_) => true,
            Self::Client
            | Self::Ghost
            | Self::DecidedPartitions
            | Self::Unreplicated
            | Self::OffsetsSequences
            | Self::MarkerAhead
            | Self::TentativeFence
            | Self::LostCompletion
            | Self::UnloggedId
            | Self::EpochBeforeGuard
            | Self::OffsetsRetriable
            | Self::RequestFirst
            | Self::KeptIdentity
            | Self::SnapshotBatches
            | Self::Applied => false,
        }
    }
}

/// How often each was met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exclusions(BTreeMap<Exclusion, u64>);

impl Exclusions {
    /// It was met once more.
    pub fn meet(&mut self, exclusion: Exclusion) {
        *self.0.entry(exclusion).or_default() += 1;
    }

    /// Each, with its count.
    pub fn iter(&self) -> impl Iterator<Item = (Exclusion, u64)> {
        self.0.iter().map(|(exclusion, count)| (*exclusion, *count))
    }
}
