//! Kafka's error codes: the ones that a transaction can meet, with the numbers of the wire protocol.

/// An answer that a peer can see. Source: `org.apache.kafka.common.protocol.Errors`.
///
/// Success is a value of its own ([`ErrorCode::None`]) because the wire has a slot for it in every answer;
/// decision code says success with its own types and never passes `None` as a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i16)]
pub enum ErrorCode {
    /// The server met something it has no better word for.
    UnknownServerError = -1,
    /// No error.
    None = 0,
    /// The requested offset lies outside the log.
    OffsetOutOfRange = 1,
    /// A batch failed its checksum or its structure is wrong.
    CorruptMessage = 2,
    /// The server does not host this topic or partition.
    UnknownTopicOrPartition = 3,
    /// The partition has no leader right now.
    LeaderNotAvailable = 5,
    /// The addressed server is not the leader of the partition.
    NotLeaderOrFollower = 6,
    /// No answer came in time.
    RequestTimedOut = 7,
    /// A record is larger than the log allows.
    MessageTooLarge = 10,
    /// The metadata of a committed offset is too large.
    OffsetMetadataTooLarge = 12,
    /// The connection broke before the answer came.
    NetworkException = 13,
    /// The coordinator is still reading its log.
    CoordinatorLoadInProgress = 14,
    /// The coordinator cannot serve right now.
    CoordinatorNotAvailable = 15,
    /// The addressed server is not the coordinator of this id.
    NotCoordinator = 16,
    /// A set of records is larger than one segment.
    RecordListTooLarge = 18,
    /// Too few replicas are in sync to append.
    NotEnoughReplicas = 19,
    /// The append was made, but too few replicas were in sync.
    NotEnoughReplicasAfterAppend = 20,
    /// The `acks` setting is not valid here.
    InvalidRequiredAcks = 21,
    /// The generation named by a group member is not the current one.
    IllegalGeneration = 22,
    /// The member's protocols have nothing in common with the group's.
    InconsistentGroupProtocol = 23,
    /// The group id is not valid.
    InvalidGroupId = 24,
    /// The member is not part of the group.
    UnknownMemberId = 25,
    /// The session timeout lies outside the allowed range.
    InvalidSessionTimeout = 26,
    /// The group is rebalancing.
    RebalanceInProgress = 27,
    /// The caller may not use this topic.
    TopicAuthorizationFailed = 29,
    /// The caller may not use this group.
    GroupAuthorizationFailed = 30,
    /// The caller may not do this on the cluster.
    ClusterAuthorizationFailed = 31,
    /// The timestamp of a record is out of range.
    InvalidTimestamp = 32,
    /// The server does not speak this version of the request.
    UnsupportedVersion = 35,
    /// The request contradicts itself.
    InvalidRequest = 42,
    /// The log's message format is too old.
    UnsupportedForMessageFormat = 43,
    /// A batch's first sequence does not follow the last one.
    OutOfOrderSequenceNumber = 45,
    /// A batch was sent before and its offset is no longer known.
    DuplicateSequenceNumber = 46,
    /// The producer epoch is older than the one known to the partition.
    InvalidProducerEpoch = 47,
    /// The transition is not allowed from the transaction's state.
    InvalidTxnState = 48,
    /// The producer id is not the one of this transactional id.
    InvalidProducerIdMapping = 49,
    /// The transaction timeout is not positive or exceeds the server's maximum.
    InvalidTransactionTimeout = 50,
    /// Another change of the same transaction is still under way.
    ConcurrentTransactions = 51,
    /// A marker came from a coordinator that has been replaced.
    TransactionCoordinatorFenced = 52,
    /// The caller may not use this transactional id.
    TransactionalIdAuthorizationFailed = 53,
    /// Not tried, because another part of the same request failed.
    OperationNotAttempted = 55,
    /// The log directory of the partition failed.
    KafkaStorageError = 56,
    /// The partition holds no state of this producer.
    UnknownProducerId = 59,
    /// The leader epoch named by the caller is older than the current one.
    FencedLeaderEpoch = 74,
    /// The leader epoch named by the caller is newer than the current one.
    UnknownLeaderEpoch = 75,
    /// The member must join again with the member id it has just been given.
    MemberIdRequired = 79,
    /// Another member holds this static group instance id.
    FencedInstanceId = 82,
    /// A record breaks a rule of the log.
    InvalidRecord = 87,
    /// A transaction has staged offsets that are not decided yet.
    UnstableOffsetCommit = 88,
    /// A newer instance of the producer exists.
    ProducerFenced = 90,
    /// No such transactional id.
    TransactionalIdNotFound = 105,
    /// The member epoch (KIP-848) is not the current one.
    StaleMemberEpoch = 113,
    /// The transaction cannot go on, but it can be aborted.
    TransactionAbortable = 120,
}

impl ErrorCode {
    /// Every code of this enumeration, in the order of their numbers.
    pub const ALL: [Self; 53] = [
        Self::UnknownServerError,
        Self::None,
        Self::OffsetOutOfRange,
        Self::CorruptMessage,
        Self::UnknownTopicOrPartition,
        Self::LeaderNotAvailable,
        Self::NotLeaderOrFollower,
        Self::RequestTimedOut,
        Self::MessageTooLarge,
        Self::OffsetMetadataTooLarge,
        Self::NetworkException,
        Self::CoordinatorLoadInProgress,
        Self::CoordinatorNotAvailable,
        Self::NotCoordinator,
        Self::RecordListTooLarge,
        Self::NotEnoughReplicas,
        Self::NotEnoughReplicasAfterAppend,
        Self::InvalidRequiredAcks,
        Self::IllegalGeneration,
        Self::InconsistentGroupProtocol,
        Self::InvalidGroupId,
        Self::UnknownMemberId,
        Self::InvalidSessionTimeout,
        Self::RebalanceInProgress,
        Self::TopicAuthorizationFailed,
        Self::GroupAuthorizationFailed,
        Self::ClusterAuthorizationFailed,
        Self::InvalidTimestamp,
        Self::UnsupportedVersion,
        Self::InvalidRequest,
        Self::UnsupportedForMessageFormat,
        Self::OutOfOrderSequenceNumber,
        Self::DuplicateSequenceNumber,
        Self::InvalidProducerEpoch,
        Self::InvalidTxnState,
        Self::InvalidProducerIdMapping,
        Self::InvalidTransactionTimeout,
        Self::ConcurrentTransactions,
        Self::TransactionCoordinatorFenced,
        Self::TransactionalIdAuthorizationFailed,
        Self::OperationNotAttempted,
        Self::KafkaStorageError,
        Self::UnknownProducerId,
        Self::FencedLeaderEpoch,
        Self::UnknownLeaderEpoch,
        Self::MemberIdRequired,
        Self::FencedInstanceId,
        Self::InvalidRecord,
        Self::UnstableOffsetCommit,
        Self::ProducerFenced,
        Self::TransactionalIdNotFound,
        Self::StaleMemberEpoch,
        Self::TransactionAbortable,
    ];

    /// The number on the wire.
    #[must_use]
    pub const fn code(self) -> i16 {
        self as i16
    }

    /// The code with this number, or `None` when this crate does not know it.
    #[must_use]
    pub fn from_code(code: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.code() == code)
    }
}

#[cfg(test)]
mod tests {
    use super::ErrorCode;

    #[test]
    fn numbers_rise_and_go_round() {
        for pair in ErrorCode::ALL.windows(2) {
            assert!(pair[0].code() < pair[1].code(), "{pair:?}");
        }
        for known in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_code(known.code()), Some(known));
        }
        assert_eq!(ErrorCode::from_code(4), None);
    }

    #[test]
    fn the_numbers_are_kafkas() {
        assert_eq!(ErrorCode::CoordinatorLoadInProgress.code(), 14);
        assert_eq!(ErrorCode::InvalidProducerEpoch.code(), 47);
        assert_eq!(ErrorCode::ConcurrentTransactions.code(), 51);
        assert_eq!(ErrorCode::KafkaStorageError.code(), 56);
        assert_eq!(ErrorCode::ProducerFenced.code(), 90);
        assert_eq!(ErrorCode::TransactionAbortable.code(), 120);
    }
}
