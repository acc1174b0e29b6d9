//! Safety, judged in one state: the logs against what the applications asked and were told.

use super::Id;
use crate::client::{Held, Item, Outcome, Phase, Producer};
use crate::coordinator::Role;
use crate::fault::Fault;
use crate::message::Message;
use crate::partition::{Partition, Record, RecordKind, decided, read_committed_view};
use crate::types::*;
use crate::world::{State, World};

/// The verdicts on one transaction, over all logs.
#[derive(Clone, Copy, Default)]
struct Verdicts {
    committed: bool,
    aborted: bool,
}

/// The safety properties that `state` violates, apart from those that a step has noted.
pub(super) fn violated(world: &World, state: &State) -> u32 {
    let mut broken = 0;
    let mut verdicts = [[Verdicts::default(); 4]; 4];
    for partition in &state.partitions {
        broken |= log_broken(world, state, partition, &mut verdicts);
    }
    for producer in &state.producers {
        broken |= outcomes_broken(world, state, producer, &verdicts);
        broken |= producer_broken(world, state, producer);
    }
    broken |= published_broken(world, state);
    broken | identities_broken(state) | coordinators_broken(world, state)
}

/// S2 for offsets: what was published, somebody asked to commit.
fn published_broken(world: &World, state: &State) -> u32 {
    let unasked = state
        .group
        .iter()
        .flat_map(|g| &g.ghost_published)
        .any(|ghost| {
            ghost
                .ghost_reveal(world.scenario.ghost_key)
                .is_some_and(|(producer, txn)| !commit_asked(world, state, producer, txn))
        });
    if unasked { Id::S2.bit() } else { 0 }
}

/// One log: S1 and S2 by record, S4 by marker, S6 by partition, S11.
fn log_broken(
    world: &World,
    state: &State,
    partition: &Partition,
    verdicts: &mut [[Verdicts; 4]; 4],
) -> u32 {
    let mut broken = 0;
    let key = world.scenario.ghost_key;
    let stable = partition.last_stable_offset();
    let served = !partition.recovering;
    let view = if served {
        let below = partition.log.iter().filter(|r| r.offset < stable);
        read_committed_view(below, &partition.aborted)
    } else {
        Vec::new()
    };
    if served && stable > partition.high_watermark {
        broken |= Id::S11.bit();
    }
    for record in partition.log.iter().filter(|r| r.kind == RecordKind::Data) {
        let marker = deciding_marker(partition, record);
        let verdict = decided(&partition.log, record);
        let visible = view.iter().any(|v| v.offset == record.offset);
        if served && record.offset < stable {
            let decided_below =
                verdict.is_some() && marker.is_none_or(|m| m.offset < partition.high_watermark);
            if !decided_below {
                broken |= Id::S11.bit();
            }
            if verdict == Some(TransactionResult::Commit) && !visible {
                broken |= Id::S1.bit();
            }
        }
        if visible && verdict != Some(TransactionResult::Commit) {
            broken |= Id::S2.bit();
        }
        if marker.is_some_and(|m| m.ghost != record.ghost) {
            broken |= Id::S4.bit();
        }
        let Some((producer, txn)) = record.ghost.ghost_reveal(key) else {
            continue;
        };
        let verdict_of = &mut verdicts[usize::from(producer.0)][usize::from(txn)];
        match verdict {
            Some(TransactionResult::Commit) => verdict_of.committed = true,
            Some(TransactionResult::Abort) => verdict_of.aborted = true,
            None => {}
        }
        if verdict == Some(TransactionResult::Commit) && !commit_asked(world, state, producer, txn)
        {
            broken |= Id::S2.bit();
        }
    }
    if out_of_order(world, partition) {
        broken |= Id::S6.bit();
    }
    broken
}

fn deciding_marker<'a>(partition: &'a Partition, record: &Record) -> Option<&'a Record> {
    if !record.transactional {
        return None;
    }
    partition.log.iter().find(|r| {
        r.offset > record.offset
            && r.identity.producer_id == record.identity.producer_id
            && matches!(r.kind, RecordKind::Marker(_))
    })
}

/// S6: committed records once, and in the order of their payloads within a transaction. Where
/// the payload is an input record, once at all.
fn out_of_order(world: &World, partition: &Partition) -> bool {
    if world.is_offsets(partition.index) {
        return false;
    }
    let committed: Vec<&Record> = partition
        .log
        .iter()
        .filter(|r| r.kind == RecordKind::Data)
        .filter(|r| decided(&partition.log, r) == Some(TransactionResult::Commit))
        .collect();
    let inputs = world.scenario.workloads.iter().any(|w| w.inputs > 0);
    committed.iter().enumerate().any(|(i, record)| {
        committed[..i]
            .iter()
            .filter(|earlier| inputs || earlier.ghost == record.ghost)
            .any(|earlier| earlier.payload >= record.payload)
    })
}

/// What the application knows of transaction `txn` of `producer`, or what the instance that took
/// it over was told (KIP-939).
pub(super) fn outcome(world: &World, state: &State, producer: ProducerIndex, txn: u8) -> Outcome {
    let mut takers = state.producers.iter().filter(|q| {
        world.workload(q.index).takes_over == Some(producer) && q.takeover != Outcome::Open
    });
    match takers.next_back() {
        Some(taker) if txn == 0 => taker.takeover,
        Some(_) | None => state.producers[usize::from(producer.0)].outcome[usize::from(txn)],
    }
}

/// Whether somebody with the right to has asked for the commit.
fn commit_asked(world: &World, state: &State, producer: ProducerIndex, txn: u8) -> bool {
    match outcome(world, state, producer, txn) {
        Outcome::CommitAsked | Outcome::CommitTold | Outcome::ErrorTold | Outcome::Unknown => true,
        Outcome::Open | Outcome::AbortAsked | Outcome::AbortTold => {
            // The instance that asked has crashed, and its successor has not taken over yet.
            let own = state.producers[usize::from(producer.0)].outcome[usize::from(txn)];
            own == Outcome::CommitAsked || own == Outcome::CommitTold
        }
    }
}

/// S1, S3 and S7 for the transactions of one producer.
fn outcomes_broken(
    world: &World,
    state: &State,
    producer: &Producer,
    verdicts: &[[Verdicts; 4]; 4],
) -> u32 {
    let mut broken = 0;
    for txn in 0..world.workload(producer.index).transactions {
        let verdict = verdicts[usize::from(producer.index.0)][usize::from(txn)];
        if verdict.committed && verdict.aborted {
            broken |= Id::S3.bit();
        }
        match outcome(world, state, producer.index, txn) {
            Outcome::CommitTold => {
                if verdict.aborted || something_is_missing(world, state, producer.index, txn) {
                    broken |= Id::S1.bit();
                }
            }
            Outcome::ErrorTold if verdict.committed => broken |= Id::S7.bit(),
            Outcome::ErrorTold
            | Outcome::Open
            | Outcome::CommitAsked
            | Outcome::AbortAsked
            | Outcome::AbortTold
            | Outcome::Unknown => {}
        }
    }
    if world.workload(producer.index).transactional_id.is_none()
        && acked_is_missing(world, state, producer)
    {
        broken |= Id::S1.bit();
    }
    broken
}

/// Whether a record or an offset that the application sent in the transaction is nowhere.
fn something_is_missing(world: &World, state: &State, producer: ProducerIndex, txn: u8) -> bool {
    let workload = world.workload(producer);
    let ghost = Ghost::of(producer, txn, world.scenario.ghost_key);
    workload
        .items
        .iter()
        .enumerate()
        .any(|(i, item)| match item {
            Item::Send(p) => {
                let partition = &state.partitions[usize::from(p.0)];
                let written = partition.log.iter().any(|r| {
                    r.kind == RecordKind::Data
                        && r.ghost == ghost
                        && (workload.inputs > 0 || r.payload == Payload(i as u8 + 1))
                });
                !partition.deleted && !written
            }
            Item::CommitOffset => state
                .offsets_partition()
                .is_some_and(|p| !is_published(state, p, ghost)),
            Item::FetchOffset => false,
        })
}

/// Whether the staged offset of a committed transaction is in the log, and published once its
/// marker is applied.
fn is_published(state: &State, partition: &Partition, ghost: Ghost) -> bool {
    let Some(group) = &state.group else {
        return true;
    };
    if partition.recovering {
        return true;
    }
    let staged = partition
        .log
        .iter()
        .find(|r| r.kind == RecordKind::Data && r.ghost == ghost);
    let Some(record) = staged else {
        return false;
    };
    let applied = deciding_marker(partition, record).is_some()
        && !group
            .unapplied
            .iter()
            .any(|m| m.identity.producer_id == record.identity.producer_id);
    !applied || group.ghost_published.contains(&ghost)
}

fn acked_is_missing(world: &World, state: &State, producer: &Producer) -> bool {
    let items = &world.workload(producer.index).items;
    items.iter().enumerate().any(|(i, item)| match item {
        Item::Send(p) => {
            let acked = producer.acked & (1 << i) != 0;
            let written = state.partitions[usize::from(p.0)]
                .log
                .iter()
                .any(|r| r.kind == RecordKind::Data && r.payload == Payload(i as u8 + 1));
            acked && !written
        }
        Item::FetchOffset | Item::CommitOffset => false,
    })
}

/// S7: refused for good, or made to abort, with nobody to blame.
fn producer_broken(world: &World, state: &State, producer: &Producer) -> u32 {
    // A partition that forgot the producer may refuse its next batch; that is no reason to stop it.
    let may_refuse = producer.ghost_gave_up || spent(world, state, Fault::Eviction);
    let refused = (0..8)
        .filter(|txn| producer.ghost_refused & (1 << txn) != 0 && !may_refuse)
        .any(|txn| !excused(world, state, producer, txn));
    let stopped = producer.phase == Phase::Fatal && !excused(world, state, producer, producer.txn);
    if refused || stopped { Id::S7.bit() } else { 0 }
}

/// Whether something happened that may fence or refuse this producer in its transaction `txn`: a newer instance of
/// its id, an expired id, a deleted topic, an operator, a late copy of its own first InitProducerId, or the timer, if
/// it was this transaction that it ended.
pub fn excused(world: &World, state: &State, producer: &Producer, txn: u8) -> bool {
    let id = world.workload(producer.index).transactional_id;
    let mine = producer.first_identity;
    let other = state.producers.iter().any(|q| {
        let same_id = id.is_some() && world.workload(q.index).transactional_id == id;
        // An instance without an identity may have been given one that is still on its way.
        let newer = q.first_identity.is_none() || q.first_identity > mine;
        q.index != producer.index && q.is_started() && same_id && (newer || q.ghost_resent_init)
    });
    let blamed = [Fault::IdExpiry, Fault::TopicDeletion, Fault::OperatorMarker];
    other
        || producer.ghost_resent_init
        || blamed.into_iter().any(|f| spent(world, state, f))
        || timed_out(world, state, producer.index, txn)
}

/// Whether the timer has ended this transaction.
fn timed_out(world: &World, state: &State, producer: ProducerIndex, txn: u8) -> bool {
    let mut ended = state.coordinators.iter().flat_map(|c| &c.ghost_timed_out);
    ended.any(|ghost| ghost.ghost_reveal(world.scenario.ghost_key) == Some((producer, txn)))
}

/// Whether a fault has happened.
fn spent(world: &World, state: &State, fault: Fault) -> bool {
    state.budgets.left(fault) < world.scenario.budgets.left(fault)
}

/// S8 and S14 over the identities that instances hold, have held, or are about to be told.
fn identities_broken(state: &State) -> u32 {
    let mut broken = 0;
    for (i, p) in state.producers.iter().enumerate() {
        if p.identity
            .is_some_and(|id| id.producer_epoch == ProducerEpoch::MAX)
        {
            broken |= Id::S14.bit();
        }
        let overflow = p.identity.is_some_and(|id| id.producer_epoch.0 < 0);
        let shared = state.producers[..i]
            .iter()
            .any(|q| all_held(p).any(|mine| all_held(q).any(|theirs| mine.overlaps(&theirs))));
        if p.ghost_went_back || overflow || shared || is_told_anothers(state, p) {
            broken |= Id::S8.bit();
        }
    }
    broken
}

/// Every identity that an instance has held.
fn all_held(producer: &Producer) -> impl Iterator<Item = Held> {
    producer
        .ghost_former
        .iter()
        .copied()
        .chain(producer.ghost_held())
}

/// Whether an answer that `producer` waits for gives it an identity that another instance has held.
fn is_told_anothers(state: &State, producer: &Producer) -> bool {
    let given = state.network.iter().filter_map(|message| match message {
        Message::CoordinatorAnswer(m) if m.correlation.producer == producer.index => {
            m.identity.filter(|_| producer.awaits(message))
        }
        _ => None,
    });
    let others = || state.producers.iter().filter(|q| q.index != producer.index);
    given
        .into_iter()
        .any(|identity| others().any(|q| all_held(q).any(|held| held.contains(identity))))
}

/// S8 (overflow) and S9: the leader's settled slots against the log.
fn coordinators_broken(world: &World, state: &State) -> u32 {
    let mut broken = 0;
    for coordinator in &state.coordinators {
        let current = coordinator.role == Role::Leader && coordinator.epoch == state.log.epoch;
        for (slot, logged) in coordinator.slots.iter().zip(&state.log.committed) {
            if slot.metadata.is_some_and(|m| m.producer_epoch.0 < 0) {
                broken |= Id::S8.bit();
            }
            let settled = current && slot.pending.is_none() && !slot.has_failed_epoch_fence;
            let logs_last = world.rules.log.log_last_epoch;
            let live = slot.metadata.map(|m| comparable(m, logs_last));
            if settled && live != logged.map(|m| comparable(m, logs_last)) {
                broken |= Id::S9.bit();
            }
        }
    }
    broken
}

/// A record as S9 compares it. Kafka 4.4.0 does not log the previous epoch; that is a row of
/// docs/DEVIATIONS.md, not of this property.
fn comparable(
    metadata: crate::coordinator::TransactionMetadata,
    logs_last: bool,
) -> crate::coordinator::TransactionMetadata {
    crate::coordinator::TransactionMetadata {
        last_producer_epoch: metadata.last_producer_epoch.filter(|_| logs_last),
        ..metadata
    }
}
