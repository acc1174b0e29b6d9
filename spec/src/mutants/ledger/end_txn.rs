//! Faults in EndTxn: its epochs, its table, its guards and its answer.

use super::super::Mutant;
use super::super::plan::{equivalent, killed};
use crate::coordinator::{EndTxnCell, EndTxnGuard, EndTxnRow, Freshness, TransactionState};
use crate::error_code::ErrorCode;
use crate::properties::Id::*;
use crate::rules::EpochRule;
use crate::scenario::RuleSet::*;
use crate::types::{TransactionResult, TransactionVersion};

pub(super) const M01A: Mutant = Mutant {
    id: "M01a",
    bug: "B01",
    says: "The decision does not raise the epoch.",
    edit: |r| r.end_txn.bump_epoch_at_prepare = false,
    plans: &[killed(Tv2, "retry", S1)],
};

pub(super) const M01B: Mutant = Mutant {
    id: "M01b",
    bug: "B01",
    says: "EndTxn in Ongoing accepts any epoch up to the stored one.",
    edit: |r| r.end_txn.epoch_rule = EpochRule::AtMost,
    plans: &[killed(Tv2, "retry", S2)],
};

pub(super) const M01C: Mutant = Mutant {
    id: "M01c",
    bug: "B01",
    says: "A retry of EndTxn is recognised whichever verb it has.",
    edit: |r| r.end_txn.retry_needs_same_verb = false,
    plans: &[killed(Tv2, "timer", S1)],
};

pub(super) const M16A: Mutant = Mutant {
    id: "M16a",
    bug: "B16",
    says: "EndTxn in PrepareAbort accepts a commit.",
    edit: |r| {
        r.end_txn.guards_tv1 = [
            EndTxnGuard::MappingExists,
            EndTxnGuard::SameProducerId,
            EndTxnGuard::CurrentEpoch,
            EndTxnGuard::CurrentEpoch,
        ];
        r.end_txn.cell = Some((
            EndTxnCell {
                version: TransactionVersion::Tv1,
                state: TransactionState::PrepareAbort,
                result: TransactionResult::Commit,
                freshness: Freshness::Current,
            },
            EndTxnRow::Begin,
        ));
    },
    plans: &[killed(Tv1, "retry", S12), killed(Tv1, "retry", L4)],
};

pub(super) const M16A_TV2: Mutant = Mutant {
    id: "M16a-tv2",
    bug: "B16",
    says: "A late EndTxn in PrepareAbort accepts a commit.",
    edit: |r| {
        r.end_txn.guards_tv2 = [
            EndTxnGuard::MappingExists,
            EndTxnGuard::SameProducerId,
            EndTxnGuard::CurrentEpoch,
            EndTxnGuard::CurrentEpoch,
        ];
        r.end_txn.cell = Some((
            EndTxnCell {
                version: TransactionVersion::Tv2,
                state: TransactionState::PrepareAbort,
                result: TransactionResult::Commit,
                freshness: Freshness::Retry,
            },
            EndTxnRow::Begin,
        ));
    },
    plans: &[killed(Tv2, "timer", S12)],
};

pub(super) const M16B: Mutant = Mutant {
    id: "M16b",
    bug: "B16",
    says: "A commit of an aborted transaction is answered with success.",
    edit: |r| {
        r.end_txn.cell = Some((
            EndTxnCell {
                version: TransactionVersion::Tv1,
                state: TransactionState::CompleteAbort,
                result: TransactionResult::Commit,
                freshness: Freshness::Current,
            },
            EndTxnRow::AlreadyDone,
        ))
    },
    plans: &[equivalent(
        Tv1,
        "timer-once",
        S1,
        "the timer raises the epoch, so that the commit is fenced",
        |r| r.log.timer_bumps_epoch = false,
    )],
};

pub(super) const M16B_TV2: Mutant = Mutant {
    id: "M16b-tv2",
    bug: "B16",
    says: "A late commit of an aborted transaction is answered with success.",
    edit: |r| {
        r.end_txn.cell = Some((
            EndTxnCell {
                version: TransactionVersion::Tv2,
                state: TransactionState::CompleteAbort,
                result: TransactionResult::Commit,
                freshness: Freshness::Retry,
            },
            EndTxnRow::AlreadyDone,
        ))
    },
    plans: &[killed(Tv2, "timer", S1)],
};

pub(super) const M17: Mutant = Mutant {
    id: "M17",
    bug: "B17",
    says: "A repeated commit is answered with a definite error.",
    edit: |r| {
        r.end_txn.cell = Some((
            EndTxnCell {
                version: TransactionVersion::Tv1,
                state: TransactionState::CompleteCommit,
                result: TransactionResult::Commit,
                freshness: Freshness::Current,
            },
            EndTxnRow::Refuse(ErrorCode::InvalidTxnState),
        ))
    },
    plans: &[killed(Tv1, "retry-once", S7)],
};

pub(super) const M17_TV2: Mutant = Mutant {
    id: "M17-tv2",
    bug: "B17",
    says: "A repeated commit is answered with a definite error.",
    edit: |r| {
        r.end_txn.cell = Some((
            EndTxnCell {
                version: TransactionVersion::Tv2,
                state: TransactionState::CompleteCommit,
                result: TransactionResult::Commit,
                freshness: Freshness::Retry,
            },
            EndTxnRow::Refuse(ErrorCode::InvalidTxnState),
        ))
    },
    plans: &[killed(Tv2, "retry-once", S7)],
};

pub(super) const M19C: Mutant = Mutant {
    id: "M19c",
    bug: "B19",
    says: "EndTxn at the last epoch answers with the old producer id.",
    edit: |r| r.end_txn.answer_next_identity = false,
    plans: &[killed(Tv2, "exhaustion", S14)],
};

pub(super) const M19D: Mutant = Mutant {
    id: "M19d",
    bug: "B19",
    says: "EndTxn compares the producer id before it asks what is pending.",
    edit: |r| {
        r.add.pending_before_identity = false;
        r.end_txn.guards_tv2 = [
            EndTxnGuard::MappingExists,
            EndTxnGuard::SameProducerId,
            EndTxnGuard::NoPendingTransition,
            EndTxnGuard::CurrentEpoch,
        ];
    },
    plans: &[killed(Tv2, "rotation", S7)],
};

pub(super) const M16A_COMMIT: Mutant = Mutant {
    id: "M16a-commit",
    bug: "B16",
    says: "EndTxn in PrepareCommit accepts an abort.",
    edit: |r| {
        r.end_txn.guards_tv1 = [
            EndTxnGuard::MappingExists,
            EndTxnGuard::SameProducerId,
            EndTxnGuard::CurrentEpoch,
            EndTxnGuard::CurrentEpoch,
        ];
        r.end_txn.cell = Some((
            EndTxnCell {
                version: TransactionVersion::Tv1,
                state: TransactionState::PrepareCommit,
                result: TransactionResult::Abort,
                freshness: Freshness::Current,
            },
            EndTxnRow::Begin,
        ));
    },
    plans: &[killed(Tv1, "retry", S12)],
};

pub(super) const M17_M46: Mutant = Mutant {
    id: "M17+M46",
    bug: "B17",
    says: "A repeated commit is answered with a definite error, which the client reports as success.",
    edit: |r| {
        r.end_txn.cell = Some((
            EndTxnCell {
                version: TransactionVersion::Tv1,
                state: TransactionState::CompleteCommit,
                result: TransactionResult::Commit,
                freshness: Freshness::Current,
            },
            EndTxnRow::Refuse(ErrorCode::InvalidTxnState),
        ));
        r.client.reports_end_error = false;
    },
    plans: &[killed(Tv1, "zombie", S1)],
};
