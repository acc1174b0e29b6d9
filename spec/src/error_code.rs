//! The error codes that the protocol's answers carry.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! error_codes {
    ($($(#[$doc:meta])* $name:ident = $number:literal $text:literal),+ $(,)?) => {
        /// A Kafka error code, as it stands in an answer.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum ErrorCode { $($(#[$doc])* $name),+ }

        impl ErrorCode {
            /// Every code that the model knows.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The number on the wire.
            pub fn number(self) -> i16 {
                match self { $(Self::$name => $number),+ }
            }

            /// Kafka's name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }
        }
    };
}

error_codes! {
    /// An internal error: no guard foresaw the request.
    UnknownServerError = -1 "UNKNOWN_SERVER_ERROR",
    /// Success.
    None = 0 "NONE",
    /// The topic or partition is gone.
    UnknownTopicOrPartition = 3 "UNKNOWN_TOPIC_OR_PARTITION",
    /// This broker does not lead the partition.
    NotLeaderOrFollower = 6 "NOT_LEADER_OR_FOLLOWER",
    /// The coordinator is loading its log.
    CoordinatorLoadInProgress = 14 "COORDINATOR_LOAD_IN_PROGRESS",
    /// The coordinator could not write.
    CoordinatorNotAvailable = 15 "COORDINATOR_NOT_AVAILABLE",
    /// This broker does not coordinate the id.
    NotCoordinator = 16 "NOT_COORDINATOR",
    /// Too few replicas; for Produce also "ask again" after a failed verification.
    NotEnoughReplicas = 19 "NOT_ENOUGH_REPLICAS",
    /// The generation is not the group's.
    IllegalGeneration = 22 "ILLEGAL_GENERATION",
    /// The member is not in the group.
    UnknownMemberId = 25 "UNKNOWN_MEMBER_ID",
    /// A malformed request.
    InvalidRequest = 42 "INVALID_REQUEST",
    /// A gap in the sequence.
    OutOfOrderSequenceNumber = 45 "OUT_OF_ORDER_SEQUENCE_NUMBER",
    /// The epoch is older than the partition's.
    InvalidProducerEpoch = 47 "INVALID_PRODUCER_EPOCH",
    /// The state does not allow the request.
    InvalidTxnState = 48 "INVALID_TXN_STATE",
    /// No such producer id for this transactional id.
    InvalidProducerIdMapping = 49 "INVALID_PRODUCER_ID_MAPPING",
    /// The asked timeout is out of range.
    InvalidTransactionTimeout = 50 "INVALID_TRANSACTION_TIMEOUT",
    /// Another transition is under way.
    ConcurrentTransactions = 51 "CONCURRENT_TRANSACTIONS",
    /// A marker from a coordinator that was replaced.
    TransactionCoordinatorFenced = 52 "TRANSACTION_COORDINATOR_FENCED",
    /// The principal may not use this transactional id.
    TransactionalIdAuthorizationFailed = 53 "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    /// Another member has taken over the group.instance.id.
    FencedInstanceId = 82 "FENCED_INSTANCE_ID",
    /// A staged offset is not decided yet.
    UnstableOffsetCommit = 88 "UNSTABLE_OFFSET_COMMIT",
    /// A newer instance has taken over.
    ProducerFenced = 90 "PRODUCER_FENCED",
    /// The transaction must be aborted; the producer may go on.
    TransactionAbortable = 120 "TRANSACTION_ABORTABLE",
}

impl ErrorCode {
    /// True for the answers after which a client simply asks again.
    pub fn is_retriable(self) -> bool {
        matches!(
            self,
            Self::CoordinatorLoadInProgress
                | Self::CoordinatorNotAvailable
                | Self::NotCoordinator
                | Self::NotEnoughReplicas
                | Self::ConcurrentTransactions
                | Self::NotLeaderOrFollower
                | Self::UnstableOffsetCommit
        )
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
