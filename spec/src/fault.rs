//! The faults of a scenario, each with a total budget that the state holds.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident $text:literal),+ $(,)?) => {
        /// A fault. Each use spends one of its budget.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Fault { $($(#[$doc])* $name),+ }

        impl Fault {
            /// Every fault.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Its name in bounds and reports.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }
        }
    };
}

faults! {
    /// A client sends a request again although the first copy may still arrive.
    ResendRequest "resent-request",
    /// A client sends a batch again although the first copy may still arrive.
    ResendBatch "resent-batch",
    /// A coordinator sends a marker again although the first copy may still arrive.
    ResendMarker "resent-marker",
    /// A marker is lost with its connection.
    LoseMarker "lost-marker",
    /// A marker is written and its answer is lost.
    LoseMarkerAnswer "lost-marker-answer",
    /// A partition has no leader when a marker is to be sent to it.
    Leaderless "leaderless-partition",
    /// A transaction's timeout passes.
    Timer "timer",
    /// A client gives up a batch whose fate is open.
    GiveUp "given-up-produce",
    /// The transaction-state partition gets a new leader; the old one does not know.
    Election "election",
    /// The coordinator's broker stops and starts again.
    CoordinatorCrash "coordinator-crash",
    /// A producer stops for good.
    ProducerCrash "producer-crash",
    /// An append to the transaction-state log fails.
    FailedAppend "failed-append",
    /// The question to the coordinator times out at the partition leader.
    FailedVerification "failed-verification",
    /// A partition forgets an idle producer.
    Eviction "producer-eviction",
    /// A partition writes a snapshot of its producer state.
    Snapshot "snapshot",
    /// A partition's broker stops and starts again.
    Restart "broker-restart",
    /// A partition gets a new leader, without what was not replicated.
    FailOver "partition-fail-over",
    /// A replica that was away becomes the leader.
    Promotion "promoted-replica",
    /// The cleaner runs.
    Compaction "compaction",
    /// A topic is deleted while a decision is pending.
    TopicDeletion "topic-deletion",
    /// The coordinator's clock steps back.
    ClockBack "clock-back",
    /// A transactional id expires.
    IdExpiry "id-expiry",
    /// A group's offsets expire.
    OffsetExpiry "offset-expiry",
    /// The group rebalances.
    Rebalance "rebalance",
    /// The session of the member that owns the input ends.
    MemberExpiry "member-expiry",
    /// A member takes over the group.instance.id of the one that owns the input (KIP-345).
    StaticReplacement "static-replacement",
    /// The finalized transaction.version is raised.
    Upgrade "upgrade",
    /// An operator aborts a transaction on one partition.
    OperatorMarker "operator-marker",
    /// Somebody sends a request of any kind with any identity.
    Stranger "stranger",
    /// A completion test is skipped (only where a mutant allows it).
    SkippedTest "skipped-test",
}

/// What is left of each fault.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Budgets([u8; 30]);

impl Budgets {
    /// How much of `fault` is left.
    pub fn left(&self, fault: Fault) -> u8 {
        self.0[fault as usize]
    }

    /// The same with `n` of `fault`.
    pub fn with(mut self, fault: Fault, n: u8) -> Self {
        self.0[fault as usize] = n;
        self
    }

    /// Spends one; false where nothing is left.
    pub fn spend(&mut self, fault: Fault) -> bool {
        let left = &mut self.0[fault as usize];
        if *left == 0 {
            return false;
        }
        *left -= 1;
        true
    }

    /// The faults with a budget.
    pub fn iter(&self) -> impl Iterator<Item = (Fault, u8)> {
        Fault::ALL
            .iter()
            .map(|f| (*f, self.left(*f)))
            .filter(|(_, n)| *n > 0)
    }
}

impl fmt::Display for Budgets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (fault, n) in self.iter() {
            write!(f, "{}{} {n}", if first { "" } else { ", " }, fault.name())?;
            first = false;
        }
        if first {
            f.write_str("none")?;
        }
        Ok(())
    }
}
