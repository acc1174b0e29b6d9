//! What KIP-890 changed: verification, implicit adds, a new epoch for every transaction.

use super::*;
use crate::cases::stage::{Abort, Commit};

const PART_1: &str = "KIP-890 part 1: verification";
const PART_2: &str = "KIP-890 part 2: transaction.version 2";

pub(super) const CASES: &[Case] = &[
    core("tv2/01", "unadded-partition-v11", &[INIT_4, PRODUCE_11], PART_1,
        "Produce v11 to a partition outside the transaction is TRANSACTION_ABORTABLE, appends nothing.",
        |s| {
            s.empty(1)?;
            s.produce(11, s.me(), 0)?;
            s.read()
        }),
    core("tv2/02", "unadded-partition-v10", &[INIT_4, api(0, "Produce", 10)], PART_1,
        "Produce v10 to a partition outside the transaction is INVALID_TXN_STATE.",
        |s| {
            s.empty(1)?;
            s.produce(10, s.me(), 0)?;
            s.read()
        }),
    core("tv2/03", "unadded-second-partition", ONE_TRANSACTION, PART_1,
        "An open transaction does not cover a partition that was not added.",
        |s| {
            s.ongoing(1)?;
            s.partition = 1;
            s.produce(11, s.me(), 0)?;
            s.read()
        }),
    core("tv2/04", "epoch-bump-on-every-end", ONE_TV2, PART_2,
        "Under TV2 every EndTxn raises the epoch, and the next transaction begins at sequence 0.",
        |s| {
            s.empty(0)?;
            for result in [Commit, Abort, Commit] {
                s.produce(12, s.me(), 0)?;
                s.produce(12, s.me(), 1)?;
                s.end(5, s.me(), result)?;
                s.settle()?;
                s.read()?;
            }
            Ok(())
        }),
    core("tv2/05", "produce-v12-adds-by-itself", &[INIT_4, PRODUCE_12, TV1], PART_2,
        "Produce v12 begins the transaction and adds its partition.",
        |s| {
            s.empty(0)?;
            s.produce(12, s.me(), 0)?;
            s.describe()?;
            s.partition = 1;
            s.produce(12, s.me(), 0)?;
            s.describe()
        }),
    core("tv2/06", "late-produce-does-not-join-the-next", ONE_TV2, "KIP-890: hanging transactions",
        "A late batch of an ended transaction is refused, and nothing of it is in the next one.",
        |s| {
            s.empty(0)?;
            s.produce(12, s.me(), 0)?;
            let before = s.me();
            s.end(5, before, Commit)?;
            s.settle()?;
            s.produce(12, before, 1)?;
            s.produce(12, s.me(), 0)?;
            s.produce(12, before, 1)?;
            s.end(5, s.me(), Commit)?;
            s.settle()?;
            s.read()
        }),
    core("tv2/07", "late-produce-leaves-nothing-open", ONE_TV2, "KIP-890: hanging transactions",
        "A late batch after the end leaves neither a transaction nor a held last stable offset.",
        |s| {
            s.empty(0)?;
            s.produce(12, s.me(), 0)?;
            let before = s.me();
            s.end(5, before, Abort)?;
            s.settle()?;
            s.produce(12, before, 1)?;
            s.describe()?;
            s.read()
        }),
    core("tv2/08", "next-transaction-at-once", ONE_TV2, PART_2,
        "The next transaction may begin before the markers of the last one are written.",
        |s| {
            s.empty(0)?;
            for _ in 0..5 {
                s.produce(12, s.me(), 0)?;
                s.end(5, s.me(), Commit)?;
            }
            s.settle()?;
            s.read()
        }),
    core("tv2/09", "v12-wrong-identities", &[INIT_4, PRODUCE_12, TV1], PART_2,
        "Produce v12 with another epoch or producer id neither adds nor appends.",
        |s| {
            s.empty(1)?;
            s.produce(12, s.at(0), 0)?;
            s.produce(12, s.stranger(), 0)?;
            s.describe()?;
            s.read()
        }),
    core("tv2/10", "end-v4-does-not-bump", ONE_TRANSACTION, OBSERVED,
        "The request's version chooses the table, not the cluster's level: EndTxn v4 keeps the epoch.",
        |s| {
            s.complete(1, Commit, 4)?;
            s.describe()?;
            s.read()
        }).should().at(Level::Full),
    core("tv2/11", "end-v5-bumps", ONE_V5, OBSERVED,
        "The request's version chooses the table, not the cluster's level: EndTxn v5 raises the epoch.",
        |s| {
            s.complete(1, Commit, 5)?;
            s.describe()?;
            s.read()
        }).should().at(Level::Full),
    core("tv2/12", "empty-abort-does-not-touch-partitions", &[INIT_4, END_5, TV1], PART_2,
        "An empty abort writes no marker.",
        |s| {
            s.empty(0)?;
            s.end(5, s.me(), Abort)?;
            s.settle()?;
            s.read()
        }),
    core("tv2/13", "next-add-at-once", ONE_TRANSACTION, "KIP-98: CONCURRENT_TRANSACTIONS",
        "AddPartitionsToTxn right after EndTxn is CONCURRENT_TRANSACTIONS or NONE, and NONE in the end.",
        |s| {
            s.empty(0)?;
            for sequence in 0..5 {
                s.add(3, s.me())?;
                s.produce(11, s.me(), sequence)?;
                s.end(4, s.me(), Commit)?;
            }
            s.settle()?;
            s.read()
        }),
    core("tv2/14", "plain-batch-inside-a-transaction", &[INIT_4, ADD_3, PRODUCE_11], "KAFKA-14916",
        "A batch without the transactional flag is refused while its producer has a transaction open.",
        |s| {
            s.ongoing(1)?;
            s.produce_plain(11, s.me(), 1)?;
            s.read()
        }),
    core("tv2/15", "v12-newer-epoch", ONE_TV2, "KIP-890 part 2: implicit add",
        "Produce v12 at an epoch that nobody was given is refused and opens nothing; the owner goes on.",
        |s| {
            s.empty(1)?;
            s.produce(12, s.at(7), 0)?;
            s.describe()?;
            s.produce(12, s.me(), 0)?;
            s.end(5, s.me(), Commit)?;
            s.settle()?;
            s.read()
        }),
    core("tv2/16", "v12-older-epoch", ONE_TV2, "KIP-890 part 2: implicit add",
        "Produce v12 at an older epoch is refused and opens nothing; the owner goes on.",
        |s| {
            s.empty(1)?;
            s.produce(12, s.at(0), 0)?;
            s.describe()?;
            s.produce(12, s.me(), 0)?;
            s.end(5, s.me(), Commit)?;
            s.settle()?;
            s.read()
        }),
];
