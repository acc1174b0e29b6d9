//! Forgets ids that were not used for long enough.
//!
//! What it is: the coordinator's own sweep. It writes null values for the ids and drops them when those are durable.
//! Source: KIP-98; KAFKA-13099 (batches have a limit), KAFKA-14880 (an id that was never logged expires too).

use std::sync::Arc;

use super::effect::{Effect, Effects};
use super::input::AppendOutcome;
use super::load::Ownership;
use super::state_transitions::TransactionState;
use super::transaction_metadata::{Pending, Slot, Stage};
use super::{Coordinator, LedPartition, txn_log};
use crate::types::{Timestamp, TransactionalId};

/// The bytes of a record beside its key, at most.
const RECORD_OVERHEAD: usize = 32;

impl Coordinator {
    /// Begins to forget every id whose last change lies at least the expiration back and which has nothing open.
    pub(super) fn remove_expired_transactional_ids(
        &mut self,
        now: Timestamp,
        effects: &mut Effects,
    ) {
        let moment = now.plus_millis(self.config.transactional_id_expiration_ms.saturating_neg());
        let limit = self.config.tombstone_batch_bytes;
        for ownership in self.partitions.values_mut() {
            let Ownership::Led(led) = ownership else {
                continue;
            };
            for ids in batches(led.idle_until(moment), limit) {
                led.forget(ids, now, effects);
            }
        }
    }
}

/// Splits ids into batches of at most `limit` bytes, with at least one id each.
fn batches(ids: Vec<TransactionalId>, limit: usize) -> Vec<Vec<TransactionalId>> {
    let mut batches: Vec<Vec<TransactionalId>> = Vec::new();
    let mut room = 0;
    for id in ids {
        let bytes = id.as_str().len() + RECORD_OVERHEAD;
        match batches.last_mut() {
            Some(batch) if bytes <= room => {
                batch.push(id);
                room -= bytes;
            }
            Some(_) | None => {
                batches.push(vec![id]);
                room = limit.saturating_sub(bytes);
            }
        }
    }
    batches
}

impl LedPartition {
    fn forget(&mut self, ids: Vec<TransactionalId>, now: Timestamp, effects: &mut Effects) {
        for id in &ids {
            let Some(from) = self.get(id).map(|slot| slot.current().clone()) else {
                continue;
            };
            let to = from.changed(TransactionState::Dead, now);
            self.pend(
                id,
                Pending {
                    from,
                    to: Arc::new(to),
                    stage: Stage::Appending,
                },
            );
        }
        let records = ids.iter().map(txn_log::tombstone).collect();
        effects.push(Effect::Append {
            ticket: self.tombstones(ids),
            timestamp: now,
            records,
        });
    }

    /// Drops the ids whose null values are durable; keeps the ids when they are not.
    pub(super) fn tombstones_finished(&mut self, ids: &[TransactionalId], outcome: AppendOutcome) {
        for id in ids {
            let Some(pending) = self.get(id).and_then(Slot::pending) else {
                continue;
            };
            if pending.to.state != TransactionState::Dead {
                continue;
            }
            match outcome {
                AppendOutcome::Written => self.remove(id),
                AppendOutcome::Failed(_) => {
                    let from = pending.from.clone();
                    self.settle(id, from);
                }
            }
        }
    }
}
