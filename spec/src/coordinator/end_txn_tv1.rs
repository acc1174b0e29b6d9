//! EndTxn's decision table for v0 to v4 (KIP-98).

use super::{EndTxnRow, TransactionState};
use crate::error_code::ErrorCode;
use crate::types::TransactionResult;

/// What EndTxn does in `state`, with nothing pending and the identity right.
pub fn end_txn_row_tv1(state: TransactionState, result: TransactionResult) -> EndTxnRow {
    use EndTxnRow::*;
    use TransactionResult::*;
    use TransactionState::*;
    match (state, result) {
        (Ongoing, Commit) => Begin,
        (Ongoing, Abort) => Begin,
        (CompleteCommit, Commit) => AlreadyDone,
        (CompleteCommit, Abort) => Refuse(ErrorCode::InvalidTxnState),
        (CompleteAbort, Commit) => Refuse(ErrorCode::InvalidTxnState),
        (CompleteAbort, Abort) => AlreadyDone,
        (PrepareCommit, Commit) => Refuse(ErrorCode::ConcurrentTransactions),
        (PrepareCommit, Abort) => Refuse(ErrorCode::InvalidTxnState),
        (PrepareAbort, Commit) => Refuse(ErrorCode::InvalidTxnState),
        (PrepareAbort, Abort) => Refuse(ErrorCode::ConcurrentTransactions),
        (Empty, Commit) => Refuse(ErrorCode::InvalidTxnState),
        (Empty, Abort) => Refuse(ErrorCode::InvalidTxnState),
    }
}
