//! Expiry of producer state: `producer.id.expiration.ms` after the last batch or marker.
//!
//! SOURCE: KAFKA-9144 and KAFKA-5880 (a marker counts as activity).

use super::Partition;
use crate::step::Step;
use crate::types::ProducerId;

impl Partition {
    /// Forgets a producer that has nothing open.
    pub fn evict(&mut self, id: ProducerId) -> Step {
        let idle = self.producer(id).is_some_and(|e| e.open.is_none());
        if self.recovering || !idle {
            return Step::NotEnabled;
        }
        self.producers.retain(|e| e.producer_id != id);
        Step::Handled
    }
}
