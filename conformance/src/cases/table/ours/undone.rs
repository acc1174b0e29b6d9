//! Decisions that are logged and not done yet: whatever comes between, they are done.

use std::time::Duration;

use super::{Case, ours};
use crate::cases::stage::{Abort, Commit};
use crate::loopback::Order;

/// More than anything here takes.
const AN_HOUR: Duration = Duration::from_secs(3600);

pub(super) const CASES: &[Case] = &[
    ours(
        "undone/01",
        "a-decision-outlives-its-coordinator",
        "KIP-98: a coordinator that loads a prepared transaction sends its markers",
        "A transaction that is decided when its coordinator is killed is completed by the next one.",
        |s| {
            for result in [Commit, Abort] {
                s.ongoing(1)?;
                s.send_no_markers()?;
                s.end(s.end_version(), s.me(), result)?;
                s.describe()?;
                s.restart_undone()?;
                s.completes()?;
                s.compare_all()?;
                s.partition = 0;
            }
            Ok(())
        },
    ),
    ours(
        "undone/02",
        "a-marker-that-the-disk-refuses",
        "KIP-98: markers are sent until they are written",
        "A marker that a partition cannot write is sent again, and the transaction completes.",
        |s| {
            for result in [Commit, Abort] {
                s.ongoing(1)?;
                s.operate(Order::FailWrite)?;
                s.end(s.end_version(), s.me(), result)?;
                s.completes()?;
                s.compare_all()?;
                s.partition = 0;
            }
            Ok(())
        },
    ),
    ours(
        "undone/03",
        "a-marker-for-a-topic-that-is-gone",
        "TransactionMarkerChannelManager: a partition that is not known any more is taken for deleted, and skipped",
        "A decided transaction whose topic is deleted before its marker is written completes all the same.",
        |s| {
            s.ongoing(1)?;
            s.send_no_markers()?;
            s.end(s.end_version(), s.me(), Commit)?;
            s.delete_topic()?;
            s.send_markers()?;
            s.completes()?;
            s.describe()
        },
    ),
    ours(
        "undone/04",
        "a-clock-that-is-set-back",
        "KAFKA-5415, KAFKA-8803: no order of timestamps is asked for",
        "A transaction that began before the broker's clock was set back is decided and completed, and the next one begins.",
        |s| {
            s.empty(1)?;
            s.operate(Order::Pass(AN_HOUR))?;
            s.begin()?;
            s.operate(Order::SetBack(AN_HOUR))?;
            s.describe()?;
            s.end(s.end_version(), s.me(), Commit)?;
            s.settle()?;
            s.compare_all()?;
            s.partition = 0;
            s.init()?;
            s.begin()
        },
    ),
];
