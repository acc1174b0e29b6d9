//! EndTxn from version 5 on: every decision raises the epoch, so a retry is known by the epoch that it names.
//!
//! Source: KIP-890; KAFKA-18464 and KAFKA-18660 (a pending change comes before any identity), KIP-939 (the identity
//! that counts is the last one that a client was given).

use super::decision::{is_next_epoch, raised, require};
use super::input::Claim;
use super::state_transitions::TransactionState;
use super::transaction_metadata::{Slot, TransactionMetadata};
use crate::error_code::ErrorCode;
use crate::types::{ProducerEpoch, ProducerId, Timestamp, TransactionResult, TransactionVersion};

/// The request beside what is known of its id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    slot: &'a Slot,
    claim: Claim,
}

type Guard = fn(&Asked<'_>) -> Result<(), ErrorCode>;

/// Whether the request names the identity of now, or the one from which the last decision led here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// The current identity.
    Current,
    /// The identity before the last decision.
    Retry,
}

/// First refusal wins.
pub(super) const GUARDS: [Guard; 3] = [no_pending_transition, same_producer_id, valid_epoch];

fn no_pending_transition(asked: &Asked<'_>) -> Result<(), ErrorCode> {
    require(
        asked.slot.pending().is_none(),
        ErrorCode::ConcurrentTransactions,
    )
}

fn same_producer_id(asked: &Asked<'_>) -> Result<(), ErrorCode> {
    let same = asked.claim.producer_id == Some(asked.slot.current().client_producer_id());
    require(
        same || asked.retry_after_overflow(),
        ErrorCode::InvalidProducerIdMapping,
    )
}

fn valid_epoch(asked: &Asked<'_>) -> Result<(), ErrorCode> {
    let (asked_for, stored) = (
        asked.claim.producer_epoch,
        asked.slot.current().client_producer_epoch(),
    );
    let current = seeded!(OlderEpochEnds, asked_for == stored, asked_for <= stored);
    let valid = match asked.slot.current().state {
        TransactionState::Empty
        | TransactionState::Ongoing
        | TransactionState::Dead
        | TransactionState::PrepareEpochFence => current,
        TransactionState::PrepareCommit | TransactionState::PrepareAbort => {
            asked.retry_after_rise()
        }
        TransactionState::CompleteCommit | TransactionState::CompleteAbort => {
            current || asked.attempt() == Attempt::Retry
        }
    };
    require(valid, ErrorCode::ProducerFenced)
}

impl Asked<'_> {
    /// The client's identity is now at epoch 0 of another producer id, and the request names the last epoch of the id
    /// that the client used before.
    fn retry_after_overflow(&self) -> bool {
        let stored = self.slot.current();
        self.claim.producer_id.is_some()
            && self.claim.producer_id == stored.previous_producer_id
            && self.claim.producer_epoch == Some(ProducerEpoch::LAST_USABLE)
            && stored.client_producer_epoch() == Some(ProducerEpoch::ZERO)
    }

    fn retry_after_rise(&self) -> bool {
        is_next_epoch(
            self.slot.current().client_producer_epoch(),
            self.claim.producer_epoch,
        )
    }

    fn attempt(&self) -> Attempt {
        if self.retry_after_rise() || self.retry_after_overflow() {
            Attempt::Retry
        } else {
            Attempt::Current
        }
    }
}

/// What the state of the id makes of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// Log this decision for the open transaction.
    Begin(TransactionState),
    /// KIP-890: there is no open transaction, but the client could not know; log an abort of nothing, which raises
    /// the epoch and so refuses whatever is still on its way.
    EmptyAbort,
    /// The decision was made before: a retry.
    AlreadyDone,
    /// Refuse.
    Refuse(ErrorCode),
}

/// The table.
pub(super) fn row(state: TransactionState, result: TransactionResult, attempt: Attempt) -> Row {
    use Attempt::{Current, Retry};
    use TransactionResult::{Abort, Commit};
    match (state, result, attempt) {
        (TransactionState::Ongoing, Commit | Abort, Retry) => {
            Row::Refuse(ErrorCode::ProducerFenced)
        }
        (TransactionState::Ongoing, Abort, Current) => Row::Begin(TransactionState::PrepareAbort),
        (TransactionState::Ongoing, Commit, Current) => Row::Begin(TransactionState::PrepareCommit),
        (TransactionState::Empty, Commit | Abort, Retry) => Row::Refuse(ErrorCode::ProducerFenced),
        (TransactionState::Empty, Abort, Current) => Row::EmptyAbort,
        (TransactionState::Empty, Commit, Current) => Row::Refuse(ErrorCode::InvalidTxnState),
        (TransactionState::CompleteAbort, Abort, Retry) => Row::AlreadyDone,
        (TransactionState::CompleteAbort, Abort, Current) => Row::EmptyAbort,
        (TransactionState::CompleteAbort, Commit, Retry) => seeded!(
            RetryIgnoresDirection,
            Row::Refuse(ErrorCode::InvalidTxnState),
            Row::AlreadyDone
        ),
        (TransactionState::CompleteAbort, Commit, Current) => {
            Row::Refuse(ErrorCode::InvalidTxnState)
        }
        (TransactionState::CompleteCommit, Abort, Retry) => Row::Refuse(ErrorCode::InvalidTxnState),
        (TransactionState::CompleteCommit, Abort, Current) => Row::EmptyAbort,
        (TransactionState::CompleteCommit, Commit, Retry) => Row::AlreadyDone,
        (TransactionState::CompleteCommit, Commit, Current) => {
            Row::Refuse(ErrorCode::InvalidTxnState)
        }
        (TransactionState::PrepareCommit, Abort, Retry) => Row::Refuse(ErrorCode::InvalidTxnState),
        (TransactionState::PrepareCommit, Commit, Retry) => {
            Row::Refuse(ErrorCode::ConcurrentTransactions)
        }
        (TransactionState::PrepareCommit, Commit | Abort, Current) => {
            Row::Refuse(ErrorCode::ProducerFenced)
        }
        (TransactionState::PrepareAbort, Abort, Retry) => {
            Row::Refuse(ErrorCode::ConcurrentTransactions)
        }
        (TransactionState::PrepareAbort, Commit, Retry) => Row::Refuse(ErrorCode::InvalidTxnState),
        (TransactionState::PrepareAbort, Commit | Abort, Current) => {
            Row::Refuse(ErrorCode::ProducerFenced)
        }
        (TransactionState::Dead, Commit | Abort, Retry | Current) => {
            Row::Refuse(ErrorCode::UnknownServerError)
        }
        (TransactionState::PrepareEpochFence, Commit | Abort, Retry | Current) => {
            Row::Refuse(ErrorCode::UnknownServerError)
        }
    }
}

/// Guards, then the table.
pub(super) fn judge(
    slot: &Slot,
    claim: Claim,
    result: TransactionResult,
) -> Result<Row, ErrorCode> {
    let asked = Asked { slot, claim };
    GUARDS.iter().try_for_each(|guard| guard(&asked))?;
    Ok(row(slot.current().state, result, asked.attempt()))
}

/// The decided transaction: the epoch after the one that it was written with, which the markers carry, and what the
/// client gets next where that is another identity.
pub(super) fn prepared(
    stored: &TransactionMetadata,
    state: TransactionState,
    next_identity: (ProducerId, Option<ProducerEpoch>),
    start_timestamp: Option<Timestamp>,
    now: Timestamp,
) -> TransactionMetadata {
    let (next_id, next_epoch) = next_identity;
    let rotated = next_id != stored.producer_id;
    // A fence may have left an id at 32767: Kafka 4.4 aborts there at the same epoch and has no commit.
    let at_the_end = stored
        .producer_epoch
        .filter(|_| state == TransactionState::PrepareAbort);
    TransactionMetadata {
        // KIP-939: what a retrying client will name.
        previous_producer_id: Some(stored.client_producer_id()),
        next_producer_id: (rotated || stored.is_kept()).then_some(next_id),
        // Without a kept transaction a next producer id begins at 0, and Kafka 4.4 does not log that.
        next_producer_epoch: next_epoch.filter(|_| stored.is_kept()),
        producer_epoch: seeded!(
            DecisionKeepsEpoch,
            raised(stored.producer_epoch).or(at_the_end),
            stored.producer_epoch
        ),
        last_producer_epoch: stored.client_producer_epoch(),
        start_timestamp,
        client_transaction_version: TransactionVersion::V2,
        ..stored.changed(state, now)
    }
}
