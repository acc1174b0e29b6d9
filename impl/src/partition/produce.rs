//! Produce: what is asked of the coordinator first, and when the answer goes out.

use super::append::Row;
use super::verification::Question;
use super::{
    Acks, Answer, Effect, Partition, Produce, Produced, TransactionSupport, VerificationGuard,
};
use crate::batch::{BatchError, RecordBatch};
use crate::error_code::ErrorCode;
use crate::types::{Offset, RequestId, Timestamp, TransactionalId};

/// A write that waits for the coordinator's word on its transaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parked {
    /// The batch, not yet placed in the log.
    pub batch: RecordBatch,
    /// When to answer.
    pub acks: Acks,
    /// What its request's version allows.
    pub support: TransactionSupport,
    /// The token under which the question was asked.
    pub guard: VerificationGuard,
}

impl Parked {
    /// The refusal of a write that will never be appended here; a producer with `acks=0` hears nothing.
    pub(super) fn refused(&self, request: RequestId, code: ErrorCode) -> Vec<Effect> {
        refusal(request, self.acks, code)
    }
}

impl Partition {
    pub(super) fn produce(&mut self, mut produce: Produce, now: Timestamp) -> Vec<Effect> {
        let request = produce.request;
        match self.admit(&mut produce) {
            Err(code) => refusal(request, produce.acks, code),
            Ok(batch) => match self.question(&batch, &produce) {
                Err(code) => refusal(request, produce.acks, code),
                Ok(None) => self.append_and_answer(request, produce.acks, batch, None),
                Ok(Some((question, transactional_id))) => {
                    self.park(produce, batch, question, transactional_id, now)
                }
            },
        }
    }

    /// The checks that need no state: one whole batch of data, with what its producer must say.
    fn admit(&self, produce: &mut Produce) -> Result<RecordBatch, ErrorCode> {
        self.leading()?;
        // The batch becomes the only holder of its bytes, so that placing it in the log need not copy them.
        let records = std::mem::take(&mut produce.records);
        if records.is_empty() {
            return Err(ErrorCode::InvalidRecord);
        }
        let batch = RecordBatch::parse(records).map_err(BatchError::code)?;
        batch.check_records().map_err(BatchError::code)?;
        let header = batch.header();
        let counts_agree = header
            .last_offset_delta
            .checked_add(1)
            .is_some_and(|span| span == header.record_count);
        let sequence_given = header
            .producer
            .is_none_or(|producer| producer.base_sequence.is_some());
        if header.is_control || !counts_agree || !sequence_given {
            return Err(ErrorCode::InvalidRecord);
        }
        // As in Kafka 4.4, a batch that names no producer is nobody's transaction, whatever it says of itself.
        if header.is_transactional && produce.transactional_id.is_none() {
            return Err(ErrorCode::TransactionalIdAuthorizationFailed);
        }
        Ok(batch)
    }

    /// What the coordinator must be asked before this batch: nothing for plain data (B47: a request's id does not make
    /// each of its batches transactional), and nothing once the transaction has data here at this epoch. An older epoch
    /// is refused before it can leave a trace among the questions.
    fn question(
        &self,
        batch: &RecordBatch,
        produce: &Produce,
    ) -> Result<Option<(Question, TransactionalId)>, ErrorCode> {
        let (Some(producer), Some(transactional_id)) =
            (batch.producer(), produce.transactional_id.clone())
        else {
            return Ok(None);
        };
        let (id, epoch) = (producer.producer_id, producer.producer_epoch);
        if !batch.header().is_transactional || !self.must_ask(id, epoch, produce.support)? {
            return Ok(None);
        }
        let question = Question {
            producer_id: id,
            epoch,
            sequence: producer.base_sequence,
            supports_epoch_bump: produce.support.supports_epoch_bump(),
        };
        Ok(Some((question, transactional_id)))
    }

    fn park(
        &mut self,
        produce: Produce,
        batch: RecordBatch,
        question: Question,
        transactional_id: TransactionalId,
        now: Timestamp,
    ) -> Vec<Effect> {
        let guard = self.verifications.hold(question, now);
        let parked = Parked {
            batch,
            acks: produce.acks,
            support: produce.support,
            guard,
        };
        self.parked.insert(produce.request, parked);
        vec![Effect::AskCoordinator {
            request: produce.request,
            transactional_id,
            producer_id: question.producer_id,
            producer_epoch: question.epoch,
            verify_only: !question.supports_epoch_bump,
        }]
    }

    /// The coordinator's word on a parked write. An answer to a write that is no longer parked says nothing.
    pub(super) fn coordinator_answered(
        &mut self,
        request: RequestId,
        answer: Result<(), ErrorCode>,
    ) -> Vec<Effect> {
        let Some(parked) = self.parked.remove(&request) else {
            return Vec::new();
        };
        let effects = match answer {
            Err(code) => refusal(request, parked.acks, produce_answer(code, parked.support)),
            Ok(()) => {
                self.append_and_answer(request, parked.acks, parked.batch, Some(parked.guard))
            }
        };
        self.verifications.release(parked.guard);
        effects
    }

    fn append_and_answer(
        &mut self,
        request: RequestId,
        acks: Acks,
        batch: RecordBatch,
        guard: Option<VerificationGuard>,
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        let produced = match self.append_data(batch, guard, &mut effects) {
            Ok(produced) => produced,
            Err(code) => return refusal(request, acks, code),
        };
        let answer = Answer::Produce(Ok(produced));
        match acks {
            Acks::None => {}
            Acks::Leader => effects.push(Effect::Reply { request, answer }),
            Acks::All => {
                // A duplicate waits too: that it was appended does not say that it is replicated.
                let reached = Offset::new(produced.last_offset.get() + 1);
                self.reply_at(reached, request, answer, &mut effects);
            }
        }
        effects
    }

    fn append_data(
        &mut self,
        batch: RecordBatch,
        guard: Option<VerificationGuard>,
        effects: &mut Vec<Effect>,
    ) -> Result<Produced, ErrorCode> {
        if let Row::Duplicate(produced) = self.row(&batch, guard)? {
            return Ok(produced);
        }
        let leader_epoch = self.leading()?;
        let batch = batch
            .placed_at(self.log.end_offset(), Some(leader_epoch))
            .map_err(BatchError::code)?;
        self.append_checked(batch.clone())?;
        let produced = Produced {
            base_offset: batch.base_offset(),
            last_offset: batch.last_offset(),
        };
        effects.push(Effect::Append(batch));
        Ok(produced)
    }
}

fn refusal(request: RequestId, acks: Acks, code: ErrorCode) -> Vec<Effect> {
    match acks {
        Acks::None => Vec::new(),
        Acks::Leader | Acks::All => vec![Effect::Reply {
            request,
            answer: Answer::Produce(Err(code)),
        }],
    }
}

/// The coordinator's refusal, in words that any sender of this version knows.
#[must_use]
pub(crate) fn verification_answer(code: ErrorCode, support: TransactionSupport) -> ErrorCode {
    match (code, support) {
        (ErrorCode::ProducerFenced, _) => seeded!(
            FencedByPartition,
            ErrorCode::InvalidProducerEpoch,
            ErrorCode::ProducerFenced
        ),
        (ErrorCode::ClusterAuthorizationFailed, _)
        | (ErrorCode::TransactionAbortable, TransactionSupport::Verify) => {
            ErrorCode::InvalidTxnState
        }
        (other, _) => other,
    }
}

/// The same for a produce request: what passes by itself becomes an error that every producer retries without asking
/// for metadata, except that a TV2 producer knows CONCURRENT_TRANSACTIONS.
fn produce_answer(code: ErrorCode, support: TransactionSupport) -> ErrorCode {
    match verification_answer(code, support) {
        ErrorCode::NetworkException
        | ErrorCode::CoordinatorLoadInProgress
        | ErrorCode::CoordinatorNotAvailable
        | ErrorCode::NotCoordinator => ErrorCode::NotEnoughReplicas,
        ErrorCode::ConcurrentTransactions => match support {
            TransactionSupport::Verify | TransactionSupport::VerifyOrAbortable => {
                ErrorCode::NotEnoughReplicas
            }
            TransactionSupport::Add => ErrorCode::ConcurrentTransactions,
        },
        other => other,
    }
}
