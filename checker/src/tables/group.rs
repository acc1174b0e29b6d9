//! Tables of the group coordinator.

use super::partition::{appended, asked};
use super::prepared::*;
use super::{Row, row};
use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::group::{GroupState, Staged};
use fencepost_spec::message::{GroupMember, Message, TxnOffsetCommit, VerifyPartition};
use fencepost_spec::partition::ProducerEntry;
use fencepost_spec::types::*;
use fencepost_spec::world::State;

/// The offsets partition's place among the partitions.
const AT: usize = OFFSETS.0 as usize;

/// A member whose instance id another one has taken over.
const REPLACED: u8 = 6;

fn member(id: u8, generation: u8) -> Option<GroupMember> {
    Some(GroupMember {
        id: ProducerIndex(id),
        generation: Generation(generation),
    })
}

/// Stable or between generations, each with the producer's transaction open and not.
fn prepared(initial: &State) -> Vec<State> {
    let mut states = Vec::new();
    for group_state in [GroupState::Stable, GroupState::PreparingRebalance] {
        for open in [None, Some(Offset(0))] {
            let mut state = initial.clone();
            if let Some(group) = state.group.as_mut() {
                group.replaced = group.replaced.with(ProducerIndex(REPLACED));
                group.state = group_state;
            }
            if open.is_some() {
                state.partitions[AT].producers.push(ProducerEntry {
                    producer_id: CURRENT.producer_id,
                    epoch: CURRENT.producer_epoch,
                    coordinator_epoch: None,
                    batches: List::new(),
                    open,
                });
            }
            states.push(state);
        }
    }
    states
}

/// TxnOffsetCommit: after the coordinator has agreed, then with its refusals.
pub fn txn_offset_commit(version: TransactionVersion) -> Vec<Row> {
    let request = |identity, member: Option<GroupMember>| TxnOffsetCommit {
        correlation: ASKER,
        transactional_id: ID,
        identity,
        member,
        offset: Payload(1),
        version,
        ghost: Ghost::NONE,
    };
    let given = [
        (
            "the group's generation",
            request(CURRENT, member(0, 1)),
            ErrorCode::None,
        ),
        (
            "an older generation",
            request(CURRENT, member(0, 0)),
            ErrorCode::None,
        ),
        (
            "a member that is not in the group",
            request(CURRENT, member(7, 1)),
            ErrorCode::None,
        ),
        (
            "a member whose instance id was taken over",
            request(CURRENT, member(REPLACED, 1)),
            ErrorCode::None,
        ),
        ("no member", request(CURRENT, None), ErrorCode::None),
        (
            "an older epoch",
            request(OLDER, member(0, 1)),
            ErrorCode::None,
        ),
        (
            "the coordinator says INVALID_TXN_STATE",
            request(CURRENT, member(0, 1)),
            ErrorCode::InvalidTxnState,
        ),
        (
            "the coordinator says PRODUCER_FENCED",
            request(CURRENT, member(0, 1)),
            ErrorCode::ProducerFenced,
        ),
        (
            "the coordinator does not answer",
            request(CURRENT, member(0, 1)),
            ErrorCode::CoordinatorLoadInProgress,
        ),
    ];
    let world = world(version);
    let mut rows = Vec::new();
    for (name, request, error) in given {
        for state in prepared(&world.initial()) {
            let message = Message::TxnOffsetCommit(request);
            let Some((cell, next)) = deliver(&world, &state, message, None) else {
                continue;
            };
            let verdict = next.network.iter().find_map(|message| match message {
                Message::VerifyPartition(asked) => Some(answered(asked, error)),
                _ => None,
            });
            let last = verdict.and_then(|answer| deliver(&world, &next, answer, None));
            match (cell, last) {
                (Some(cell), _) if error == ErrorCode::None => {
                    rows.push(row(cell, name.to_owned(), appended(&state, &next, AT)));
                }
                (None, Some((Some(cell), last))) => {
                    let effect = asked(appended(&state, &last, AT));
                    rows.push(row(cell, name.to_owned(), effect));
                }
                (Some(_), _) | (None, None | Some((None, _))) => {}
            }
        }
    }
    rows
}

/// OffsetFetch: with nothing staged, and with a staged offset.
pub fn offset_fetch(version: TransactionVersion) -> Vec<Row> {
    let world = world(version);
    let mut rows = Vec::new();
    for staged in [false, true] {
        let mut state = world.initial();
        if let Some(group) = state.group.as_mut().filter(|_| staged) {
            group.staged.push(Staged {
                identity: CURRENT,
                offset: Payload(1),
                decided: false,
                ghost: Ghost::NONE,
            });
        }
        let name = if staged {
            "an offset is staged"
        } else {
            "nothing is staged"
        };
        if let Some((Some(cell), _)) = deliver(&world, &state, Message::OffsetFetch(ASKER), None) {
            rows.push(row(cell, name.to_owned(), String::new()));
        }
    }
    rows
}

/// The answer to a partition leader's question.
pub fn answered(asked: &VerifyPartition, error: ErrorCode) -> Message {
    Message::VerifyAnswer {
        partition: asked.partition,
        identity: asked.identity,
        sequence: asked.sequence,
        error,
        coordinator_epoch: CoordinatorEpoch(0),
    }
}
