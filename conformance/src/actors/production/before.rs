//! What the model's state before a step says: the little that a core's shell would know.

use super::Frame;
use fencepost_spec::coordinator::{Stage, TransactionMetadata};
use fencepost_spec::message::*;
use fencepost_spec::types::*;
use fencepost_spec::world::State;

pub(super) fn is_offsets(frame: &Frame<'_>, partition: PartitionIndex) -> bool {
    frame.scenario.offsets && partition.0 == frame.scenario.partitions
}

/// Whether another member has taken over this one's instance id.
pub(super) fn is_fenced(before: &State, member: ProducerIndex) -> bool {
    let group = before.group.as_ref();
    group.is_some_and(|group| group.replaced.contains(member))
}

/// Whether an offset is staged: no rules of Kafka's let offsets expire then.
pub(super) fn has_staged(before: &State) -> bool {
    let group = before.group.as_ref();
    group.is_some_and(|group| !group.staged.is_empty())
}

/// What a broker has stored of an id before the step.
pub(super) fn stored(
    before: &State,
    broker: Option<BrokerId>,
    id: Option<TransactionalId>,
) -> Option<TransactionMetadata> {
    let coordinator = before.coordinators.get(usize::from(broker?.0))?;
    coordinator.slots.get(usize::from(id?.0))?.metadata
}

/// Which completion of an id a marker sent now belongs to: the sender's bookkeeping.
pub(super) fn round(before: &State, broker: BrokerId, id: TransactionalId) -> u8 {
    before.coordinators[usize::from(broker.0)].slots[usize::from(id.0)].round
}

/// Whether an answer belongs to the completion that its sender is at.
pub(super) fn is_current(before: &State, answer: &MarkerAnswer) -> bool {
    awaiting(before, answer).is_some()
}

/// The markers that the sender waits for, where an answer belongs to the completion that it is at.
pub(super) fn awaiting(before: &State, answer: &MarkerAnswer) -> Option<PartitionSet> {
    let coordinator = &before.coordinators[usize::from(answer.broker.0)];
    let slot = &coordinator.slots[usize::from(answer.transactional_id.0)];
    let current = coordinator.epoch == answer.coordinator_epoch && slot.round == answer.round;
    match slot.pending.map(|pending| pending.stage) {
        Some(Stage::WritingMarkers { awaiting, .. }) if current => Some(awaiting),
        Some(Stage::WritingMarkers { .. } | Stage::Appending(_) | Stage::Abandoned) | None => None,
    }
}
