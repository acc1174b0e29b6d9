//! Forgetting producers and questions that have been silent for too long.

use super::Partition;
use crate::types::{ProducerId, Timestamp};

impl Partition {
    /// Forgets producers without an open transaction and open questions, each after `producer.id.expiration.ms`. The
    /// caller does this every ten minutes.
    pub(super) fn expire(&mut self, now: Timestamp) {
        let limit = self.config.producer_id_expiration_ms;
        let is_old = |since: Timestamp| now.millis_since(since) >= limit;
        let old: Vec<ProducerId> = self
            .producers
            .latest()
            .iter()
            .filter(|(_, state)| is_old(state.last_timestamp))
            .map(|(id, _)| id)
            .collect();
        if !old.is_empty() {
            // In every version, or an append that is taken back would bring them back too. But where a version has the
            // producer's transaction open, its marker may yet have to find it.
            self.producers.update_all(|states| {
                for id in &old {
                    let is_open = states
                        .get(*id)
                        .is_some_and(|state| state.current_txn_first_offset.is_some());
                    if !is_open {
                        states.remove(*id);
                    }
                }
            });
        }
        self.verifications.expire(|entry| is_old(entry.since));
    }
}
