//! What follows a step at once: messages that nobody waits for are dropped, and under E2 the
//! deliveries that commute with everything else are made.

use super::{State, World};
use crate::coordinator::{Coordinator, Role, Stage};
use crate::error_code::ErrorCode;
use crate::message::Message;
use crate::scenario::Granularity;
use crate::step::{Out, Step};
use crate::types::*;

impl World {
    /// Brings a state into the form in which states are compared.
    pub(super) fn settle(&self, state: &mut State) {
        if self.scenario.granularity == Granularity::E2 {
            while self.settle_one(state) {}
        }
        if self.scenario.prune {
            let mut network = std::mem::take(&mut state.network);
            network.retain(|m| is_alive(state, m));
            state.network = network;
        }
        state.network.sort_unstable();
    }

    /// Sends one queued marker, or delivers one answer to a producer or a marker's answer.
    fn settle_one(&self, state: &mut State) -> bool {
        let mut out = Out::default();
        if self.send_queued(state, &mut out) {
            state.network.extend(out.messages);
            return true;
        }
        let Some(at) = state.network.iter().position(|m| {
            m.is_answer_to_producer() || matches!(m, Message::WriteTxnMarkersAnswer(_))
        }) else {
            return false;
        };
        let message = state.network.remove(at);
        self.deliver(state, &message, None, &mut out);
        state.network.extend(out.messages);
        true
    }

    fn send_queued(&self, state: &mut State, out: &mut Out) -> bool {
        for coordinator in &mut state.coordinators {
            if let Some((id, partition)) = first_queued(coordinator) {
                return coordinator.send_marker(id, partition, out) == Step::Handled;
            }
        }
        false
    }
}

fn first_queued(coordinator: &Coordinator) -> Option<(TransactionalId, PartitionIndex)> {
    coordinator
        .slots
        .iter()
        .enumerate()
        .find_map(|(i, slot)| match slot.pending.map(|p| p.stage) {
            Some(Stage::WritingMarkers { queued, .. }) => {
                queued.iter().next().map(|p| (TransactionalId(i as u8), p))
            }
            Some(Stage::Appending(_) | Stage::Abandoned) | None => None,
        })
}

/// Whether a message can still change anything.
fn is_alive(state: &State, message: &Message) -> bool {
    match message {
        Message::CoordinatorAnswer(m) => awaited(state, m.correlation.producer, message),
        Message::ProduceAnswer { correlation, .. }
        | Message::TxnOffsetCommitAnswer { correlation, .. }
        | Message::OffsetFetchAnswer { correlation, .. } => {
            awaited(state, correlation.producer, message)
        }
        Message::VerifyAnswer {
            partition,
            identity,
            sequence,
            ..
        } => state.partitions[usize::from(partition.0)]
            .parked
            .iter()
            .any(|p| p.request.identity() == *identity && p.request.sequence() == *sequence),
        Message::WriteTxnMarkersAnswer(m) => {
            let c = &state.coordinators[usize::from(m.broker.0)];
            let slot = &c.slots[usize::from(m.transactional_id.0)];
            // A refusal gives the whole completion up, whichever partitions still wait.
            let gives_up = matches!(
                m.error,
                ErrorCode::InvalidProducerEpoch | ErrorCode::TransactionCoordinatorFenced
            );
            let writing = matches!(
                slot.pending.map(|p| p.stage),
                Some(Stage::WritingMarkers { awaiting, .. })
                    if gives_up || awaiting.contains(m.partition)
            );
            leads(c, m.coordinator_epoch) && slot.round == m.round && writing
        }
        Message::AppendTxnRecordAnswer(m) => leads(
            &state.coordinators[usize::from(m.broker.0)],
            m.coordinator_epoch,
        ),
        Message::InitProducerId(_)
        | Message::AddPartitionsToTxn(_)
        | Message::AddOffsetsToTxn(_)
        | Message::EndTxn(_)
        | Message::Produce(_)
        | Message::TxnOffsetCommit(_)
        | Message::OffsetFetch(_)
        | Message::VerifyPartition(_)
        | Message::WriteTxnMarkers(_)
        | Message::AppendTxnRecord(_) => true,
    }
}

fn awaited(state: &State, producer: ProducerIndex, message: &Message) -> bool {
    state
        .producers
        .get(usize::from(producer.0))
        .is_some_and(|p| p.awaits(message))
}

fn leads(coordinator: &Coordinator, epoch: CoordinatorEpoch) -> bool {
    coordinator.role == Role::Leader && coordinator.epoch == epoch
}
