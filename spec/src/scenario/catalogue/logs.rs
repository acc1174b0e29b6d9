//! Readers, and what partitions keep.

use super::RuleSet::*;
use super::{Entry, Profile};
use crate::client::Workload;
use crate::fault::Fault;
use crate::scenario::Scenario;
use crate::types::IsolationLevel;

pub(super) const READER: Entry = Entry {
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
};

pub(super) const READER_ONCE: Entry = Entry {
    name: "reader-once",
    says: "A read_committed reader that fetches in steps while one transaction ends, with application behind the log.",
    profile: Profile::Named,
    runs: &[(Tv1, &[]), (Tv2, &[])],
    build: |_| {
        Scenario::plain(vec![Workload::sending(&[0], 1)], 1)
            .reader(IsolationLevel::ReadCommitted)
            .replica_behind()
            .apply_lag()
            .fault(Fault::FailOver, 1)
            .eager()
    },
};

pub(super) const READER_FAIL_OVER: Entry = Entry {
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
};

pub(super) const STORAGE: Entry = Entry {
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
};

pub(super) const COMPACTION: Entry = Entry {
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
};

pub(super) const COMPACTION_REPLICA: Entry = Entry {
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
};
