//! What the end of a transaction does to the offsets that it staged.

use super::offsets::Offsets;
use super::{Answer, Effect, GroupCoordinator};
use crate::error_code::ErrorCode;
use crate::partition::WriteTxnMarker;
use crate::types::{ProducerId, Timestamp, TransactionResult};

impl Offsets {
    /// Ends the producer's transaction, for every group at once and whatever state a group is in (B28). A producer that
    /// has staged nothing changes nothing.
    pub(super) fn end_txn(&mut self, producer_id: ProducerId, result: TransactionResult) {
        let staged = self.take_staged(producer_id);
        match result {
            TransactionResult::Abort => {}
            TransactionResult::Commit => {
                for (key, offset) in staged {
                    // A plain commit that was written after the staged one wins, although it was visible first.
                    let is_later = self
                        .committed
                        .get(&key)
                        .is_none_or(|known| known.record_offset < offset.record_offset);
                    if is_later {
                        self.committed.insert(key, offset);
                    }
                }
            }
        }
    }
}

impl GroupCoordinator {
    /// The marker is appended and its effect on the offsets is there in one step, before any answer (B23).
    pub(super) fn write_txn_marker(
        &mut self,
        marker: &WriteTxnMarker,
        now: Timestamp,
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        let appended = self
            .serving()
            .and_then(|()| self.partition.append_marker(marker, now));
        match appended {
            Err(code) => effects.push(Effect::Reply {
                request: marker.request,
                answer: Answer::WriteTxnMarker(Err(marker_answer(code))),
            }),
            Ok(batch) => {
                let reached = batch.next_offset();
                let mut offsets = self.offsets.latest().clone();
                let applies = seeded!(
                    MarkerIgnoredInRebalance,
                    true,
                    self.groups
                        .values()
                        .all(|group| group.phase() != super::GroupPhase::PreparingRebalance)
                );
                if applies {
                    offsets.end_txn(marker.producer_id, marker.result);
                }
                self.offsets.push(reached, offsets);
                effects.push(Effect::Append(batch));
                let answer = Answer::WriteTxnMarker(Ok(()));
                self.reply_at(reached, marker.request, answer, &mut effects);
            }
        }
        effects
    }
}

/// The transaction coordinator knows data partitions, not group coordinators.
fn marker_answer(code: ErrorCode) -> ErrorCode {
    match code {
        ErrorCode::CoordinatorNotAvailable
        | ErrorCode::CoordinatorLoadInProgress
        | ErrorCode::NotCoordinator => ErrorCode::NotLeaderOrFollower,
        other => other,
    }
}
