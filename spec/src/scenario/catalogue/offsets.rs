//! Staged offsets and the group that they belong to.

use super::RuleSet::*;
use super::{Entry, Profile};
use crate::client::Workload;
use crate::fault::Fault;
use crate::message::RequestKind;
use crate::properties::Id::*;
use crate::scenario::Scenario;

pub(super) const OFFSETS: Entry = Entry {
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
};

pub(super) const REBALANCE: Entry = Entry {
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
};

pub(super) const MEMBER_EXPIRY: Entry = Entry {
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
};

pub(super) const STATIC_MEMBER: Entry = Entry {
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
};

pub(super) const OFFSETS_RESTART: Entry = Entry {
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
};

pub(super) const OFFSETS_LATE: Entry = Entry {
    name: "offsets-late",
    says: "A TxnOffsetCommit is given up and arrives late, or the transaction times out under it.",
    profile: Profile::Default,
    runs: &[(Tv1, &[]), (Tv2, &[])],
    build: |_| {
        Scenario::plain(vec![Workload::sending(&[0], 2).with_offset()], 1)
            .fault(Fault::GiveUp, 1)
            .fault(Fault::Timer, 1)
    },
};

pub(super) const OFFSETS_ONLY: Entry = Entry {
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
};

pub(super) const OFFSETS_ELECTION: Entry = Entry {
    name: "offsets-election",
    says: "A transaction with a record and a staged offset over a coordinator fail-over.",
    profile: Profile::Default,
    runs: &[(Tv1, &[]), (Tv2, &[])],
    build: |_| {
        Scenario::plain(vec![Workload::sending(&[0], 1).with_offset()], 1)
            .fault(Fault::Election, 1)
            .eager()
    },
};
