//! The time that the harness gives to every step.
//!
//! The model has no time. The harness chooses it so that a timestamp is a function of what the model knows: what opens
//! a transaction happens early, everything else late, and late is past every transaction's timeout. So a timer can
//! fire whenever the model lets it, and no state differs from another in its timestamps alone.

use fencepost::types::Timestamp;
use fencepost_spec::coordinator::{TransactionMetadata, TransactionState};

/// A broker's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Clock {
    /// It has stepped back by a minute.
    pub back: bool,
}

const EARLY_MS: i64 = 1_700_000_000_000;
const LATER_MS: i64 = 3_600_000;
const STEP_BACK_MS: i64 = 60_000;

impl Clock {
    /// `transaction.timeout.ms` of every producer without two-phase commit.
    pub const TRANSACTION_TIMEOUT_MS: i32 = 60_000;
    /// `transactional.id.expiration.ms`.
    pub const ID_EXPIRATION_MS: i64 = 604_800_000;
    /// `producer.id.expiration.ms` of data partitions.
    pub const PRODUCER_EXPIRATION_MS: i64 = 86_400_000;
    /// `offsets.retention.minutes`.
    pub const OFFSETS_RETENTION_MS: i64 = 604_800_000;

    fn at(self, millis: i64) -> Timestamp {
        let step = if self.back { STEP_BACK_MS } else { 0 };
        Timestamp::from_millis(millis - step)
    }

    /// When partitions are added, and nothing is aborted.
    pub fn early(self) -> Timestamp {
        self.at(EARLY_MS)
    }

    /// When all else happens: past the timeout of what began early.
    pub fn late(self) -> Timestamp {
        self.at(EARLY_MS + LATER_MS)
    }

    /// When whatever changed last late has been idle for too long.
    pub fn much_later(self) -> Timestamp {
        self.late().plus_millis(Self::ID_EXPIRATION_MS + 1)
    }

    /// When an InitProducerId arrives: one that keeps a transaction leaves it as early as it began.
    pub fn init_producer_id(self, keeps: bool, stored: Option<&TransactionMetadata>) -> Timestamp {
        if keeps && stored.is_some_and(|it| it.state == TransactionState::Ongoing) {
            self.early()
        } else {
            self.late()
        }
    }

    /// When an EndTxn arrives: one that may begin an empty abort opens a transaction, so it is early.
    pub fn end_txn(self, stored: Option<&TransactionMetadata>) -> Timestamp {
        let opens = stored.is_some_and(|metadata| match metadata.state {
            TransactionState::Empty
            | TransactionState::CompleteCommit
            | TransactionState::CompleteAbort => true,
            TransactionState::Ongoing
            | TransactionState::PrepareCommit
            | TransactionState::PrepareAbort => false,
        });
        if opens { self.early() } else { self.late() }
    }

    /// When a record with this value was written.
    pub fn last_update(self, value: &TransactionMetadata) -> Timestamp {
        match value.state {
            TransactionState::Ongoing => self.early(),
            TransactionState::PrepareCommit | TransactionState::PrepareAbort
                if value.partitions.is_empty() =>
            {
                self.early()
            }
            TransactionState::Empty
            | TransactionState::PrepareCommit
            | TransactionState::PrepareAbort
            | TransactionState::CompleteCommit
            | TransactionState::CompleteAbort => self.late(),
        }
    }

    /// When the transaction of a record with this value began.
    pub fn start(self, value: &TransactionMetadata) -> Option<Timestamp> {
        match value.state {
            TransactionState::Empty => None,
            TransactionState::Ongoing
            | TransactionState::PrepareCommit
            | TransactionState::PrepareAbort
            | TransactionState::CompleteCommit
            | TransactionState::CompleteAbort => Some(self.early()),
        }
    }
}
