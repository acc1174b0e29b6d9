//! WriteTxnMarkers: the coordinator ends a transaction in this partition.

use super::{Answer, Effect, Partition, ProducerState, WriteTxnMarker};
use crate::batch::{EndTxnMarker, NewBatch, RecordBatch};
use crate::error_code::ErrorCode;
use crate::types::{ProducerEpoch, Timestamp, TransactionVersion};

/// What the guards look at.
struct Check<'a> {
    marker: &'a WriteTxnMarker,
    state: &'a ProducerState,
}

type Guard = fn(&Check<'_>) -> Result<(), ErrorCode>;

/// First refusal wins.
const GUARDS: [Guard; 2] = [producer_epoch_allows, coordinator_epoch_is_not_older];

impl Partition {
    pub(super) fn write_txn_marker(
        &mut self,
        marker: &WriteTxnMarker,
        now: Timestamp,
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        match self.append_marker(marker, now) {
            Ok(batch) => {
                let reached = batch.next_offset();
                effects.push(Effect::Append(batch));
                let answer = Answer::WriteTxnMarker(Ok(()));
                self.reply_at(reached, marker.request, answer, &mut effects);
            }
            Err(code) => effects.push(Effect::Reply {
                request: marker.request,
                answer: Answer::WriteTxnMarker(Err(code)),
            }),
        }
        effects
    }

    /// Checks and appends a marker. A producer without a state is no error: what it wrote here, if anything, was
    /// decided before it was forgotten (B31).
    ///
    /// # Errors
    /// NOT_LEADER_OR_FOLLOWER, INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED.
    pub(crate) fn append_marker(
        &mut self,
        marker: &WriteTxnMarker,
        now: Timestamp,
    ) -> Result<RecordBatch, ErrorCode> {
        let leader_epoch = self.leading()?;
        if let Some(state) = self.producers.latest().get(marker.producer_id) {
            let check = Check { marker, state };
            GUARDS.iter().try_for_each(|guard| guard(&check))?;
        } else {
            seed!(
                UnknownProducerRefused,
                return Err(ErrorCode::InvalidProducerEpoch)
            );
        }
        let mut batch = NewBatch::end_txn_marker(
            marker.producer_id,
            marker.producer_epoch,
            EndTxnMarker {
                result: marker.result,
                coordinator_epoch: marker.coordinator_epoch,
            },
            now,
        );
        batch.base_offset = self.log.end_offset();
        batch.leader_epoch = Some(leader_epoch);
        let batch = batch.write().map_err(|error| error.code())?;
        self.follow(batch.clone())?;
        self.verifications
            .wipe_by_marker(marker.producer_id, marker.producer_epoch);
        Ok(batch)
    }
}

/// KIP-1228: a TV2 marker carries the epoch after the data's, so one that is not above the partition's comes from a
/// transaction that ended before (B05). Two exceptions: with nothing open it is a marker that comes again, and is
/// harmless (KAFKA-19999, B06); and 32767 can be followed by nothing, so data that reached it can only be ended by it
/// (KAFKA-20090). A TV1 marker carries the data's own epoch.
fn producer_epoch_allows(check: &Check<'_>) -> Result<(), ErrorCode> {
    let (marker, stored) = (check.marker.producer_epoch, check.state.epoch);
    let allowed = match check.marker.transaction_version {
        TransactionVersion::V0 | TransactionVersion::V1 => marker >= stored,
        TransactionVersion::V2 => {
            let nothing_open = check.state.current_txn_first_offset.is_none();
            let again = seeded!(RepeatedMarkerRefused, nothing_open, false)
                || seeded!(MarkerOfSameEpoch, stored == ProducerEpoch::MAX, true);
            marker > stored || (marker == stored && again)
        }
    };
    if allowed {
        Ok(())
    } else {
        Err(ErrorCode::InvalidProducerEpoch)
    }
}

/// A coordinator that has lost its leadership does not know it yet (B32).
fn coordinator_epoch_is_not_older(check: &Check<'_>) -> Result<(), ErrorCode> {
    let is_older = check.state.coordinator_epoch > Some(check.marker.coordinator_epoch);
    if seeded!(ZombieCoordinatorWrites, is_older, false) {
        Err(ErrorCode::TransactionCoordinatorFenced)
    } else {
        Ok(())
    }
}
