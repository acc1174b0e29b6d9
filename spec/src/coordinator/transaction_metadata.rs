//! What the coordinator knows of one transactional id, and how each transition builds the next
//! value. The same value is the record in `__transaction_state`.

use crate::types::*;
use serde::{Deserialize, Serialize};

/// TransactionState. Dead and PrepareEpochFence never stand here: Dead is a tombstone in flight
/// ([`super::Then::Expire`]), PrepareEpochFence a PrepareAbort whose append is a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TransactionState {
    /// 0: an identity, no transaction yet.
    Empty,
    /// 1: a transaction with partitions.
    Ongoing,
    /// 2: the decision to commit is durable.
    PrepareCommit,
    /// 3: the decision to abort is durable.
    PrepareAbort,
    /// 4: every marker is written.
    CompleteCommit,
    /// 5: every marker is written.
    CompleteAbort,
}

impl TransactionState {
    /// Every state, in Kafka's order.
    pub const ALL: [Self; 6] = [
        Self::Empty,
        Self::Ongoing,
        Self::PrepareCommit,
        Self::PrepareAbort,
        Self::CompleteCommit,
        Self::CompleteAbort,
    ];

    /// The decided result, where there is one that is not complete yet.
    pub fn prepared(self) -> Option<TransactionResult> {
        match self {
            Self::PrepareCommit => Some(TransactionResult::Commit),
            Self::PrepareAbort => Some(TransactionResult::Abort),
            Self::Empty | Self::Ongoing | Self::CompleteCommit | Self::CompleteAbort => None,
        }
    }

    /// Whether an id in this state may be forgotten.
    pub fn may_expire(self) -> bool {
        match self {
            Self::Empty | Self::CompleteCommit | Self::CompleteAbort => true,
            Self::Ongoing | Self::PrepareCommit | Self::PrepareAbort => false,
        }
    }

    /// Whether `next` may be the next record of one id.
    /// Source: `TransactionState.validPreviousStates`; TV2 adds the empty abort.
    pub fn may_become(self, next: Self) -> bool {
        match next {
            Self::Empty => matches!(
                self,
                Self::Empty | Self::CompleteCommit | Self::CompleteAbort
            ),
            Self::Ongoing => matches!(
                self,
                Self::Ongoing | Self::Empty | Self::CompleteCommit | Self::CompleteAbort
            ),
            Self::PrepareCommit => self == Self::Ongoing,
            Self::PrepareAbort => matches!(
                self,
                Self::Ongoing | Self::Empty | Self::CompleteCommit | Self::CompleteAbort
            ),
            Self::CompleteCommit => self == Self::PrepareCommit,
            Self::CompleteAbort => self == Self::PrepareAbort,
        }
    }
}

/// TransactionMetadata, and the value of its log record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TransactionMetadata {
    /// Where the transaction stands.
    pub state: TransactionState,
    /// The producer id; while a transaction is open, the one that its markers carry.
    pub producer_id: ProducerId,
    /// Its epoch.
    pub producer_epoch: ProducerEpoch,
    /// The epoch before the last bump: a retry with it is recognised (KIP-360, KAFKA-20357).
    pub last_producer_epoch: Option<ProducerEpoch>,
    /// The producer id that the client used when it asked for the last transition (KIP-939).
    pub prev_producer_id: ProducerId,
    /// The identity after completion, where it is not the marker's (KIP-890, KIP-939). While
    /// Ongoing: the client's identity in a two-phase transaction that was taken over.
    pub next: Option<Identity>,
    /// The partitions of the transaction.
    pub partitions: PartitionSet,
    /// Two-phase: the timeout is `i32::MAX` (KIP-939).
    pub two_phase: bool,
    /// Kafka's clientTransactionVersion: the version the transaction is decided under.
    pub client_version: TransactionVersion,
    /// Which transaction this is.
    pub ghost: Ghost,
}

impl TransactionMetadata {
    /// The stored identity.
    pub fn identity(&self) -> Identity {
        Identity::new(self.producer_id, self.producer_epoch)
    }

    /// The identity that the client holds: the next one if a two-phase transaction was taken
    /// over, else the stored one (KIP-939).
    pub fn client_identity(&self) -> Identity {
        match (self.state, self.next) {
            (TransactionState::Ongoing, Some(next)) => next,
            (_, _) => self.identity(),
        }
    }

    /// A first identity for a new id.
    pub fn created(producer_id: ProducerId, two_phase: bool) -> Self {
        Self {
            state: TransactionState::Empty,
            producer_id,
            producer_epoch: ProducerEpoch::FIRST,
            last_producer_epoch: None,
            prev_producer_id: producer_id,
            next: None,
            partitions: PartitionSet::EMPTY,
            two_phase,
            client_version: TransactionVersion::Tv1,
            ghost: Ghost::NONE,
        }
    }

    /// Empty with a bumped epoch (incrementEpoch).
    pub fn incremented(&self, last: Option<ProducerEpoch>) -> Self {
        Self {
            producer_epoch: self.producer_epoch.next(),
            ..self.emptied(last)
        }
    }

    /// Empty with the same epoch: a recognised retry of InitProducerId.
    pub fn unincremented(&self) -> Self {
        self.emptied(self.last_producer_epoch)
    }

    /// Empty under a fresh producer id (pidRotation).
    pub fn rotated(&self, fresh: ProducerId, last: Option<ProducerEpoch>) -> Self {
        Self {
            producer_id: fresh,
            producer_epoch: ProducerEpoch::FIRST,
            ..self.emptied(last)
        }
    }

    fn emptied(&self, last: Option<ProducerEpoch>) -> Self {
        Self {
            state: TransactionState::Empty,
            last_producer_epoch: last,
            prev_producer_id: self.producer_id,
            next: None,
            partitions: PartitionSet::EMPTY,
            ghost: Ghost::NONE,
            ..*self
        }
    }

    /// Ongoing with one more partition (addPartitions).
    pub fn with_partition(
        &self,
        partition: PartitionIndex,
        version: TransactionVersion,
        ghost: Ghost,
    ) -> Self {
        let ongoing = self.state == TransactionState::Ongoing;
        Self {
            state: TransactionState::Ongoing,
            partitions: self.partitions.with(partition),
            prev_producer_id: self.producer_id,
            client_version: version,
            ghost: if ongoing { self.ghost } else { ghost },
            ..*self
        }
    }

    /// Prepare* with the given marker epoch and the identity after completion.
    pub fn prepared(&self, result: TransactionResult, end: Prepared) -> Self {
        Self {
            state: match result {
                TransactionResult::Commit => TransactionState::PrepareCommit,
                TransactionResult::Abort => TransactionState::PrepareAbort,
            },
            producer_epoch: end.marker_epoch,
            last_producer_epoch: end.last_producer_epoch,
            prev_producer_id: end.prev_producer_id,
            next: end.next,
            client_version: end.version,
            ..*self
        }
    }

    /// Complete* (prepareComplete): the identity after completion becomes the stored one.
    pub fn completed(&self, result: TransactionResult, clear_partitions: bool) -> Self {
        let identity = self.next.unwrap_or_else(|| self.identity());
        Self {
            state: match result {
                TransactionResult::Commit => TransactionState::CompleteCommit,
                TransactionResult::Abort => TransactionState::CompleteAbort,
            },
            producer_id: identity.producer_id,
            producer_epoch: identity.producer_epoch,
            next: None,
            partitions: if clear_partitions {
                PartitionSet::EMPTY
            } else {
                self.partitions
            },
            ghost: Ghost::NONE,
            ..*self
        }
    }
}

/// What a Prepare* transition changes besides the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The epoch that the markers carry.
    pub marker_epoch: ProducerEpoch,
    /// The epoch that the client used.
    pub last_producer_epoch: Option<ProducerEpoch>,
    /// The producer id that the client used.
    pub prev_producer_id: ProducerId,
    /// The identity after completion, where it differs from the marker's.
    pub next: Option<Identity>,
    /// The version that decides.
    pub version: TransactionVersion,
}
