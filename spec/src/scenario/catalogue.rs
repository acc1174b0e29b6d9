//! The named scenarios, with what each rule set is expected to break.

use super::Scenario;
use crate::client::Workload;
use crate::fault::Fault;
use crate::message::RequestKind;
use crate::properties::Id;
use crate::rules::Rules;
use crate::types::*;
use crate::world::Seed;

/// Which rules a run is made under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleSet {
    /// `transaction.version` 0 and 1.
    Tv1,
    /// `transaction.version` 2.
    Tv2,
    /// From TV1 to TV2 inside the run.
    Upgrade,
}

/// In which set a scenario runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    /// `fencepost check`.
    Default,
    /// `fencepost check --profile nightly`, beside the default ones.
    Nightly,
    /// Only where a mutant or a trace names it.
    Named,
}

/// A scenario of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it is about.
    pub says: &'static str,
    /// In which set it runs.
    pub profile: Profile,
    /// Under which rules it runs, and exactly what they break.
    pub runs: &'static [(RuleSet, &'static [Id])],
    build: fn(RuleSet) -> Scenario,
}

impl Entry {
    /// The scenario under a rule set.
    pub fn scenario(&self, rules: RuleSet) -> Scenario {
        let scenario = Scenario {
            name: self.name,
            says: self.says,
            ..(self.build)(rules)
        };
        match rules {
            RuleSet::Upgrade => scenario.fault(Fault::Upgrade, 1),
            RuleSet::Tv1 | RuleSet::Tv2 => scenario,
        }
    }

    /// The right rules for this scenario.
    pub fn rules(&self, rules: RuleSet) -> Rules {
        let version = match rules {
            RuleSet::Tv1 | RuleSet::Upgrade => TransactionVersion::Tv1,
            RuleSet::Tv2 => TransactionVersion::Tv2,
        };
        Rules {
            upgrade: rules == RuleSet::Upgrade,
            verification: self.scenario(rules).verification,
            ..Rules::kafka(version)
        }
    }
}

impl RuleSet {
    /// Every rule set.
    pub const ALL: [Self; 3] = [Self::Tv1, Self::Tv2, Self::Upgrade];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tv1 => "tv1",
            Self::Tv2 => "tv2",
            Self::Upgrade => "upgrade",
        }
    }

    /// The rule set of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.name() == name)
    }
}

/// The scenario of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOGUE.iter().find(|e| e.name == name)
}

use Id::*;
use RuleSet::*;

/// Every scenario.
pub const CATALOGUE: &[Entry] = &[
    Entry {
        name: "smoke",
        says: "One producer, two transactions on two partitions, no faults.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| Scenario::plain(vec![Workload::sending(&[0, 1], 2)], 2),
    },
    Entry {
        name: "retry",
        says: "One producer that sends requests again while their first copies may still arrive.",
        profile: Profile::Default,
        runs: &[(Tv1, &[S1, S2, S3, S4, S7]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0, 1], 2)], 2).fault(Fault::ResendRequest, 2)
        },
    },
    Entry {
        name: "markers",
        says: "Markers that are sent again, lost, or written with their answer lost, over a fail-over.",
        profile: Profile::Default,
        runs: &[(Tv1, &[S1, S2, S3, S4, S7]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0, 1], 2)], 2)
                .fault(Fault::ResendMarker, 1)
                .fault(Fault::LoseMarker, 1)
                .fault(Fault::LoseMarkerAnswer, 1)
                .fault(Fault::Election, 1)
                .eager()
        },
    },
    Entry {
        name: "zombie",
        says: "Two instances of one id that start at any time and run to the end, with a time-out.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            let p = Workload::sending(&[0, 1], 1);
            Scenario::plain(vec![p.clone(), p], 2)
                .fault(Fault::Timer, 1)
                .eager()
        },
    },
    Entry {
        name: "timer",
        says: "One producer whose transactions time out while it sends EndTxn again.",
        profile: Profile::Default,
        runs: &[(Tv1, &[S1, S2, S3, S7]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0, 1], 2)], 2)
                .fault(Fault::Timer, 1)
                .fault(Fault::ResendRequest, 1)
                .resending_only(RequestKind::EndTxn)
        },
    },
    Entry {
        name: "late",
        says: "A Produce is given up and arrives late, after the abort and in the next transaction.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0, 1], 2)], 2)
                .fault(Fault::GiveUp, 1)
                .fault(Fault::Timer, 1)
        },
    },
    Entry {
        name: "election",
        says: "Two instances of one id, a coordinator fail-over, and the old coordinator still alive.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            let p = Workload::sending(&[0, 1], 1);
            Scenario::plain(vec![p.clone(), p], 2)
                .fault(Fault::Election, 1)
                .eager()
        },
    },
    Entry {
        name: "re-election",
        says: "One producer while the coordinator moves there and back, or restarts.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0], 2)], 1)
                .fault(Fault::Election, 2)
                .fault(Fault::CoordinatorCrash, 1)
                .eager()
        },
    },
    Entry {
        name: "stale-coordinator",
        says: "A client or a leader still asks the deposed coordinator although others know the new one.",
        profile: Profile::Default,
        runs: &[(Tv1, &[S2, S4, S7, L1]), (Tv2, &[S7])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0], 2)], 1)
                .fault(Fault::Election, 1)
                .fault(Fault::GiveUp, 1)
                .stale_routing()
                .eager()
        },
    },
    Entry {
        name: "failed-append",
        says: "Two instances of one id while appends to the transaction-state log fail.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            let p = Workload::sending(&[0], 1);
            Scenario::plain(vec![p.clone(), p], 1)
                .fault(Fault::FailedAppend, 2)
                .fault(Fault::Timer, 1)
                .eager()
        },
    },
    Entry {
        name: "offsets",
        says: "Two transactions that send a record and stage an offset; staging is sent again.",
        profile: Profile::Default,
        runs: &[(Tv1, &[S1, S2, S3, S4]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0], 2).with_offset()], 1)
                .fault(Fault::ResendRequest, 1)
                .fault(Fault::Timer, 1)
                .fault(Fault::OffsetExpiry, 1)
                .resending_only(RequestKind::TxnOffsetCommit)
        },
    },
    Entry {
        name: "rebalance",
        says: "Two members, each with an id of its own, process one input through a rebalance.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(
                vec![Workload::processing(0, 1), Workload::processing(1, 1)],
                1,
            )
            .fault(Fault::Rebalance, 1)
            .eager()
        },
    },
    Entry {
        name: "member-expiry",
        says: "The session of a member ends while it processes, and another one goes on.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(
                vec![Workload::processing(0, 1), Workload::processing(1, 1)],
                1,
            )
            .fault(Fault::MemberExpiry, 1)
            .eager()
        },
    },
    Entry {
        name: "static-member",
        says: "A member takes over the instance id of another one that still processes.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(
                vec![Workload::processing(0, 1), Workload::processing(1, 1)],
                1,
            )
            .fault(Fault::StaticReplacement, 1)
            .fault(Fault::Rebalance, 1)
            .eager()
        },
    },
    Entry {
        name: "offsets-restart",
        says: "The broker of the offsets partition restarts while two members process one input through a rebalance.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(
                vec![Workload::processing(0, 1), Workload::processing(1, 1)],
                1,
            )
            .fault(Fault::Rebalance, 1)
            .fault(Fault::Restart, 1)
            .eager()
        },
    },
    Entry {
        name: "reader",
        says: "A read_committed and a read_uncommitted reader that fetch in steps, with the high watermark behind the log end.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0], 2)], 1)
                .reader(IsolationLevel::ReadCommitted)
                .reader(IsolationLevel::ReadUncommitted)
                .replica_behind()
                .eager()
        },
    },
    Entry {
        name: "reader-fail-over",
        says: "A read_committed reader over a partition fail-over, with application behind the log.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0], 2)], 1)
                .reader(IsolationLevel::ReadCommitted)
                .reader(IsolationLevel::ReadUncommitted)
                .replica_behind()
                .apply_lag()
                .fault(Fault::FailOver, 1)
                .eager()
        },
    },
    Entry {
        name: "storage",
        says: "Partition fail-over, restart and snapshot, with the high watermark behind the log end.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0], 2)], 1)
                .replica_behind()
                .fault(Fault::FailOver, 1)
                .fault(Fault::Restart, 1)
                .fault(Fault::Snapshot, 1)
                .eager()
        },
    },
    Entry {
        name: "eviction",
        says: "Partitions forget an idle producer while a fail-over sends its markers again.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0], 2)], 1)
                .fault(Fault::Eviction, 1)
                .fault(Fault::Election, 1)
                .eager()
        },
    },
    Entry {
        name: "compaction",
        says: "The cleaner removes an aborted transaction, and the broker restarts.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0], 2)], 1)
                .with_follower()
                .fault(Fault::Compaction, 2)
                .fault(Fault::Restart, 1)
                .eager()
        },
    },
    Entry {
        name: "exhaustion",
        says: "Two instances of one id from epoch 32764 on, with a time-out: rotation of the producer id.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            let p = Workload::sending(&[0], 2);
            Scenario::plain(vec![p.clone(), p], 1)
                .from(Seed::Logged {
                    identity: Identity::new(ProducerId(42), ProducerEpoch(32764)),
                    next: ProducerId(73),
                })
                .fault(Fault::Timer, 1)
                .eager()
        },
    },
    Entry {
        name: "rotation",
        says: "One producer at the last epoch that sends InitProducerId and EndTxn again.",
        profile: Profile::Default,
        runs: &[(Tv1, &[S2, S4, S7]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0], 2)], 1)
                .from(Seed::Logged {
                    identity: Identity::new(ProducerId(42), ProducerEpoch(32765)),
                    next: ProducerId(73),
                })
                .fault(Fault::ResendRequest, 1)
        },
    },
    Entry {
        name: "two-phase",
        says: "An external manager decides what a crashed instance has prepared; the next one carries it out.",
        profile: Profile::Default,
        runs: &[(Tv2, &[S7])],
        build: |_| {
            Scenario::plain(
                vec![
                    Workload::sending(&[0, 1], 1).two_phase(),
                    Workload::sending(&[0], 1).taking_over(0, 0),
                ],
                2,
            )
            .fault(Fault::ProducerCrash, 1)
            .fault(Fault::Timer, 1)
            .fault(Fault::ResendRequest, 1)
            .eager()
        },
    },
    Entry {
        name: "upgrade",
        says: "The finalized transaction.version is raised between or inside transactions.",
        profile: Profile::Default,
        runs: &[(Upgrade, &[])],
        build: |_| Scenario::plain(vec![Workload::sending(&[0], 3)], 1).fault(Fault::Timer, 1),
    },
    Entry {
        name: "pipeline",
        says: "Several batches of one transaction in flight, sent again, with verification failing.",
        profile: Profile::Default,
        runs: &[(Tv1, &[S7]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0, 0], 2).in_flight(2)], 1)
                .fault(Fault::ResendBatch, 1)
                .fault(Fault::FailedVerification, 1)
                .eager()
        },
    },
    Entry {
        name: "idempotent",
        says: "A producer without an id, several batches in flight on two partitions, one given up.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(
                vec![
                    Workload::sending(&[0, 1, 0, 1, 0], 1)
                        .in_flight(3)
                        .idempotent(),
                ],
                2,
            )
            .fault(Fault::GiveUp, 1)
            .fault(Fault::ResendBatch, 1)
        },
    },
    Entry {
        name: "answers",
        says: "Two instances of one id; every retriable answer is really sent.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            let p = Workload::sending(&[0], 1);
            Scenario::plain(vec![p.clone(), p], 1).answering()
        },
    },
    Entry {
        name: "mix",
        says: "Two instances of one id, a request sent again, and a coordinator fail-over.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            let p = Workload::sending(&[0], 1);
            Scenario::plain(vec![p.clone(), p], 1)
                .fault(Fault::ResendRequest, 1)
                .fault(Fault::Election, 1)
                .eager()
        },
    },
    Entry {
        name: "mix-timer",
        says: "Two instances of one id, a request sent again, a time-out, and a coordinator fail-over.",
        profile: Profile::Nightly,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            let p = Workload::sending(&[0], 1);
            Scenario::plain(vec![p.clone(), p], 1)
                .fault(Fault::ResendRequest, 1)
                .fault(Fault::Timer, 1)
                .fault(Fault::Election, 1)
                .eager()
        },
    },
    Entry {
        name: "mix-two-partitions",
        says: "Two instances of one id, two partitions, a request sent again, and a coordinator fail-over.",
        profile: Profile::Nightly,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            let p = Workload::sending(&[0, 1], 1);
            Scenario::plain(vec![p.clone(), p], 2)
                .fault(Fault::ResendRequest, 1)
                .fault(Fault::Election, 1)
                .eager()
        },
    },
    Entry {
        name: "mix-everything",
        says: "Two instances of one id, two partitions, a request sent again, a time-out, and a coordinator fail-over.",
        profile: Profile::Nightly,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            let p = Workload::sending(&[0, 1], 1);
            Scenario::plain(vec![p.clone(), p], 2)
                .fault(Fault::ResendRequest, 1)
                .fault(Fault::Timer, 1)
                .fault(Fault::Election, 1)
                .eager()
        },
    },
    Entry {
        name: "mix-two-transactions",
        says: "Two instances of one id, two transactions each, a request sent again, a time-out, and a coordinator fail-over.",
        profile: Profile::Nightly,
        runs: &[(Tv2, &[])],
        build: |_| {
            let p = Workload::sending(&[0], 2);
            Scenario::plain(vec![p.clone(), p], 1)
                .fault(Fault::ResendRequest, 1)
                .fault(Fault::Timer, 1)
                .fault(Fault::Election, 1)
                .eager()
        },
    },
    Entry {
        name: "three-instances-election",
        says: "Three instances of one id, and a coordinator fail-over.",
        profile: Profile::Nightly,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            let p = Workload::sending(&[0], 1);
            Scenario::plain(vec![p.clone(), p.clone(), p], 1)
                .fault(Fault::Election, 1)
                .eager()
        },
    },
    Entry {
        name: "three-instances",
        says: "Three instances of one id on two partitions, with a time-out.",
        profile: Profile::Nightly,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            let p = Workload::sending(&[0, 1], 1);
            Scenario::plain(vec![p.clone(), p.clone(), p], 2)
                .fault(Fault::Timer, 1)
                .eager()
        },
    },
    Entry {
        name: "election-two-transactions",
        says: "Two instances of one id, two transactions each on two partitions, and a coordinator fail-over.",
        profile: Profile::Nightly,
        runs: &[(Tv1, &[S7]), (Tv2, &[])],
        build: |_| {
            let p = Workload::sending(&[0, 1], 2);
            Scenario::plain(vec![p.clone(), p], 2)
                .fault(Fault::Election, 1)
                .eager()
        },
    },
    Entry {
        name: "hanging",
        says: "TV1 with verification off: a late Produce opens a transaction that nobody owns (KAFKA-12671).",
        profile: Profile::Default,
        runs: &[(Tv1, &[L1])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0], 1)], 1)
                .fault(Fault::GiveUp, 1)
                .unverified()
        },
    },
    Entry {
        name: "deleted-topic",
        says: "A topic is deleted while a decision is pending, and a batch for it arrives again.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0, 1], 1)], 2)
                .fault(Fault::TopicDeletion, 1)
                .fault(Fault::ResendBatch, 1)
        },
    },
    Entry {
        name: "expired-id",
        says: "An id expires between two instances; the older one comes back.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            let p = Workload::sending(&[0], 2);
            Scenario::plain(vec![p.clone(), p], 1)
                .fault(Fault::IdExpiry, 1)
                .eager()
        },
    },
    Entry {
        name: "clock",
        says: "The coordinator's clock steps back.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| Scenario::plain(vec![Workload::sending(&[0], 1)], 1).fault(Fault::ClockBack, 1),
    },
    Entry {
        name: "operator",
        says: "An operator aborts an open transaction on one partition (KIP-664).",
        profile: Profile::Default,
        runs: &[(Tv1, &[S1, S3]), (Tv2, &[S1, S3])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0, 1], 1)], 2).fault(Fault::OperatorMarker, 1)
        },
    },
    Entry {
        name: "sequence-wrap",
        says: "A producer's sequence wraps from 2147483647 to 0.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(
                vec![Workload::sending(&[0, 0, 0], 1).in_flight(3).idempotent()],
                1,
            )
            .from(Seed::SequenceAt(Sequence(i32::MAX - 1)))
            .fault(Fault::ResendBatch, 1)
        },
    },
    Entry {
        name: "compaction-replica",
        says: "The cleaner runs while a replica is away; it comes back, catches up and leads.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0], 2)], 1)
                .with_follower()
                .fault(Fault::Compaction, 2)
                .fault(Fault::Promotion, 1)
                .eager()
        },
    },
    Entry {
        name: "missed-test",
        says: "One producer, every acknowledgement of a marker a step of its own.",
        profile: Profile::Named,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0, 1], 1)], 2).fault(Fault::SkippedTest, 1)
        },
    },
    Entry {
        name: "retry-eager",
        says: "One producer that sends EndTxn again and hears only the answer to the second copy.",
        profile: Profile::Default,
        runs: &[(Tv1, &[S1, S2, S3, S7]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0, 1], 2)], 2)
                .fault(Fault::ResendRequest, 1)
                .fault(Fault::FailedAppend, 1)
                .resending_only(RequestKind::EndTxn)
                .eager()
        },
    },
    Entry {
        name: "retry-once",
        says: "One transaction whose EndTxn is sent again; only the answer to the second copy is heard.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0, 1], 1)], 2)
                .fault(Fault::ResendRequest, 2)
                .fault(Fault::Election, 1)
                .resending_only(RequestKind::EndTxn)
                .eager()
        },
    },
    Entry {
        name: "bump-retry",
        says: "A client's bump after a given-up Produce, over a coordinator fail-over.",
        profile: Profile::Default,
        runs: &[(Tv1, &[S7]), (Tv2, &[S7])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0], 2)], 1)
                .fault(Fault::GiveUp, 1)
                .fault(Fault::Election, 1)
                .eager()
        },
    },
    Entry {
        name: "late-bump",
        says: "Two instances of one id: the older one gives up a Produce, and its bump arrives after the newer one has begun.",
        profile: Profile::Default,
        runs: &[(Tv1, &[S7]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(
                vec![Workload::sending(&[0], 2), Workload::sending(&[0], 1)],
                1,
            )
            .fault(Fault::GiveUp, 1)
            .eager()
        },
    },
    Entry {
        name: "offsets-late",
        says: "A TxnOffsetCommit is given up and arrives late, or the transaction times out under it.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0], 2).with_offset()], 1)
                .fault(Fault::GiveUp, 1)
                .fault(Fault::Timer, 1)
        },
    },
    Entry {
        name: "offsets-only",
        says: "A transaction that only stages an offset.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[], 2).with_offset()], 1)
                .fault(Fault::Election, 1)
                .fault(Fault::OffsetExpiry, 1)
                .eager()
        },
    },
    Entry {
        name: "offsets-election",
        says: "A transaction with a record and a staged offset over a coordinator fail-over.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0], 1).with_offset()], 1)
                .fault(Fault::Election, 1)
                .eager()
        },
    },
    Entry {
        name: "lost-marker",
        says: "Markers, or the answers to them, are lost with their connection.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0, 1], 1)], 2)
                .fault(Fault::LoseMarker, 1)
                .fault(Fault::LoseMarkerAnswer, 1)
        },
    },
    Entry {
        name: "timer-once",
        says: "One transaction on one partition that times out.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| Scenario::plain(vec![Workload::sending(&[0], 1)], 1).fault(Fault::Timer, 1),
    },
    Entry {
        name: "two-phase-rotation",
        says: "A two-phase transaction at the last epoch; two instances crash before the third carries it out.",
        profile: Profile::Default,
        runs: &[(Tv2, &[])],
        build: |_| {
            Scenario::plain(
                vec![
                    Workload::sending(&[0], 1).two_phase(),
                    Workload::sending(&[], 0).taking_over(0, 0),
                    Workload::sending(&[], 0).taking_over(0, 1),
                ],
                1,
            )
            .from(Seed::Logged {
                identity: Identity::new(ProducerId(42), ProducerEpoch(32765)),
                next: ProducerId(73),
            })
            .fault(Fault::ProducerCrash, 2)
            .fault(Fault::Timer, 1)
            .eager()
        },
    },
    Entry {
        name: "two-phase-double-overflow",
        says: "Take-overs have driven the client's identity to its last epoch too: three producer ids in one decision.",
        profile: Profile::Default,
        runs: &[(Tv2, &[])],
        build: |_| {
            Scenario::plain(
                vec![
                    Workload::sending(&[0], 1).two_phase(),
                    Workload::sending(&[], 0).taking_over(0, 0),
                    Workload::sending(&[], 0).taking_over(0, 1),
                ],
                1,
            )
            .from(Seed::TakenOver {
                ongoing: Identity::new(ProducerId(42), ProducerEpoch(32766)),
                client: Identity::new(ProducerId(73), ProducerEpoch(32765)),
                next: ProducerId(85),
            })
            .fault(Fault::ProducerCrash, 1)
            .fault(Fault::ResendRequest, 1)
            .eager()
        },
    },
    Entry {
        name: "leaderless",
        says: "A partition has no leader when its marker is to be sent: Kafka 4.4.0 drops the marker (KAFKA-20734).",
        profile: Profile::Default,
        runs: &[(Tv1, &[S1, S2, S4, L1]), (Tv2, &[S1, S2, S4, L1])],
        build: |_| Scenario::plain(vec![Workload::sending(&[0], 2)], 1).fault(Fault::Leaderless, 1),
    },
    Entry {
        name: "any-client",
        says: "Beside one producer somebody sends a request of any kind with any identity: for coverage.",
        profile: Profile::Named,
        runs: &[
            (Tv1, &[S1, S2, S3, S4, S7, L1, L2, L3, L4]),
            (Tv2, &[S1, S2, S3, S4, S7, L1, L2, L3, L4]),
        ],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0], 2).with_offset()], 1)
                .fault(Fault::Stranger, 1)
                .fault(Fault::Timer, 1)
                .fault(Fault::Rebalance, 1)
                .fault(Fault::FailedVerification, 1)
                .answering()
        },
    },
    Entry {
        name: "any-client-last-epoch",
        says: "The same from epoch 32765 on.",
        profile: Profile::Named,
        runs: &[
            (Tv1, &[S1, S2, S4, S6, S7, L1, L2, L4]),
            (Tv2, &[S1, S2, S4, S6, S7, L1, L2, L4]),
        ],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0], 2)], 1)
                .from(Seed::Logged {
                    identity: Identity::new(ProducerId(42), ProducerEpoch(32765)),
                    next: ProducerId(73),
                })
                .fault(Fault::Stranger, 2)
                .answering()
                .eager()
        },
    },
    Entry {
        name: "any-client-kept",
        says: "The same beside a transaction that was taken over with a fresh producer id (KIP-939).",
        profile: Profile::Named,
        runs: &[(Tv2, &[S1, S2, S4, S7, L1, L2, L4])],
        build: |_| {
            Scenario::plain(
                vec![
                    Workload::sending(&[0], 1).two_phase(),
                    Workload::sending(&[0], 1).taking_over(0, 0),
                ],
                1,
            )
            .from(Seed::TakenOver {
                ongoing: Identity::new(ProducerId(42), ProducerEpoch(32766)),
                client: Identity::new(ProducerId(73), ProducerEpoch::FIRST),
                next: ProducerId(74),
            })
            .fault(Fault::Stranger, 1)
            .answering()
            .eager()
        },
    },
    Entry {
        name: "any-client-election",
        says: "The same over a coordinator fail-over, with brokers asked that do not lead or still load.",
        profile: Profile::Named,
        runs: &[
            (Tv1, &[S1, S2, S3, S4, S7, L2]),
            (Tv2, &[S1, S2, S3, S4, S7, L1, L2, L3]),
        ],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0], 1).with_offset()], 1)
                .fault(Fault::Stranger, 1)
                .fault(Fault::Election, 1)
                .answering()
                .eager()
        },
    },
    Entry {
        name: "failed-fence",
        says: "Fences fail again and again from epoch 32764 on.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            let p = Workload::sending(&[0], 1);
            Scenario::plain(vec![p.clone(), p], 1)
                .from(Seed::Logged {
                    identity: Identity::new(ProducerId(42), ProducerEpoch(32762)),
                    next: ProducerId(73),
                })
                .fault(Fault::FailedAppend, 3)
                .eager()
        },
    },
    Entry {
        name: "pipeline-verification",
        says: "Several batches of one transaction in flight, with verification failing.",
        profile: Profile::Default,
        runs: &[(Tv1, &[]), (Tv2, &[])],
        build: |_| {
            Scenario::plain(vec![Workload::sending(&[0, 0], 2).in_flight(2)], 1)
                .fault(Fault::FailedVerification, 1)
                .eager()
        },
    },
    Entry {
        name: "crowd",
        says: "Strangers run transactions of eight ids beside three producers, under many of every fault: to walk at random, too large to search.",
        profile: Profile::Named,
        runs: &[
            (Tv1, &[S1, S2, S3, S4, S5, S6, S7, L1, L2, L3, L4]),
            (Tv2, &[S1, S2, S3, S4, S5, S6, S7, L1, L2, L3, L4]),
            (Upgrade, &[S1, S2, S3, S4, S5, S6, S7, L1, L2, L3, L4]),
        ],
        build: |_| {
            let p = Workload::sending(&[0, 1], 3).with_offset();
            let q = Workload::sending(&[1, 0], 3).id(1).in_flight(2);
            Scenario {
                ids: 8,
                ..crowded(Scenario::plain(vec![p.clone(), p, q], 2))
            }
            .answering()
        },
    },
    Entry {
        name: "crowd-wide",
        says: "The same on seven data partitions, with their high watermarks in steps of their own, and answers at once.",
        profile: Profile::Named,
        runs: &[
            (Tv1, &[S1, S2, S3, S4, S5, S6, S7, L1, L2, L3, L4]),
            (Tv2, &[S1, S2, S3, S4, S5, S6, S7, L1, L2, L3, L4]),
            (Upgrade, &[S1, S2, S3, S4, S5, S6, S7, L1, L2, L3, L4]),
        ],
        build: |_| {
            let p = Workload::sending(&[0, 1, 2], 3);
            let q = Workload::sending(&[1, 2], 3).id(1).in_flight(2);
            Scenario {
                ids: 8,
                ..crowded(Scenario::plain(vec![p.clone(), p, q], 7))
            }
            .fault(Fault::FailOver, 20)
            .replica_behind()
            .eager()
        },
    },
];

/// The faults of a crowd. No budget is past what the small numbers of the model can count.
fn crowded(scenario: Scenario) -> Scenario {
    [
        (Fault::Stranger, 255),
        (Fault::Election, 120),
        (Fault::CoordinatorCrash, 100),
        (Fault::Timer, 200),
        (Fault::FailedAppend, 100),
        (Fault::FailedVerification, 50),
        (Fault::ResendRequest, 100),
        (Fault::ResendBatch, 20),
        (Fault::ResendMarker, 100),
        (Fault::LoseMarker, 100),
        (Fault::LoseMarkerAnswer, 50),
        (Fault::Restart, 100),
        (Fault::Eviction, 50),
        (Fault::IdExpiry, 4),
        (Fault::GiveUp, 3),
        (Fault::ProducerCrash, 1),
    ]
    .into_iter()
    .fold(scenario, |scenario, (fault, n)| scenario.fault(fault, n))
}
