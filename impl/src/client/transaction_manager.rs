//! The state of a transactional producer, and the one request that it has on its way.

use std::collections::{BTreeMap, BTreeSet};

use super::batches::Batches;
use super::input::{Effect, Input};
use super::request::{Backoff, CallError, Cause, CoordinatorKey, Operation, Request};
use super::state::State;
use crate::types::{ProducerIdAndEpoch, TopicPartition, TransactionResult, TransactionVersion};

/// What a producer knows when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProducerConfig {
    /// The cluster's finalized `transaction.version`.
    pub features: TransactionVersion,
    /// Whether the coordinator can raise the epoch of a producer that it knows: InitProducerId version 3. KIP-360.
    pub coordinator_can_bump: bool,
}

/// A request that waits for its turn.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Queued {
    pub(super) request: Request,
    pub(super) backoff: Backoff,
}

/// A transactional producer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TransactionManager {
    pub(super) state: State,
    pub(super) coordinator_can_bump: bool,
    /// What the cluster has finalized, what the current transaction speaks, and what the next one will: a transaction
    /// ends in the protocol that it began in.
    pub(super) features: TransactionVersion,
    pub(super) version: TransactionVersion,
    pub(super) next_version: TransactionVersion,
    pub(super) producer: Option<ProducerIdAndEpoch>,
    /// Why the producer is in an error state.
    pub(super) last_error: Option<Cause>,
    /// The operation that has no answer yet.
    pub(super) operation: Option<Operation>,
    /// Whether the coordinator may know of the transaction.
    pub(super) transaction_started: bool,
    /// Whether the epoch must be raised after the transaction's end. KIP-360.
    pub(super) epoch_bump_required: bool,
    /// TV1: partitions that must be registered, that are being registered, and that are.
    pub(super) new_partitions: BTreeSet<TopicPartition>,
    pub(super) pending_partitions: BTreeSet<TopicPartition>,
    pub(super) partitions_in_transaction: BTreeSet<TopicPartition>,
    pub(super) batches: BTreeMap<TopicPartition, Batches>,
    pub(super) queue: Vec<Queued>,
    pub(super) in_flight: Option<Request>,
    pub(super) coordinators: BTreeSet<CoordinatorKey>,
}

impl TransactionManager {
    /// A producer that has done nothing yet.
    #[must_use]
    pub fn new(config: ProducerConfig) -> Self {
        Self {
            state: State::Uninitialized,
            coordinator_can_bump: config.coordinator_can_bump,
            features: config.features,
            version: config.features,
            next_version: config.features,
            producer: None,
            last_error: None,
            operation: None,
            transaction_started: false,
            epoch_bump_required: false,
            new_partitions: BTreeSet::new(),
            pending_partitions: BTreeSet::new(),
            partitions_in_transaction: BTreeSet::new(),
            batches: BTreeMap::new(),
            queue: Vec::new(),
            in_flight: None,
            coordinators: BTreeSet::new(),
        }
    }

    /// Takes one input. A producer needs no clock: its timers are its owner's.
    pub fn step(&mut self, input: Input) -> Vec<Effect> {
        let mut effects = match input {
            Input::Call(call) => self.call(call),
            Input::Answered(response) => self.answered(response),
            Input::Disconnected => {
                self.disconnected();
                Vec::new()
            }
            Input::BatchAnswered {
                partition,
                batch,
                code,
            } => self.batch_answered(&partition, batch, code),
            Input::BatchExpired { partition, batch } => self.batch_expired(&partition, batch),
            Input::Features(features) => {
                self.features = features;
                Vec::new()
            }
        };
        self.drop_unsent(&mut effects);
        self.produce_next(&mut effects);
        self.send_next(&mut effects);
        effects
    }

    /// What the producer is doing.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Its identity.
    #[must_use]
    pub fn producer(&self) -> Option<ProducerIdAndEpoch> {
        self.producer
    }

    /// The protocol of the current transaction.
    #[must_use]
    pub fn version(&self) -> TransactionVersion {
        self.version
    }

    /// Why it is in an error state.
    #[must_use]
    pub fn last_error(&self) -> Option<Cause> {
        self.last_error
    }

    /// The operation that has no answer yet.
    #[must_use]
    pub fn operation(&self) -> Option<Operation> {
        self.operation
    }

    /// The request that is on its way.
    #[must_use]
    pub fn in_flight(&self) -> Option<&Request> {
        self.in_flight.as_ref()
    }

    /// The requests that wait for their turn, in their order.
    pub fn queued(&self) -> impl Iterator<Item = &Request> {
        self.queue.iter().map(|queued| &queued.request)
    }

    /// The batches of each partition.
    #[must_use]
    pub fn batches(&self) -> &BTreeMap<TopicPartition, Batches> {
        &self.batches
    }

    /// The partitions that are registered with the transaction.
    #[must_use]
    pub fn partitions_in_transaction(&self) -> &BTreeSet<TopicPartition> {
        &self.partitions_in_transaction
    }

    /// Whether the coordinator may know of the transaction.
    #[must_use]
    pub fn transaction_started(&self) -> bool {
        self.transaction_started
    }

    /// Whether the epoch is raised after the transaction's end.
    #[must_use]
    pub fn epoch_bump_required(&self) -> bool {
        self.epoch_bump_required
    }

    /// Puts a request behind those that are as urgent.
    pub(super) fn enqueue(&mut self, request: Request, backoff: Backoff) {
        let priority = request.priority();
        let at = self
            .queue
            .partition_point(|queued| queued.request.priority() <= priority);
        self.queue.insert(at, Queued { request, backoff });
    }

    /// Follows an event that is not the application's. Where the table does not allow it, the producer is spoilt.
    pub(super) fn transition(&mut self, next: State) {
        if self.state.may_become(next) {
            self.state = next;
        } else {
            self.fatal(Cause::Poisoned);
        }
    }

    /// The transaction can only be aborted. While it is being aborted, that is no news.
    pub(super) fn abortable(&mut self, cause: Cause) {
        match self.state {
            State::AbortingTransaction | State::FatalError => {}
            State::Uninitialized
            | State::Initializing
            | State::Ready
            | State::InTransaction
            | State::CommittingTransaction
            | State::AbortableError => {
                self.transition(State::AbortableError);
                if self.state == State::AbortableError {
                    self.last_error = Some(cause);
                }
            }
        }
    }

    /// Nothing more is possible. The first reason stays.
    pub(super) fn fatal(&mut self, cause: Cause) {
        if self.state != State::FatalError {
            self.state = State::FatalError;
            self.last_error = Some(cause);
        }
    }

    /// The error that refuses calls.
    pub(super) fn error(&self) -> Option<CallError> {
        let cause = self.last_error?;
        match self.state {
            State::AbortableError => Some(CallError::Abortable(cause)),
            State::FatalError => Some(CallError::Fatal(cause)),
            State::Uninitialized
            | State::Initializing
            | State::Ready
            | State::InTransaction
            | State::CommittingTransaction
            | State::AbortingTransaction => None,
        }
    }

    pub(super) fn finish(&mut self, outcome: Result<(), CallError>, effects: &mut Vec<Effect>) {
        if let Some(operation) = self.operation.take() {
            effects.push(Effect::Finished { operation, outcome });
        }
    }

    /// The transaction is over, in the log or because there was none.
    pub(super) fn complete_transaction(&mut self) {
        let next = if self.epoch_bump_required {
            State::Initializing
        } else {
            for batches in self.batches.values_mut() {
                batches.rewind();
            }
            State::Ready
        };
        self.transition(next);
        if self.state != State::FatalError {
            self.last_error = None;
        }
        self.version = self.next_version;
        self.epoch_bump_required = false;
        self.transaction_started = false;
        self.new_partitions.clear();
        self.pending_partitions.clear();
        self.partitions_in_transaction.clear();
    }

    fn disconnected(&mut self) {
        if let Some(request) = self.in_flight.take() {
            if let Some(coordinator) = request.coordinator() {
                self.coordinators.remove(&coordinator);
            }
            self.enqueue(request, Backoff::Retry);
        }
    }

    /// Sends the most urgent request that may go, if none is on its way.
    fn send_next(&mut self, effects: &mut Vec<Effect>) {
        if self.error().is_some() {
            self.drop_queue(effects);
        }
        while self.in_flight.is_none() {
            self.register_new_partitions();
            let Some(first) = self.queue.first() else {
                return;
            };
            if let Request::EndTxn { .. } = first.request {
                // The decision waits for all batches (B45), and where the coordinator knows of nothing there is none
                // to make (B54).
                if self.has_incomplete_batches() {
                    return;
                }
                if !self.transaction_started {
                    self.queue.remove(0);
                    self.end_untold(effects);
                    continue;
                }
            }
            let to = first.request.coordinator();
            if let Some(key) = &to
                && !self.coordinators.contains(key)
            {
                self.enqueue(Request::FindCoordinator(key.clone()), Backoff::None);
                continue;
            }
            let Queued { request, backoff } = self.queue.remove(0);
            self.in_flight = Some(request.clone());
            effects.push(Effect::Send {
                request,
                to,
                backoff,
            });
        }
    }

    /// In an error state nothing goes out but a search for a coordinator, which an abort will need.
    fn drop_queue(&mut self, effects: &mut Vec<Effect>) {
        let Some(error) = self.error() else {
            return;
        };
        let is_fatal = self.state == State::FatalError;
        let before = self.queue.len();
        self.queue
            .retain(|queued| !is_fatal && matches!(queued.request, Request::FindCoordinator(_)));
        if is_fatal || before > self.queue.len() {
            self.finish(Err(error), effects);
        }
    }

    fn register_new_partitions(&mut self) {
        let Some(producer) = self.producer.filter(|_| !self.new_partitions.is_empty()) else {
            return;
        };
        let partitions: Vec<TopicPartition> = std::mem::take(&mut self.new_partitions)
            .into_iter()
            .collect();
        self.pending_partitions.extend(partitions.iter().cloned());
        let request = Request::AddPartitionsToTxn {
            producer,
            partitions,
        };
        self.enqueue(request, Backoff::None);
    }

    /// The end of a transaction that the coordinator has never heard of.
    fn end_untold(&mut self, effects: &mut Vec<Effect>) {
        let bumps = self.epoch_bump_required;
        self.complete_transaction();
        if !bumps {
            self.finish(Ok(()), effects);
        }
    }

    pub(super) fn has_incomplete_batches(&self) -> bool {
        self.batches.values().any(|it| !it.queue().is_empty())
    }

    pub(super) fn end_request(
        &self,
        producer: ProducerIdAndEpoch,
        result: TransactionResult,
    ) -> Request {
        Request::EndTxn {
            producer,
            result,
            version: self.version,
        }
    }
}
