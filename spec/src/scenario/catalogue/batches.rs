//! Batches: late, several in flight, without an id, over an upgrade.

use super::RuleSet::*;
use super::{Entry, Profile};
use crate::client::Workload;
use crate::fault::Fault;
use crate::properties::Id::*;
use crate::scenario::Scenario;
use crate::types::Sequence;
use crate::world::Seed;

pub(super) const LATE: Entry = Entry {
    name: "late",
    says: "A Produce is given up and arrives late, after the abort and in the next transaction.",
    profile: Profile::Default,
    runs: &[(Tv1, &[]), (Tv2, &[])],
    build: |_| {
        Scenario::plain(vec![Workload::sending(&[0, 1], 2)], 2)
            .fault(Fault::GiveUp, 1)
            .fault(Fault::Timer, 1)
    },
};

pub(super) const UPGRADE: Entry = Entry {
    name: "upgrade",
    says: "The finalized transaction.version is raised between or inside transactions.",
    profile: Profile::Default,
    runs: &[(Upgrade, &[])],
    build: |_| Scenario::plain(vec![Workload::sending(&[0], 3)], 1).fault(Fault::Timer, 1),
};

pub(super) const PIPELINE: Entry = Entry {
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
};

pub(super) const IDEMPOTENT: Entry = Entry {
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
};

pub(super) const HANGING: Entry = Entry {
    name: "hanging",
    says: "TV1 with verification off: a late Produce opens a transaction that nobody owns (KAFKA-12671).",
    profile: Profile::Default,
    runs: &[(Tv1, &[L1])],
    build: |_| {
        Scenario::plain(vec![Workload::sending(&[0], 1)], 1)
            .fault(Fault::GiveUp, 1)
            .unverified()
    },
};

pub(super) const SEQUENCE_WRAP: Entry = Entry {
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
};

pub(super) const PIPELINE_VERIFICATION: Entry = Entry {
    name: "pipeline-verification",
    says: "Several batches of one transaction in flight, with verification failing.",
    profile: Profile::Default,
    runs: &[(Tv1, &[]), (Tv2, &[])],
    build: |_| {
        Scenario::plain(vec![Workload::sending(&[0, 0], 2).in_flight(2)], 1)
            .fault(Fault::FailedVerification, 1)
            .eager()
    },
};
