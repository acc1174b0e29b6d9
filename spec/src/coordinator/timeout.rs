//! The timer: a transaction that has been open for longer than its timeout is fenced and aborted.
//!
//! WHO: the coordinator's sweep. SOURCE: KIP-98; KAFKA-6119 (fence first); KIP-939 (two-phase
//! transactions are left alone).

use super::{Coordinator, Role, Then, TransactionState};
use crate::step::{Context, Out, Step};
use crate::types::TransactionalId;

impl Coordinator {
    /// The timeout of `id`'s transaction has passed.
    pub fn timeout(&mut self, ctx: &Context<'_>, id: TransactionalId, out: &mut Out) -> Step {
        let slot = *self.slot(id);
        let Some(metadata) = slot.metadata else {
            return Step::NotEnabled;
        };
        let skipped = metadata.two_phase && ctx.rules.log.timer_skips_2pc;
        if self.role != Role::Leader
            || slot.pending.is_some()
            || metadata.state != TransactionState::Ongoing
            || skipped
        {
            return Step::NotEnabled;
        }
        if !self.ghost_timed_out.contains(&metadata.ghost) {
            self.ghost_timed_out.push(metadata.ghost);
            self.ghost_timed_out.sort_unstable();
        }
        self.fence(ctx, id, Then::Timeout, ctx.rules.log.timer_bumps_epoch, out);
        Step::Handled
    }
}
