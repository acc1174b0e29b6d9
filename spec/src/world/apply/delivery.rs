//! Hands a message to its actor.

use super::super::enabled::is_to_coordinator_role;
use super::{State, World};
use crate::group::Group;
use crate::message::{Message, Produce, WriteTxnMarkers};
use crate::partition::{ParkedRequest, Partition};
use crate::step::{Context, Out, Step};
use crate::types::*;

impl World {
    /// Hands a message to its actor.
    pub(in crate::world) fn deliver(
        &self,
        state: &mut State,
        message: &Message,
        broker: Option<BrokerId>,
        out: &mut Out,
    ) -> Step {
        let ctx = self.context(state.version);
        if is_to_coordinator_role(message) {
            let Some(broker) = broker else {
                return Step::NotEnabled;
            };
            let known = known_coordinator(state, message);
            return match state.coordinators.get_mut(usize::from(broker.0)) {
                Some(coordinator) if coordinator.epoch < known => Step::NotEnabled,
                Some(coordinator) => coordinator.handle(&ctx, message, out),
                None => Step::NotEnabled,
            };
        }
        match message {
            Message::WriteTxnMarkersAnswer(m) => {
                state.coordinators[usize::from(m.broker.0)].handle(&ctx, message, out)
            }
            Message::AppendTxnRecordAnswer(m) => {
                state.coordinators[usize::from(m.broker.0)].handle(&ctx, message, out)
            }
            Message::AppendTxnRecord(m) => {
                state.log.append(m, false, out);
                Step::Handled
            }
            Message::Produce(m) if overtakes_first_copy(state, m) => Step::NotEnabled,
            Message::Produce(m) => {
                self.share_routing(state, m.correlation.producer, usize::from(m.partition.0));
                self.deliver_to_partition(state, m.partition, message, out)
            }
            Message::WriteTxnMarkers(m) => self.deliver_marker(state, m, out),
            Message::VerifyAnswer {
                partition,
                coordinator_epoch,
                ..
            } => {
                let known = &mut state.partitions[usize::from(partition.0)].known_coordinator;
                *known = (*coordinator_epoch).max(*known);
                self.deliver_to_partition(state, *partition, message, out)
            }
            Message::TxnOffsetCommit(m) => {
                let at = PartitionIndex(self.scenario.partitions);
                self.share_routing(state, m.correlation.producer, usize::from(at.0));
                self.deliver_to_partition(state, at, message, out)
            }
            Message::OffsetFetch(_) => {
                let at = PartitionIndex(self.scenario.partitions);
                self.deliver_to_partition(state, at, message, out)
            }
            Message::CoordinatorAnswer(m) => {
                self.deliver_answer(state, m.correlation.producer, message, out)
            }
            Message::ProduceAnswer {
                correlation,
                partition,
                ..
            } => {
                self.share_routing(state, correlation.producer, usize::from(partition.0));
                self.deliver_answer(state, correlation.producer, message, out)
            }
            Message::TxnOffsetCommitAnswer { correlation, .. } => {
                let at = state.partitions.len() - 1;
                self.share_routing(state, correlation.producer, at);
                self.deliver_answer(state, correlation.producer, message, out)
            }
            Message::OffsetFetchAnswer { correlation, .. } => {
                self.deliver_answer(state, correlation.producer, message, out)
            }
            Message::InitProducerId(_)
            | Message::AddPartitionsToTxn(_)
            | Message::AddOffsetsToTxn(_)
            | Message::EndTxn(_)
            | Message::VerifyPartition(_) => Step::NotEnabled,
        }
    }

    pub(super) fn deliver_marker(
        &self,
        state: &mut State,
        marker: &WriteTxnMarkers,
        out: &mut Out,
    ) -> Step {
        if !self.scenario.stale_routing {
            let known = &mut state.partitions[usize::from(marker.partition.0)].known_coordinator;
            *known = marker.coordinator_epoch.max(*known);
        }
        let message = Message::WriteTxnMarkers(*marker);
        self.deliver_to_partition(state, marker.partition, &message, out)
    }

    pub(super) fn deliver_to_partition(
        &self,
        state: &mut State,
        at: PartitionIndex,
        message: &Message,
        out: &mut Out,
    ) -> Step {
        let ctx = self.context(state.version);
        let group = state.group.as_deref_mut().filter(|_| self.is_offsets(at));
        match state.partitions.get_mut(usize::from(at.0)) {
            Some(partition) => self.partition_receives(&ctx, (partition, group), message, out),
            None => Step::NotEnabled,
        }
    }

    /// A message reaches a partition leader, which for the offsets partition is the group too.
    pub(crate) fn partition_receives(
        &self,
        ctx: &Context<'_>,
        (partition, group): (&mut Partition, Option<&mut Group>),
        message: &Message,
        out: &mut Out,
    ) -> Step {
        match (message, group) {
            (Message::Produce(m), _) => partition.produce(ctx, m, out),
            (Message::WriteTxnMarkers(m), Some(group)) => {
                group.write_txn_markers(partition, ctx, m, out)
            }
            (Message::WriteTxnMarkers(m), None) => partition.write_txn_markers(ctx, m, out),
            (Message::TxnOffsetCommit(m), Some(group)) => {
                group.txn_offset_commit(partition, ctx, m, out)
            }
            (Message::OffsetFetch(m), Some(group)) => group.offset_fetch(partition, ctx, m, out),
            (
                Message::VerifyAnswer {
                    identity,
                    sequence,
                    error,
                    ..
                },
                group,
            ) => {
                let Some(parked) = partition.unpark(*identity, *sequence) else {
                    return Step::Handled;
                };
                match (parked.request, group) {
                    (ParkedRequest::Produce(m), _) => {
                        partition.produce_verified(ctx, &parked, &m, *error, out)
                    }
                    (ParkedRequest::TxnOffsetCommit(m), Some(group)) => {
                        let staging = (&m, parked.guard_stands);
                        group.staging_verified(partition, ctx, staging, *error, out)
                    }
                    (ParkedRequest::TxnOffsetCommit(_), None) => Step::NotEnabled,
                }
            }
            (_, _) => Step::NotEnabled,
        }
    }

    fn deliver_answer(
        &self,
        state: &mut State,
        producer: ProducerIndex,
        message: &Message,
        out: &mut Out,
    ) -> Step {
        if usize::from(producer.0) >= state.producers.len() {
            return Step::Handled;
        }
        let before = state.producers[usize::from(producer.0)].first_identity;
        let client = self.client_context(state, producer);
        let step = state.producers[usize::from(producer.0)].handle(&client, message, out);
        let after = state.producers[usize::from(producer.0)].first_identity;
        if before.is_none()
            && after.is_some()
            && let Some(id) = self.workload(producer).transactional_id
        {
            let newest = &mut state.ghost_newest[usize::from(id.0)];
            let newer =
                newest.is_none_or(|q| state.producers[usize::from(q.0)].first_identity < after);
            if newer {
                *newest = Some(producer);
            }
        }
        step
    }

    /// Who coordinates is known to both ends of a message alike (docs/DEVIATIONS.md), unless the
    /// scenario lets them differ.
    fn share_routing(&self, state: &mut State, producer: ProducerIndex, partition: usize) {
        if self.scenario.stale_routing {
            return;
        }
        let Some(producer) = state.producers.get_mut(usize::from(producer.0)) else {
            return;
        };
        let partition = &mut state.partitions[partition];
        let newest = producer.known_coordinator.max(partition.known_coordinator);
        // Nothing is written that stays as it is: an unchanged part keeps its digest.
        if producer.known_coordinator != newest {
            producer.known_coordinator = newest;
        }
        if partition.known_coordinator != newest {
            partition.known_coordinator = newest;
        }
    }
}

/// Whether a batch would pass the only copy of an earlier batch of its producer: first copies
/// share a connection, and only resends may be overtaken.
fn overtakes_first_copy(state: &State, request: &Produce) -> bool {
    let Some(producer) = state
        .producers
        .get(usize::from(request.correlation.producer.0))
    else {
        return false;
    };
    producer
        .in_flight
        .iter()
        .filter(|b| b.partition == request.partition && b.identity == request.identity)
        .take_while(|b| b.sequence != request.sequence)
        .filter(|b| !b.answered)
        .any(|b| {
            let waiting = state.network.iter().filter(|m| {
                matches!(m, Message::Produce(p) if p.partition == b.partition
                    && p.identity == b.identity && p.sequence == b.sequence)
            });
            waiting.count() >= usize::from(b.copies)
        })
}

/// The newest coordinator that the sender of a request has heard from.
fn known_coordinator(state: &State, message: &Message) -> CoordinatorEpoch {
    let of = |c: &crate::message::Correlation| {
        state
            .producers
            .get(usize::from(c.producer.0))
            .map_or(CoordinatorEpoch(0), |p| p.known_coordinator)
    };
    match message {
        Message::InitProducerId(m) => of(&m.correlation),
        Message::AddPartitionsToTxn(m) | Message::AddOffsetsToTxn(m) => of(&m.correlation),
        Message::EndTxn(m) => of(&m.correlation),
        Message::VerifyPartition(m) => {
            state.partitions[usize::from(m.partition.0)].known_coordinator
        }
        _ => CoordinatorEpoch(0),
    }
}
