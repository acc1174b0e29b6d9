//! What the coordinator knows of one transactional id, and where its next change stands.

use std::sync::Arc;

use super::partition_set::PartitionSet;
use super::state_transitions::TransactionState;
use crate::types::{ProducerEpoch, ProducerId, ProducerIdAndEpoch, Timestamp, TransactionVersion};

/// How long a transaction may stay open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TransactionTimeout {
    /// Milliseconds, after which the coordinator aborts it.
    Millis(i32),
    /// The transaction takes part in two-phase commit: only its owner ends it (KIP-939).
    Never,
}

impl TransactionTimeout {
    /// Reads the field of a record, where `i32::MAX` stands for [`Self::Never`].
    #[must_use]
    pub const fn from_record(millis: i32) -> Self {
        if millis == i32::MAX {
            Self::Never
        } else {
            Self::Millis(millis)
        }
    }

    /// The field of a record or an answer, in milliseconds.
    #[must_use]
    pub const fn to_record(self) -> i32 {
        match self {
            Self::Millis(millis) => millis,
            Self::Never => i32::MAX,
        }
    }
}

/// A transactional id's state as it is or will be in the log.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TransactionMetadata {
    /// The producer id in use; an open transaction's records carry it.
    pub producer_id: ProducerId,
    /// The producer id that a client used before the last change, by which a retry is known.
    pub previous_producer_id: Option<ProducerId>,
    /// The producer id that the client gets next: after an overflow, or while a transaction is kept (KIP-939).
    pub next_producer_id: Option<ProducerId>,
    /// The epoch in use; `None` until the first InitProducerId is durable.
    pub producer_epoch: Option<ProducerEpoch>,
    /// The epoch before the last rise, by which a retried InitProducerId is known.
    pub last_producer_epoch: Option<ProducerEpoch>,
    /// The epoch that goes with [`Self::next_producer_id`]; set only by KIP-939. Without it the next producer id
    /// starts at epoch 0.
    pub next_producer_epoch: Option<ProducerEpoch>,
    /// How long a transaction may stay open.
    pub timeout: TransactionTimeout,
    /// The state.
    pub state: TransactionState,
    /// The partitions of the transaction, in memory without those whose marker is written.
    pub partitions: PartitionSet,
    /// When the transaction began.
    pub start_timestamp: Option<Timestamp>,
    /// When the id was last changed.
    pub last_update_timestamp: Timestamp,
    /// The transaction version that the client used.
    pub client_transaction_version: TransactionVersion,
    /// Memory only, TV1: a fence raised the epoch but could not be logged, so the next fence raises it no further.
    pub has_failed_epoch_fence: bool,
}

impl TransactionMetadata {
    /// A new id: nothing is durable yet, and no client has heard of its producer id.
    pub(super) fn new(
        producer_id: ProducerId,
        timeout: TransactionTimeout,
        now: Timestamp,
    ) -> Self {
        Self {
            producer_id,
            previous_producer_id: None,
            next_producer_id: None,
            producer_epoch: None,
            last_producer_epoch: None,
            next_producer_epoch: None,
            timeout,
            state: TransactionState::Empty,
            partitions: PartitionSet::default(),
            start_timestamp: None,
            last_update_timestamp: now,
            client_transaction_version: TransactionVersion::V0,
            has_failed_epoch_fence: false,
        }
    }

    /// The start of every change: this metadata, with the producer id in use remembered as the previous one.
    pub(super) fn changed(&self, state: TransactionState, now: Timestamp) -> Self {
        Self {
            previous_producer_id: Some(self.producer_id),
            state,
            last_update_timestamp: now,
            ..self.clone()
        }
    }

    /// Whether a transaction is kept for a client that has been given another identity to end it with (KIP-939).
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.next_producer_epoch.is_some()
    }

    /// The producer id that the client was last given.
    #[must_use]
    pub fn client_producer_id(&self) -> ProducerId {
        match (self.next_producer_id, self.next_producer_epoch) {
            (Some(next), Some(_)) => next,
            (Some(_) | None, None) | (None, Some(_)) => self.producer_id,
        }
    }

    /// The epoch that the client was last given.
    #[must_use]
    pub fn client_producer_epoch(&self) -> Option<ProducerEpoch> {
        self.next_producer_epoch.or(self.producer_epoch)
    }

    /// The identity in use, once it has an epoch.
    #[must_use]
    pub fn producer(&self) -> Option<ProducerIdAndEpoch> {
        let producer_epoch = self.producer_epoch?;
        Some(ProducerIdAndEpoch {
            producer_id: self.producer_id,
            producer_epoch,
        })
    }

    /// The moment after which an open transaction is aborted by the coordinator.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        match (self.state, self.timeout) {
            (TransactionState::Ongoing, TransactionTimeout::Millis(millis)) => {
                // A transaction without a start (no broker writes one) counts from -1 as Kafka's field does.
                let start = self.start_timestamp.unwrap_or(Timestamp::from_millis(-1));
                Some(start.plus_millis(i64::from(millis)))
            }
            (_, TransactionTimeout::Never | TransactionTimeout::Millis(_)) => None,
        }
    }
}

/// A transactional id in the coordinator's memory: at rest, or with one change under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// Nothing is under way.
    Settled(Arc<TransactionMetadata>),
    /// A change is under way; nothing else may begin.
    Pending(Arc<Pending>),
}

impl Slot {
    /// What holds now: a pending change counts only when it is done.
    #[must_use]
    pub fn current(&self) -> &Arc<TransactionMetadata> {
        match self {
            Self::Settled(metadata) => metadata,
            Self::Pending(pending) => &pending.from,
        }
    }

    /// The change that is under way.
    #[must_use]
    pub fn pending(&self) -> Option<&Pending> {
        match self {
            Self::Settled(_) => None,
            Self::Pending(pending) => Some(pending),
        }
    }
}

/// A change under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pending {
    /// What holds until the change is done, and again if it fails.
    pub from: Arc<TransactionMetadata>,
    /// What will hold.
    pub to: Arc<TransactionMetadata>,
    /// Where the change stands.
    pub stage: Stage,
}

/// Where a change stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Its record is being appended.
    Appending,
    /// A decided transaction waits for its markers; its completion is not being appended yet.
    WritingMarkers {
        /// Of the partitions that are left, those whose marker has to be sent again; the others' is on its way.
        queued: PartitionSet,
    },
    /// Every marker is written and the completion is being appended.
    AppendingCompletion,
    /// The completion could not be appended and will be tried again.
    CompletionQueued,
    /// A partition refused the marker as fenced, so this leadership gives the transaction up: the next one finishes it.
    Abandoned,
}
