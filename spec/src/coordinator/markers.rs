//! Completion: a marker for every partition of a decided transaction, then the Complete* record.
//!
//! WHO: coordinator to partition leaders. SOURCE: KIP-98; KAFKA-10080 (completion is owned once),
//! KAFKA-9777 (tested after every acknowledgement), KAFKA-5202 (deleted topics), KAFKA-19999.

use super::{Coordinator, Pending, Role, Slot, Stage, Then, TransactionMetadata};
use crate::error_code::ErrorCode;
use crate::message::{MarkerAnswer, Message, WriteTxnMarkers};
use crate::step::{Context, Out, Step};
use crate::types::*;

impl Coordinator {
    /// Prepare* is durable: queue a marker for every partition.
    pub(super) fn begin_completion(
        &mut self,
        ctx: &Context<'_>,
        id: TransactionalId,
        prepared: &TransactionMetadata,
        result: TransactionResult,
        out: &mut Out,
    ) {
        let clear = ctx.rules.markers.completion_clears_partitions;
        let slot = self.slot(id);
        slot.round += 1;
        slot.pending = Some(Pending {
            to: Some(prepared.completed(result, clear)),
            stage: Stage::WritingMarkers {
                queued: prepared.partitions,
                awaiting: PartitionSet::EMPTY,
            },
        });
        self.complete_if_done(ctx, id, out);
    }

    /// Sends one queued marker.
    pub fn send_marker(
        &mut self,
        id: TransactionalId,
        partition: PartitionIndex,
        out: &mut Out,
    ) -> Step {
        let slot = self.slot(id);
        let Some((queued, awaiting)) = writing(slot) else {
            return Step::NotEnabled;
        };
        if !queued.contains(partition) {
            return Step::NotEnabled;
        }
        set_writing(slot, queued.without(partition), awaiting.with(partition));
        self.emit_marker(id, partition, out);
        Step::Handled
    }

    /// Sends a marker again although the first may still arrive.
    pub fn resend_marker(
        &mut self,
        id: TransactionalId,
        partition: PartitionIndex,
        out: &mut Out,
    ) -> Step {
        match writing(self.slot(id)) {
            Some((_, awaiting)) if awaiting.contains(partition) && self.role == Role::Leader => {
                self.emit_marker(id, partition, out);
                Step::Handled
            }
            Some(_) | None => Step::NotEnabled,
        }
    }

    /// A marker, or its answer, was lost with its connection: queue it again.
    pub fn marker_lost(&mut self, ctx: &Context<'_>, marker: &WriteTxnMarkers) {
        if marker.coordinator_epoch != self.epoch || !ctx.rules.markers.resend_lost {
            return;
        }
        let slot = self.slot(marker.transactional_id);
        if slot.round != marker.round {
            return;
        }
        if let Some((queued, awaiting)) = writing(slot)
            && awaiting.contains(marker.partition)
        {
            set_writing(
                slot,
                queued.with(marker.partition),
                awaiting.without(marker.partition),
            );
        }
    }

    /// Metadata knows no leader for the partition. Kafka 4.4.0 drops the marker as it does for a
    /// deleted topic; a rule that tells the two apart sends it again.
    pub fn no_leader(
        &mut self,
        ctx: &Context<'_>,
        marker: &WriteTxnMarkers,
        out: &mut Out,
    ) -> Step {
        let error = if ctx.rules.markers.drop_leaderless {
            ErrorCode::UnknownTopicOrPartition
        } else {
            ErrorCode::NotLeaderOrFollower
        };
        let answer = MarkerAnswer {
            broker: marker.broker,
            coordinator_epoch: marker.coordinator_epoch,
            transactional_id: marker.transactional_id,
            round: marker.round,
            partition: marker.partition,
            error,
        };
        self.marker_answered(ctx, &answer, true, out)
    }

    /// A partition leader has answered a marker. `test` is false only for the fault of KAFKA-9777.
    pub fn marker_answered(
        &mut self,
        ctx: &Context<'_>,
        answer: &MarkerAnswer,
        test: bool,
        out: &mut Out,
    ) -> Step {
        let id = answer.transactional_id;
        let stale = self.role != Role::Leader || answer.coordinator_epoch != self.epoch;
        if stale || self.slot(id).round != answer.round {
            return Step::Handled;
        }
        let Some((queued, awaiting)) = writing(self.slot(id)) else {
            return Step::Handled;
        };
        let own = answer.partition;
        match answer.error {
            ErrorCode::None => {
                let mut left = awaiting.without(own);
                if !ctx.rules.markers.ack_ticks_own_partition {
                    left = left
                        .iter()
                        .skip(1)
                        .fold(PartitionSet::EMPTY, PartitionSet::with);
                }
                set_writing(self.slot(id), queued, left);
            }
            ErrorCode::UnknownTopicOrPartition => {
                if ctx.rules.markers.drop_deleted {
                    set_writing(self.slot(id), queued, awaiting.without(own));
                }
            }
            ErrorCode::InvalidProducerEpoch | ErrorCode::TransactionCoordinatorFenced => {
                self.abandon(id);
                return Step::Handled;
            }
            ErrorCode::NotLeaderOrFollower
            | ErrorCode::CoordinatorLoadInProgress
            | ErrorCode::CoordinatorNotAvailable
            | ErrorCode::NotCoordinator
            | ErrorCode::NotEnoughReplicas
            | ErrorCode::IllegalGeneration
            | ErrorCode::UnknownMemberId
            | ErrorCode::FencedInstanceId
            | ErrorCode::UnknownServerError
            | ErrorCode::InvalidRequest
            | ErrorCode::OutOfOrderSequenceNumber
            | ErrorCode::InvalidTxnState
            | ErrorCode::InvalidProducerIdMapping
            | ErrorCode::InvalidTransactionTimeout
            | ErrorCode::ConcurrentTransactions
            | ErrorCode::TransactionalIdAuthorizationFailed
            | ErrorCode::UnstableOffsetCommit
            | ErrorCode::ProducerFenced
            | ErrorCode::TransactionAbortable => {
                set_writing(self.slot(id), queued.with(own), awaiting.without(own));
            }
        }
        if test {
            self.complete_if_done(ctx, id, out);
        }
        Step::Handled
    }

    /// Every marker is written: append Complete*.
    fn complete_if_done(&mut self, ctx: &Context<'_>, id: TransactionalId, out: &mut Out) {
        let slot = self.slot(id);
        let Some((queued, awaiting)) = writing(slot) else {
            return;
        };
        if !queued.is_empty() || !awaiting.is_empty() {
            return;
        }
        let to = slot.pending.and_then(|p| p.to);
        self.begin_append(ctx, id, to, Then::Complete, out);
        if !ctx.rules.markers.completion_owned {
            self.send_append(ctx, id, to, out);
        }
    }

    fn emit_marker(&mut self, id: TransactionalId, partition: PartitionIndex, out: &mut Out) {
        let (broker, coordinator_epoch) = (self.broker, self.epoch);
        let slot = *self.slot(id);
        let Some(metadata) = slot.metadata else {
            return;
        };
        let Some(result) = metadata.state.prepared() else {
            return;
        };
        out.send(Message::WriteTxnMarkers(WriteTxnMarkers {
            broker,
            coordinator_epoch,
            transactional_id: id,
            round: slot.round,
            partition,
            identity: metadata.identity(),
            result,
            version: metadata.client_version,
            ghost: metadata.ghost,
        }));
    }
}

/// The markers still to send and to be acknowledged.
fn writing(slot: &Slot) -> Option<(PartitionSet, PartitionSet)> {
    match slot.pending.map(|p| p.stage) {
        Some(Stage::WritingMarkers { queued, awaiting }) => Some((queued, awaiting)),
        Some(Stage::Appending(_) | Stage::Abandoned) | None => None,
    }
}

fn set_writing(slot: &mut Slot, queued: PartitionSet, awaiting: PartitionSet) {
    if let Some(pending) = slot.pending.as_mut() {
        pending.stage = Stage::WritingMarkers { queued, awaiting };
    }
}
