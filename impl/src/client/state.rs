//! The states of a transactional producer, and which may follow which.

/// What the producer is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// It has no producer id yet.
    Uninitialized,
    /// It waits for a producer id, or for a higher epoch.
    Initializing,
    /// It may begin a transaction.
    Ready,
    /// A transaction is open.
    InTransaction,
    /// The application has asked for a commit.
    CommittingTransaction,
    /// The application has asked for an abort.
    AbortingTransaction,
    /// The transaction cannot be committed any more, only aborted.
    AbortableError,
    /// Nothing more is possible.
    FatalError,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 8] = [
        Self::Uninitialized,
        Self::Initializing,
        Self::Ready,
        Self::InTransaction,
        Self::CommittingTransaction,
        Self::AbortingTransaction,
        Self::AbortableError,
        Self::FatalError,
    ];

    /// Whether `self` may be followed by `next`. A fatal error may follow anything, and nothing follows it but itself.
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        match next {
            Self::Uninitialized => false,
            // After an end with a bump: an abort in TV1, or either end when the session turns to TV2.
            Self::Initializing => matches!(
                self,
                Self::Uninitialized | Self::CommittingTransaction | Self::AbortingTransaction
            ),
            Self::Ready => matches!(
                self,
                Self::Initializing | Self::CommittingTransaction | Self::AbortingTransaction
            ),
            Self::InTransaction => matches!(self, Self::Ready),
            Self::CommittingTransaction => matches!(self, Self::InTransaction),
            Self::AbortingTransaction => {
                matches!(self, Self::InTransaction | Self::AbortableError)
            }
            Self::AbortableError => matches!(
                self,
                Self::InTransaction
                    | Self::CommittingTransaction
                    | Self::AbortableError
                    | Self::Initializing
            ),
            Self::FatalError => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::State;

    #[test]
    fn the_table_of_transitions() {
        // Rows: from. Columns: to, in the order of `State::ALL`.
        let table = [
            "Uninitialized          . x . . . . . x",
            "Initializing           . . x . . . x x",
            "Ready                  . . . x . . . x",
            "InTransaction          . . . . x x x x",
            "CommittingTransaction  . x x . . . x x",
            "AbortingTransaction    . x x . . . . x",
            "AbortableError         . . . . . x x x",
            "FatalError             . . . . . . . x",
        ];
        for (from, row) in State::ALL.into_iter().zip(table) {
            let cells = State::ALL.map(|to| if from.may_become(to) { "x" } else { "." });
            let printed = format!("{:<22} {}", format!("{from:?}"), cells.join(" "));
            assert_eq!(printed, row);
        }
    }
}
