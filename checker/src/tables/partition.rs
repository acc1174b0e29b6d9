//! Tables of a partition leader.

use super::prepared::*;
use super::{Row, row};
use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::message::{Message, Produce, WriteTxnMarkers};
use fencepost_spec::partition::{Batch, ProducerEntry};
use fencepost_spec::types::*;
use fencepost_spec::world::{State, World};

/// What is known of the producer: nothing, an open transaction, a decided one. Its last batches
/// have the sequences 0 and 1.
fn prepared(initial: &State) -> [(&'static str, State); 4] {
    let known = |open| {
        let mut state = initial.clone();
        let partition = &mut state.partitions[0];
        partition.log_end = Offset(2);
        partition.high_watermark = Offset(2);
        partition.applied = Offset(2);
        partition.producers.push(ProducerEntry {
            producer_id: CURRENT.producer_id,
            epoch: CURRENT.producer_epoch,
            coordinator_epoch: Some(CoordinatorEpoch(1)),
            batches: [0, 1]
                .map(|i| Batch {
                    sequence: Sequence(i),
                    offset: Offset(i as u8),
                })
                .into_iter()
                .collect(),
            open,
        });
        state
    };
    let mut deleted = initial.clone();
    deleted.partitions[0].deleted = true;
    [
        ("", initial.clone()),
        ("", known(Some(Offset(0)))),
        ("", known(None)),
        ("; the topic is deleted", deleted),
    ]
}

/// Produce: the batch meets the log after the coordinator has agreed, then with its refusals.
pub fn produce(version: TransactionVersion) -> Vec<Row> {
    let world = world(version);
    let batch = |identity, sequence| Produce {
        correlation: ASKER,
        transactional_id: Some(ID),
        identity,
        partition: DATA,
        sequence: Sequence(sequence),
        transactional: true,
        version,
        payload: Payload(1),
        ghost: Ghost::NONE,
    };
    let plain = Produce {
        transactional: false,
        ..batch(CURRENT, 2)
    };
    let given = [
        ("the next sequence", batch(CURRENT, 2)),
        ("a remembered sequence", batch(CURRENT, 1)),
        ("a gap in the sequence", batch(CURRENT, 4)),
        ("the first sequence of the next epoch", batch(NEWER, 0)),
        ("a later sequence of the next epoch", batch(NEWER, 1)),
        ("the first sequence of an older epoch", batch(OLDER, 0)),
        ("a batch without the transactional flag", plain),
    ];
    let mut rows = Vec::new();
    for (name, request) in given {
        for (after, state) in prepared(&world.initial()) {
            rows.extend(produced(
                &world,
                &state,
                format!("{name}{after}"),
                request,
                ErrorCode::None,
            ));
        }
    }
    for (name, error) in REFUSALS {
        for (after, state) in prepared(&world.initial()) {
            rows.extend(produced(
                &world,
                &state,
                format!("{name}{after}"),
                batch(NEWER, 0),
                error,
            ));
        }
    }
    rows
}

/// What a coordinator may refuse a batch with.
const REFUSALS: [(&str, ErrorCode); 6] = [
    (
        "the coordinator says INVALID_TXN_STATE",
        ErrorCode::InvalidTxnState,
    ),
    (
        "the coordinator says INVALID_PRODUCER_ID_MAPPING",
        ErrorCode::InvalidProducerIdMapping,
    ),
    (
        "the coordinator says PRODUCER_FENCED",
        ErrorCode::ProducerFenced,
    ),
    (
        "the coordinator says CONCURRENT_TRANSACTIONS",
        ErrorCode::ConcurrentTransactions,
    ),
    (
        "the coordinator says TRANSACTION_ABORTABLE",
        ErrorCode::TransactionAbortable,
    ),
    (
        "the coordinator does not answer",
        ErrorCode::NotEnoughReplicas,
    ),
];

/// Delivers a batch and, where it waits for the coordinator, the verdict.
fn produced(
    world: &World,
    state: &State,
    name: String,
    request: Produce,
    verdict: ErrorCode,
) -> Option<Row> {
    let (cell, next) = deliver(world, state, Message::Produce(request), None)?;
    match cell {
        Some(cell) if verdict == ErrorCode::None => {
            Some(row(cell, name, appended(state, &next, 0)))
        }
        Some(_) => None,
        None => {
            let (cell, last) = deliver(world, &next, verdict_on(&next, request, verdict)?, None)?;
            Some(row(cell?, name, asked(appended(state, &last, 0))))
        }
    }
}

/// The coordinator's verdict on the batch that waits: the question, answered.
fn verdict_on(state: &State, request: Produce, error: ErrorCode) -> Option<Message> {
    state.network.iter().find_map(|message| match message {
        Message::VerifyPartition(asked) if asked.identity == request.identity => {
            Some(super::group::answered(asked, error))
        }
        _ => None,
    })
}

/// Whether a record was appended to a partition.
pub fn appended(before: &State, after: &State, partition: usize) -> String {
    let (before, after) = (&before.partitions[partition], &after.partitions[partition]);
    if after.log.len() > before.log.len() {
        "appends".to_owned()
    } else {
        String::new()
    }
}

/// What follows a question to the coordinator.
pub fn asked(then: String) -> String {
    if then.is_empty() {
        "asks the coordinator".to_owned()
    } else {
        format!("asks the coordinator, {then}")
    }
}

/// WriteTxnMarkers, under the version's epoch rule.
pub fn write_txn_markers(version: TransactionVersion) -> Vec<Row> {
    let world = world(version);
    let marker = |identity, epoch| WriteTxnMarkers {
        broker: BrokerId(0),
        coordinator_epoch: CoordinatorEpoch(epoch),
        transactional_id: ID,
        round: 1,
        partition: DATA,
        identity,
        result: TransactionResult::Commit,
        version,
        ghost: Ghost::NONE,
    };
    let given = [
        ("the next epoch", marker(NEWER, 1)),
        ("the producer's epoch", marker(CURRENT, 1)),
        ("an older epoch", marker(OLDER, 1)),
        (
            "the next epoch, from a coordinator that was replaced",
            marker(NEWER, 0),
        ),
        (
            "the producer's epoch, from a coordinator that was replaced",
            marker(CURRENT, 0),
        ),
    ];
    let mut rows = Vec::new();
    for (name, request) in given {
        for (after, state) in prepared(&world.initial()) {
            let delivered = deliver(&world, &state, Message::WriteTxnMarkers(request), None);
            if let Some((Some(cell), next)) = delivered {
                rows.push(row(
                    cell,
                    format!("{name}{after}"),
                    appended(&state, &next, 0),
                ));
            }
        }
    }
    rows
}
