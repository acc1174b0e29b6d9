//! Requests that are sent again, answered late, or refused: one id, no fail-over.

use super::RuleSet::*;
use super::{Entry, Profile};
use crate::client::Workload;
use crate::fault::Fault;
use crate::message::RequestKind;
use crate::properties::Id::*;
use crate::scenario::Scenario;

pub(super) const SMOKE: Entry = Entry {
    name: "smoke",
    says: "One producer, two transactions on two partitions, no faults.",
    profile: Profile::Default,
    runs: &[(Tv1, &[]), (Tv2, &[])],
    build: |_| Scenario::plain(vec![Workload::sending(&[0, 1], 2)], 2),
};

pub(super) const RETRY: Entry = Entry {
    name: "retry",
    says: "One producer that sends requests again while their first copies may still arrive.",
    profile: Profile::Default,
    runs: &[(Tv1, &[S1, S2, S3, S4, S7]), (Tv2, &[])],
    build: |_| {
        Scenario::plain(vec![Workload::sending(&[0, 1], 2)], 2).fault(Fault::ResendRequest, 2)
    },
};

pub(super) const TIMER: Entry = Entry {
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
};

pub(super) const FAILED_APPEND: Entry = Entry {
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
};

pub(super) const ANSWERS: Entry = Entry {
    name: "answers",
    says: "Two instances of one id; every retriable answer is really sent.",
    profile: Profile::Default,
    runs: &[(Tv1, &[]), (Tv2, &[])],
    build: |_| {
        let p = Workload::sending(&[0], 1);
        Scenario::plain(vec![p.clone(), p], 1).answering()
    },
};

pub(super) const CLOCK: Entry = Entry {
    name: "clock",
    says: "The coordinator's clock steps back.",
    profile: Profile::Default,
    runs: &[(Tv1, &[]), (Tv2, &[])],
    build: |_| Scenario::plain(vec![Workload::sending(&[0], 1)], 1).fault(Fault::ClockBack, 1),
};

pub(super) const RETRY_EAGER: Entry = Entry {
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
};

pub(super) const RETRY_ONCE: Entry = Entry {
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
};

pub(super) const TIMER_ONCE: Entry = Entry {
    name: "timer-once",
    says: "One transaction on one partition that times out.",
    profile: Profile::Default,
    runs: &[(Tv1, &[]), (Tv2, &[])],
    build: |_| Scenario::plain(vec![Workload::sending(&[0], 1)], 1).fault(Fault::Timer, 1),
};
