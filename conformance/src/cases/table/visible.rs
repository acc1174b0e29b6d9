//! What read_committed consumers are given.

use super::*;
use crate::cases::stage::{Abort, Commit, Outcome, Stage};
use fencepost_spec::types::TransactionResult;

const KIP_98: &str = "KIP-98: read_committed";

fn one(s: &mut Stage, result: TransactionResult) -> Outcome {
    s.ongoing(0)?;
    s.produce(11, s.me(), 1)?;
    s.read()?;
    s.end(s.end_version(), s.me(), result)?;
    s.settle()?;
    s.read()
}

/// Two transactions on one partition: the first id opens first, the second ends first.
fn overlapping(s: &mut Stage, first: TransactionResult, second: TransactionResult) -> Outcome {
    let plain = s.init_idempotent()?;
    s.ongoing(0)?;
    s.switch();
    s.ongoing(0)?;
    s.produce_plain(11, plain, 0)?;
    s.switch();
    s.produce(11, s.me(), 1)?;
    s.read()?;
    s.switch();
    s.end(s.end_version(), s.me(), second)?;
    s.settle()?;
    s.read()?;
    s.switch();
    s.end(s.end_version(), s.me(), first)?;
    s.settle()?;
    s.read()
}

/// Three transactions of one id, one after the other.
fn in_a_row(s: &mut Stage, results: [TransactionResult; 3]) -> Outcome {
    s.empty(0)?;
    let (mut sequence, version) = (0, s.end_version());
    for result in results {
        s.add(3, s.me())?;
        s.produce(11, s.me(), sequence)?;
        s.end(version, s.me(), result)?;
        s.settle()?;
        s.read()?;
        sequence = if version >= 5 { 0 } else { sequence + 1 };
    }
    Ok(())
}

pub(super) const CASES: &[Case] = &[
    core(
        "visible/01",
        "committed-is-delivered",
        ONE_TRANSACTION,
        KIP_98,
        "Records are hidden while the transaction is open and delivered once it is committed.",
        |s| one(s, Commit),
    ),
    core(
        "visible/02",
        "aborted-hidden-read-committed",
        ONE_TRANSACTION,
        KIP_98,
        "Aborted records are never delivered; the transaction is on the aborted list.",
        |s| one(s, Abort),
    ),
    core(
        "visible/03",
        "overlapping-commit-commit",
        ONE_TRANSACTION,
        KIP_98,
        "Overlapping transactions, both committed.",
        |s| overlapping(s, Commit, Commit),
    ),
    core(
        "visible/04",
        "overlapping-abort-commit",
        ONE_TRANSACTION,
        KIP_98,
        "Overlapping transactions, the first one aborted.",
        |s| overlapping(s, Abort, Commit),
    ),
    core(
        "visible/05",
        "overlapping-commit-abort",
        ONE_TRANSACTION,
        KIP_98,
        "Overlapping transactions, the second one aborted.",
        |s| overlapping(s, Commit, Abort),
    ),
    core(
        "visible/06",
        "aborted-list-complete",
        ONE_TRANSACTION,
        KIP_98,
        "Overlapping transactions, both aborted: both are listed, with their first offsets.",
        |s| overlapping(s, Abort, Abort),
    ),
    core(
        "visible/07",
        "abort-then-commit-of-one-id",
        ONE_TRANSACTION,
        KIP_98,
        "An abort hides only its own records, not those that the id commits later.",
        |s| in_a_row(s, [Abort, Commit, Abort]),
    ),
    core(
        "visible/08",
        "commit-then-abort-of-one-id",
        ONE_TRANSACTION,
        KIP_98,
        "An abort does not reach back over a commit.",
        |s| in_a_row(s, [Commit, Abort, Commit]),
    ),
    core(
        "visible/09",
        "two-partitions-one-verdict",
        ONE_TRANSACTION,
        KIP_98,
        "Both partitions of a transaction show the same verdict.",
        |s| {
            s.ongoing(0)?;
            s.partition = 1;
            s.begin()?;
            s.end(s.end_version(), s.me(), Abort)?;
            s.settle()?;
            s.read()?;
            s.partition = 0;
            s.read()
        },
    ),
    core(
        "visible/10",
        "plain-records-below-the-open-transaction",
        &[INIT_4, ADD_3, PRODUCE_11],
        KIP_98,
        "Records before the first open transaction are delivered, those after it wait.",
        |s| {
            let plain = s.init_idempotent()?;
            s.produce_plain(11, plain, 0)?;
            s.ongoing(0)?;
            s.produce_plain(11, plain, 1)?;
            s.read()
        },
    ),
];
