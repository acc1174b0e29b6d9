//! EndTxn up to version 4: the epoch stays, so a retry is known only by the state.
//!
//! Source: KIP-98.

use super::decision::{
    Asked, Guard, current_epoch, no_pending_transition, require, same_producer_id,
};
use super::input::Claim;
use super::state_transitions::TransactionState;
use super::transaction_metadata::{Slot, TransactionMetadata};
use crate::error_code::ErrorCode;
use crate::types::{ProducerEpoch, Timestamp, TransactionResult, TransactionVersion};

/// First refusal wins.
pub(super) const GUARDS: [Guard; 4] = [
    same_producer_id,
    current_epoch,
    no_pending_transition,
    not_kept,
];

/// KIP-939: a kept transaction is ended with the identity that was promised for it, which needs version 5.
fn not_kept(asked: &Asked<'_>) -> Result<(), ErrorCode> {
    require(!asked.slot.current().is_kept(), ErrorCode::InvalidTxnState)
}

/// What the state of the id makes of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// Log this decision for the open transaction.
    Begin(TransactionState),
    /// The decision was made before: a retry.
    AlreadyDone,
    /// Refuse.
    Refuse(ErrorCode),
}

/// The table.
pub(super) fn row(state: TransactionState, result: TransactionResult) -> Row {
    use TransactionResult::{Abort, Commit};
    match (state, result) {
        (TransactionState::Ongoing, Commit) => Row::Begin(TransactionState::PrepareCommit),
        (TransactionState::Ongoing, Abort) => Row::Begin(TransactionState::PrepareAbort),
        (TransactionState::CompleteCommit, Commit) => seeded!(
            RetriedCommitRefused,
            Row::AlreadyDone,
            Row::Refuse(ErrorCode::InvalidTxnState)
        ),
        (TransactionState::CompleteCommit, Abort) => Row::Refuse(ErrorCode::InvalidTxnState),
        (TransactionState::CompleteAbort, Abort) => Row::AlreadyDone,
        (TransactionState::CompleteAbort, Commit) => seeded!(
            AbortAnswersCommit,
            Row::Refuse(ErrorCode::InvalidTxnState),
            Row::AlreadyDone
        ),
        (TransactionState::PrepareCommit, Commit) => Row::Refuse(ErrorCode::ConcurrentTransactions),
        (TransactionState::PrepareCommit, Abort) => Row::Refuse(ErrorCode::InvalidTxnState),
        (TransactionState::PrepareAbort, Abort) => Row::Refuse(ErrorCode::ConcurrentTransactions),
        (TransactionState::PrepareAbort, Commit) => Row::Refuse(ErrorCode::InvalidTxnState),
        (TransactionState::Empty, Commit | Abort) => Row::Refuse(ErrorCode::InvalidTxnState),
        (TransactionState::Dead, Commit | Abort) => Row::Refuse(ErrorCode::UnknownServerError),
        (TransactionState::PrepareEpochFence, Commit | Abort) => {
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
    Ok(row(slot.current().state, result))
}

/// The decided transaction: its epoch is the one that it was written with, which the markers carry. There is no next
/// identity: only a kept transaction has one, and that is not ended here.
pub(super) fn prepared(
    stored: &TransactionMetadata,
    state: TransactionState,
    now: Timestamp,
) -> TransactionMetadata {
    TransactionMetadata {
        client_transaction_version: TransactionVersion::V0,
        ..stored.changed(state, now)
    }
}

/// The open transaction with the epoch that fences its producer. It counts from here on, before it is logged: nobody
/// with the old epoch can end the transaction while it is being aborted. When an earlier fence could not be logged its
/// epoch is taken again, so that failing appends do not use epochs up (KAFKA-9666).
pub(super) fn fenced(stored: &TransactionMetadata) -> TransactionMetadata {
    let epoch = stored.producer_epoch;
    let keeps = seeded!(FailedFenceRaisesAgain, stored.has_failed_epoch_fence, false);
    let raised = if seeded!(FenceKeepsEpoch, keeps, true) {
        epoch
    } else {
        epoch.and_then(ProducerEpoch::next).or(epoch)
    };
    TransactionMetadata {
        producer_epoch: raised,
        last_producer_epoch: None,
        ..stored.clone()
    }
}
