//! Larger mixes, searched with `--profile nightly`.

use super::RuleSet::*;
use super::{Entry, Profile};
use crate::client::Workload;
use crate::fault::Fault;
use crate::properties::Id::*;
use crate::scenario::Scenario;

pub(super) const MIX_TIMER: Entry = Entry {
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
};

pub(super) const MIX_TWO_PARTITIONS: Entry = Entry {
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
};

pub(super) const MIX_EVERYTHING: Entry = Entry {
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
};

pub(super) const MIX_TWO_TRANSACTIONS: Entry = Entry {
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
};

pub(super) const THREE_INSTANCES_ELECTION: Entry = Entry {
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
};

pub(super) const THREE_INSTANCES: Entry = Entry {
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
};

pub(super) const ELECTION_TWO_TRANSACTIONS: Entry = Entry {
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
};
