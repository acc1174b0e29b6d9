//! EndTxn's decision table for v5 (KIP-890 part 2). A late commit of an aborted transaction is
//! INVALID_TXN_STATE: KAFKA-20785, which makes it PRODUCER_FENCED, is not in Kafka 4.4.0.

use super::{EndTxnRow, Freshness, TransactionMetadata, TransactionState};
use crate::error_code::ErrorCode;
use crate::types::{Identity, ProducerEpoch, TransactionResult};

/// What EndTxn does in `state`, with nothing pending and the identity right.
pub fn end_txn_row_tv2(
    state: TransactionState,
    result: TransactionResult,
    freshness: Freshness,
) -> EndTxnRow {
    use EndTxnRow::*;
    use Freshness::*;
    use TransactionResult::*;
    use TransactionState::*;
    match (state, result, freshness) {
        (Ongoing, Commit, Current) => Begin,
        (Ongoing, Abort, Current) => Begin,
        (Ongoing, Commit, Retry) => Refuse(ErrorCode::ProducerFenced),
        (Ongoing, Abort, Retry) => Refuse(ErrorCode::ProducerFenced),
        (Empty, Commit, Current) => Refuse(ErrorCode::InvalidTxnState),
        (Empty, Abort, Current) => BeginEmpty,
        (Empty, Commit, Retry) => Refuse(ErrorCode::ProducerFenced),
        (Empty, Abort, Retry) => Refuse(ErrorCode::ProducerFenced),
        (CompleteAbort, Commit, Current) => Refuse(ErrorCode::InvalidTxnState),
        (CompleteAbort, Abort, Current) => BeginEmpty,
        (CompleteAbort, Commit, Retry) => Refuse(ErrorCode::InvalidTxnState),
        (CompleteAbort, Abort, Retry) => AlreadyDone,
        (CompleteCommit, Commit, Current) => Refuse(ErrorCode::InvalidTxnState),
        (CompleteCommit, Abort, Current) => BeginEmpty,
        (CompleteCommit, Commit, Retry) => AlreadyDone,
        (CompleteCommit, Abort, Retry) => Refuse(ErrorCode::InvalidTxnState),
        (PrepareCommit, Commit, Current) => Refuse(ErrorCode::ProducerFenced),
        (PrepareCommit, Abort, Current) => Refuse(ErrorCode::ProducerFenced),
        (PrepareCommit, Commit, Retry) => Refuse(ErrorCode::ConcurrentTransactions),
        (PrepareCommit, Abort, Retry) => Refuse(ErrorCode::InvalidTxnState),
        (PrepareAbort, Commit, Current) => Refuse(ErrorCode::ProducerFenced),
        (PrepareAbort, Abort, Current) => Refuse(ErrorCode::ProducerFenced),
        (PrepareAbort, Commit, Retry) => Refuse(ErrorCode::InvalidTxnState),
        (PrepareAbort, Abort, Retry) => Refuse(ErrorCode::ConcurrentTransactions),
    }
}

/// The stored epoch is the next one after the request's.
fn retry_on_epoch_bump(metadata: &TransactionMetadata, identity: Identity) -> bool {
    metadata.producer_epoch == identity.producer_epoch.next()
}

/// The producer id was rotated at 32766 since the request was sent.
pub(super) fn retry_on_overflow(metadata: &TransactionMetadata, identity: Identity) -> bool {
    metadata.prev_producer_id == identity.producer_id
        && identity.producer_epoch == ProducerEpoch::EXHAUSTED
        && metadata.producer_epoch == ProducerEpoch::FIRST
}

/// Whether the request names the identity before the last decision.
pub(super) fn is_retry(metadata: &TransactionMetadata, identity: Identity) -> bool {
    retry_on_epoch_bump(metadata, identity) || retry_on_overflow(metadata, identity)
}
