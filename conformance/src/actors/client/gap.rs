//! Where the model's client is coarser than production's, by name.

/// Something about a client that is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gap {
    /// Clients of KIP-939.
    TwoPhase,
    /// Producers without a transactional id.
    Idempotent,
    /// From a given-up TxnOffsetCommit on.
    GivenUpOffsets,
    /// From an upgrade on that is learnt of while a transaction ends.
    LateUpgrade,
    /// The search for a coordinator.
    Lookup,
    /// A copy of a batch out of its turn.
    EarlyCopy,
    /// A request that is asked again in an error state.
    AskedInError,
    /// Batches that are given up together with one that failed.
    GivenUpTogether,
    /// The bump after the last transaction.
    LastBump,
}

impl Gap {
    /// Every one.
    pub const ALL: &[Self] = &[
        Self::TwoPhase,
        Self::Idempotent,
        Self::GivenUpOffsets,
        Self::LateUpgrade,
        Self::Lookup,
        Self::EarlyCopy,
        Self::AskedInError,
        Self::GivenUpTogether,
        Self::LastBump,
    ];

    /// Whether the client is not compared any more from there on.
    pub fn leaves_out(self) -> bool {
        match self {
            Self::TwoPhase | Self::Idempotent | Self::GivenUpOffsets | Self::LateUpgrade => true,
            Self::Lookup
            | Self::EarlyCopy
            | Self::AskedInError
            | Self::GivenUpTogether
            | Self::LastBump => false,
        }
    }

    /// What is left out.
    pub fn what(self) -> &'static str {
        match self {
            Self::TwoPhase => "client of a two-phase commit",
            Self::Idempotent => "client without a transactional id",
            Self::GivenUpOffsets => "client after a TxnOffsetCommit that it gave up",
            Self::LateUpgrade => "client after an upgrade while its transaction ended",
            Self::Lookup => "client's search for a coordinator",
            Self::EarlyCopy => "client's copy of a batch out of its turn",
            Self::AskedInError => "client's request again where it can only abort",
            Self::GivenUpTogether => "client's batches in flight when another one fails",
            Self::LastBump => "client's bump after its last transaction",
        }
    }

    /// Why.
    pub fn reason(self) -> &'static str {
        match self {
            Self::TwoPhase => "the transaction manager does not prepare (KIP-939)",
            Self::Idempotent => "the transaction manager is of transactional producers only",
            Self::GivenUpOffsets => {
                "the transaction manager, as Kafka's, asks until it is answered; the model's client gives up and aborts"
            }
            Self::LateUpgrade => {
                "production chooses the next version when a transaction begins to end, as Kafka; the model when it has ended"
            }
            Self::Lookup => {
                "the model's client always knows whom to ask; the harness answers at once"
            }
            Self::EarlyCopy => {
                "production sends a batch again once those before it are done; the model at any time, as a network may"
            }
            Self::AskedInError => {
                "production, as Kafka, drops it and aborts; the model's client asks until it is answered"
            }
            Self::GivenUpTogether => {
                "the model's client forgets them at once; production is told that they have expired"
            }
            Self::LastBump => "the model's script ends with the transaction",
        }
    }
}
