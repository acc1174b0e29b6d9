//! Tables of the transaction coordinator.

use super::prepared::*;
use super::{Row, row};
use fencepost_spec::coordinator::{
    Pending, Role, Slot, Stage, Then, TransactionMetadata, TransactionState,
};
use fencepost_spec::message::{
    AddPartitionsToTxn, EndTxn, InitProducerId, Message, VerifyPartition,
};
use fencepost_spec::types::*;
use fencepost_spec::world::State;

/// A request with what it names.
type Given = (&'static str, Message);

/// InitProducerId: without, with an expected identity, keeping what is prepared.
pub fn init_producer_id(version: TransactionVersion) -> Vec<Row> {
    let plain = InitProducerId {
        correlation: ASKER,
        transactional_id: Some(ID),
        expected: None,
        enable_2pc: false,
        keep_prepared_txn: false,
        timeout_in_range: true,
        authorized: true,
    };
    let expected = |name, identity| {
        (
            name,
            Message::InitProducerId(InitProducerId {
                expected: Some(identity),
                ..plain
            }),
        )
    };
    let keeping = InitProducerId {
        enable_2pc: true,
        keep_prepared_txn: true,
        ..plain
    };
    let too_long = InitProducerId {
        timeout_in_range: false,
        ..plain
    };
    let unauthorized = InitProducerId {
        authorized: false,
        ..plain
    };
    table(
        version,
        &[
            ("nothing", Message::InitProducerId(plain)),
            ("a timeout out of range", Message::InitProducerId(too_long)),
            (
                "an id that it may not use",
                Message::InitProducerId(unauthorized),
            ),
            expected("the stored identity", CURRENT),
            expected("the identity before it", LAST),
            expected("an older epoch", OLDER),
            expected("a newer epoch", NEWER),
            expected("another producer id", OTHER),
            ("nothing, two-phase", Message::InitProducerId(keeping)),
        ],
    )
}

/// AddPartitionsToTxn from clients, then from brokers.
pub fn add_partitions_to_txn(version: TransactionVersion) -> Vec<Row> {
    let verify_only = version == TransactionVersion::Tv1;
    let from_broker = |name, identity, partition| {
        let request = VerifyPartition {
            partition,
            transactional_id: ID,
            identity,
            sequence: Sequence::FIRST,
            verify_only,
            ghost: Ghost::NONE,
        };
        (name, Message::VerifyPartition(request))
    };
    let from_client =
        |name, identity, partition| (name, Message::AddPartitionsToTxn(add(identity, partition)));
    table(
        version,
        &[
            from_client(
                "the stored identity, a partition that is there",
                CURRENT,
                DATA,
            ),
            from_client("the stored identity, a new partition", CURRENT, OFFSETS),
            from_client("an older epoch", OLDER, DATA),
            from_client("another producer id", OTHER, DATA),
            from_broker(
                "the stored identity, a partition that is there",
                CURRENT,
                DATA,
            ),
            from_broker("the stored identity, a new partition", CURRENT, OFFSETS),
            from_broker("an older epoch", OLDER, DATA),
            from_broker("another producer id", OTHER, DATA),
        ],
    )
}

/// AddOffsetsToTxn.
pub fn add_offsets_to_txn(version: TransactionVersion) -> Vec<Row> {
    let given =
        |name, identity, partition| (name, Message::AddOffsetsToTxn(add(identity, partition)));
    table(
        version,
        &[
            given(
                "the stored identity, a partition that is there",
                CURRENT,
                DATA,
            ),
            given("the stored identity, a new partition", CURRENT, OFFSETS),
            given("an older epoch", OLDER, DATA),
            given("another producer id", OTHER, DATA),
        ],
    )
}

/// EndTxn: commit, then abort.
pub fn end_txn(version: TransactionVersion) -> Vec<Row> {
    let results = [TransactionResult::Commit, TransactionResult::Abort];
    let given = |name, identity, result| {
        let request = EndTxn {
            correlation: ASKER,
            transactional_id: ID,
            identity,
            result,
            version,
            ghost: Ghost::NONE,
        };
        (name, Message::EndTxn(request))
    };
    let all: Vec<_> = results
        .into_iter()
        .flat_map(|result| {
            [
                given("the stored identity", CURRENT, result),
                given("the identity before it", LAST, result),
                given("an older epoch", OLDER, result),
                given("a newer epoch", NEWER, result),
                given("another producer id", OTHER, result),
            ]
        })
        .collect();
    table(version, &all)
}

fn add(identity: Identity, partition: PartitionIndex) -> AddPartitionsToTxn {
    AddPartitionsToTxn {
        correlation: ASKER,
        transactional_id: ID,
        identity,
        partition,
        ghost: Ghost::NONE,
    }
}

/// Every prepared coordinator meets every request. What a request names does not matter where
/// nothing is stored.
fn table(version: TransactionVersion, given: &[Given]) -> Vec<Row> {
    let world = world(version);
    let mut rows = Vec::new();
    for (name, message) in given {
        for state in prepared(&world.initial(), version) {
            let Some((Some(cell), next)) = deliver(&world, &state, *message, Some(BrokerId(0)))
            else {
                continue;
            };
            rows.push(row(cell, (*name).to_owned(), effect(&state, &next)));
        }
    }
    rows
}

/// Following, loading, without the id, and the id in each state, settled and pending.
fn prepared(initial: &State, version: TransactionVersion) -> Vec<State> {
    let role = |role| {
        let mut state = initial.clone();
        state.coordinators[0].role = role;
        state
    };
    let slot = |slot| {
        let mut state = initial.clone();
        state.coordinators[0].slots[0] = slot;
        state
    };
    let mut states = vec![
        role(Role::Follower),
        role(Role::Loading),
        slot(Slot::default()),
    ];
    states.push(slot(Slot {
        created: Some(CURRENT.producer_id),
        pending: pending(Some(TransactionMetadata::created(
            CURRENT.producer_id,
            false,
        ))),
        ..Slot::default()
    }));
    for state in TransactionState::ALL {
        let stored = stored(state, version);
        let settled = Slot {
            metadata: Some(stored),
            ..Slot::default()
        };
        states.push(slot(settled));
        states.push(slot(Slot {
            pending: pending(Some(stored)),
            ..settled
        }));
    }
    states
}

fn pending(to: Option<TransactionMetadata>) -> Option<Pending> {
    Some(Pending {
        to,
        stage: Stage::Appending(Then::Nothing),
    })
}

fn stored(state: TransactionState, version: TransactionVersion) -> TransactionMetadata {
    let open = match state {
        TransactionState::Ongoing
        | TransactionState::PrepareCommit
        | TransactionState::PrepareAbort => PartitionSet::one(DATA),
        TransactionState::Empty
        | TransactionState::CompleteCommit
        | TransactionState::CompleteAbort => PartitionSet::EMPTY,
    };
    TransactionMetadata {
        state,
        producer_epoch: CURRENT.producer_epoch,
        last_producer_epoch: Some(LAST.producer_epoch),
        partitions: open,
        client_version: version,
        ..TransactionMetadata::created(CURRENT.producer_id, false)
    }
}

/// The transition that a decision begins.
fn effect(before: &State, after: &State) -> String {
    let (before, after) = (
        &before.coordinators[0].slots[0],
        &after.coordinators[0].slots[0],
    );
    match after.pending.filter(|_| after.pending != before.pending) {
        None => String::new(),
        Some(Pending { to: None, .. }) => "writes a tombstone".to_owned(),
        Some(Pending { to: Some(to), .. }) => {
            let next = to
                .next
                .map_or_else(String::new, |next| format!(", next {next}"));
            format!("writes {:?} {}{next}", to.state, to.identity())
        }
    }
}
