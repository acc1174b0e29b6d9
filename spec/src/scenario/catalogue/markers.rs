//! Markers that are lost, late, refused or forged.

use super::RuleSet::*;
use super::{Entry, Profile};
use crate::client::Workload;
use crate::fault::Fault;
use crate::properties::Id::*;
use crate::scenario::Scenario;

pub(super) const MARKERS: Entry = Entry {
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
};

pub(super) const EVICTION: Entry = Entry {
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
};

pub(super) const DELETED_TOPIC: Entry = Entry {
    name: "deleted-topic",
    says: "A topic is deleted while a decision is pending, and a batch for it arrives again.",
    profile: Profile::Default,
    runs: &[(Tv1, &[]), (Tv2, &[])],
    build: |_| {
        Scenario::plain(vec![Workload::sending(&[0, 1], 1)], 2)
            .fault(Fault::TopicDeletion, 1)
            .fault(Fault::ResendBatch, 1)
    },
};

pub(super) const OPERATOR: Entry = Entry {
    name: "operator",
    says: "An operator aborts an open transaction on one partition (KIP-664).",
    profile: Profile::Default,
    runs: &[(Tv1, &[S1, S3]), (Tv2, &[S1, S3])],
    build: |_| {
        Scenario::plain(vec![Workload::sending(&[0, 1], 1)], 2).fault(Fault::OperatorMarker, 1)
    },
};

pub(super) const MISSED_TEST: Entry = Entry {
    name: "missed-test",
    says: "One producer, every acknowledgement of a marker a step of its own.",
    profile: Profile::Named,
    runs: &[(Tv1, &[]), (Tv2, &[])],
    build: |_| Scenario::plain(vec![Workload::sending(&[0, 1], 1)], 2).fault(Fault::SkippedTest, 1),
};

pub(super) const LOST_MARKER: Entry = Entry {
    name: "lost-marker",
    says: "Markers, or the answers to them, are lost with their connection.",
    profile: Profile::Default,
    runs: &[(Tv1, &[]), (Tv2, &[])],
    build: |_| {
        Scenario::plain(vec![Workload::sending(&[0, 1], 1)], 2)
            .fault(Fault::LoseMarker, 1)
            .fault(Fault::LoseMarkerAnswer, 1)
    },
};

pub(super) const LEADERLESS: Entry = Entry {
    name: "leaderless",
    says: "A partition has no leader when its marker is to be sent: Kafka 4.4.0 drops the marker (KAFKA-20734).",
    profile: Profile::Default,
    runs: &[(Tv1, &[S1, S2, S4, L1]), (Tv2, &[S1, S2, S4, L1])],
    build: |_| Scenario::plain(vec![Workload::sending(&[0], 2)], 1).fault(Fault::Leaderless, 1),
};
