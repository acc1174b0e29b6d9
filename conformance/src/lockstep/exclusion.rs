//! What a run leaves out, by name: nothing is left out silently.

use crate::actors::{Excluded, Gap};
use std::collections::BTreeMap;

/// Something that the two sides are not compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exclusion {
    /// Network, transaction-state log, external manager and readers' positions are the model's on both sides.
    Environment,
    /// The model's client is coarser.
    Client(Gap),
    /// Ghost numbers.
    Ghost,
    /// Partitions of a decided transaction in memory.
    DecidedPartitions,
    /// Sequences on the offsets partition.
    OffsetsSequences,
    /// A marker that is appended and not applied.
    MarkerAhead,
    /// The refusal of a wrong identity while a transaction is kept.
    KeptIdentity,
    /// TV1's EndTxn of a kept transaction.
    KeptTv1,
    /// Batches that a recovery from a snapshot forgets.
    SnapshotBatches,
    /// Application behind the log.
    Applied,
    /// An action that production has no counterpart for.
    Action(Excluded),
}

impl Exclusion {
    /// Every exclusion but the actions that production has no counterpart for.
    pub const ALL: &[Self] = &[
        Self::Environment,
        Self::Client(Gap::TwoPhase),
        Self::Client(Gap::Idempotent),
        Self::Client(Gap::GivenUpOffsets),
        Self::Client(Gap::LateUpgrade),
        Self::Client(Gap::Lookup),
        Self::Client(Gap::EarlyCopy),
        Self::Client(Gap::AskedInError),
        Self::Client(Gap::GivenUpTogether),
        Self::Client(Gap::LastBump),
        Self::Ghost,
        Self::DecidedPartitions,
        Self::OffsetsSequences,
        Self::MarkerAhead,
        Self::KeptIdentity,
        Self::KeptTv1,
        Self::SnapshotBatches,
        Self::Applied,
    ];

    /// What is left out.
    pub fn what(self) -> &'static str {
        match self {
            Self::Environment => "network, transaction-state log and the external manager",
            Self::Client(gap) => gap.what(),
            Self::Ghost => "ghost numbers",
            Self::DecidedPartitions => "partitions of a decided transaction in memory",
            Self::OffsetsSequences => "sequences on the offsets partition",
            Self::MarkerAhead => "OffsetFetch between a marker's append and its application",
            Self::KeptIdentity => "refusal of a wrong identity while a transaction is kept",
            Self::KeptTv1 => "TV1's EndTxn of a kept transaction",
            Self::SnapshotBatches => "remembered batches but the last, where snapshots are taken",
            Self::Applied => "application behind the log",
            Self::Action(excluded) => excluded.what,
        }
    }

    /// Why.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Environment => "they are the model's on both sides",
            Self::Client(gap) => gap.reason(),
            Self::Ghost => "no actor knows them",
            Self::DecidedPartitions => {
                "production drops a partition when its marker is written; the markers that are left are compared"
            }
            Self::OffsetsSequences => {
                "the model numbers staged offsets; records of the offsets partition have no sequences"
            }
            Self::MarkerAhead => "production applies a marker in the step that appends it",
            Self::KeptIdentity => {
                "which refusal: KIP-939 does not say, Kafka 4.4 does not serve it"
            }
            Self::KeptTv1 => {
                "production asks for version 5, the model judges by TV1's table: KIP-939 does not say"
            }
            Self::SnapshotBatches => {
                "production does not use a snapshot above the high watermark, and so forgets less than Kafka"
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
            Self::KeptTv1 | Self::Action(_) => true,
            Self::Environment
            | Self::Client(_)
            | Self::Ghost
            | Self::DecidedPartitions
            | Self::OffsetsSequences
            | Self::MarkerAhead
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
