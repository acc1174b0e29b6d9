//! The end of the epochs, and two-phase commit.

use super::RuleSet::*;
use super::{Entry, Profile};
use crate::client::Workload;
use crate::fault::Fault;
use crate::properties::Id::*;
use crate::scenario::Scenario;
use crate::types::{Identity, ProducerEpoch, ProducerId};
use crate::world::Seed;

pub(super) const EXHAUSTION: Entry = Entry {
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
};

pub(super) const ROTATION: Entry = Entry {
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
};

pub(super) const TWO_PHASE: Entry = Entry {
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
};

pub(super) const TWO_PHASE_ROTATION: Entry = Entry {
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
};

pub(super) const TWO_PHASE_DOUBLE_OVERFLOW: Entry = Entry {
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
};

pub(super) const FAILED_FENCE: Entry = Entry {
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
};
