//! Liveness as it shows in a state that nothing can leave.

use super::Id;
use super::safety::outcome;
use crate::client::{Item, Outcome, Phase, Producer};
use crate::coordinator::TransactionState;
use crate::message::RequestKind;
use crate::partition::{Partition, Record, RecordKind, decided};
use crate::types::*;
use crate::world::{State, World};

/// What is wrong with a terminal state.
pub(super) fn violated(world: &World, state: &State) -> u32 {
    let mut broken = 0;
    if state.partitions.iter().any(|p| hangs(state, p)) {
        broken |= Id::L1.bit();
    }
    if decision_is_stuck(state) {
        broken |= Id::L2.bit();
    }
    if offsets_are_stuck(state) {
        broken |= Id::L3.bit();
    }
    for producer in &state.producers {
        if !may_rest(world, state, producer) {
            broken |= Id::L4.bit();
        }
        if told_commit_is_invisible(world, state, producer) {
            broken |= Id::S1.bit();
        }
    }
    broken
}

/// An undecided record whose transaction the coordinator does not have.
fn hangs(state: &State, partition: &Partition) -> bool {
    let undecided = |r: &&Record| {
        r.kind == RecordKind::Data && r.transactional && decided(&partition.log, r).is_none()
    };
    let open = partition.producers.iter().any(|e| e.open.is_some());
    let mut records = partition.log.iter().filter(undecided).peekable();
    if records.peek().is_none() {
        return open;
    }
    records.any(|r| !is_ongoing(state, partition.index, r.identity.producer_id))
}

/// Whether the log has an open transaction of this producer id with this partition.
fn is_ongoing(state: &State, partition: PartitionIndex, producer_id: ProducerId) -> bool {
    state.log.committed.iter().flatten().any(|m| {
        m.state == TransactionState::Ongoing
            && m.producer_id == producer_id
            && m.partitions.contains(partition)
    })
}

fn decision_is_stuck(state: &State) -> bool {
    let Some(leader) = state.leader() else {
        return true;
    };
    leader.slots.iter().any(|slot| {
        slot.pending.is_some() || slot.metadata.is_some_and(|m| m.state.prepared().is_some())
    })
}

fn offsets_are_stuck(state: &State) -> bool {
    let (Some(group), Some(partition)) = (&state.group, state.offsets_partition()) else {
        return false;
    };
    let staged = group
        .staged
        .iter()
        .any(|s| !is_ongoing(state, partition.index, s.identity.producer_id));
    staged || !group.unapplied.is_empty()
}

/// Whether a producer may stay as it is: finished, never started for want of a predecessor's
/// crash, or a group member without input.
fn may_rest(world: &World, state: &State, producer: &Producer) -> bool {
    let waits_for_crash = producer.phase == Phase::Unstarted
        && world
            .workload(producer.index)
            .starts_after_crash_of
            .is_some();
    let waits_for_input = producer.request == Some(RequestKind::OffsetFetch)
        && state
            .group
            .as_ref()
            .is_some_and(|g| g.member != producer.index);
    producer.is_finished() || waits_for_crash || waits_for_input
}

/// S1 in the end: what was told committed is decided and below the last stable offset, unless an
/// older transaction is still open in front of it.
fn told_commit_is_invisible(world: &World, state: &State, producer: &Producer) -> bool {
    (0..world.workload(producer.index).transactions).any(|txn| {
        let told = outcome(world, state, producer.index, txn) == Outcome::CommitTold;
        let ghost = Ghost::of(producer.index, txn, world.scenario.ghost_key);
        told && world.workload(producer.index).items.iter().any(|item| {
            let Item::Send(p) = item else {
                return false;
            };
            let partition = &state.partitions[usize::from(p.0)];
            partition.log.iter().any(|r| {
                r.kind == RecordKind::Data
                    && r.ghost == ghost
                    && decided(&partition.log, r).is_none()
            })
        })
    })
}
