//! What the application may ask for, and when.

use std::collections::BTreeMap;

use super::input::{Call, Effect};
use super::request::{
    Backoff, BatchId, CallError, ConsumerGroupMetadata, OffsetAndMetadata, Operation, Request,
};
use super::state::State;
use super::transaction_manager::TransactionManager;
use crate::types::{ProducerIdAndEpoch, TopicPartition, TransactionResult};

impl TransactionManager {
    pub(super) fn call(&mut self, call: Call) -> Vec<Effect> {
        let called = match call {
            Call::InitTransactions => self.init_transactions(),
            Call::BeginTransaction => self.begin_transaction(),
            Call::Send {
                partition,
                batch,
                count,
            } => self.send(partition, batch, count),
            Call::SendOffsetsToTransaction { member, offsets } => {
                self.send_offsets(member, offsets)
            }
            Call::CommitTransaction => self.end(Operation::Commit, TransactionResult::Commit),
            Call::AbortTransaction => self.end(Operation::Abort, TransactionResult::Abort),
        };
        called.err().map(Effect::Refused).into_iter().collect()
    }

    /// A call with a late answer may be made again while it has none: it waits for the same answer (B75).
    fn is_under_way(&self, operation: Operation) -> Result<bool, CallError> {
        match self.operation {
            Some(pending) if pending == operation => Ok(true),
            Some(pending) => Err(CallError::Pending(pending)),
            None => Ok(false),
        }
    }

    fn no_operation(&self) -> Result<(), CallError> {
        self.operation
            .map_or(Ok(()), |pending| Err(CallError::Pending(pending)))
    }

    fn no_error(&self) -> Result<(), CallError> {
        self.error().map_or(Ok(()), Err)
    }

    /// Follows a call, or refuses it and stays.
    fn enter(&mut self, next: State) -> Result<(), CallError> {
        if !self.state.may_become(next) {
            return Err(CallError::State(self.state));
        }
        self.state = next;
        Ok(())
    }

    fn identity(&self) -> Result<ProducerIdAndEpoch, CallError> {
        self.producer.ok_or(CallError::State(self.state))
    }

    fn init_transactions(&mut self) -> Result<(), CallError> {
        if self.is_under_way(Operation::Init)? {
            return Ok(());
        }
        self.no_error()?;
        if self.state != State::Uninitialized {
            return Err(CallError::State(self.state));
        }
        self.enter(State::Initializing)?;
        self.operation = Some(Operation::Init);
        self.enqueue(Request::InitProducerId { expected: None }, Backoff::None);
        Ok(())
    }

    fn begin_transaction(&mut self) -> Result<(), CallError> {
        self.no_operation()?;
        self.no_error()?;
        self.enter(State::InTransaction)
    }

    /// Records go out only inside a transaction that can still be committed (B44, B47).
    fn in_transaction(&self) -> Result<(), CallError> {
        self.no_operation()?;
        self.no_error()?;
        if self.state == State::InTransaction {
            Ok(())
        } else {
            Err(CallError::State(self.state))
        }
    }

    fn send(
        &mut self,
        partition: TopicPartition,
        batch: BatchId,
        count: i32,
    ) -> Result<(), CallError> {
        self.in_transaction()?;
        if self.version.supports_epoch_bump() {
            self.partitions_in_transaction.insert(partition.clone());
            self.transaction_started = true;
        } else if !self.partitions_in_transaction.contains(&partition)
            && !self.pending_partitions.contains(&partition)
        {
            self.new_partitions.insert(partition.clone());
        }
        self.batches
            .entry(partition)
            .or_default()
            .push(batch, count);
        Ok(())
    }

    fn send_offsets(
        &mut self,
        member: ConsumerGroupMetadata,
        offsets: BTreeMap<TopicPartition, OffsetAndMetadata>,
    ) -> Result<(), CallError> {
        self.in_transaction()?;
        let producer = self.identity()?;
        self.operation = Some(Operation::SendOffsets);
        let registers_itself = self.version.supports_epoch_bump();
        let request = if seeded!(OffsetsUnregistered, registers_itself, true) {
            self.transaction_started = true;
            Request::TxnOffsetCommit {
                producer,
                member,
                offsets,
                version: self.version,
            }
        } else {
            Request::AddOffsetsToTxn {
                producer,
                member,
                offsets,
            }
        };
        self.enqueue(request, Backoff::None);
        Ok(())
    }

    fn end(&mut self, operation: Operation, result: TransactionResult) -> Result<(), CallError> {
        if self.is_under_way(operation)? {
            return Ok(());
        }
        let (next, may_follow_error) = match result {
            TransactionResult::Commit => (State::CommittingTransaction, false),
            TransactionResult::Abort => (State::AbortingTransaction, true),
        };
        if !(may_follow_error && self.state == State::AbortableError) {
            self.no_error()?;
        }
        let producer = self.identity()?;
        self.enter(next)?;
        self.operation = Some(operation);
        if result == TransactionResult::Abort {
            // Nothing will be sent to them any more.
            self.new_partitions.clear();
        }
        let end = self.end_request(producer, result);
        // The next transaction speaks what the cluster has finalized by now. Turning to TV2 needs a new epoch, or the
        // first implicit registration could be booked on the transaction that is being completed (B50).
        if self.features.supports_epoch_bump() && !self.version.supports_epoch_bump() {
            self.epoch_bump_required = seeded!(UpgradeWithoutBump, true, false);
        }
        self.next_version = self.features;
        self.enqueue(end, Backoff::None);
        if self.epoch_bump_required {
            let bump = Request::InitProducerId {
                expected: Some(producer),
            };
            self.enqueue(bump, Backoff::None);
        }
        Ok(())
    }
}
