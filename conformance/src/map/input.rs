//! The model's requests as the implementation's inputs.

use super::{
    Clock, CoordinatorToken, DATA_TOPIC, PartitionToken, Topics, Unmapped, client_version,
    coordinator_epoch, identity, impl_error, producer_epoch, producer_id, result, sequence,
    transactional_id, version_of,
};
use bytes::Bytes;
use fencepost::batch::{BatchProducer, NewBatch, NewRecord};
use fencepost::coordinator as c;
use fencepost::group::{self as g, MemberIdentity, OffsetToCommit};
use fencepost::partition as p;
use fencepost::types as i;
use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::message::*;
use fencepost_spec::types as s;

/// The consumer group of every scenario with offsets.
pub const GROUP: &str = "group";

/// Whether a message is a request to whoever believes to coordinate.
pub fn is_to_coordinator(message: &Message) -> bool {
    match message {
        Message::InitProducerId(_)
        | Message::AddPartitionsToTxn(_)
        | Message::AddOffsetsToTxn(_)
        | Message::EndTxn(_)
        | Message::VerifyPartition(_) => true,
        Message::Produce(_)
        | Message::TxnOffsetCommit(_)
        | Message::OffsetFetch(_)
        | Message::WriteTxnMarkers(_)
        | Message::AppendTxnRecord(_)
        | Message::CoordinatorAnswer(_)
        | Message::ProduceAnswer { .. }
        | Message::TxnOffsetCommitAnswer { .. }
        | Message::OffsetFetchAnswer { .. }
        | Message::VerifyAnswer { .. }
        | Message::WriteTxnMarkersAnswer(_)
        | Message::AppendTxnRecordAnswer(_) => false,
    }
}

/// A request to a coordinator, with the token for its answer.
///
/// # Errors
/// [`Unmapped`] for a message that is none, or a value that the implementation cannot express.
pub fn coordinator_request(
    topics: Topics,
    message: &Message,
) -> Result<(CoordinatorToken, c::Request), Unmapped> {
    let producer = CoordinatorToken::Producer;
    Ok(match message {
        Message::InitProducerId(m) => (
            producer(RequestKind::InitProducerId, m.correlation),
            c::Request::InitProducerId(init_producer_id(m)?),
        ),
        Message::AddPartitionsToTxn(m) => (
            producer(RequestKind::AddPartitionsToTxn, m.correlation),
            c::Request::AddPartitionsToTxn(c::AddPartitionsToTxn {
                form: c::AddPartitionsToTxnForm::Client { version: 3 },
                transactional_id: transactional_id(m.transactional_id),
                claim: claim(m.identity)?,
                partitions: vec![(topics.partition(m.partition), c::PartitionAccess::Allowed)],
                authorization: c::Authorization::Allowed,
            }),
        ),
        Message::AddOffsetsToTxn(m) => (
            producer(RequestKind::AddOffsetsToTxn, m.correlation),
            c::Request::AddOffsetsToTxn(c::AddOffsetsToTxn {
                version: 4,
                transactional_id: transactional_id(m.transactional_id),
                claim: claim(m.identity)?,
                group_id: i::GroupId::new(GROUP),
                authorization: c::Authorization::Allowed,
                group_authorization: c::Authorization::Allowed,
            }),
        ),
        Message::EndTxn(m) => (
            producer(RequestKind::EndTxn, m.correlation),
            c::Request::EndTxn(c::EndTxn {
                version: version_of(m.version),
                transactional_id: transactional_id(m.transactional_id),
                claim: claim(m.identity)?,
                result: result(m.result),
                authorization: c::Authorization::Allowed,
            }),
        ),
        Message::VerifyPartition(m) => (
            CoordinatorToken::Leader {
                partition: m.partition,
                identity: m.identity,
                sequence: m.sequence,
            },
            c::Request::AddPartitionsToTxn(c::AddPartitionsToTxn {
                form: if m.verify_only {
                    c::AddPartitionsToTxnForm::VerifyOnly
                } else {
                    c::AddPartitionsToTxnForm::Broker
                },
                transactional_id: transactional_id(m.transactional_id),
                claim: claim(m.identity)?,
                partitions: vec![(topics.partition(m.partition), c::PartitionAccess::Allowed)],
                authorization: c::Authorization::Allowed,
            }),
        ),
        Message::Produce(_)
        | Message::TxnOffsetCommit(_)
        | Message::OffsetFetch(_)
        | Message::WriteTxnMarkers(_)
        | Message::AppendTxnRecord(_)
        | Message::CoordinatorAnswer(_)
        | Message::ProduceAnswer { .. }
        | Message::TxnOffsetCommitAnswer { .. }
        | Message::OffsetFetchAnswer { .. }
        | Message::VerifyAnswer { .. }
        | Message::WriteTxnMarkersAnswer(_)
        | Message::AppendTxnRecordAnswer(_) => {
            return Err(Unmapped::new("request to a coordinator", message));
        }
    })
}

fn init_producer_id(m: &InitProducerId) -> Result<c::InitProducerId, Unmapped> {
    let expected = m.expected.map(identity).transpose()?;
    Ok(c::InitProducerId {
        version: if m.enable_2pc || m.keep_prepared_txn {
            6
        } else {
            5
        },
        transactional_id: m.transactional_id.map(transactional_id),
        transaction_timeout_ms: if m.timeout_in_range {
            Clock::TRANSACTION_TIMEOUT_MS
        } else {
            0
        },
        expected_producer_id: expected.map(|it| it.producer_id),
        expected_producer_epoch: expected.map(|it| it.producer_epoch),
        enable_2pc: m.enable_2pc,
        keep_prepared_txn: m.keep_prepared_txn,
        authorization: if m.authorized {
            c::Authorization::Allowed
        } else {
            c::Authorization::Denied
        },
        two_phase_commit_authorization: c::Authorization::Allowed,
    })
}

fn claim(claimed: s::Identity) -> Result<c::Claim, Unmapped> {
    let producer = identity(claimed)?;
    Ok(c::Claim {
        producer_id: Some(producer.producer_id),
        producer_epoch: Some(producer.producer_epoch),
    })
}

/// A batch, at the version that its sender speaks: 11 under TV1, 12 under TV2.
///
/// # Errors
/// [`Unmapped`] for a value that a batch cannot hold.
pub fn produce(m: &Produce, copy: u8) -> Result<p::Produce, Unmapped> {
    let token = PartitionToken::Produce {
        correlation: m.correlation,
        identity: m.identity,
        sequence: m.sequence,
        copy,
    };
    let batch = NewBatch {
        base_offset: i::Offset::ZERO,
        leader_epoch: None,
        producer: Some(BatchProducer {
            producer_id: producer_id(m.identity.producer_id),
            producer_epoch: producer_epoch(m.identity.producer_epoch)?,
            base_sequence: Some(sequence(m.sequence)?),
        }),
        is_transactional: m.transactional,
        is_control: false,
        records: vec![NewRecord::new(
            Clock::default().late(),
            None,
            Some(Bytes::copy_from_slice(&[m.payload.0])),
        )],
    };
    let batch = batch
        .write()
        .map_err(|error| Unmapped::new("batch", error))?;
    Ok(p::Produce {
        request: token.pack()?,
        transactional_id: m.transactional_id.map(transactional_id),
        support: p::TransactionSupport::of_produce(match m.version {
            s::TransactionVersion::Tv1 => 11,
            s::TransactionVersion::Tv2 => 12,
        }),
        acks: p::Acks::All,
        records: batch.bytes().clone(),
    })
}

/// The word by which a version of TxnOffsetCommit is asked: 4 under TV1, 5 under TV2.
pub fn request_word(version: s::TransactionVersion) -> i16 {
    version_of(version)
}

/// A staged offset of the scenario's one input partition.
///
/// # Errors
/// [`Unmapped`] for a value that the request cannot hold.
pub fn txn_offset_commit(
    m: &TxnOffsetCommit,
    member: MemberIdentity,
    copy: u8,
) -> Result<g::TxnOffsetCommit, Unmapped> {
    let token = PartitionToken::TxnOffsetCommit {
        correlation: m.correlation,
        copy,
    };
    Ok(g::TxnOffsetCommit {
        request: token.pack()?,
        version: request_word(m.version),
        transactional_id: transactional_id(m.transactional_id),
        producer: identity(m.identity)?,
        group: i::GroupId::new(GROUP),
        member,
        offsets: vec![OffsetToCommit {
            partition: i::TopicPartition::new(DATA_TOPIC, 0),
            offset: i::Offset::new(i64::from(m.offset.0)),
            leader_epoch: None,
            metadata: String::new(),
        }],
    })
}

/// A marker for one partition.
///
/// # Errors
/// [`Unmapped`] for an epoch that a marker cannot hold.
pub fn write_txn_marker(m: &WriteTxnMarkers, copy: u8) -> Result<p::WriteTxnMarker, Unmapped> {
    let token = PartitionToken::Marker {
        broker: m.broker,
        coordinator_epoch: m.coordinator_epoch,
        transactional_id: m.transactional_id,
        round: m.round,
        copy,
    };
    Ok(p::WriteTxnMarker {
        request: token.pack()?,
        producer_id: producer_id(m.identity.producer_id),
        producer_epoch: producer_epoch(m.identity.producer_epoch)?,
        result: result(m.result),
        coordinator_epoch: coordinator_epoch(m.coordinator_epoch),
        transaction_version: client_version(m.version),
    })
}

/// What a marker's answer tells the coordinator. A partition that is not there is known from the cluster's metadata.
///
/// # Errors
/// [`Unmapped`] for a code that the implementation does not know.
pub fn marker_outcome(error: ErrorCode) -> Result<c::MarkerOutcome, Unmapped> {
    if error == ErrorCode::UnknownTopicOrPartition {
        return Ok(c::MarkerOutcome::NoSuchPartition);
    }
    Ok(c::MarkerOutcome::Answered(impl_error(error)?))
}
