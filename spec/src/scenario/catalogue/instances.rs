//! Two instances of one id, and bumps that come late.

use super::RuleSet::*;
use super::{Entry, Profile};
use crate::client::Workload;
use crate::fault::Fault;
use crate::properties::Id::*;
use crate::scenario::Scenario;

pub(super) const ZOMBIE: Entry = Entry {
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
};

pub(super) const EXPIRED_ID: Entry = Entry {
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
};

pub(super) const BUMP_RETRY: Entry = Entry {
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
};

pub(super) const UPGRADE_RETRY: Entry = Entry {
    name: "upgrade-retry",
    says: "The bump with which a client goes on under transaction.version 2, over a coordinator fail-over.",
    profile: Profile::Default,
    runs: &[(Upgrade, &[S7])],
    build: |_| {
        Scenario::plain(vec![Workload::sending(&[0], 2)], 1)
            .fault(Fault::Election, 1)
            .eager()
    },
};

pub(super) const LATE_BUMP: Entry = Entry {
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
};
