//! Somebody who sends any request with any identity: for coverage and for random walks.

use super::RuleSet::*;
use super::{Entry, Profile};
use crate::client::Workload;
use crate::fault::Fault;
use crate::properties::Id::*;
use crate::scenario::Scenario;
use crate::types::{Identity, ProducerEpoch, ProducerId};
use crate::world::Seed;

pub(super) const ANY_CLIENT: Entry = Entry {
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
};

pub(super) const ANY_CLIENT_LAST_EPOCH: Entry = Entry {
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
};

pub(super) const ANY_CLIENT_KEPT: Entry = Entry {
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
};

pub(super) const ANY_CLIENT_ELECTION: Entry = Entry {
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
};

pub(super) const CROWD: Entry = Entry {
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
};

pub(super) const CROWD_WIDE: Entry = Entry {
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
};

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
