//! What an error means to the producer: the table of request and error.

use crate::error_code::ErrorCode;

/// A request that a transactional producer sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Api {
    /// FindCoordinator, for the transaction or for a group.
    FindCoordinator,
    /// InitProducerId.
    InitProducerId,
    /// AddPartitionsToTxn.
    AddPartitionsToTxn,
    /// AddOffsetsToTxn.
    AddOffsetsToTxn,
    /// TxnOffsetCommit.
    TxnOffsetCommit,
    /// EndTxn.
    EndTxn,
    /// Produce.
    Produce,
}

impl Api {
    /// Every request.
    pub const ALL: [Self; 7] = [
        Self::FindCoordinator,
        Self::InitProducerId,
        Self::AddPartitionsToTxn,
        Self::AddOffsetsToTxn,
        Self::TxnOffsetCommit,
        Self::EndTxn,
        Self::Produce,
    ];
}

/// What to do about an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// It is what was asked for.
    Success,
    /// Send the same request again, there.
    Retry,
    /// Find the coordinator, then send the same request again.
    FindAndRetry,
    /// The transaction can only be aborted.
    Abortable,
    /// Abortable where the epoch can be raised, fatal where it cannot.
    AbortableWithBump,
    /// A sequence is not the one that the broker expects: wait for the batches before it, or else abort.
    OutOfOrder,
    /// Nothing more is possible.
    Fatal,
}

/// What an error says, whoever hears it. Errors that no row below tells apart share a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Nothing,
    Loading,
    NotAvailable,
    NotCoordinator,
    TimedOut,
    Concurrent,
    ProducerFenced,
    OldEpoch,
    WrongState,
    WrongMapping,
    UnknownProducer,
    Abort,
    TransactionDenied,
    GroupDenied,
    TopicDenied,
    ClusterDenied,
    NotInGroup,
    FencedInstance,
    NotAttempted,
    UnknownPartition,
    PartitionMoves,
    Gap,
    AlreadyThere,
    BadRecords,
    NotSupported,
    Unexpected,
}

const fn meaning(code: ErrorCode) -> Meaning {
    match code {
        ErrorCode::None => Meaning::Nothing,
        ErrorCode::CoordinatorLoadInProgress => Meaning::Loading,
        ErrorCode::CoordinatorNotAvailable => Meaning::NotAvailable,
        ErrorCode::NotCoordinator => Meaning::NotCoordinator,
        ErrorCode::RequestTimedOut => Meaning::TimedOut,
        ErrorCode::ConcurrentTransactions => Meaning::Concurrent,
        ErrorCode::ProducerFenced => Meaning::ProducerFenced,
        ErrorCode::InvalidProducerEpoch => Meaning::OldEpoch,
        ErrorCode::InvalidTxnState => Meaning::WrongState,
        ErrorCode::InvalidProducerIdMapping => Meaning::WrongMapping,
        ErrorCode::UnknownProducerId => Meaning::UnknownProducer,
        ErrorCode::TransactionAbortable => Meaning::Abort,
        ErrorCode::TransactionalIdAuthorizationFailed => Meaning::TransactionDenied,
        ErrorCode::GroupAuthorizationFailed => Meaning::GroupDenied,
        ErrorCode::TopicAuthorizationFailed => Meaning::TopicDenied,
        ErrorCode::ClusterAuthorizationFailed => Meaning::ClusterDenied,
        ErrorCode::UnknownMemberId | ErrorCode::IllegalGeneration | ErrorCode::StaleMemberEpoch => {
            Meaning::NotInGroup
        }
        ErrorCode::FencedInstanceId => Meaning::FencedInstance,
        ErrorCode::OperationNotAttempted => Meaning::NotAttempted,
        ErrorCode::UnknownTopicOrPartition => Meaning::UnknownPartition,
        ErrorCode::NotLeaderOrFollower
        | ErrorCode::LeaderNotAvailable
        | ErrorCode::NetworkException
        | ErrorCode::NotEnoughReplicas
        | ErrorCode::NotEnoughReplicasAfterAppend
        | ErrorCode::KafkaStorageError
        | ErrorCode::FencedLeaderEpoch
        | ErrorCode::UnknownLeaderEpoch
        | ErrorCode::CorruptMessage => Meaning::PartitionMoves,
        ErrorCode::OutOfOrderSequenceNumber => Meaning::Gap,
        ErrorCode::DuplicateSequenceNumber => Meaning::AlreadyThere,
        ErrorCode::MessageTooLarge
        | ErrorCode::RecordListTooLarge
        | ErrorCode::InvalidTimestamp
        | ErrorCode::InvalidRecord
        | ErrorCode::InvalidRequiredAcks => Meaning::BadRecords,
        ErrorCode::UnsupportedVersion | ErrorCode::UnsupportedForMessageFormat => {
            Meaning::NotSupported
        }
        ErrorCode::UnknownServerError
        | ErrorCode::OffsetOutOfRange
        | ErrorCode::OffsetMetadataTooLarge
        | ErrorCode::InconsistentGroupProtocol
        | ErrorCode::InvalidGroupId
        | ErrorCode::InvalidSessionTimeout
        | ErrorCode::RebalanceInProgress
        | ErrorCode::InvalidRequest
        | ErrorCode::InvalidTransactionTimeout
        | ErrorCode::TransactionCoordinatorFenced
        | ErrorCode::MemberIdRequired
        | ErrorCode::UnstableOffsetCommit
        | ErrorCode::TransactionalIdNotFound => Meaning::Unexpected,
    }
}

/// What an answer means to the producer. Source: semantics of the Java producer, 4.x; KAFKA-18019 for
/// INVALID_PRODUCER_ID_MAPPING, which is fatal because a forgotten id must not let a zombie back in (B22).
#[must_use]
pub const fn classify(api: Api, code: ErrorCode) -> Class {
    let meaning = meaning(code);
    match api {
        Api::FindCoordinator => find_coordinator(meaning),
        Api::InitProducerId => init_producer_id(meaning),
        Api::AddPartitionsToTxn => add_partitions_to_txn(meaning),
        Api::AddOffsetsToTxn => add_offsets_to_txn(meaning),
        Api::TxnOffsetCommit => txn_offset_commit(meaning),
        Api::EndTxn => end_txn(meaning),
        Api::Produce => produce(meaning),
    }
}

const fn find_coordinator(meaning: Meaning) -> Class {
    match meaning {
        Meaning::Nothing => Class::Success,
        Meaning::NotAvailable | Meaning::Loading | Meaning::TimedOut => Class::Retry,
        Meaning::GroupDenied | Meaning::Abort => Class::Abortable,
        Meaning::NotCoordinator
        | Meaning::Concurrent
        | Meaning::ProducerFenced
        | Meaning::OldEpoch
        | Meaning::WrongState
        | Meaning::WrongMapping
        | Meaning::UnknownProducer
        | Meaning::TransactionDenied
        | Meaning::TopicDenied
        | Meaning::ClusterDenied
        | Meaning::NotInGroup
        | Meaning::FencedInstance
        | Meaning::NotAttempted
        | Meaning::UnknownPartition
        | Meaning::PartitionMoves
        | Meaning::Gap
        | Meaning::AlreadyThere
        | Meaning::BadRecords
        | Meaning::NotSupported
        | Meaning::Unexpected => Class::Fatal,
    }
}

const fn init_producer_id(meaning: Meaning) -> Class {
    match meaning {
        Meaning::Nothing => Class::Success,
        Meaning::Loading | Meaning::Concurrent => Class::Retry,
        Meaning::NotAvailable | Meaning::NotCoordinator => Class::FindAndRetry,
        Meaning::TransactionDenied | Meaning::ClusterDenied | Meaning::Abort => Class::Abortable,
        Meaning::TimedOut
        | Meaning::ProducerFenced
        | Meaning::OldEpoch
        | Meaning::WrongState
        | Meaning::WrongMapping
        | Meaning::UnknownProducer
        | Meaning::GroupDenied
        | Meaning::TopicDenied
        | Meaning::NotInGroup
        | Meaning::FencedInstance
        | Meaning::NotAttempted
        | Meaning::UnknownPartition
        | Meaning::PartitionMoves
        | Meaning::Gap
        | Meaning::AlreadyThere
        | Meaning::BadRecords
        | Meaning::NotSupported
        | Meaning::Unexpected => Class::Fatal,
    }
}

/// For one partition of the request. What nobody expects spoils the transaction, not the producer.
const fn add_partitions_to_txn(meaning: Meaning) -> Class {
    match meaning {
        Meaning::Nothing => Class::Success,
        Meaning::Loading | Meaning::Concurrent | Meaning::UnknownPartition => Class::Retry,
        Meaning::NotAvailable | Meaning::NotCoordinator => Class::FindAndRetry,
        Meaning::UnknownProducer => Class::AbortableWithBump,
        Meaning::TopicDenied
        | Meaning::NotAttempted
        | Meaning::Abort
        | Meaning::TimedOut
        | Meaning::GroupDenied
        | Meaning::ClusterDenied
        | Meaning::NotInGroup
        | Meaning::FencedInstance
        | Meaning::PartitionMoves
        | Meaning::Gap
        | Meaning::AlreadyThere
        | Meaning::BadRecords
        | Meaning::Unexpected => Class::Abortable,
        Meaning::ProducerFenced
        | Meaning::OldEpoch
        | Meaning::WrongState
        | Meaning::WrongMapping
        | Meaning::TransactionDenied
        | Meaning::NotSupported => Class::Fatal,
    }
}

const fn add_offsets_to_txn(meaning: Meaning) -> Class {
    match meaning {
        Meaning::Nothing => Class::Success,
        Meaning::Loading | Meaning::Concurrent => Class::Retry,
        Meaning::NotAvailable | Meaning::NotCoordinator => Class::FindAndRetry,
        Meaning::UnknownProducer => Class::AbortableWithBump,
        Meaning::GroupDenied | Meaning::Abort => Class::Abortable,
        Meaning::TimedOut
        | Meaning::ProducerFenced
        | Meaning::OldEpoch
        | Meaning::WrongState
        | Meaning::WrongMapping
        | Meaning::TransactionDenied
        | Meaning::TopicDenied
        | Meaning::ClusterDenied
        | Meaning::NotInGroup
        | Meaning::FencedInstance
        | Meaning::NotAttempted
        | Meaning::UnknownPartition
        | Meaning::PartitionMoves
        | Meaning::Gap
        | Meaning::AlreadyThere
        | Meaning::BadRecords
        | Meaning::NotSupported
        | Meaning::Unexpected => Class::Fatal,
    }
}

/// For one partition of the request.
const fn txn_offset_commit(meaning: Meaning) -> Class {
    match meaning {
        Meaning::Nothing => Class::Success,
        Meaning::Loading | Meaning::Concurrent | Meaning::UnknownPartition => Class::Retry,
        Meaning::NotAvailable | Meaning::NotCoordinator | Meaning::TimedOut => Class::FindAndRetry,
        Meaning::GroupDenied
        | Meaning::TopicDenied
        | Meaning::NotInGroup
        | Meaning::FencedInstance
        | Meaning::Abort => Class::Abortable,
        Meaning::ProducerFenced
        | Meaning::OldEpoch
        | Meaning::WrongState
        | Meaning::WrongMapping
        | Meaning::UnknownProducer
        | Meaning::TransactionDenied
        | Meaning::ClusterDenied
        | Meaning::NotAttempted
        | Meaning::PartitionMoves
        | Meaning::Gap
        | Meaning::AlreadyThere
        | Meaning::BadRecords
        | Meaning::NotSupported
        | Meaning::Unexpected => Class::Fatal,
    }
}

const fn end_txn(meaning: Meaning) -> Class {
    match meaning {
        Meaning::Nothing => Class::Success,
        Meaning::Loading | Meaning::Concurrent => Class::Retry,
        Meaning::NotAvailable | Meaning::NotCoordinator => Class::FindAndRetry,
        Meaning::UnknownProducer => Class::AbortableWithBump,
        Meaning::Abort => Class::Abortable,
        Meaning::TimedOut
        | Meaning::ProducerFenced
        | Meaning::OldEpoch
        | Meaning::WrongState
        | Meaning::WrongMapping
        | Meaning::TransactionDenied
        | Meaning::GroupDenied
        | Meaning::TopicDenied
        | Meaning::ClusterDenied
        | Meaning::NotInGroup
        | Meaning::FencedInstance
        | Meaning::NotAttempted
        | Meaning::UnknownPartition
        | Meaning::PartitionMoves
        | Meaning::Gap
        | Meaning::AlreadyThere
        | Meaning::BadRecords
        | Meaning::NotSupported
        | Meaning::Unexpected => Class::Fatal,
    }
}

/// An old epoch is abortable here only: since 2.7 a partition says so to a producer that may still go on. A batch that
/// was appended before is appended.
const fn produce(meaning: Meaning) -> Class {
    match meaning {
        Meaning::Nothing | Meaning::AlreadyThere => Class::Success,
        Meaning::Gap => Class::OutOfOrder,
        Meaning::PartitionMoves
        | Meaning::UnknownPartition
        | Meaning::TimedOut
        | Meaning::Concurrent
        | Meaning::Loading
        | Meaning::NotAvailable
        | Meaning::NotCoordinator => Class::Retry,
        Meaning::UnknownProducer => Class::AbortableWithBump,
        Meaning::OldEpoch
        | Meaning::WrongState
        | Meaning::Abort
        | Meaning::GroupDenied
        | Meaning::TopicDenied
        | Meaning::NotInGroup
        | Meaning::FencedInstance
        | Meaning::NotAttempted
        | Meaning::BadRecords
        | Meaning::Unexpected => Class::Abortable,
        Meaning::ProducerFenced
        | Meaning::WrongMapping
        | Meaning::TransactionDenied
        | Meaning::ClusterDenied
        | Meaning::NotSupported => Class::Fatal,
    }
}

#[cfg(test)]
mod tests {
    use super::{Api, Class, classify};
    use crate::error_code::ErrorCode;

    /// One letter a class: `.` success, `r` retry, `f` find and retry, `a` abortable, `b` abortable with a bump,
    /// `o` out of order, `X` fatal. Columns in the order of `Api::ALL`.
    #[test]
    fn b74_the_table_of_requests_and_errors() {
        let table = [
            ("UnknownServerError", "XXaXXXa"),
            ("None", "......."),
            ("OffsetOutOfRange", "XXaXXXa"),
            ("CorruptMessage", "XXaXXXr"),
            ("UnknownTopicOrPartition", "XXrXrXr"),
            ("LeaderNotAvailable", "XXaXXXr"),
            ("NotLeaderOrFollower", "XXaXXXr"),
            ("RequestTimedOut", "rXaXfXr"),
            ("MessageTooLarge", "XXaXXXa"),
            ("OffsetMetadataTooLarge", "XXaXXXa"),
            ("NetworkException", "XXaXXXr"),
            ("CoordinatorLoadInProgress", "rrrrrrr"),
            ("CoordinatorNotAvailable", "rfffffr"),
            ("NotCoordinator", "Xfffffr"),
            ("RecordListTooLarge", "XXaXXXa"),
            ("NotEnoughReplicas", "XXaXXXr"),
            ("NotEnoughReplicasAfterAppend", "XXaXXXr"),
            ("InvalidRequiredAcks", "XXaXXXa"),
            ("IllegalGeneration", "XXaXaXa"),
            ("InconsistentGroupProtocol", "XXaXXXa"),
            ("InvalidGroupId", "XXaXXXa"),
            ("UnknownMemberId", "XXaXaXa"),
            ("InvalidSessionTimeout", "XXaXXXa"),
            ("RebalanceInProgress", "XXaXXXa"),
            ("TopicAuthorizationFailed", "XXaXaXa"),
            ("GroupAuthorizationFailed", "aXaaaXa"),
            ("ClusterAuthorizationFailed", "XaaXXXX"),
            ("InvalidTimestamp", "XXaXXXa"),
            ("UnsupportedVersion", "XXXXXXX"),
            ("InvalidRequest", "XXaXXXa"),
            ("UnsupportedForMessageFormat", "XXXXXXX"),
            ("OutOfOrderSequenceNumber", "XXaXXXo"),
            ("DuplicateSequenceNumber", "XXaXXX."),
            ("InvalidProducerEpoch", "XXXXXXa"),
            ("InvalidTxnState", "XXXXXXa"),
            ("InvalidProducerIdMapping", "XXXXXXX"),
            ("InvalidTransactionTimeout", "XXaXXXa"),
            ("ConcurrentTransactions", "Xrrrrrr"),
            ("TransactionCoordinatorFenced", "XXaXXXa"),
            ("TransactionalIdAuthorizationFailed", "XaXXXXX"),
            ("OperationNotAttempted", "XXaXXXa"),
            ("KafkaStorageError", "XXaXXXr"),
            ("UnknownProducerId", "XXbbXbb"),
            ("FencedLeaderEpoch", "XXaXXXr"),
            ("UnknownLeaderEpoch", "XXaXXXr"),
            ("MemberIdRequired", "XXaXXXa"),
            ("FencedInstanceId", "XXaXaXa"),
            ("InvalidRecord", "XXaXXXa"),
            ("UnstableOffsetCommit", "XXaXXXa"),
            ("ProducerFenced", "XXXXXXX"),
            ("TransactionalIdNotFound", "XXaXXXa"),
            ("StaleMemberEpoch", "XXaXaXa"),
            ("TransactionAbortable", "aaaaaaa"),
        ];
        let letter = |class| match class {
            Class::Success => '.',
            Class::Retry => 'r',
            Class::FindAndRetry => 'f',
            Class::Abortable => 'a',
            Class::AbortableWithBump => 'b',
            Class::OutOfOrder => 'o',
            Class::Fatal => 'X',
        };
        let printed: Vec<(String, String)> = ErrorCode::ALL
            .into_iter()
            .map(|code| {
                let row = Api::ALL.map(|api| letter(classify(api, code)));
                (format!("{code:?}"), row.into_iter().collect())
            })
            .collect();
        let expected: Vec<(String, String)> = table
            .into_iter()
            .map(|(code, row)| (code.to_owned(), row.to_owned()))
            .collect();
        assert_eq!(printed, expected);
    }
}
