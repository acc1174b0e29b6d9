//! Produce: what is checked, in which order, and what waits for the coordinator.

use super::verification::Question;
use super::{
    Acks, Answer, Effect, Partition, Produce, Produced, ProducerState, TransactionSupport,
    VerificationEntry, VerificationGuard,
};
use crate::batch::{BatchError, BatchProducer, NewBatch, RecordBatch};
use crate::error_code::ErrorCode;
use crate::types::{
    Offset, ProducerEpoch, ProducerId, RequestId, Sequence, Timestamp, TransactionalId,
};

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
    pub(super) fn answer(&self) -> Answer {
        Answer::Produce(Err(ErrorCode::NotLeaderOrFollower))
    }
}

/// Records that a coordinator of this broker appends for a producer: staged offsets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CoordinatorAppend {
    /// What to append; its offset and leader epoch are set here.
    pub(crate) batch: NewBatch,
    /// The token under which the transaction was verified, where it had to be.
    pub(crate) guard: Option<VerificationGuard>,
}

/// What the guards look at.
struct Check<'a> {
    producer: BatchProducer,
    is_transactional: bool,
    state: Option<&'a ProducerState>,
    /// Present when the producer is being asked about and has appended nothing since.
    entry: Option<&'a VerificationEntry>,
    is_verified: bool,
}

type Guard = fn(&Check<'_>) -> Result<(), ErrorCode>;

/// First refusal wins. Duplicates have been answered before.
const CLIENT_GUARDS: [Guard; 4] = [
    transaction_is_verified,
    producer_epoch_is_not_older,
    sequence_follows,
    open_transaction_is_kept,
];

/// Staged offsets have no sequences.
const COORDINATOR_GUARDS: [Guard; 3] = [
    transaction_is_verified,
    producer_epoch_is_not_older,
    open_transaction_is_kept,
];

/// Whether a batch is new.
enum Row {
    /// It was appended before, there.
    Duplicate(Produced),
    Append,
}

impl Partition {
    pub(super) fn produce(&mut self, produce: Produce, now: Timestamp) -> Vec<Effect> {
        let request = produce.request;
        match self.admit(&produce) {
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
    fn admit(&self, produce: &Produce) -> Result<RecordBatch, ErrorCode> {
        self.leading()?;
        if produce.records.is_empty() {
            return Err(ErrorCode::InvalidRecord);
        }
        let batch = RecordBatch::parse(produce.records.clone()).map_err(BatchError::code)?;
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
        if header.is_transactional {
            if header.producer.is_none() {
                return Err(ErrorCode::InvalidRecord);
            }
            if produce.transactional_id.is_none() {
                return Err(ErrorCode::TransactionalIdAuthorizationFailed);
            }
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
        if !batch.header().is_transactional || !self.must_ask(id, epoch)? {
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

    fn row(&self, batch: &RecordBatch, guard: Option<VerificationGuard>) -> Result<Row, ErrorCode> {
        let Some(producer) = batch.producer() else {
            return Ok(Row::Append);
        };
        let state = self.producers().get(producer.producer_id);
        if let (Some(first), Some(last)) = (producer.base_sequence, batch.last_sequence())
            && let Some(found) =
                state.and_then(|state| state.duplicate_of(producer.producer_epoch, first, last))
        {
            return Ok(Row::Duplicate(Produced {
                base_offset: found.first_offset(),
                last_offset: found.last_offset,
            }));
        }
        let check = self.check(producer, batch.header().is_transactional, guard);
        CLIENT_GUARDS.iter().try_for_each(|guard| guard(&check))?;
        Ok(Row::Append)
    }

    fn check(
        &self,
        producer: BatchProducer,
        is_transactional: bool,
        guard: Option<VerificationGuard>,
    ) -> Check<'_> {
        let id = producer.producer_id;
        Check {
            producer,
            is_transactional,
            state: self.producers().get(id),
            entry: self.verifications.get(id),
            is_verified: !self.needs_verification(id, producer.producer_epoch)
                || self.verifications.holds(id, guard),
        }
    }

    fn append_checked(&mut self, batch: RecordBatch) -> Result<(), ErrorCode> {
        let wiped = batch
            .producer()
            .filter(|_| batch.header().is_transactional)
            .map(|producer| producer.producer_id);
        self.follow(batch)?;
        if let Some(id) = wiped {
            self.verifications.wipe(id);
        }
        Ok(())
    }

    fn needs_verification(&self, id: ProducerId, epoch: ProducerEpoch) -> bool {
        self.config.verification && !self.producers().has_ongoing(id, epoch)
    }

    /// Whether the coordinator must be asked before this producer may write at this epoch.
    fn must_ask(&self, id: ProducerId, epoch: ProducerEpoch) -> Result<bool, ErrorCode> {
        let is_old = self
            .producers()
            .get(id)
            .is_some_and(|state| epoch < state.epoch);
        if is_old {
            return Err(ErrorCode::InvalidProducerEpoch);
        }
        Ok(self.needs_verification(id, epoch))
    }

    /// Opens or joins the question that must be asked before this producer's records may be staged here; `None` where
    /// nothing need be asked. A guard that is handed out must come back by [`Self::release_verification`].
    ///
    /// # Errors
    /// INVALID_PRODUCER_EPOCH for an epoch that is older than the known one.
    pub(crate) fn hold_verification(
        &mut self,
        producer_id: ProducerId,
        epoch: ProducerEpoch,
        support: TransactionSupport,
        now: Timestamp,
    ) -> Result<Option<VerificationGuard>, ErrorCode> {
        let question = Question {
            producer_id,
            epoch,
            sequence: None,
            supports_epoch_bump: support.supports_epoch_bump(),
        };
        let must_ask = self.must_ask(producer_id, epoch)?;
        Ok(must_ask.then(|| self.verifications.hold(question, now)))
    }

    pub(crate) fn release_verification(&mut self, guard: VerificationGuard) {
        self.verifications.release(guard);
    }

    /// Checks and appends records of a coordinator of this broker: verification, epoch and open transaction, no
    /// sequences.
    ///
    /// # Errors
    /// NOT_LEADER_OR_FOLLOWER, INVALID_TXN_STATE, INVALID_PRODUCER_EPOCH, or what writing the batch gives.
    pub(crate) fn append_records(
        &mut self,
        append: CoordinatorAppend,
    ) -> Result<RecordBatch, ErrorCode> {
        let leader_epoch = self.leading()?;
        let CoordinatorAppend { mut batch, guard } = append;
        if let Some(producer) = batch.producer {
            let check = self.check(producer, batch.is_transactional, guard);
            COORDINATOR_GUARDS
                .iter()
                .try_for_each(|guard| guard(&check))?;
        }
        batch.base_offset = self.log.end_offset();
        batch.leader_epoch = Some(leader_epoch);
        let batch = batch.write().map_err(BatchError::code)?;
        self.append_checked(batch.clone())?;
        Ok(batch)
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

/// The first batch of a transaction needs the coordinator's word, given for this very question (B02, B03).
fn transaction_is_verified(check: &Check<'_>) -> Result<(), ErrorCode> {
    if check.is_transactional && !check.is_verified {
        Err(ErrorCode::InvalidTxnState)
    } else {
        Ok(())
    }
}

/// An older epoch is a zombie. The answer is never PRODUCER_FENCED here: since 2.7 a client may abort and go on.
fn producer_epoch_is_not_older(check: &Check<'_>) -> Result<(), ErrorCode> {
    let stored = check.state.map(|state| state.epoch);
    if Some(check.producer.producer_epoch) < stored {
        Err(ErrorCode::InvalidProducerEpoch)
    } else {
        Ok(())
    }
}

/// Sequences run without a gap inside an epoch and begin at 0 in a new one. A producer that is not known may begin
/// anywhere in TV1 (its state may have expired), but not past a sequence that is still being asked about (B40).
fn sequence_follows(check: &Check<'_>) -> Result<(), ErrorCode> {
    let Some(sequence) = check.producer.base_sequence else {
        return Err(ErrorCode::InvalidRecord);
    };
    let refused = Err(ErrorCode::OutOfOrderSequenceNumber);
    if let Some(entry) = check.entry {
        if Some(sequence) > entry.lowest_sequence {
            return refused;
        }
        let remembers_nothing = check.state.is_none_or(|state| state.batches.is_empty());
        if entry.supports_epoch_bump && remembers_nothing && sequence != Sequence::ZERO {
            return refused;
        }
    }
    let expected = match check.state {
        None => return Ok(()),
        Some(state) if state.epoch != check.producer.producer_epoch => Sequence::ZERO,
        Some(state) => state
            .last_sequence()
            .map_or(Sequence::ZERO, |last| last.plus(1)),
    };
    if sequence == expected {
        Ok(())
    } else {
        refused
    }
}

/// Plain data inside an open transaction would outlive its abort (B47).
fn open_transaction_is_kept(check: &Check<'_>) -> Result<(), ErrorCode> {
    let is_open = check
        .state
        .is_some_and(|state| state.current_txn_first_offset.is_some());
    if is_open && !check.is_transactional {
        Err(ErrorCode::InvalidTxnState)
    } else {
        Ok(())
    }
}

/// The coordinator's refusal, in words that any sender of this version knows.
#[must_use]
pub(crate) fn verification_answer(code: ErrorCode, support: TransactionSupport) -> ErrorCode {
    match (code, support) {
        (ErrorCode::ProducerFenced, _) => ErrorCode::InvalidProducerEpoch,
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
