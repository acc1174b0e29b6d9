//! EndTxn: the decision tables of v0 to v4 and of v5, cell by cell.

use super::*;
use crate::cases::stage::{Abort, Commit, Outcome, Stage};
use fencepost_spec::types::TransactionResult;

const KIP_98: &str = "KIP-98: EndTxn";
const KIP_890: &str = "KIP-890 part 2: EndTxn v5";

/// One verb with every epoch around the stored one, the right one last.
fn every_epoch(s: &mut Stage, version: i16, verb: TransactionResult) -> Outcome {
    let stored = s.me().producer_epoch.0;
    s.end(version, s.stranger(), verb)?;
    s.end(version, s.at(stored + 1), verb)?;
    for epoch in 0..stored {
        s.end(version, s.at(epoch), verb)?;
    }
    s.end(version, s.at(stored), verb)?;
    s.settle()?;
    s.describe()
}

/// A transaction ended by `done`, then `verb` with every epoch around.
fn complete(
    s: &mut Stage,
    version: i16,
    done: TransactionResult,
    verb: TransactionResult,
) -> Outcome {
    s.complete(2, done, version)?;
    every_epoch(s, version, verb)?;
    s.read()
}

/// A transaction ended by `done`; the same request again, then the other verb.
fn again(s: &mut Stage, version: i16, done: TransactionResult) -> Outcome {
    s.ongoing(2)?;
    let before = s.me();
    s.end(version, before, done)?;
    s.settle()?;
    s.end(version, before, done)?;
    s.end(version, before, opposite(done))?;
    s.settle()?;
    s.read()
}

const fn opposite(result: TransactionResult) -> TransactionResult {
    match result {
        Commit => Abort,
        Abort => Commit,
    }
}

/// A decision is held back, and every verb is asked over it.
fn pending(s: &mut Stage, version: i16, done: TransactionResult) -> Outcome {
    s.ongoing(2)?;
    s.hold_markers()?;
    let before = s.me();
    s.end(version, before, done)?;
    for verb in [Commit, Abort] {
        for epoch in [1, 2, 3] {
            s.end(version, s.at(epoch), verb)?;
        }
        s.end(version, s.stranger(), verb)?;
    }
    Ok(())
}

const HELD: &[Need] = &[INIT_4, ADD_3, PRODUCE_11, END_4, MARKERS_1];
const HELD_V5: &[Need] = &[INIT_4, ADD_3, PRODUCE_11, END_5, MARKERS_1, TV1];

pub(super) const CASES: &[Case] = &[
    core(
        "end/01",
        "v4-no-mapping",
        &[END_4],
        KIP_98,
        "An id that was never initialised is INVALID_PRODUCER_ID_MAPPING.",
        |s| s.end(4, s.stranger(), Commit),
    ),
    core(
        "end/02",
        "v4-empty-commit",
        &[INIT_4, END_4],
        KIP_98,
        "Committing where nothing was begun is INVALID_TXN_STATE.",
        |s| {
            s.empty(2)?;
            every_epoch(s, 4, Commit)
        },
    ),
    core(
        "end/03",
        "v4-empty-abort",
        &[INIT_4, END_4],
        KIP_98,
        "Aborting where nothing was begun is INVALID_TXN_STATE.",
        |s| {
            s.empty(2)?;
            every_epoch(s, 4, Abort)
        },
    ),
    core(
        "end/04",
        "v4-ongoing-commit",
        ONE_TRANSACTION,
        KIP_98,
        "Only the current pair commits; the epoch stays.",
        |s| {
            s.ongoing(2)?;
            every_epoch(s, 4, Commit)?;
            s.read()
        },
    ),
    core(
        "end/05",
        "v4-ongoing-abort",
        ONE_TRANSACTION,
        KIP_98,
        "Only the current pair aborts; the epoch stays.",
        |s| {
            s.ongoing(2)?;
            every_epoch(s, 4, Abort)?;
            s.read()
        },
    ),
    core(
        "end/06",
        "v4-retry-same-result-ok",
        ONE_TRANSACTION,
        KIP_98,
        "Commit again after a commit is NONE; abort is INVALID_TXN_STATE; the decision stands.",
        |s| again(s, 4, Commit),
    ),
    core(
        "end/07",
        "v4-retry-opposite-result-invalid-state",
        ONE_TRANSACTION,
        KIP_98,
        "Abort again after an abort is NONE; commit is INVALID_TXN_STATE; the decision stands.",
        |s| again(s, 4, Abort),
    ),
    core(
        "end/08",
        "v4-committed-then-commit",
        ONE_TRANSACTION,
        KIP_98,
        "CompleteCommit, commit: NONE for the current pair only.",
        |s| complete(s, 4, Commit, Commit),
    ),
    core(
        "end/09",
        "v4-committed-then-abort",
        ONE_TRANSACTION,
        KIP_98,
        "CompleteCommit, abort: INVALID_TXN_STATE for the current pair.",
        |s| complete(s, 4, Commit, Abort),
    ),
    core(
        "end/10",
        "v4-aborted-then-abort",
        ONE_TRANSACTION,
        KIP_98,
        "CompleteAbort, abort: NONE for the current pair only.",
        |s| complete(s, 4, Abort, Abort),
    ),
    core(
        "end/11",
        "v4-aborted-then-commit",
        ONE_TRANSACTION,
        KIP_98,
        "CompleteAbort, commit: INVALID_TXN_STATE for the current pair.",
        |s| complete(s, 4, Abort, Commit),
    ),
    core(
        "end/12",
        "old-versions-know-no-fenced",
        &[INIT_4, ADD_3, PRODUCE_11, api(26, "EndTxn", 1), END_4],
        "KIP-588: PRODUCER_FENCED since v2",
        "Below v2 a fenced producer is told INVALID_PRODUCER_EPOCH; later versions say PRODUCER_FENCED.",
        |s| {
            s.ongoing(1)?;
            for version in 0..=4 {
                s.end(version, s.at(0), Commit)?;
            }
            Ok(())
        },
    ),
    core(
        "end/13",
        "v5-no-mapping",
        &[END_5, TV1],
        KIP_890,
        "An id that was never initialised is INVALID_PRODUCER_ID_MAPPING.",
        |s| s.end(5, s.stranger(), Abort),
    ),
    core(
        "end/14",
        "v5-empty-commit",
        &[INIT_4, END_5, TV1],
        KIP_890,
        "Committing where nothing was begun is INVALID_TXN_STATE.",
        |s| {
            s.empty(2)?;
            every_epoch(s, 5, Commit)
        },
    ),
    core(
        "end/15",
        "v5-empty-abort",
        &[INIT_4, END_5, TV1],
        KIP_890,
        "Aborting where nothing was begun raises the epoch: the client cannot know.",
        |s| {
            s.empty(2)?;
            every_epoch(s, 5, Abort)?;
            s.read()
        },
    ),
    core(
        "end/16",
        "v5-ongoing-commit",
        ONE_V5,
        KIP_890,
        "Only the current pair commits; answer and marker carry the raised epoch.",
        |s| {
            s.ongoing(2)?;
            every_epoch(s, 5, Commit)?;
            s.read()
        },
    ),
    core(
        "end/17",
        "v5-ongoing-abort",
        ONE_V5,
        KIP_890,
        "Only the current pair aborts; answer and marker carry the raised epoch.",
        |s| {
            s.ongoing(2)?;
            every_epoch(s, 5, Abort)?;
            s.read()
        },
    ),
    core(
        "end/18",
        "v5-committed-then-commit",
        ONE_V5,
        KIP_890,
        "CompleteCommit, commit: the pair before the bump is a retry and NONE, the stored one is \
         INVALID_TXN_STATE, others PRODUCER_FENCED.",
        |s| complete(s, 5, Commit, Commit),
    ),
    core(
        "end/19",
        "v5-committed-then-abort",
        ONE_V5,
        KIP_890,
        "CompleteCommit, abort: the pair before the bump is INVALID_TXN_STATE, the stored one an \
         empty abort.",
        |s| complete(s, 5, Commit, Abort),
    ),
    core(
        "end/20",
        "v5-aborted-then-abort",
        ONE_V5,
        KIP_890,
        "CompleteAbort, abort: the pair before the bump is a retry and NONE, the stored one an empty \
         abort.",
        |s| complete(s, 5, Abort, Abort),
    ),
    core(
        "end/21",
        "v5-aborted-then-commit",
        ONE_V5,
        "KIP-890 part 2; KAFKA-20785 is not in 4.4.0",
        "CompleteAbort, commit: INVALID_TXN_STATE for the pair before the bump and for the stored one.",
        |s| complete(s, 5, Abort, Commit),
    ),
    core(
        "end/22",
        "v5-retry-of-a-commit",
        ONE_V5,
        KIP_890,
        "A commit whose answer was lost is NONE again with the same pair; the other verb is refused.",
        |s| again(s, 5, Commit),
    ),
    core(
        "end/23",
        "v5-retry-of-an-abort",
        ONE_V5,
        KIP_890,
        "An abort whose answer was lost is NONE again with the same pair; the other verb is refused.",
        |s| again(s, 5, Abort),
    ),
    core(
        "end/24",
        "v5-retry-of-an-empty-abort",
        &[INIT_4, END_5, TV1],
        KIP_890,
        "An empty abort whose answer was lost is NONE again, without another bump.",
        |s| {
            s.empty(1)?;
            let before = s.me();
            s.end(5, before, Abort)?;
            s.settle()?;
            s.end(5, before, Abort)?;
            s.end(5, before, Commit)
        },
    ),
    core(
        "end/25",
        "v4-pending-commit",
        HELD,
        KIP_98,
        "While a commit is pending: identity first, then CONCURRENT_TRANSACTIONS for both verbs.",
        |s| pending(s, 4, Commit),
    )
    .at(Level::Fault),
    core(
        "end/26",
        "v4-pending-abort",
        HELD,
        KIP_98,
        "While an abort is pending: identity first, then CONCURRENT_TRANSACTIONS for both verbs.",
        |s| pending(s, 4, Abort),
    )
    .at(Level::Fault),
    core(
        "end/27",
        "v5-pending-commit",
        HELD_V5,
        "KAFKA-18464, KAFKA-18660: pending before identity",
        "While a commit is pending every EndTxn v5 is CONCURRENT_TRANSACTIONS.",
        |s| pending(s, 5, Commit),
    )
    .at(Level::Fault),
    core(
        "end/28",
        "v5-pending-abort",
        HELD_V5,
        "KAFKA-18464, KAFKA-18660: pending before identity",
        "While an abort is pending every EndTxn v5 is CONCURRENT_TRANSACTIONS.",
        |s| pending(s, 5, Abort),
    )
    .at(Level::Fault),
    core(
        "end/29",
        "v4-after-the-timer",
        &[INIT_4, ADD_3, PRODUCE_11, END_4, DESCRIBE_0],
        "KAFKA-6119: the timer fences",
        "After the timer's abort the owner's EndTxn v4 is PRODUCER_FENCED.",
        |s| {
            s.init_with_timeout(300)?;
            s.begin()?;
            s.await_time_out()?;
            s.end(4, s.me(), Commit)?;
            s.end(4, s.me(), Abort)?;
            s.read()
        },
    )
    .at(Level::Slow),
    core(
        "end/30",
        "v5-after-the-timer",
        &[INIT_4, ADD_3, PRODUCE_11, END_5, TV1, DESCRIBE_0],
        "KAFKA-19367: one bump of the timer's abort",
        "After the timer's abort the owner's abort by EndTxn v5 is a retry, its commit is not.",
        |s| {
            s.init_with_timeout(300)?;
            s.begin()?;
            s.await_time_out()?;
            let owner = s.me();
            s.end(5, owner, Commit)?;
            s.end(5, owner, Abort)?;
            s.read()
        },
    )
    .at(Level::Slow),
    core(
        "end/31",
        "another-ids-identity",
        ONE_TRANSACTION,
        KIP_98,
        "EndTxn under one id with the identity of another is INVALID_PRODUCER_ID_MAPPING and ends nothing.",
        |s| {
            s.ongoing(0)?;
            let other = s.me();
            s.switch();
            s.ongoing(0)?;
            s.end(4, other, Commit)?;
            s.read()
        },
    ),
];
