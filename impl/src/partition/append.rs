//! What a leader appends, and what it refuses: the checks of a batch against what the log says of its producer.

use super::verification::Question;
use super::{
    Partition, Produced, ProducerState, TransactionSupport, VerificationEntry, VerificationGuard,
};
use crate::batch::{BatchError, BatchProducer, NewBatch, RecordBatch};
use crate::error_code::ErrorCode;
use crate::types::{ProducerEpoch, ProducerId, Sequence, Timestamp};

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

/// First refusal wins. Duplicates have been answered before. KAFKA-19690: a client may go on from an old epoch, and may
/// not from a missing verification, so the epoch comes first.
const CLIENT_GUARDS: [Guard; 4] = [
    producer_epoch_is_not_older,
    transaction_is_verified,
    sequence_follows,
    open_transaction_is_kept,
];

/// Staged offsets have no sequences.
const COORDINATOR_GUARDS: [Guard; 3] = [
    producer_epoch_is_not_older,
    transaction_is_verified,
    open_transaction_is_kept,
];

/// Whether a batch is new.
pub(super) enum Row {
    /// It was appended before, there.
    Duplicate(Produced),
    Append,
}

impl Partition {
    /// Whether the batch is new, or is refused.
    pub(super) fn row(
        &self,
        batch: &RecordBatch,
        guard: Option<VerificationGuard>,
    ) -> Result<Row, ErrorCode> {
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
                || seeded!(GuardNotCompared, self.verifications.holds(id, guard), true),
        }
    }

    /// Appends a batch that may be appended.
    pub(super) fn append_checked(&mut self, batch: RecordBatch) -> Result<(), ErrorCode> {
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

    /// Whether the coordinator must be asked before this producer may write at this epoch. In TV2 the question is how the
    /// partition becomes part of the transaction, so it is asked whatever the setting.
    pub(super) fn must_ask(
        &self,
        id: ProducerId,
        epoch: ProducerEpoch,
        support: TransactionSupport,
    ) -> Result<bool, ErrorCode> {
        let is_old = self
            .producers()
            .get(id)
            .is_some_and(|state| epoch < state.epoch);
        if seeded!(OlderEpochAppends, is_old, false) {
            return Err(ErrorCode::InvalidProducerEpoch);
        }
        let asks = self.config.verification || support.supports_epoch_bump();
        Ok(seeded!(NobodyIsAsked, asks, false) && !self.producers().has_ongoing(id, epoch))
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
        let must_ask = self.must_ask(producer_id, epoch, support)?;
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
    let is_older = Some(check.producer.producer_epoch) < stored;
    if seeded!(OlderEpochAppends, is_older, false) {
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
    if seeded!(AnySequence, sequence == expected, true) {
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
