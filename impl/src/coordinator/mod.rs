//! The transaction coordinator of one broker: it decides what becomes of every transaction whose id falls to a
//! partition of the transaction log that it leads.
//!
//! Pure: [`Coordinator::step`] takes one [`Input`] and the time, changes the state and says what is to be done. It
//! never waits: a change that has to be durable first is kept as pending, and the end of its append is another input.
//! A server may split its partitions over several coordinators, each with producer-id blocks of its own.
//!
//! Each request has a file: what it is, its guards in the order in which they refuse, its table, what it changes.

mod add_offsets_to_txn;
mod add_partitions_to_txn;
mod decision;
mod describe;
mod effect;
mod end_txn;
mod end_txn_tv1;
mod end_txn_tv2;
mod expiry;
mod init_producer_id;
mod input;
mod kept_transaction;
mod led_partition;
mod load;
mod markers;
mod partition_for;
mod partition_set;
mod producer_ids;
mod state_transitions;
mod timeout;
mod transaction_metadata;
mod txn_log;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use add_offsets_to_txn::AddOffsetsToTxn;
pub use add_partitions_to_txn::{AddPartitionsToTxn, AddPartitionsToTxnForm, PartitionAccess};
pub use describe::{
    DescribeTransactions, ListTransactions, TransactionDescription, TransactionListing,
};
pub use effect::{Answer, AppendTicket, Effect, Effects, ErrorForm, MarkerTicket, Then};
pub use end_txn::EndTxn;
pub use init_producer_id::{InitProducerId, InitializedProducer};
pub use input::{
    AppendOutcome, Authorization, Claim, Correlation, Input, Leadership, LogRecord, MarkerOutcome,
    Request,
};
pub use led_partition::LedPartition;
pub use load::{LoadingPartition, Ownership};
pub use partition_for::partition_for;
pub use partition_set::PartitionSet;
pub use producer_ids::ProducerIdBlock;
pub use state_transitions::TransactionState;
pub use transaction_metadata::{Pending, Slot, Stage, TransactionMetadata, TransactionTimeout};

use crate::error_code::ErrorCode;
use crate::types::{CoordinatorEpoch, Timestamp, TransactionVersion, TransactionalId};
use producer_ids::ProducerIds;

/// What an operator may set. The defaults are Kafka's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// `transaction.state.log.num.partitions`: partitions of the transaction log. Never changed later.
    pub transaction_log_partitions: i32,
    /// `offsets.topic.num.partitions`: partitions of `__consumer_offsets`. Never changed later.
    pub offsets_partitions: i32,
    /// `transaction.max.timeout.ms`: the longest timeout that a client may ask for, in milliseconds.
    pub transaction_max_timeout_ms: i32,
    /// `transactional.id.expiration.ms`: how long an id may be unused before it is forgotten, in milliseconds.
    pub transactional_id_expiration_ms: i64,
    /// `transaction.two.phase.commit.enable`: whether clients may ask for two-phase commit (KIP-939).
    pub two_phase_commit_enable: bool,
    /// The most bytes of keys that one batch of tombstones holds.
    pub tombstone_batch_bytes: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            transaction_log_partitions: 50,
            offsets_partitions: 50,
            transaction_max_timeout_ms: 900_000,
            transactional_id_expiration_ms: 604_800_000,
            two_phase_commit_enable: false,
            tombstone_batch_bytes: 512 * 1024,
        }
    }
}

/// The transaction coordinator of one broker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Coordinator {
    config: Config,
    transaction_version: TransactionVersion,
    producer_ids: ProducerIds,
    partitions: BTreeMap<i32, Ownership>,
}

impl Coordinator {
    /// A coordinator that leads nothing yet, in a cluster at this transaction version.
    ///
    /// # Panics
    /// If one of the topics has no partition.
    #[must_use]
    pub fn new(config: Config, transaction_version: TransactionVersion) -> Self {
        assert!(
            config.transaction_log_partitions > 0 && config.offsets_partitions > 0,
            "topics have partitions"
        );
        Self {
            config,
            transaction_version,
            producer_ids: ProducerIds::default(),
            partitions: BTreeMap::new(),
        }
    }

    /// Takes in one thing that happened. `now` may step back between calls.
    pub fn step(&mut self, input: Input, now: Timestamp) -> Effects {
        let mut effects = Effects::new();
        match input {
            Input::Request(to, request) => self.request(to, request, now, &mut effects),
            Input::AppendFinished(ticket, outcome) => {
                self.append_finished(ticket, outcome, now, &mut effects)
            }
            Input::MarkersAnswered(ticket, outcomes) => {
                self.markers_answered(&ticket, outcomes, now, &mut effects)
            }
            Input::AbortTimedOutTransactions => {
                self.abort_timed_out_transactions(now, &mut effects)
            }
            Input::RemoveExpiredTransactionalIds => {
                self.remove_expired_transactional_ids(now, &mut effects)
            }
            Input::RetryCompletions => self.retry_completions(now, &mut effects),
            Input::ProducerIdBlockArrived(block) => self.producer_ids.block_arrived(block, now),
            Input::Leadership(leadership) => self.leadership(leadership, now, &mut effects),
            Input::TransactionVersionChanged(level) => self.transaction_version = level,
        }
        effects
    }

    fn request(
        &mut self,
        to: Correlation,
        request: Request,
        now: Timestamp,
        effects: &mut Effects,
    ) {
        match request {
            Request::InitProducerId(request) => self.init_producer_id(to, request, now, effects),
            Request::AddPartitionsToTxn(request) => {
                self.add_partitions_to_txn(to, request, now, effects)
            }
            Request::AddOffsetsToTxn(request) => {
                self.add_offsets_to_txn(to, &request, now, effects)
            }
            Request::EndTxn(request) => self.end_txn(to, &request, now, effects),
            Request::DescribeTransactions(request) => {
                self.describe_transactions(to, &request, effects)
            }
            Request::ListTransactions(request) => {
                self.list_transactions(to, &request, now, effects)
            }
        }
    }

    /// The cluster's transaction version.
    #[must_use]
    pub fn transaction_version(&self) -> TransactionVersion {
        self.transaction_version
    }

    /// The partitions of the transaction log that this coordinator leads or is loading.
    #[must_use]
    pub fn partitions(&self) -> &BTreeMap<i32, Ownership> {
        &self.partitions
    }

    /// The partition that owns an id, if it is led and loaded.
    ///
    /// # Errors
    /// [`ErrorCode::CoordinatorLoadInProgress`] while it is being loaded, [`ErrorCode::NotCoordinator`] when another
    /// broker leads it.
    pub fn owner(&self, id: &TransactionalId) -> Result<&LedPartition, ErrorCode> {
        match self.partitions.get(&self.partition_of(id)) {
            Some(Ownership::Led(led)) => Ok(led),
            Some(Ownership::Loading(_)) => Err(ErrorCode::CoordinatorLoadInProgress),
            None => Err(ErrorCode::NotCoordinator),
        }
    }

    fn partition_of(&self, id: &TransactionalId) -> i32 {
        partition_for(id.as_str(), self.config.transaction_log_partitions)
    }

    fn owner_mut(&mut self, id: &TransactionalId) -> Result<&mut LedPartition, ErrorCode> {
        let partition = self.partition_of(id);
        led_mut(&mut self.partitions, partition)
    }

    /// The partition, if it is still led at the epoch at which something was begun.
    fn led_at(
        &mut self,
        partition: i32,
        coordinator_epoch: CoordinatorEpoch,
    ) -> Result<&mut LedPartition, ErrorCode> {
        let led = led_mut(&mut self.partitions, partition)?;
        if led.coordinator_epoch() == coordinator_epoch {
            Ok(led)
        } else {
            Err(ErrorCode::NotCoordinator)
        }
    }
}

fn led_mut(
    partitions: &mut BTreeMap<i32, Ownership>,
    partition: i32,
) -> Result<&mut LedPartition, ErrorCode> {
    match partitions.get_mut(&partition) {
        Some(Ownership::Led(led)) => Ok(led),
        Some(Ownership::Loading(_)) => Err(ErrorCode::CoordinatorLoadInProgress),
        None => Err(ErrorCode::NotCoordinator),
    }
}
