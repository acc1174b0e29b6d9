//! What happens to coordinators and the transaction-state partition.

use super::{State, World, spending};
use crate::fault::Fault;
use crate::step::{Out, Step};
use crate::types::*;

impl World {
    /// A coordinator sends a marker again.
    pub(super) fn resend_marker(
        &self,
        state: &mut State,
        (b, id, p): (BrokerId, TransactionalId, PartitionIndex),
        out: &mut Out,
    ) -> Step {
        spending(state, Fault::ResendMarker, |state| {
            state.coordinators[usize::from(b.0)].resend_marker(id, p, out)
        })
    }

    /// A transaction's timeout passes.
    pub(super) fn timeout(
        &self,
        state: &mut State,
        (b, id): (BrokerId, TransactionalId),
        out: &mut Out,
    ) -> Step {
        let ctx = self.context(state.version);
        spending(state, Fault::Timer, |state| {
            state.coordinators[usize::from(b.0)].timeout(&ctx, id, out)
        })
    }

    /// A transactional id expires.
    pub(super) fn expire_id(
        &self,
        state: &mut State,
        (b, id): (BrokerId, TransactionalId),
        out: &mut Out,
    ) -> Step {
        let ctx = self.context(state.version);
        spending(state, Fault::IdExpiry, |state| {
            state.coordinators[usize::from(b.0)].expire(&ctx, id, out)
        })
    }

    /// The transaction-state partition gets another leader.
    pub(super) fn elect(&self, state: &mut State, b: BrokerId) -> Step {
        if state.log.leader == b {
            return Step::NotEnabled;
        }
        spending(state, Fault::Election, |state| {
            state.log.elect(b);
            Step::Handled
        })
    }

    /// A broker learns that it leads.
    pub(super) fn learn_elected(&self, state: &mut State, b: BrokerId) -> Step {
        let ctx = self.context(state.version);
        let epoch = state.log.epoch;
        state.coordinators[usize::from(b.0)].elected(&ctx, epoch);
        Step::Handled
    }

    /// A broker has read the log.
    pub(super) fn load(&self, state: &mut State, b: BrokerId, out: &mut Out) -> Step {
        let ctx = self.context(state.version);
        let (log, coordinators) = (&state.log, &mut state.coordinators);
        coordinators[usize::from(b.0)].load(&ctx, log, out)
    }

    /// A broker learns that it no longer leads.
    pub(super) fn resign(&self, state: &mut State, b: BrokerId, out: &mut Out) -> Step {
        let ctx = self.context(state.version);
        state.coordinators[usize::from(b.0)].resign(&ctx, out);
        Step::Handled
    }

    /// The coordinator's broker stops and starts again, at the next leader epoch.
    pub(super) fn crash_coordinator(&self, state: &mut State, b: BrokerId, out: &mut Out) -> Step {
        let ctx = self.context(state.version);
        spending(state, Fault::CoordinatorCrash, |state| {
            let coordinator = &mut state.coordinators[usize::from(b.0)];
            coordinator.resign(&ctx, out);
            coordinator.crash();
            state.log.elect(b);
            Step::Handled
        })
    }

    /// A coordinator's clock steps back.
    pub(super) fn step_clock_back(&self, state: &mut State, b: BrokerId) -> Step {
        spending(state, Fault::ClockBack, |state| {
            state.coordinators[usize::from(b.0)].clock_back = true;
            Step::Handled
        })
    }
}
