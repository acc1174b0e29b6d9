//! The end of a decided transaction: a marker to every partition, each until it is written, then the completion.
//!
//! What it is: WriteTxnMarkers, sent by the coordinator to partition leaders, and their answers. Source: KIP-98;
//! KIP-1228 (marker epochs); KAFKA-10080 (the completion has one owner: the stage of the pending change).

use std::sync::Arc;

use super::Coordinator;
use super::effect::{Effect, Effects, MarkerTicket, Then};
use super::input::MarkerOutcome;
use super::led_partition::{LedPartition, Write};
use super::load::Ownership;
use super::partition_set::PartitionSet;
use super::state_transitions::TransactionState;
use super::transaction_metadata::{Pending, Slot, Stage, TransactionMetadata};
use crate::error_code::ErrorCode;
use crate::types::{
    ProducerEpoch, Timestamp, TopicPartition, TransactionResult, TransactionVersion,
    TransactionalId,
};

/// What an outcome means for its partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkerRow {
    /// The partition needs no marker any more.
    Done,
    /// The marker is sent again.
    Resend,
    /// Another coordinator or a newer producer was there: this leadership gives the transaction up.
    Abandon,
    /// The leader's answer makes no sense; give the transaction up, and report it.
    AbandonAndReport,
}

/// The table of the marker's outcomes.
pub(super) fn marker_row(outcome: MarkerOutcome) -> MarkerRow {
    match outcome {
        MarkerOutcome::Disconnected | MarkerOutcome::LeaderNotAvailable => MarkerRow::Resend,
        MarkerOutcome::NoSuchPartition => {
            seeded!(DeletedPartitionBlocks, MarkerRow::Done, MarkerRow::Resend)
        }
        MarkerOutcome::Answered(answer) => match answer {
            ErrorCode::None => MarkerRow::Done,
            // A log too old for markers has no transactions to end.
            ErrorCode::UnsupportedForMessageFormat | ErrorCode::UnsupportedVersion => {
                MarkerRow::Done
            }
            ErrorCode::UnknownTopicOrPartition
            | ErrorCode::NotLeaderOrFollower
            | ErrorCode::NotEnoughReplicas
            | ErrorCode::NotEnoughReplicasAfterAppend
            | ErrorCode::RequestTimedOut
            | ErrorCode::KafkaStorageError => MarkerRow::Resend,
            ErrorCode::InvalidProducerEpoch | ErrorCode::TransactionCoordinatorFenced => {
                MarkerRow::Abandon
            }
            _senseless => MarkerRow::AbandonAndReport,
        },
    }
}

/// What a prepared transaction becomes: after an overflow, or after a kept transaction (KIP-939), with the identity
/// that the client was promised.
pub(super) fn completed(prepared: &TransactionMetadata, now: Timestamp) -> TransactionMetadata {
    let state = match result_of(prepared.state) {
        TransactionResult::Commit => TransactionState::CompleteCommit,
        TransactionResult::Abort => TransactionState::CompleteAbort,
    };
    let (producer_id, producer_epoch) = match prepared.next_producer_id {
        Some(next) if prepared.client_transaction_version.supports_epoch_bump() => (
            next,
            Some(prepared.next_producer_epoch.unwrap_or(ProducerEpoch::ZERO)),
        ),
        Some(_) | None => (prepared.producer_id, prepared.producer_epoch),
    };
    TransactionMetadata {
        producer_id,
        // KIP-939: the id that the client used for its decision, which is not always the one of the transaction.
        previous_producer_id: prepared.previous_producer_id.or(Some(prepared.producer_id)),
        next_producer_id: None,
        producer_epoch,
        next_producer_epoch: None,
        partitions: seeded!(
            PartitionsSurviveCompletion,
            PartitionSet::default(),
            prepared.partitions.clone()
        ),
        has_failed_epoch_fence: false,
        ..prepared.changed(state, now)
    }
}

fn result_of(prepared: TransactionState) -> TransactionResult {
    if prepared == TransactionState::PrepareCommit {
        TransactionResult::Commit
    } else {
        TransactionResult::Abort
    }
}

impl LedPartition {
    /// The marker that an id's partitions are waited for with.
    fn awaited_marker(&self, id: &TransactionalId) -> Option<MarkerTicket> {
        let pending = self.get(id).and_then(Slot::pending)?;
        match pending.stage {
            Stage::WritingMarkers { .. } => {
                Some(self.marker(id, &pending.from, result_of(pending.from.state)))
            }
            Stage::Appending
            | Stage::AppendingCompletion
            | Stage::CompletionQueued
            | Stage::Abandoned => None,
        }
    }
}

/// The decision is durable: send a marker to each partition, or complete at once when there is none.
pub(super) fn begin_completion(
    led: &mut LedPartition,
    id: &TransactionalId,
    prepared: Arc<TransactionMetadata>,
    level: TransactionVersion,
    now: Timestamp,
    effects: &mut Effects,
) {
    let partitions = prepared.partitions.as_slice().to_vec();
    let to = Arc::new(completed(&prepared, now));
    let stage = if partitions.is_empty() {
        led.append(
            id,
            &to,
            Write {
                now,
                level,
                then: Then::Complete,
            },
            effects,
        );
        Stage::AppendingCompletion
    } else {
        effects.push(Effect::SendMarkers {
            ticket: led.marker(id, &prepared, result_of(prepared.state)),
            partitions,
        });
        Stage::WritingMarkers {
            queued: PartitionSet::default(),
        }
    };
    led.pend(
        id,
        Pending {
            from: prepared,
            to,
            stage,
        },
    );
}

impl Coordinator {
    /// Takes in outcomes of markers. Those of an ended leadership or of another decision are ignored.
    pub(super) fn markers_answered(
        &mut self,
        ticket: &MarkerTicket,
        outcomes: Vec<(TopicPartition, MarkerOutcome)>,
        now: Timestamp,
        effects: &mut Effects,
    ) {
        let level = self.transaction_version;
        let Ok(led) = self.led_at(ticket.partition, ticket.coordinator_epoch) else {
            return;
        };
        let id = &ticket.transactional_id;
        if led.awaited_marker(id).as_ref() != Some(ticket) {
            return;
        }
        let Some(Pending { from, to, stage }) = led.pending_mut(id) else {
            return;
        };
        let Stage::WritingMarkers { queued } = stage else {
            return;
        };
        let mut abandoned = false;
        let (mut done, mut resend) = (Vec::new(), Vec::new());
        for (partition, outcome) in outcomes {
            match marker_row(outcome) {
                MarkerRow::Done => done.push(partition),
                MarkerRow::Resend => resend.push(partition),
                MarkerRow::Abandon => abandoned = true,
                MarkerRow::AbandonAndReport => {
                    abandoned = true;
                    effects.push(report(ticket, partition, outcome));
                }
            }
        }
        let done: PartitionSet = done.into_iter().collect();
        let left = seeded!(
            FirstMarkerCompletes,
            from.partitions.without(&done),
            PartitionSet::default()
        );
        resend.retain(|partition| left.contains(partition));
        *queued = queued.without(&done).with(&resend);
        Arc::make_mut(from).partitions = left;
        if abandoned {
            *stage = Stage::Abandoned;
        } else if from.partitions.is_empty() {
            *stage = Stage::AppendingCompletion;
            let to = to.clone();
            led.append(
                id,
                &to,
                Write {
                    now,
                    level,
                    then: Then::Complete,
                },
                effects,
            );
        } else if seeded!(LostMarkerForgotten, !queued.is_empty(), false) {
            led.retry_later(id);
        }
    }

    /// Sends queued markers again, and tries again to append completions.
    pub(super) fn retry_completions(&mut self, now: Timestamp, effects: &mut Effects) {
        let level = self.transaction_version;
        for ownership in self.partitions.values_mut() {
            let Ownership::Led(led) = ownership else {
                continue;
            };
            for id in led.take_to_retry() {
                retry_completion(led, &id, level, now, effects);
            }
        }
    }
}

fn report(ticket: &MarkerTicket, partition: TopicPartition, outcome: MarkerOutcome) -> Effect {
    let error = match outcome {
        MarkerOutcome::Answered(error) => error,
        MarkerOutcome::Disconnected
        | MarkerOutcome::LeaderNotAvailable
        | MarkerOutcome::NoSuchPartition => ErrorCode::UnknownServerError,
    };
    Effect::MarkerAbandoned {
        ticket: ticket.clone(),
        partition,
        error,
    }
}

fn retry_completion(
    led: &mut LedPartition,
    id: &TransactionalId,
    level: TransactionVersion,
    now: Timestamp,
    effects: &mut Effects,
) {
    let Some(Pending { from, to, stage }) = led.pending_mut(id) else {
        return;
    };
    let (from, to) = (from.clone(), to.clone());
    match stage {
        Stage::WritingMarkers { queued } => {
            let partitions = std::mem::take(queued).as_slice().to_vec();
            if !partitions.is_empty() {
                let ticket = led.marker(id, &from, result_of(from.state));
                effects.push(Effect::SendMarkers { ticket, partitions });
            }
        }
        Stage::CompletionQueued => {
            *stage = Stage::AppendingCompletion;
            led.append(
                id,
                &to,
                Write {
                    now,
                    level,
                    then: Then::Complete,
                },
                effects,
            );
        }
        Stage::Appending | Stage::AppendingCompletion | Stage::Abandoned => {}
    }
}
