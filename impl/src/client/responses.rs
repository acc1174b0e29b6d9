//! What the coordinators' answers lead to.

use super::errors::{Api, Class, classify};
use super::input::Effect;
use super::request::{Backoff, Cause, Operation, Request, Response};
use super::state::State;
use super::transaction_manager::TransactionManager;
use crate::error_code::ErrorCode;
use crate::types::{ProducerIdAndEpoch, TopicPartition};

impl TransactionManager {
    /// The answer to the request that is in flight; without one, it is late and says nothing.
    pub(super) fn answered(&mut self, response: Response) -> Vec<Effect> {
        let mut effects = Vec::new();
        let Some(request) = self.in_flight.take() else {
            return effects;
        };
        if self.state == State::FatalError {
            // Whatever the answer says, the application was told that the producer is done.
            return effects;
        }
        let api = request.api();
        match (request, response) {
            (request, Response::Code(code)) => match classify(api, code) {
                Class::Success => self.succeeded(request, None, &mut effects),
                class => self.failed(request, class, code, &mut effects),
            },
            (request, Response::Identity(identity)) => {
                self.succeeded(request, Some(identity), &mut effects);
            }
            (request, Response::Partitions(lines)) => {
                self.partitions_answered(request, &lines, &mut effects);
            }
        }
        effects
    }

    fn succeeded(
        &mut self,
        request: Request,
        identity: Option<ProducerIdAndEpoch>,
        effects: &mut Vec<Effect>,
    ) {
        match request {
            Request::FindCoordinator(key) => {
                self.coordinators.insert(key);
            }
            Request::InitProducerId { .. } => match identity {
                Some(identity) => self.initialized(identity, effects),
                None => self.fatal(Cause::Poisoned),
            },
            Request::AddPartitionsToTxn { partitions, .. } => {
                for partition in partitions {
                    self.pending_partitions.remove(&partition);
                    self.partitions_in_transaction.insert(partition);
                }
                self.transaction_started = true;
            }
            Request::AddOffsetsToTxn {
                producer,
                member,
                offsets,
            } => {
                self.transaction_started = true;
                let commit = Request::TxnOffsetCommit {
                    producer,
                    member,
                    offsets,
                    version: self.version,
                };
                self.enqueue(commit, Backoff::None);
            }
            Request::TxnOffsetCommit { .. } => {
                if self.operation == Some(Operation::SendOffsets) {
                    self.finish(Ok(()), effects);
                }
            }
            Request::EndTxn { .. } => self.ended(identity, effects),
        }
    }

    fn initialized(&mut self, identity: ProducerIdAndEpoch, effects: &mut Vec<Effect>) {
        self.adopt(identity);
        // A new epoch is as good as a new session: it may begin in either protocol.
        self.version = self.features;
        self.next_version = self.features;
        self.transition(State::Ready);
        let outcome = self.error().map_or(Ok(()), Err);
        self.finish(outcome, effects);
    }

    /// In TV2 the answer holds the identity of the next transaction.
    fn ended(&mut self, identity: Option<ProducerIdAndEpoch>, effects: &mut Vec<Effect>) {
        if let Some(identity) = identity {
            self.adopt(identity);
        }
        let bumps = self.epoch_bump_required;
        self.complete_transaction();
        if !bumps {
            self.finish(Ok(()), effects);
        }
    }

    /// A new identity begins every partition at sequence 0 (B41). Nothing is on its way at that moment.
    fn adopt(&mut self, identity: ProducerIdAndEpoch) {
        if self.producer != Some(identity) {
            self.producer = Some(identity);
            seeded!(SequencesSurviveEpoch, self.batches.clear(), ());
        }
    }

    fn failed(
        &mut self,
        request: Request,
        class: Class,
        code: ErrorCode,
        effects: &mut Vec<Effect>,
    ) {
        let api = request.api();
        let cause = Cause::Answered { api, code };
        seed!(
            MappingErrorAborts,
            if code == ErrorCode::InvalidProducerIdMapping {
                return self.give_up(api, cause, effects);
            }
        );
        seed!(
            FencedAborts,
            if code == ErrorCode::ProducerFenced {
                return self.give_up(api, cause, effects);
            }
        );
        seed!(
            FailedEndIsSuccess,
            if api == Api::EndTxn && class == Class::Fatal {
                return self.ended(None, effects);
            }
        );
        match class {
            Class::Success => {}
            Class::Retry => {
                let backoff = self.backoff(&request, code);
                self.enqueue(request, backoff);
            }
            Class::FindAndRetry => {
                if let Some(coordinator) = request.coordinator() {
                    self.coordinators.remove(&coordinator);
                }
                self.enqueue(request, Backoff::Retry);
            }
            Class::Abortable | Class::OutOfOrder => self.give_up(api, cause, effects),
            Class::AbortableWithBump => {
                if self.can_bump() {
                    self.require_bump();
                    self.give_up(api, cause, effects);
                } else {
                    self.fatal(cause);
                }
            }
            Class::Fatal => self.fatal(cause),
        }
    }

    /// An error that can be aborted. The operation that it belongs to is over; one that it does not belong to, such as
    /// the abort itself while a registration fails late, goes on.
    fn give_up(&mut self, api: Api, cause: Cause, effects: &mut Vec<Effect>) {
        self.abortable(cause);
        let own = match api {
            Api::InitProducerId | Api::EndTxn => true,
            Api::FindCoordinator | Api::AddOffsetsToTxn | Api::TxnOffsetCommit => {
                self.operation == Some(Operation::SendOffsets)
            }
            Api::AddPartitionsToTxn | Api::Produce => false,
        };
        if own {
            self.finish(Err(super::CallError::Abortable(cause)), effects);
        }
    }

    fn backoff(&self, request: &Request, code: ErrorCode) -> Backoff {
        let is_first =
            request.api() == Api::AddPartitionsToTxn && self.partitions_in_transaction.is_empty();
        if is_first && code == ErrorCode::ConcurrentTransactions {
            Backoff::FirstAddPartitions
        } else {
            Backoff::Retry
        }
    }

    /// The first line that stops the request decides; without one it has failed if any line has, and else succeeded.
    fn partitions_answered(
        &mut self,
        request: Request,
        lines: &[(TopicPartition, ErrorCode)],
        effects: &mut Vec<Effect>,
    ) {
        let api = request.api();
        let request = match request {
            Request::TxnOffsetCommit {
                producer,
                member,
                mut offsets,
                version,
            } => {
                // What is staged is not sent again.
                for (partition, code) in lines {
                    if classify(api, *code) == Class::Success {
                        offsets.remove(partition);
                    }
                }
                Request::TxnOffsetCommit {
                    producer,
                    member,
                    offsets,
                    version,
                }
            }
            other => other,
        };
        let classes = || lines.iter().map(|(_, code)| (classify(api, *code), *code));
        let rank = |class: Class| match class {
            Class::Fatal => 0,
            Class::AbortableWithBump | Class::Abortable | Class::OutOfOrder => 1,
            Class::FindAndRetry => 2,
            Class::Retry => 3,
            Class::Success => 4,
        };
        match classes().min_by_key(|(class, _)| rank(*class)) {
            Some((class, code)) if class != Class::Success => {
                if let Request::AddPartitionsToTxn { partitions, .. } = &request
                    && rank(class) < 2
                {
                    for partition in partitions {
                        self.pending_partitions.remove(partition);
                    }
                }
                self.failed(request, class, code, effects);
            }
            Some(_) | None => self.succeeded(request, None, effects),
        }
    }

    /// Whether this producer raises its epoch itself: in TV2 the end of the transaction does.
    pub(super) fn can_bump(&self) -> bool {
        self.coordinator_can_bump || self.version.supports_epoch_bump()
    }

    /// Asks for a higher epoch after the transaction's end: a batch of this one may still be on its way, and must find
    /// the epoch too old (KIP-360). An abort that has begun without it gets it too.
    pub(super) fn require_bump(&mut self) {
        if !self.coordinator_can_bump
            || self.version.supports_epoch_bump()
            || self.epoch_bump_required
        {
            return;
        }
        seed!(GivenUpWithoutBump, return);
        self.epoch_bump_required = true;
        if self.state == State::AbortingTransaction {
            let bump = Request::InitProducerId {
                expected: self.producer,
            };
            self.enqueue(bump, Backoff::None);
        }
    }
}
