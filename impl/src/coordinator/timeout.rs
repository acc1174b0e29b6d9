//! Aborts transactions that were open for longer than their timeout.
//!
//! What it is: the coordinator's own sweep, which no client asks for. Source: KIP-98; KAFKA-6119 (the abort raises the
//! epoch, so that the slow producer is fenced).

use super::effect::{Effects, Then};
use super::load::Ownership;
use super::{Coordinator, LedPartition};
use crate::types::{Timestamp, TransactionalId};

impl Coordinator {
    /// Fences and aborts every open transaction whose start lies more than its timeout back. Those of two-phase commit
    /// have no timeout. One that cannot be begun now (no producer id at hand) is left for the next sweep.
    pub(super) fn abort_timed_out_transactions(&mut self, now: Timestamp, effects: &mut Effects) {
        let due: Vec<TransactionalId> = self
            .partitions
            .values()
            .filter_map(led)
            .flat_map(|led| led.timed_out(now))
            .collect();
        for id in due {
            // A refusal concerns nobody: the next sweep meets the transaction again, if it is still open.
            let _refused = self.fence_and_abort(&id, Then::AbortTimedOut, now, effects);
        }
    }
}

fn led(ownership: &Ownership) -> Option<&LedPartition> {
    match ownership {
        Ownership::Led(led) => Some(led),
        Ownership::Loading(_) => None,
    }
}
