//! The form in which states of the two sides are compared.
//!
//! Every function takes out of a model's actor exactly what the implementation's abstraction cannot say; each such
//! field is an exclusion of the report.

use super::without_ghost;
use fencepost_spec::coordinator::{Coordinator, Slot, TransactionMetadata};
use fencepost_spec::group::Group;
use fencepost_spec::partition::{ParkedRequest, Partition};
use fencepost_spec::step::{Context, Out, Step};
use fencepost_spec::types::{Ghost, PartitionSet, Sequence};

/// A coordinator without ghosts, without the partitions of a decided transaction (in the implementation those are only
/// the ones that still wait for their marker: the stage says which), and without rounds. Once decided, a failed fence is
/// remembered by nobody who asks.
pub fn normal_coordinator(coordinator: &Coordinator) -> Coordinator {
    let mut coordinator = coordinator.clone();
    coordinator.slots.iter_mut().for_each(normal_slot);
    coordinator.ghost_timed_out.clear();
    coordinator
}

fn normal_slot(slot: &mut Slot) {
    slot.round = 0;
    if let Some(metadata) = slot.metadata.as_mut() {
        normal_metadata(metadata);
        if metadata.state.prepared().is_some() {
            metadata.partitions = PartitionSet::EMPTY;
            slot.has_failed_epoch_fence = false;
        }
    }
    let Some(pending) = slot.pending.as_mut() else {
        return;
    };
    if let Some(to) = pending.to.as_mut() {
        normal_metadata(to);
    }
}

fn normal_metadata(metadata: &mut TransactionMetadata) {
    metadata.ghost = Ghost::NONE;
}

/// A partition without ghosts and without what is the harness's own: who is known to coordinate, the pace, the replica
/// that was away. `offsets` says that it holds staged offsets, which have no sequences.
pub fn normal_partition(partition: &Partition, offsets: bool) -> Partition {
    let mut partition = partition.clone();
    partition.known_coordinator = Default::default();
    partition.pace = Default::default();
    partition.follower = None;
    partition.unreplicated.sort_unstable();
    for record in &mut partition.log {
        record.ghost = Ghost::NONE;
    }
    for parked in &mut partition.parked {
        match &mut parked.request {
            ParkedRequest::Produce(m) => {
                // The implementation gives the id away with its question.
                m.transactional_id = None;
                m.ghost = Ghost::NONE;
            }
            ParkedRequest::TxnOffsetCommit(m) => m.ghost = Ghost::NONE,
        }
    }
    partition.parked.sort_unstable();
    for waiting in &mut partition.waiting {
        waiting.answer = without_ghost(waiting.answer);
    }
    partition.waiting.sort_unstable();
    partition.verification.sort_unstable();
    if offsets {
        for entry in &mut partition.producers {
            entry.batches.clear();
        }
        for entry in &mut partition.verification {
            entry.lowest_sequence = Sequence::FIRST;
        }
    }
    partition
}

/// A group after every marker that is in its log: the implementation applies a marker in the step that appends it.
pub fn materialised(group: &Group, ctx: &Context<'_>) -> Group {
    let mut group = group.clone();
    let mut out = Out::default();
    while group.materialise(ctx, &mut out) == Step::Handled {}
    group
}

/// A group after every marker, and without ghosts.
pub fn normal_group(group: &Group, ctx: &Context<'_>) -> Group {
    let mut group = materialised(group, ctx);
    group.ghost_published.clear();
    for staged in &mut group.staged {
        staged.ghost = Ghost::NONE;
    }
    group.staged.sort_unstable();
    group
}
