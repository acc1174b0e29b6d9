//! The last stable offset.

use super::*;
use crate::cases::stage::{Abort, Commit};

const KIP_98: &str = "KIP-98: last stable offset";

pub(super) const CASES: &[Case] = &[
    core(
        "lso/01",
        "empty-partition",
        &[INIT_4],
        KIP_98,
        "Of an empty partition both bounds are 0.",
        |s| s.read(),
    ),
    core(
        "lso/02",
        "adding-alone-holds-nothing",
        &[INIT_4, ADD_3, PRODUCE_11],
        KIP_98,
        "A transaction without a record in the partition does not hold the last stable offset.",
        |s| {
            let plain = s.init_idempotent()?;
            s.empty(0)?;
            s.add(3, s.me())?;
            s.produce_plain(11, plain, 0)?;
            s.read()
        },
    ),
    core(
        "lso/03",
        "open-txn-holds-lso",
        &[INIT_4, ADD_3, PRODUCE_11],
        KIP_98,
        "The first record of an open transaction holds the last stable offset.",
        |s| {
            s.ongoing(0)?;
            s.read()?;
            s.produce(11, s.me(), 1)?;
            s.read()
        },
    ),
    core(
        "lso/04",
        "oldest-open-transaction-holds",
        ONE_TRANSACTION,
        KIP_98,
        "Of two open transactions the older one holds; then the younger one.",
        |s| {
            s.ongoing(0)?;
            s.switch();
            s.ongoing(0)?;
            s.read()?;
            s.switch();
            s.end(s.end_version(), s.me(), Commit)?;
            s.settle()?;
            s.read()?;
            s.switch();
            s.end(s.end_version(), s.me(), Commit)?;
            s.settle()?;
            s.read()
        },
    ),
    core(
        "lso/05",
        "abort-releases",
        ONE_TRANSACTION,
        KIP_98,
        "An abort releases the last stable offset as a commit does.",
        |s| {
            s.complete(0, Abort, 4)?;
            s.read()
        },
    ),
    core(
        "lso/06",
        "refused-batch-holds-nothing",
        &[INIT_4, PRODUCE_11],
        "KIP-890 part 1: verification",
        "A batch that was refused for want of a transaction leaves nothing open.",
        |s| {
            let plain = s.init_idempotent()?;
            s.empty(0)?;
            s.produce(11, s.me(), 0)?;
            s.produce_plain(11, plain, 0)?;
            s.read()
        },
    ),
    core(
        "lso/07",
        "per-partition",
        &[INIT_4, ADD_3, PRODUCE_11],
        KIP_98,
        "An open transaction holds only the partitions that it wrote to.",
        |s| {
            let plain = s.init_idempotent()?;
            s.ongoing(0)?;
            s.partition = 1;
            s.add(3, s.me())?;
            s.produce_plain(11, plain, 0)?;
            s.read()?;
            s.partition = 0;
            s.read()
        },
    ),
    core(
        "lso/08",
        "fence-releases",
        ONE_TRANSACTION,
        KIP_98,
        "A newer instance's InitProducerId releases what the older one held.",
        |s| {
            s.ongoing(0)?;
            s.read()?;
            s.init()?;
            s.settle()?;
            s.read()
        },
    ),
];
