//! Steps of the model that the harness has no single step of production for.

use super::{Excluded, Frame};
use fencepost_spec::coordinator::{Slot, TransactionMetadata, TransactionState};
use fencepost_spec::types::*;
use fencepost_spec::world::Action;

/// A request of which two copies are outstanding already.
pub const THIRD_COPY: Excluded = Excluded {
    what: "third copy of a request",
    reason: "the harness's tokens tell two copies apart",
};

/// What keeps the harness from taking the step on production, if anything does.
///
/// The model's sweeps take one id or one producer. The cores' sweeps, as Kafka's, take all that are due, and the harness's
/// clock makes all of them due together: so a sweep is compared where there is one to take.
pub(super) fn beyond(frame: &Frame<'_>, action: &Action) -> Option<Excluded> {
    match *action {
        Action::Timeout(broker, id) => others_are_due(frame, broker, id, |slot| {
            let open = |it: TransactionMetadata| it.state == TransactionState::Ongoing;
            slot.metadata.is_some_and(open)
        }),
        // An id that was created and never logged expires too (KAFKA-14880).
        Action::ExpireId(broker, id) => others_are_due(frame, broker, id, |slot| {
            let idle = |it: TransactionMetadata| it.state.may_expire();
            slot.metadata.map_or(slot.created.is_some(), idle)
        }),
        Action::Evict(partition, id) => {
            let partition = &frame.before.partitions[usize::from(partition.0)];
            let mut producers = partition.producers.iter();
            let asked = !partition.verification.is_empty();
            let alone = producers.all(|it| it.producer_id == id || it.open.is_some());
            (asked || !alone).then_some(SWEEP)
        }
        // The model forgets the answer at once, the core has it wait for the replicas.
        Action::LoseMarkerAnswer(_) if frame.scenario.pace.replica_behind => Some(WAITING_ANSWER),
        _ => None,
    }
}

const WAITING_ANSWER: Excluded = Excluded {
    what: "lost answer to a marker that is not replicated",
    reason: "the model forgets that it waits, the cores keep it until the high watermark passes",
};

const SWEEP: Excluded = Excluded {
    what: "sweep where several are due",
    reason: "the model takes one of them, the cores (as Kafka) all at once",
};

fn others_are_due(
    frame: &Frame<'_>,
    broker: BrokerId,
    id: TransactionalId,
    is_due: impl Fn(&Slot) -> bool,
) -> Option<Excluded> {
    let slots = &frame.before.coordinators[usize::from(broker.0)].slots;
    let mut others = (0..).map(TransactionalId).zip(slots);
    let due = others.any(|(other, slot)| other != id && slot.pending.is_none() && is_due(slot));
    due.then_some(SWEEP)
}
