//! What happens to the logs of data partitions.

use super::{State, World, spending};
use crate::coordinator::Role;
use crate::fault::Fault;
use crate::message::Message;
use crate::partition::Partition;
use crate::step::{Out, Step};
use crate::types::*;

impl World {
    /// A partition gets another leader.
    pub(super) fn fail_over(&self, state: &mut State, p: PartitionIndex, out: &mut Out) -> Step {
        spending(state, Fault::FailOver, |state| at(state, p).fail_over(out))
    }

    /// A partition's broker stops and starts again.
    pub(super) fn restart(&self, state: &mut State, p: PartitionIndex, out: &mut Out) -> Step {
        spending(state, Fault::Restart, |state| {
            if let Some(group) = state.group.as_mut().filter(|_| self.is_offsets(p)) {
                group.unload(out);
            }
            at(state, p).restart(out)
        })
    }

    /// A partition's leader rebuilds its producer state, and on the offsets partition the group.
    pub(super) fn recover(&self, state: &mut State, p: PartitionIndex) -> Step {
        let step = at(state, p).recover(&self.rules);
        if step == Step::Handled && self.is_offsets(p) {
            let (partitions, group) = (&state.partitions, &mut state.group);
            if let Some(group) = group {
                group.load(&self.rules.group, &partitions[usize::from(p.0)]);
            }
        }
        step
    }

    /// A partition writes a snapshot of its producer state.
    pub(super) fn take_snapshot(&self, state: &mut State, p: PartitionIndex) -> Step {
        spending(state, Fault::Snapshot, |state| {
            at(state, p).take_snapshot(&self.rules)
        })
    }

    /// A partition forgets an idle producer.
    pub(super) fn evict(&self, state: &mut State, p: PartitionIndex, id: ProducerId) -> Step {
        if self.rules.storage.evict_only_when_quiet && !is_quiet(state, p, id) {
            return Step::NotEnabled;
        }
        spending(state, Fault::Eviction, |state| at(state, p).evict(id))
    }

    /// The cleaner takes a step.
    pub(super) fn compact(&self, state: &mut State, p: PartitionIndex) -> Step {
        spending(state, Fault::Compaction, |state| {
            at(state, p).compact(&self.rules.storage)
        })
    }

    /// A replica that was away becomes the leader.
    pub(super) fn promote(&self, state: &mut State, p: PartitionIndex, out: &mut Out) -> Step {
        spending(state, Fault::Promotion, |state| {
            at(state, p).promote_follower(out)
        })
    }

    /// A topic is deleted while a transaction on it is decided and not complete.
    pub(super) fn delete_topic(&self, state: &mut State, p: PartitionIndex) -> Step {
        let mut logged = state.log.committed.iter().flatten();
        let decided = logged.any(|m| m.state.prepared().is_some() && m.partitions.contains(p));
        if !decided || at(state, p).deleted {
            return Step::NotEnabled;
        }
        spending(state, Fault::TopicDeletion, |state| {
            *at(state, p) = Partition {
                deleted: true,
                ..Partition::new(p, self.scenario.pace)
            };
            Step::Handled
        })
    }

    /// An operator writes an abort marker for what a producer has open (KIP-664).
    pub(super) fn operator_marker(&self, state: &mut State, p: PartitionIndex) -> Step {
        let ctx = self.context(state.version);
        spending(state, Fault::OperatorMarker, |state| {
            at(state, p).operator_marker(&ctx)
        })
    }
}

/// The partition `p`.
pub(super) fn at(state: &mut State, p: PartitionIndex) -> &mut Partition {
    &mut state.partitions[usize::from(p.0)]
}

/// Nothing that is old for this producer can still reach the partition: `producer.id.expiration.ms`
/// is a day, and no message or deposed coordinator lives that long.
fn is_quiet(state: &State, partition: PartitionIndex, id: ProducerId) -> bool {
    let in_flight = state.network.iter().any(|m| match m {
        Message::Produce(m) => m.partition == partition && m.identity.producer_id == id,
        Message::WriteTxnMarkers(m) => {
            m.partition == partition
                && m.identity.producer_id == id
                && m.coordinator_epoch != state.log.epoch
        }
        _ => false,
    });
    let deposed = state
        .coordinators
        .iter()
        .any(|c| c.role != Role::Follower && c.epoch != state.log.epoch);
    let parked = state.partitions[usize::from(partition.0)]
        .parked
        .iter()
        .any(|p| p.request.identity().producer_id == id);
    !in_flight && !deposed && !parked
}
