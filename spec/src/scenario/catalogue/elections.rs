//! Coordinator fail-overs.

use super::RuleSet::*;
use super::{Entry, Profile};
use crate::client::Workload;
use crate::fault::Fault;
use crate::properties::Id::*;
use crate::scenario::Scenario;

pub(super) const ELECTION: Entry = Entry {
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
};

pub(super) const RE_ELECTION: Entry = Entry {
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
};

pub(super) const RE_ELECTION_ONCE: Entry = Entry {
    name: "re-election-once",
    says: "One transaction while the coordinator moves there and back.",
    profile: Profile::Named,
    runs: &[(Tv1, &[]), (Tv2, &[])],
    build: |_| {
        Scenario::plain(vec![Workload::sending(&[0], 1)], 1)
            .fault(Fault::Election, 2)
            .eager()
    },
};

pub(super) const STALE_COORDINATOR: Entry = Entry {
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
};

pub(super) const MIX: Entry = Entry {
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
};
