//! The describing requests (KIP-664).

use std::time::Duration;

use super::*;
use crate::cases::stage::{Abort, Commit};

const KIP_664: &str = "KIP-664: describe and list transactions";
const LIST: Need = api(66, "ListTransactions", 1);

pub(super) const CASES: &[Case] = &[
    core(
        "admin/01",
        "describe-along-a-transaction",
        &[INIT_4, ADD_3, PRODUCE_11, END_4, DESCRIBE_0],
        KIP_664,
        "DescribeTransactions shows state, producer and partitions at every stage.",
        |s| {
            s.describe()?;
            s.empty(0)?;
            s.describe()?;
            s.begin()?;
            s.describe()?;
            s.end(s.end_version(), s.me(), Commit)?;
            s.settle()?;
            s.describe()
        },
    )
    .at(Level::Admin),
    core(
        "admin/02",
        "producers-along-a-transaction",
        &[
            INIT_4,
            ADD_3,
            PRODUCE_11,
            END_4,
            api(61, "DescribeProducers", 0),
        ],
        KIP_664,
        "DescribeProducers shows epoch, last sequence and the open transaction's first offset.",
        |s| {
            s.ongoing(0)?;
            s.describe_producers()?;
            s.end(s.end_version(), s.me(), Abort)?;
            s.settle()?;
            s.describe_producers()
        },
    )
    .at(Level::Admin),
    core(
        "admin/03",
        "list-filter-state",
        &[INIT_4, ADD_3, PRODUCE_11, LIST],
        KIP_664,
        "ListTransactions filters by state; a state that it does not know matches nothing.",
        |s| {
            s.ongoing(0)?;
            s.list(&[], true, -1, "NONE [Ongoing]")?;
            s.list(&["Ongoing"], true, -1, "NONE [Ongoing]")?;
            s.list(&["Empty"], true, -1, "NONE []")?;
            s.list(&["no-such-state"], true, -1, "NONE []")
        },
    )
    .at(Level::Admin),
    core(
        "admin/04",
        "list-filter-producer-id",
        &[INIT_4, ADD_3, PRODUCE_11, LIST],
        KIP_664,
        "ListTransactions filters by producer id.",
        |s| {
            s.ongoing(0)?;
            s.list(&[], true, -1, "NONE [Ongoing]")?;
            s.list(&[], false, -1, "NONE []")
        },
    )
    .at(Level::Admin),
    core(
        "admin/05",
        "list-filter-duration",
        &[INIT_4, ADD_3, PRODUCE_11, LIST],
        "KIP-994: duration filter",
        "ListTransactions filters by how long a transaction has been open.",
        |s| {
            s.ongoing(0)?;
            // Longer than 0 ms: the next millisecond of the broker's clock.
            s.pass_time(Duration::from_millis(5))?;
            s.list(&[], true, 0, "NONE [Ongoing]")?;
            s.list(&[], true, 3_600_000, "NONE []")
        },
    )
    .may()
    .at(Level::Admin),
];
