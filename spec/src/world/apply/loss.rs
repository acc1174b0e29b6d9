//! What can go wrong with one message.

use super::{State, World, spending, take_message};
use crate::error_code::ErrorCode;
use crate::fault::Fault;
use crate::message::{AppendTxnRecord, MarkerAnswer, Message, WriteTxnMarkers};
use crate::step::{Out, Step};
use crate::types::BrokerId;

impl World {
    /// An append to the transaction-state log fails.
    pub(super) fn fail_append(
        &self,
        state: &mut State,
        record: &AppendTxnRecord,
        out: &mut Out,
    ) -> Step {
        spending(state, Fault::FailedAppend, |state| {
            if !take_message(state, &Message::AppendTxnRecord(*record)) {
                return Step::NotEnabled;
            }
            state.log.append(record, true, out);
            Step::Handled
        })
    }

    /// A marker is lost with its connection.
    pub(super) fn lose_marker(&self, state: &mut State, marker: &WriteTxnMarkers) -> Step {
        let ctx = self.context(state.version);
        spending(state, Fault::LoseMarker, |state| {
            if !take_message(state, &Message::WriteTxnMarkers(*marker)) {
                return Step::NotEnabled;
            }
            state.coordinators[usize::from(marker.broker.0)].marker_lost(&ctx, marker);
            Step::Handled
        })
    }

    /// A coordinator finds no leader for a partition that it owes a marker.
    pub(super) fn find_no_leader(
        &self,
        state: &mut State,
        marker: &WriteTxnMarkers,
        out: &mut Out,
    ) -> Step {
        let ctx = self.context(state.version);
        spending(state, Fault::Leaderless, |state| {
            if !take_message(state, &Message::WriteTxnMarkers(*marker)) {
                return Step::NotEnabled;
            }
            state.coordinators[usize::from(marker.broker.0)].no_leader(&ctx, marker, out)
        })
    }

    /// An acknowledgement is counted and the completion test is missed.
    pub(super) fn skip_test(
        &self,
        state: &mut State,
        answer: &MarkerAnswer,
        out: &mut Out,
    ) -> Step {
        let ctx = self.context(state.version);
        spending(state, Fault::SkippedTest, |state| {
            if !take_message(state, &Message::WriteTxnMarkersAnswer(*answer)) {
                return Step::NotEnabled;
            }
            state.coordinators[usize::from(answer.broker.0)]
                .marker_answered(&ctx, answer, false, out)
        })
    }

    /// A request of somebody who is no producer of the scenario.
    pub(super) fn stranger(
        &self,
        state: &mut State,
        message: &Message,
        broker: Option<BrokerId>,
        out: &mut Out,
    ) -> Step {
        spending(state, Fault::Stranger, |state| {
            self.deliver(state, message, broker, out)
        })
    }

    /// A marker is written and its answer is lost.
    pub(super) fn lose_marker_answer(
        &self,
        state: &mut State,
        marker: &WriteTxnMarkers,
        out: &mut Out,
    ) -> Step {
        let ctx = self.context(state.version);
        let message = Message::WriteTxnMarkers(*marker);
        let offsets = self.is_offsets(marker.partition);
        if offsets
            || !take_message(state, &message)
            || !state.budgets.spend(Fault::LoseMarkerAnswer)
        {
            return Step::NotEnabled;
        }
        let step = self.deliver_marker(state, marker, out);
        let lost = |m: &Message| matches!(m, Message::WriteTxnMarkersAnswer(_));
        out.messages.retain(|m| !lost(m));
        state.partitions[usize::from(marker.partition.0)]
            .waiting
            .retain(|w| !lost(&w.answer));
        state.coordinators[usize::from(marker.broker.0)].marker_lost(&ctx, marker);
        step
    }

    /// The leader's question times out after it was answered.
    pub(super) fn fail_verification(
        &self,
        state: &mut State,
        message: &Message,
        out: &mut Out,
    ) -> Step {
        let Message::VerifyAnswer {
            partition,
            identity,
            sequence,
            coordinator_epoch,
            ..
        } = *message
        else {
            return Step::NotEnabled;
        };
        if !take_message(state, message) || !state.budgets.spend(Fault::FailedVerification) {
            return Step::NotEnabled;
        }
        let lost = Message::VerifyAnswer {
            partition,
            identity,
            sequence,
            // Kafka's NETWORK_EXCEPTION, as the partition's and as the group's client is told it.
            error: if self.is_offsets(partition) {
                ErrorCode::CoordinatorLoadInProgress
            } else {
                ErrorCode::NotEnoughReplicas
            },
            coordinator_epoch,
        };
        self.deliver_to_partition(state, partition, &lost, out)
    }
}
