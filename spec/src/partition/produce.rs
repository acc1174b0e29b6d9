//! Produce: one batch.
//!
//! WHO: producer to partition leader. SOURCE: KIP-98 (epoch, sequence, five-batch window);
//! KIP-890 (verification under TV1, implicit add under TV2); KAFKA-14916 (plain batches).
//! The checks at append stand in Kafka's order: duplicate, epoch (KAFKA-19690), verification,
//! sequence, transactional flag.

use super::{Parked, ParkedRequest, Partition, Record, RecordKind};
use crate::coverage::{Cell, CellRequest, CellState};
use crate::error_code::ErrorCode;
use crate::message::{Message, Produce};
use crate::step::{Context, Out, Step};
use crate::types::*;

impl Partition {
    /// Handles Produce: asks the coordinator first where the transaction is not open here.
    pub fn produce(&mut self, ctx: &Context<'_>, request: &Produce, out: &mut Out) -> Step {
        if self.recovering {
            return Step::NotEnabled;
        }
        if self.deleted {
            return self.produce_answer(ctx, request, ErrorCode::UnknownTopicOrPartition, out);
        }
        let asks = self.must_ask(
            ctx,
            request.identity,
            request.transactional,
            request.version,
        );
        if asks && let Some(error) = self.epoch_error(request.identity) {
            return self.produce_answer(ctx, request, error, out);
        }
        match (asks, request.transactional_id) {
            (true, Some(id)) => {
                let parked = ParkedRequest::Produce(*request);
                let verify = self.park(parked, id, request.version, request.ghost);
                out.send(Message::VerifyPartition(verify));
                Step::Handled
            }
            (true, None) | (false, _) => self.append_batch(ctx, request, true, out),
        }
    }

    /// Whether the first batch of a transaction has to ask the coordinator. TV2 always asks: the
    /// question is also the registration.
    pub(crate) fn must_ask(
        &self,
        ctx: &Context<'_>,
        identity: Identity,
        transactional: bool,
        version: TransactionVersion,
    ) -> bool {
        let on = match version {
            TransactionVersion::Tv1 => ctx.rules.verification,
            TransactionVersion::Tv2 => true,
        };
        transactional
            && on
            && ctx.rules.produce.ask_coordinator
            && !self.has_open(ctx.rules, identity)
    }

    /// The coordinator has answered for a parked batch.
    pub(crate) fn produce_verified(
        &mut self,
        ctx: &Context<'_>,
        parked: &Parked,
        request: &Produce,
        error: ErrorCode,
        out: &mut Out,
    ) -> Step {
        match verified_error(error, request.version) {
            ErrorCode::None => self.append_batch(ctx, request, parked.guard_stands, out),
            error => self.produce_answer(ctx, request, error, out),
        }
    }

    fn append_batch(
        &mut self,
        ctx: &Context<'_>,
        request: &Produce,
        guard_stands: bool,
        out: &mut Out,
    ) -> Step {
        if let Some(offset) = self.duplicate(request.identity, request.sequence) {
            out.cell = Some(self.produce_cell(request, ErrorCode::None));
            let answer = answer_of(request, ErrorCode::None);
            self.answer_when_replicated(ctx.rules, offset, answer, out);
            return Step::Handled;
        }
        if let Some(error) = self.append_error(ctx, request, guard_stands) {
            return self.produce_answer(ctx, request, error, out);
        }
        out.cell = Some(self.produce_cell(request, ErrorCode::None));
        let record = Record {
            offset: self.log_end,
            kind: RecordKind::Data,
            identity: request.identity,
            sequence: request.sequence,
            transactional: request.transactional,
            coordinator_epoch: None,
            payload: request.payload,
            ghost: request.ghost,
        };
        let offset = self.append(ctx.rules, record);
        let answer = answer_of(request, ErrorCode::None);
        self.answer_when_replicated(ctx.rules, offset, answer, out);
        Step::Handled
    }

    /// Where an identical batch of this epoch was written, among the remembered ones.
    fn duplicate(&self, identity: Identity, sequence: Sequence) -> Option<Offset> {
        let entry = self.producer(identity.producer_id)?;
        if entry.epoch != identity.producer_epoch {
            return None;
        }
        let batch = entry.batches.iter().find(|b| b.sequence == sequence)?;
        Some(batch.offset)
    }

    /// First refusal wins.
    fn append_error(
        &self,
        ctx: &Context<'_>,
        request: &Produce,
        guard_stands: bool,
    ) -> Option<ErrorCode> {
        self.epoch_error(request.identity)
            .or_else(|| {
                self.guard_error(
                    ctx,
                    request.identity,
                    request.transactional,
                    request.version,
                    guard_stands,
                )
            })
            .or_else(|| self.sequence_error(ctx, request))
            .or_else(|| self.plain_error(ctx, request))
    }

    /// The coordinator's answer must be about the transaction that is written now.
    pub(crate) fn guard_error(
        &self,
        ctx: &Context<'_>,
        identity: Identity,
        transactional: bool,
        version: TransactionVersion,
        guard_stands: bool,
    ) -> Option<ErrorCode> {
        let asked = self.must_ask(ctx, identity, transactional, version);
        (asked && ctx.rules.produce.compare_guard && !guard_stands)
            .then_some(ErrorCode::InvalidTxnState)
    }

    /// An older epoch than the last one seen here.
    pub(crate) fn epoch_error(&self, identity: Identity) -> Option<ErrorCode> {
        let entry = self.producer(identity.producer_id)?;
        (identity.producer_epoch < entry.epoch).then_some(ErrorCode::InvalidProducerEpoch)
    }

    fn sequence_error(&self, ctx: &Context<'_>, request: &Produce) -> Option<ErrorCode> {
        let gap = Some(ErrorCode::OutOfOrderSequenceNumber);
        let rules = &ctx.rules.produce;
        let lower_asked = self.verification.iter().any(|v| {
            v.producer_id == request.identity.producer_id && request.sequence > v.lowest_sequence
        });
        let known = self.producer(request.identity.producer_id);
        let remembers_nothing = known.is_none_or(|entry| entry.batches.is_empty());
        let starts_at_0 = remembers_nothing && self.asked_under_tv2(request.identity.producer_id);
        let wrong_start = starts_at_0 && request.sequence != Sequence::FIRST;
        if (lower_asked || wrong_start) && rules.check_first_sequence {
            return gap;
        }
        let entry = known?;
        let last = entry
            .batches
            .last()
            .filter(|_| entry.epoch == request.identity.producer_epoch);
        let expected = match last {
            None => Sequence::FIRST,
            Some(batch) if batch.sequence.0 == i32::MAX && !rules.sequence_wraps => batch.sequence,
            Some(batch) => batch.sequence.next(),
        };
        if request.sequence == expected {
            None
        } else {
            gap
        }
    }

    /// Whether a TV2 request of the producer has asked: its epoch is new, so its sequences start at 0.
    fn asked_under_tv2(&self, id: ProducerId) -> bool {
        let mut asked = self.verification.iter();
        asked.any(|v| v.producer_id == id && v.version == TransactionVersion::Tv2)
    }

    fn plain_error(&self, ctx: &Context<'_>, request: &Produce) -> Option<ErrorCode> {
        let open = self
            .producer(request.identity.producer_id)
            .is_some_and(|e| e.open.is_some());
        (open && !request.transactional && ctx.rules.produce.refuse_plain_in_txn)
            .then_some(ErrorCode::InvalidTxnState)
    }

    fn produce_answer(
        &self,
        ctx: &Context<'_>,
        request: &Produce,
        error: ErrorCode,
        out: &mut Out,
    ) -> Step {
        out.cell = Some(self.produce_cell(request, error));
        if ctx.blocking && error == ErrorCode::ConcurrentTransactions {
            return Step::NotEnabled;
        }
        out.send(answer_of(request, error));
        Step::Handled
    }

    fn produce_cell(&self, request: &Produce, answer: ErrorCode) -> Cell {
        Cell {
            request: CellRequest::Produce,
            state: self.producer_cell(request.identity.producer_id),
            answer,
        }
    }

    /// How a request finds the producer, for coverage.
    pub(crate) fn producer_cell(&self, id: ProducerId) -> CellState {
        match self.producer(id) {
            None => CellState::NoProducerState,
            Some(e) if e.open.is_some() => CellState::Open,
            Some(_) => CellState::Closed,
        }
    }
}

/// How the coordinator's verdict reaches the sender of a batch: what passes by itself becomes an
/// error that every producer retries. A TV2 producer knows CONCURRENT_TRANSACTIONS.
/// SOURCE: `ReplicaManager.handleProduceAppend`.
fn verified_error(error: ErrorCode, version: TransactionVersion) -> ErrorCode {
    let unknown_to_producers = match error {
        ErrorCode::ConcurrentTransactions => version == TransactionVersion::Tv1,
        ErrorCode::CoordinatorLoadInProgress
        | ErrorCode::CoordinatorNotAvailable
        | ErrorCode::NotCoordinator => true,
        ErrorCode::None
        | ErrorCode::UnknownTopicOrPartition
        | ErrorCode::NotLeaderOrFollower
        | ErrorCode::NotEnoughReplicas
        | ErrorCode::IllegalGeneration
        | ErrorCode::UnknownMemberId
        | ErrorCode::FencedInstanceId
        | ErrorCode::UnknownServerError
        | ErrorCode::InvalidRequest
        | ErrorCode::OutOfOrderSequenceNumber
        | ErrorCode::InvalidProducerEpoch
        | ErrorCode::ProducerFenced
        | ErrorCode::InvalidTxnState
        | ErrorCode::InvalidProducerIdMapping
        | ErrorCode::InvalidTransactionTimeout
        | ErrorCode::TransactionCoordinatorFenced
        | ErrorCode::TransactionalIdAuthorizationFailed
        | ErrorCode::UnstableOffsetCommit
        | ErrorCode::TransactionAbortable => false,
    };
    if unknown_to_producers {
        ErrorCode::NotEnoughReplicas
    } else {
        passed_error(error)
    }
}

/// The coordinator's verdict as a leader passes it on.
/// SOURCE: `AddPartitionsToTxnManager`.
pub(crate) fn passed_error(error: ErrorCode) -> ErrorCode {
    if error == ErrorCode::ProducerFenced {
        ErrorCode::InvalidProducerEpoch
    } else {
        error
    }
}

/// The answer to a batch.
pub(crate) fn answer_of(request: &Produce, error: ErrorCode) -> Message {
    Message::ProduceAnswer {
        correlation: request.correlation,
        identity: request.identity,
        partition: request.partition,
        sequence: request.sequence,
        error,
    }
}
