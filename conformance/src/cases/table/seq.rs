//! Sequences of a producer at one partition.

use super::*;
use crate::cases::stage::{Abort, Commit};

const KIP_98: &str = "KIP-98: idempotent producer";

pub(super) const CASES: &[Case] = &[
    core(
        "seq/01",
        "in-order-batches-are-appended",
        ONE_TRANSACTION,
        KIP_98,
        "Batches in sequence are appended one after the other.",
        |s| {
            s.ongoing(0)?;
            for sequence in 1..=5 {
                s.produce(11, s.me(), sequence)?;
            }
            s.read()
        },
    ),
    core(
        "seq/02",
        "gap-is-refused",
        ONE_TRANSACTION,
        KIP_98,
        "A batch past the next sequence is OUT_OF_ORDER_SEQUENCE_NUMBER and appends nothing.",
        |s| {
            s.ongoing(0)?;
            s.produce(11, s.me(), 2)?;
            s.produce(11, s.me(), 1)?;
            s.read()
        },
    ),
    core(
        "seq/03",
        "retry-returns-original-offset",
        ONE_TRANSACTION,
        KIP_98,
        "A batch sent again is NONE with its first offset and is not appended again.",
        |s| {
            s.ongoing(0)?;
            s.produce(11, s.me(), 1)?;
            s.produce(11, s.me(), 0)?;
            s.produce(11, s.me(), 1)?;
            s.read()
        },
    ),
    core(
        "seq/04",
        "five-batches-are-remembered",
        ONE_TRANSACTION,
        KIP_98,
        "The last five batches are recognised; the one before them is out of order.",
        |s| {
            s.ongoing(0)?;
            for sequence in 1..=5 {
                s.produce(11, s.me(), sequence)?;
            }
            s.produce(11, s.me(), 1)?;
            s.produce(11, s.me(), 0)?;
            s.read()
        },
    ),
    core(
        "seq/05",
        "sequences-are-per-partition",
        ONE_TRANSACTION,
        KIP_98,
        "Each partition counts for itself.",
        |s| {
            s.ongoing(0)?;
            s.produce(11, s.me(), 1)?;
            s.partition = 1;
            s.begin()?;
            s.read()?;
            s.partition = 0;
            s.produce(11, s.me(), 2)?;
            s.read()
        },
    ),
    core(
        "seq/06",
        "new-epoch-starts-at-zero",
        ONE_TRANSACTION,
        "KIP-98, KIP-360",
        "After InitProducerId raises the epoch, sequences start again at 0 and nowhere else.",
        |s| {
            s.complete(0, Commit, 4)?;
            s.init()?;
            s.add(3, s.me())?;
            s.produce(11, s.me(), 1)?;
            s.produce(11, s.me(), 0)?;
            s.read()
        },
    ),
    core(
        "seq/07",
        "same-epoch-goes-on-after-commit",
        ONE_TRANSACTION,
        "KIP-98: epochs move on InitProducerId only",
        "After EndTxn v4 the next transaction goes on in sequence.",
        |s| {
            s.complete(0, Commit, 4)?;
            s.add(3, s.me())?;
            s.produce(11, s.me(), 2)?;
            s.produce(11, s.me(), 1)?;
            s.read()
        },
    ),
    core(
        "seq/08",
        "v5-end-starts-at-zero",
        ONE_V5,
        "KIP-890: epoch bump at EndTxn",
        "After EndTxn v5 sequences start again at 0 and nowhere else.",
        |s| {
            s.complete(0, Abort, 5)?;
            s.add(3, s.me())?;
            s.produce(11, s.me(), 1)?;
            s.produce(11, s.me(), 0)?;
            s.read()
        },
    ),
    core(
        "seq/09",
        "first-sequence-of-v12-is-zero",
        &[INIT_4, PRODUCE_12, TV1],
        "KIP-890: no state, sequence 0",
        "A producer that the partition does not know must begin at 0 with Produce v12.",
        |s| {
            s.empty(0)?;
            s.produce(12, s.me(), 5)?;
            s.read()
        },
    ),
    core(
        "seq/10",
        "first-sequence-of-v11-may-be-any",
        &[INIT_4, ADD_3, PRODUCE_11],
        OBSERVED,
        "A producer that the partition does not know may begin anywhere with Produce v11.",
        |s| {
            s.empty(0)?;
            s.add(3, s.me())?;
            s.produce(11, s.me(), 5)?;
            s.produce(11, s.me(), 6)?;
            s.read()
        },
    )
    .should().at(Level::Full),
    core(
        "seq/11",
        "idempotent-producer-without-transaction",
        &[INIT_4, PRODUCE_11],
        KIP_98,
        "Sequences, duplicates and gaps hold without a transactional id too.",
        |s| {
            let me = s.init_idempotent()?;
            s.produce_plain(11, me, 0)?;
            s.produce_plain(11, me, 2)?;
            s.produce_plain(11, me, 1)?;
            s.produce_plain(11, me, 1)?;
            s.read()
        },
    ),
    core(
        "seq/12",
        "retry-after-commit-returns-original-offset",
        ONE_TRANSACTION,
        OBSERVED,
        "A late retry of a committed batch at the same epoch, inside the next transaction, is NONE \
         with its first offset and appends nothing.",
        |s| {
            s.complete(0, Commit, 4)?;
            s.add(3, s.me())?;
            s.produce(11, s.me(), 0)?;
            s.read()
        },
    )
    .should().at(Level::Full),
    core(
        "seq/13",
        "retry-after-commit-outside-a-transaction",
        ONE_TRANSACTION,
        OBSERVED,
        "A late retry of a committed batch outside any transaction is verified before it is found to \
         be a duplicate: TRANSACTION_ABORTABLE, and nothing is appended.",
        |s| {
            s.complete(0, Commit, 4)?;
            s.produce(11, s.me(), 0)?;
            s.describe()?;
            s.read()
        },
    )
    .should().at(Level::Full),
    core(
        "seq/14",
        "v12-retry-after-commit-opens-a-transaction",
        &[INIT_4, ADD_3, PRODUCE_11, PRODUCE_12, END_4, TV1],
        OBSERVED,
        "A late Produce v12 of a batch that EndTxn v4 committed is added before it is found to be a \
         duplicate: NONE, nothing is appended, and the coordinator has a transaction open.",
        |s| {
            s.complete(0, Commit, 4)?;
            s.produce(12, s.me(), 0)?;
            s.describe()?;
            s.read()
        },
    )
    .should()
    .at(Level::Full),
];
