//! What a client makes of its answers. An answer that nobody waits for is dropped: that is also
//! how a lost answer looks.

use super::{ClientContext, ErrorClass, Outcome, Phase, Producer, classify};
use crate::error_code::ErrorCode;
use crate::message::*;
use crate::step::{Out, Step};
use crate::types::*;

impl Producer {
    /// Whether this answer still has someone waiting.
    pub fn awaits(&self, message: &Message) -> bool {
        match message {
            Message::CoordinatorAnswer(m) => self.awaits_request(m.request, m.correlation),
            Message::TxnOffsetCommitAnswer { correlation, .. } => {
                self.awaits_request(RequestKind::TxnOffsetCommit, *correlation)
            }
            Message::OffsetFetchAnswer { correlation, .. } => {
                self.awaits_request(RequestKind::OffsetFetch, *correlation)
            }
            Message::ProduceAnswer {
                correlation,
                identity,
                partition,
                sequence,
                ..
            } => self
                .in_flight
                .iter()
                .any(|b| is_batch(b, *correlation, *identity, *partition, *sequence)),
            Message::InitProducerId(_)
            | Message::AddPartitionsToTxn(_)
            | Message::AddOffsetsToTxn(_)
            | Message::EndTxn(_)
            | Message::Produce(_)
            | Message::TxnOffsetCommit(_)
            | Message::OffsetFetch(_)
            | Message::VerifyPartition(_)
            | Message::WriteTxnMarkers(_)
            | Message::AppendTxnRecord(_)
            | Message::VerifyAnswer { .. }
            | Message::WriteTxnMarkersAnswer(_)
            | Message::AppendTxnRecordAnswer(_) => false,
        }
    }

    fn awaits_request(&self, kind: RequestKind, correlation: Correlation) -> bool {
        self.request == Some(kind)
            && self.number == correlation.number
            && self.attempt == correlation.attempt
    }

    /// Takes an answer.
    pub fn handle(&mut self, ctx: &ClientContext<'_>, message: &Message, out: &mut Out) -> Step {
        if !self.awaits(message) {
            return Step::Handled;
        }
        match message {
            Message::CoordinatorAnswer(m) => self.coordinator_answered(ctx, m, out),
            Message::TxnOffsetCommitAnswer { error, .. } => {
                self.registration_answered(ctx, RequestKind::TxnOffsetCommit, *error, out);
            }
            Message::OffsetFetchAnswer {
                error,
                offset,
                generation,
                ..
            } => {
                self.offset_fetched(ctx, *error, *offset, *generation, out);
            }
            Message::ProduceAnswer {
                correlation,
                identity,
                partition,
                sequence,
                error,
            } => {
                let at = self
                    .in_flight
                    .iter()
                    .position(|b| is_batch(b, *correlation, *identity, *partition, *sequence));
                if let Some(at) = at {
                    self.batch_answered(ctx, at, *error, out);
                }
            }
            Message::InitProducerId(_)
            | Message::AddPartitionsToTxn(_)
            | Message::AddOffsetsToTxn(_)
            | Message::EndTxn(_)
            | Message::Produce(_)
            | Message::TxnOffsetCommit(_)
            | Message::OffsetFetch(_)
            | Message::VerifyPartition(_)
            | Message::WriteTxnMarkers(_)
            | Message::AppendTxnRecord(_)
            | Message::VerifyAnswer { .. }
            | Message::WriteTxnMarkersAnswer(_)
            | Message::AppendTxnRecordAnswer(_) => return Step::NotEnabled,
        }
        Step::Handled
    }

    fn coordinator_answered(
        &mut self,
        ctx: &ClientContext<'_>,
        answer: &CoordinatorAnswer,
        out: &mut Out,
    ) {
        self.known_coordinator = self.known_coordinator.max(answer.coordinator_epoch);
        match answer.request {
            RequestKind::InitProducerId => self.initialized(ctx, answer, out),
            RequestKind::EndTxn => self.end_answered(ctx, answer, out),
            RequestKind::AddPartitionsToTxn
            | RequestKind::AddOffsetsToTxn
            | RequestKind::TxnOffsetCommit
            | RequestKind::OffsetFetch => {
                self.registration_answered(ctx, answer.request, answer.error, out);
            }
        }
    }

    fn initialized(&mut self, ctx: &ClientContext<'_>, answer: &CoordinatorAnswer, out: &mut Out) {
        match (
            classify(Some(answer.request), answer.error),
            answer.identity,
        ) {
            (ErrorClass::Retriable, _) => self.ask_again(ctx, out),
            (ErrorClass::Fine, Some(identity)) => {
                let bumping = self.phase == Phase::Bumping;
                self.request = None;
                self.attempt = 0;
                self.resent = false;
                self.adopt(identity);
                match answer.ongoing {
                    Some(ongoing) if !bumping => self.take_over(ctx, ongoing, out),
                    Some(_) | None => self.begin(ctx, out),
                }
            }
            (ErrorClass::Fine | ErrorClass::Abortable | ErrorClass::Fatal, _) => {
                self.finish(Phase::Fatal);
            }
        }
    }

    fn end_answered(&mut self, ctx: &ClientContext<'_>, answer: &CoordinatorAnswer, out: &mut Out) {
        match classify(Some(answer.request), answer.error) {
            ErrorClass::Fine => self.ended(ctx, answer.identity, out),
            ErrorClass::Retriable => self.ask_again(ctx, out),
            ErrorClass::Abortable | ErrorClass::Fatal => {
                // A refusal of a request that was sent twice may answer the second copy only;
                // INVALID_TXN_STATE is definite in any case.
                let definite = !self.resent || answer.error == ErrorCode::InvalidTxnState;
                self.end_refused(ctx, definite, out);
            }
        }
    }

    fn registration_answered(
        &mut self,
        ctx: &ClientContext<'_>,
        kind: RequestKind,
        error: ErrorCode,
        out: &mut Out,
    ) {
        match classify(Some(kind), error) {
            ErrorClass::Retriable => self.ask_again(ctx, out),
            ErrorClass::Fine => {
                self.request = None;
                self.attempt = 0;
                self.resent = false;
                self.registered_now(ctx, kind);
                self.proceed(ctx, out);
                self.abort_if_possible(ctx, out);
            }
            ErrorClass::Abortable => {
                self.request = None;
                if error == ErrorCode::TransactionAbortable {
                    self.refused_now();
                }
                self.fail_transaction(ctx, out);
            }
            ErrorClass::Fatal => self.fatal(ctx, error, out),
        }
    }

    fn registered_now(&mut self, ctx: &ClientContext<'_>, kind: RequestKind) {
        match kind {
            RequestKind::AddPartitionsToTxn => {
                if let Some(super::Item::Send(p)) = self.current_item(ctx) {
                    self.registered = self.registered.with(p);
                }
            }
            RequestKind::AddOffsetsToTxn => {
                self.registered = self.registered.with(ctx.offsets);
            }
            RequestKind::TxnOffsetCommit => self.item += 1,
            RequestKind::InitProducerId | RequestKind::EndTxn | RequestKind::OffsetFetch => {}
        }
    }

    fn offset_fetched(
        &mut self,
        ctx: &ClientContext<'_>,
        error: ErrorCode,
        offset: Payload,
        generation: Generation,
        out: &mut Out,
    ) {
        if error != ErrorCode::None {
            self.ask_again(ctx, out);
            return;
        }
        self.request = None;
        self.attempt = 0;
        self.resent = false;
        self.generation = Some(generation);
        self.position = offset;
        if offset.0 >= ctx.workload.inputs {
            self.finish(Phase::Done);
        } else {
            self.item += 1;
            self.proceed(ctx, out);
        }
    }

    fn batch_answered(
        &mut self,
        ctx: &ClientContext<'_>,
        at: usize,
        error: ErrorCode,
        out: &mut Out,
    ) {
        let batch = self.in_flight[at];
        let earlier = self.in_flight[..at]
            .iter()
            .any(|b| b.partition == batch.partition)
            || (self.needs_bump && ctx.workload.transactional_id.is_none());
        let waits_for_earlier = error == ErrorCode::OutOfOrderSequenceNumber && earlier;
        match classify(None, error) {
            ErrorClass::Retriable => self.repeat_batch(ctx, at, out),
            // A gap behind a batch that is not settled closes once that one is.
            ErrorClass::Abortable if waits_for_earlier => self.repeat_batch(ctx, at, out),
            ErrorClass::Fine => {
                self.in_flight.remove(at);
                if ctx.workload.transactional_id.is_none() {
                    self.acked |= 1 << (batch.payload.0 - 1);
                }
                if self.needs_bump
                    && self.phase == Phase::InTransaction
                    && self.in_flight.is_empty()
                    && ctx.workload.transactional_id.is_none()
                {
                    self.bump_locally(ctx, out);
                } else {
                    self.proceed(ctx, out);
                }
            }
            ErrorClass::Abortable => {
                self.in_flight.remove(at);
                self.refused_now();
                if ctx.workload.transactional_id.is_none() {
                    self.finish(Phase::Fatal);
                } else {
                    self.needs_bump |= self.version == TransactionVersion::Tv1;
                    self.fail_transaction(ctx, out);
                }
            }
            ErrorClass::Fatal => self.fatal(ctx, error, out),
        }
    }

    /// Notes that a send of the current transaction was refused.
    fn refused_now(&mut self) {
        self.ghost_refused |= 1 << self.txn;
    }

    fn repeat_batch(&mut self, ctx: &ClientContext<'_>, at: usize, out: &mut Out) {
        self.in_flight[at].answered = true;
        self.emit_batch(ctx, at, out);
    }

    /// A refusal that ends this instance.
    fn fatal(&mut self, ctx: &ClientContext<'_>, error: ErrorCode, out: &mut Out) {
        let mapping = error == ErrorCode::InvalidProducerIdMapping;
        if mapping && !ctx.rules.client.mapping_error_is_fatal {
            // The fault of KAFKA-18019: a fresh identity for an instance that was fenced.
            self.in_flight.clear();
            self.told(Outcome::AbortTold);
            self.txn += 1;
            self.needs_bump = true;
            self.request = None;
            self.begin(ctx, out);
            return;
        }
        self.finish(Phase::Fatal);
    }

    /// A retriable answer: the same request again.
    fn ask_again(&mut self, ctx: &ClientContext<'_>, out: &mut Out) {
        self.resent = true;
        self.emit_request(ctx, out);
    }
}

fn is_batch(
    batch: &super::InFlight,
    correlation: Correlation,
    identity: Identity,
    partition: PartitionIndex,
    sequence: Sequence,
) -> bool {
    batch.partition == partition
        && batch.sequence == sequence
        && batch.identity == identity
        && batch.attempt == correlation.attempt
}
