//! Expiry: an id that has been idle for seven days is forgotten with a tombstone.
//!
//! WHO: the coordinator's hourly sweep. SOURCE: `transactional.id.expiration.ms`; KAFKA-18019 for
//! what a producer must make of it.

use super::{Coordinator, Role, Then};
use crate::step::{Context, Out, Step};
use crate::types::TransactionalId;

impl Coordinator {
    /// `id` has been idle for long enough.
    pub fn expire(&mut self, ctx: &Context<'_>, id: TransactionalId, out: &mut Out) -> Step {
        let slot = *self.slot(id);
        let Some(metadata) = slot.metadata else {
            return Step::NotEnabled;
        };
        let expirable = metadata.state.may_expire();
        if self.role != Role::Leader || slot.pending.is_some() || !expirable {
            return Step::NotEnabled;
        }
        self.begin_append(ctx, id, None, Then::Expire, out);
        Step::Handled
    }
}
