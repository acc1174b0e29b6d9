//! The states of a transaction, and which may follow which.
//!
//! Source: Kafka 4.4's transaction state table; the edges from Empty and Complete* to PrepareAbort are KIP-890's empty
//! abort.

/// The state of a transactional id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TransactionState {
    /// Nothing has been begun since the producer was initialised.
    Empty,
    /// A transaction has partitions and is not decided.
    Ongoing,
    /// Commit is decided and durable; markers are on their way.
    PrepareCommit,
    /// Abort is decided and durable; markers are on their way.
    PrepareAbort,
    /// Every marker of the commit is written.
    CompleteCommit,
    /// Every marker of the abort is written.
    CompleteAbort,
    /// The id is being forgotten. Never a record: a tombstone is written instead.
    Dead,
    /// The coordinator is fencing an open transaction before it aborts it. Never a record, and here never stored: the
    /// fence and the abort are one step.
    PrepareEpochFence,
}

impl TransactionState {
    /// Every state, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::Empty,
        Self::Ongoing,
        Self::PrepareCommit,
        Self::PrepareAbort,
        Self::CompleteCommit,
        Self::CompleteAbort,
        Self::Dead,
        Self::PrepareEpochFence,
    ];

    /// The state's number, 0 to 7.
    #[must_use]
    pub const fn status(self) -> i8 {
        match self {
            Self::Empty => 0,
            Self::Ongoing => 1,
            Self::PrepareCommit => 2,
            Self::PrepareAbort => 3,
            Self::CompleteCommit => 4,
            Self::CompleteAbort => 5,
            Self::Dead => 6,
            Self::PrepareEpochFence => 7,
        }
    }

    /// The state that a record's number stands for: only the six that are ever written.
    #[must_use]
    pub fn from_record(status: i8) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|state| state.status() == status && state.is_persisted())
    }

    /// The name that DescribeTransactions and ListTransactions use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::Ongoing => "Ongoing",
            Self::PrepareCommit => "PrepareCommit",
            Self::PrepareAbort => "PrepareAbort",
            Self::CompleteCommit => "CompleteCommit",
            Self::CompleteAbort => "CompleteAbort",
            Self::Dead => "Dead",
            Self::PrepareEpochFence => "PrepareEpochFence",
        }
    }

    /// Whether a record may hold this state.
    #[must_use]
    pub const fn is_persisted(self) -> bool {
        match self {
            Self::Empty
            | Self::Ongoing
            | Self::PrepareCommit
            | Self::PrepareAbort
            | Self::CompleteCommit
            | Self::CompleteAbort => true,
            Self::Dead | Self::PrepareEpochFence => false,
        }
    }

    /// Whether an id in this state may be forgotten when it has not been used for long enough.
    #[must_use]
    pub const fn may_expire(self) -> bool {
        match self {
            Self::Empty | Self::CompleteCommit | Self::CompleteAbort => true,
            Self::Ongoing
            | Self::PrepareCommit
            | Self::PrepareAbort
            | Self::Dead
            | Self::PrepareEpochFence => false,
        }
    }

    /// The states from which this one may be entered.
    #[must_use]
    pub const fn valid_previous_states(self) -> &'static [Self] {
        use TransactionState::{
            CompleteAbort, CompleteCommit, Empty, Ongoing, PrepareAbort, PrepareCommit,
            PrepareEpochFence,
        };
        match self {
            Self::Empty => &[Empty, CompleteCommit, CompleteAbort],
            Self::Ongoing => &[Ongoing, Empty, CompleteCommit, CompleteAbort],
            Self::PrepareCommit => &[Ongoing],
            Self::PrepareAbort => &[
                Ongoing,
                PrepareEpochFence,
                Empty,
                CompleteCommit,
                CompleteAbort,
            ],
            Self::CompleteCommit => &[PrepareCommit],
            Self::CompleteAbort => &[PrepareAbort],
            Self::Dead => &[Empty, CompleteCommit, CompleteAbort],
            Self::PrepareEpochFence => &[Ongoing],
        }
    }

    /// Whether this state may be entered from `previous`.
    #[must_use]
    pub fn may_follow(self, previous: Self) -> bool {
        self.valid_previous_states().contains(&previous)
    }
}
