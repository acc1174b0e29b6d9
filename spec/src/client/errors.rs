//! How a client takes an error: ask again, abort and go on, or stop.
//!
//! SOURCE: KIP-98, KIP-360, KIP-588, KIP-1050; KAFKA-18019 (a mapping error is fatal).

use crate::error_code::ErrorCode;
use crate::message::RequestKind;

/// What a client makes of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorClass {
    /// Success.
    Fine,
    /// Ask again.
    Retriable,
    /// Abort, then go on.
    Abortable,
    /// Stop.
    Fatal,
}

/// The class of an answer to a request; `None` stands for Produce.
pub fn classify(request: Option<RequestKind>, error: ErrorCode) -> ErrorClass {
    use ErrorClass::*;
    match error {
        ErrorCode::None => Fine,
        ErrorCode::CoordinatorLoadInProgress
        | ErrorCode::CoordinatorNotAvailable
        | ErrorCode::NotCoordinator
        | ErrorCode::NotEnoughReplicas
        | ErrorCode::NotLeaderOrFollower
        | ErrorCode::UnstableOffsetCommit
        | ErrorCode::ConcurrentTransactions => Retriable,
        ErrorCode::TransactionAbortable
        | ErrorCode::UnknownTopicOrPartition
        | ErrorCode::IllegalGeneration
        | ErrorCode::UnknownMemberId
        | ErrorCode::FencedInstanceId => Abortable,
        ErrorCode::InvalidProducerEpoch
        | ErrorCode::OutOfOrderSequenceNumber
        | ErrorCode::InvalidTxnState => match request {
            None => Abortable,
            Some(_) => Fatal,
        },
        ErrorCode::ProducerFenced
        | ErrorCode::InvalidProducerIdMapping
        | ErrorCode::UnknownServerError
        | ErrorCode::InvalidRequest
        | ErrorCode::InvalidTransactionTimeout
        | ErrorCode::TransactionCoordinatorFenced
        | ErrorCode::TransactionalIdAuthorizationFailed => Fatal,
    }
}
