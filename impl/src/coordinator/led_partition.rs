//! One partition of the transaction log under this coordinator's leadership: its ids and the orders in which they fall
//! due.
//!
//! The orders are derived from the ids, never set apart from them, so a sweep looks only at what is due and a request
//! at nothing but its own id.

use std::sync::Arc;

use im::{OrdMap, OrdSet};

use super::decision::require;
use super::effect::{AppendTicket, Effect, Effects, MarkerTicket, Then};
use super::transaction_metadata::{Pending, Slot, Stage, TransactionMetadata};
use super::txn_log;
use crate::error_code::ErrorCode;
use crate::types::{
    CoordinatorEpoch, Timestamp, TransactionResult, TransactionVersion, TransactionalId,
};

/// A led partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LedPartition {
    partition: i32,
    coordinator_epoch: CoordinatorEpoch,
    transactions: OrdMap<TransactionalId, Slot>,
    /// Open transactions with nothing under way, by the moment after which they are aborted.
    deadlines: OrdSet<(Timestamp, TransactionalId)>,
    /// Ids that may be forgotten, with nothing under way, by the moment of their last change.
    idle_since: OrdSet<(Timestamp, TransactionalId)>,
    /// Ids whose completion waits for the next try.
    to_retry: OrdSet<TransactionalId>,
}

impl LedPartition {
    pub(super) fn new(partition: i32, coordinator_epoch: CoordinatorEpoch) -> Self {
        Self {
            partition,
            coordinator_epoch,
            transactions: OrdMap::new(),
            deadlines: OrdSet::new(),
            idle_since: OrdSet::new(),
            to_retry: OrdSet::new(),
        }
    }

    /// The leadership.
    #[must_use]
    pub fn coordinator_epoch(&self) -> CoordinatorEpoch {
        self.coordinator_epoch
    }

    /// The ids and what is known of them.
    #[must_use]
    pub fn transactions(&self) -> &OrdMap<TransactionalId, Slot> {
        &self.transactions
    }

    /// What is known of an id.
    #[must_use]
    pub fn get(&self, id: &TransactionalId) -> Option<&Slot> {
        self.transactions.get(id)
    }

    /// The open transactions whose deadline has passed: strictly, as Kafka compares.
    pub(super) fn timed_out(&self, now: Timestamp) -> Vec<TransactionalId> {
        let due = self
            .deadlines
            .iter()
            .take_while(|(deadline, _)| *deadline < now);
        due.map(|(_, id)| id.clone()).collect()
    }

    /// The ids whose last change is at or before this moment, and which may be forgotten.
    pub(super) fn idle_until(&self, moment: Timestamp) -> Vec<TransactionalId> {
        let due = self
            .idle_since
            .iter()
            .take_while(|(since, _)| *since <= moment);
        due.map(|(_, id)| id.clone()).collect()
    }

    /// The ids whose completion waits for the next try; the list is empty afterwards.
    pub(super) fn take_to_retry(&mut self) -> OrdSet<TransactionalId> {
        std::mem::take(&mut self.to_retry)
    }

    pub(super) fn retry_later(&mut self, id: &TransactionalId) {
        self.to_retry.insert(id.clone());
    }

    pub(super) fn settle(&mut self, id: &TransactionalId, metadata: Arc<TransactionMetadata>) {
        self.replace(id, Slot::Settled(metadata));
    }

    pub(super) fn pend(&mut self, id: &TransactionalId, pending: Pending) {
        self.replace(id, Slot::Pending(Arc::new(pending)));
    }

    /// The change under way for an id, to move it on. It keeps being under way, so nothing falls due by this.
    pub(super) fn pending_mut(&mut self, id: &TransactionalId) -> Option<&mut Pending> {
        match self.transactions.get_mut(id)? {
            Slot::Settled(_) => None,
            Slot::Pending(pending) => Some(Arc::make_mut(pending)),
        }
    }

    pub(super) fn remove(&mut self, id: &TransactionalId) {
        if let Some(slot) = self.transactions.remove(id) {
            self.unschedule(id, &slot);
        }
    }

    fn replace(&mut self, id: &TransactionalId, slot: Slot) {
        if let Some(before) = self.transactions.insert(id.clone(), slot.clone()) {
            self.unschedule(id, &before);
        }
        self.schedule(id, &slot);
    }

    /// Whether the orders say of each id what its state says, and nothing else.
    #[cfg(test)]
    pub(super) fn orders_follow_the_ids(&self) -> bool {
        let mut expected = Self::new(self.partition, self.coordinator_epoch);
        for (id, slot) in &self.transactions {
            expected.schedule(id, slot);
        }
        expected.deadlines == self.deadlines && expected.idle_since == self.idle_since
    }

    fn schedule(&mut self, id: &TransactionalId, slot: &Slot) {
        match due(slot) {
            Some(Due::Deadline(at)) => {
                self.deadlines.insert((at, id.clone()));
            }
            Some(Due::IdleSince(since)) => {
                self.idle_since.insert((since, id.clone()));
            }
            None => {}
        }
    }

    fn unschedule(&mut self, id: &TransactionalId, slot: &Slot) {
        match due(slot) {
            Some(Due::Deadline(at)) => {
                self.deadlines.remove(&(at, id.clone()));
            }
            Some(Due::IdleSince(since)) => {
                self.idle_since.remove(&(since, id.clone()));
            }
            None => {}
        }
    }

    /// Begins a change: the id waits for the append of its record.
    ///
    /// # Errors
    /// When there is no record for the change, and then nothing changes: [`ErrorCode::UnknownServerError`] for a
    /// producer without an epoch, [`ErrorCode::UnsupportedVersion`] for a client's transaction version that the
    /// cluster's records cannot hold. Kafka 4.4 answers the same, but leaves the id busy until the next election.
    pub(super) fn begin(
        &mut self,
        id: &TransactionalId,
        from: Arc<TransactionMetadata>,
        to: TransactionMetadata,
        write: Write,
        effects: &mut Effects,
    ) -> Result<(), ErrorCode> {
        assert!(
            to.state.may_follow(from.state),
            "{:?} does not follow {:?}",
            to.state,
            from.state
        );
        require(to.producer_epoch.is_some(), ErrorCode::UnknownServerError)?;
        seed!(
            ClockBackRefused,
            require(
                write.now >= from.last_update_timestamp,
                ErrorCode::UnknownServerError
            )?
        );
        let told = to.client_transaction_version != from.client_transaction_version;
        let newer = told && to.client_transaction_version != TransactionVersion::V0;
        let holds = write.level != TransactionVersion::V0;
        require(holds || !newer, ErrorCode::UnsupportedVersion)?;
        self.append(id, &to, write, effects);
        self.pend(
            id,
            Pending {
                from,
                to: Arc::new(to),
                stage: Stage::Appending,
            },
        );
        Ok(())
    }

    /// Asks for the append of an id's next record.
    pub(super) fn append(
        &self,
        id: &TransactionalId,
        to: &TransactionMetadata,
        write: Write,
        effects: &mut Effects,
    ) {
        effects.push(Effect::Append {
            ticket: AppendTicket::Transition {
                partition: self.partition,
                coordinator_epoch: self.coordinator_epoch,
                transactional_id: id.clone(),
                then: write.then,
            },
            timestamp: write.now,
            records: vec![txn_log::record(id, to, write.level)],
        });
    }

    /// The ticket for the tombstones of these ids.
    pub(super) fn tombstones(&self, transactional_ids: Vec<TransactionalId>) -> AppendTicket {
        AppendTicket::Tombstones {
            partition: self.partition,
            coordinator_epoch: self.coordinator_epoch,
            transactional_ids,
        }
    }

    /// The marker of a prepared transaction.
    ///
    /// # Panics
    /// If the transaction has no epoch: no record without one is written or loaded.
    pub(super) fn marker(
        &self,
        id: &TransactionalId,
        prepared: &TransactionMetadata,
        result: TransactionResult,
    ) -> MarkerTicket {
        MarkerTicket {
            transactional_id: id.clone(),
            partition: self.partition,
            coordinator_epoch: self.coordinator_epoch,
            producer: prepared
                .producer()
                .expect("a prepared transaction has an epoch"),
            result,
            transaction_version: prepared.client_transaction_version,
        }
    }
}

/// How a change is written: when, for whom, and in which version of the record.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) now: Timestamp,
    pub(super) level: TransactionVersion,
    pub(super) then: Then,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Deadline(Timestamp),
    IdleSince(Timestamp),
}

fn due(slot: &Slot) -> Option<Due> {
    match slot {
        Slot::Pending(_) => None,
        Slot::Settled(metadata) => {
            if let Some(deadline) = metadata.deadline() {
                Some(Due::Deadline(deadline))
            } else if metadata.state.may_expire() {
                Some(Due::IdleSince(metadata.last_update_timestamp))
            } else {
                None
            }
        }
    }
}
