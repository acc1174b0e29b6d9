//! What producers, their applications and the external manager do.

use super::{State, World, spending};
use crate::client::{ClientContext, Phase, Workload};
use crate::fault::Fault;
use crate::scenario::Granularity;
use crate::step::{Out, Step};
use crate::types::*;

impl World {
    /// A producer starts, a successor only once its predecessor has crashed.
    pub(super) fn start(&self, state: &mut State, p: ProducerIndex, out: &mut Out) -> Step {
        let earlier = self.workload(p).starts_after_crash_of;
        if earlier.is_some_and(|q| state.producers[usize::from(q.0)].phase != Phase::Crashed) {
            return Step::NotEnabled;
        }
        let client = self.client_context(state, p);
        state.producers[usize::from(p.0)].start(&client, out)
    }

    /// The application commits or aborts.
    pub(super) fn end(
        &self,
        state: &mut State,
        p: ProducerIndex,
        result: TransactionResult,
        out: &mut Out,
    ) -> Step {
        let client = self.client_context(state, p);
        state.producers[usize::from(p.0)].end(&client, result, out)
    }

    /// The application prepares; the manager records the first identity that did (KIP-939).
    pub(super) fn prepare(&self, state: &mut State, p: ProducerIndex) -> Step {
        let client = self.client_context(state, p);
        let producer = &mut state.producers[usize::from(p.0)];
        let step = producer.prepare(&client);
        if state.manager.prepared.is_none() {
            state.manager.prepared = producer.identity;
        }
        step
    }

    /// The external manager decides what was prepared (KIP-939).
    pub(super) fn manager_decides(&self, state: &mut State, result: TransactionResult) -> Step {
        if state.manager.prepared.is_none() || state.manager.decision.is_some() {
            return Step::NotEnabled;
        }
        state.manager.decision = Some(result);
        Step::Handled
    }

    /// The decision reaches the instance that prepared (KIP-939).
    pub(super) fn decided(&self, state: &mut State, p: ProducerIndex, out: &mut Out) -> Step {
        let client = self.client_context(state, p);
        state.producers[usize::from(p.0)].decided(&client, out)
    }

    /// A client sends its request again.
    pub(super) fn resend_request(
        &self,
        state: &mut State,
        p: ProducerIndex,
        out: &mut Out,
    ) -> Step {
        let kind = state.producers[usize::from(p.0)].request;
        if !kind.is_some_and(|k| self.scenario.resends(k)) {
            return Step::NotEnabled;
        }
        let client = self.client_context(state, p);
        spending(state, Fault::ResendRequest, |state| {
            state.producers[usize::from(p.0)].resend_request(&client, out)
        })
    }

    /// A client sends a batch again.
    pub(super) fn resend_batch(
        &self,
        state: &mut State,
        (p, at): (ProducerIndex, u8),
        out: &mut Out,
    ) -> Step {
        let client = self.client_context(state, p);
        spending(state, Fault::ResendBatch, |state| {
            state.producers[usize::from(p.0)].resend_batch(&client, usize::from(at), out)
        })
    }

    /// A client gives up a batch or the staging of an offset.
    pub(super) fn give_up(
        &self,
        state: &mut State,
        (p, at): (ProducerIndex, u8),
        out: &mut Out,
    ) -> Step {
        let client = self.client_context(state, p);
        spending(state, Fault::GiveUp, |state| {
            state.producers[usize::from(p.0)].give_up(&client, usize::from(at), out)
        })
    }

    /// A producer stops for good.
    pub(super) fn crash_producer(&self, state: &mut State, p: ProducerIndex) -> Step {
        spending(state, Fault::ProducerCrash, |state| {
            state.producers[usize::from(p.0)].crash()
        })
    }

    /// What the client step of `producer` reads.
    pub fn client_context(&self, state: &State, producer: ProducerIndex) -> ClientContext<'_> {
        ClientContext {
            rules: &self.rules,
            version: state.version,
            workload: self.workload(producer),
            offsets: PartitionIndex(self.scenario.partitions),
            tagged: self.scenario.granularity == Granularity::E2,
            ghost_key: self.scenario.ghost_key,
            prepared: state.manager.prepared.map(|i| (i, state.manager.decision)),
        }
    }

    pub(crate) fn workload(&self, producer: ProducerIndex) -> &Workload {
        &self.scenario.workloads[usize::from(producer.0)]
    }
}
