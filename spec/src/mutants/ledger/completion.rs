//! Faults in the markers of a decided transaction and its completion.

use super::super::Mutant;
use super::super::plan::{equivalent, killed};
use crate::properties::Id::*;
use crate::scenario::RuleSet::*;

pub(super) const M09B: Mutant = Mutant {
    id: "M09b",
    bug: "B09",
    says: "The partition set survives completion.",
    edit: |r| r.markers.completion_clears_partitions = false,
    plans: &[
        killed(Tv1, "late", L1),
        equivalent(
            Tv2,
            "smoke",
            S7,
            "a registration is answered at once only in Ongoing",
            |r| r.add.shortcut_only_in_ongoing = false,
        ),
        killed(Tv1, "late", S2),
    ],
};

pub(super) const M10: Mutant = Mutant {
    id: "M10",
    bug: "B10",
    says: "Two acknowledgements both write the completion record.",
    edit: |r| r.markers.completion_owned = false,
    plans: &[killed(Tv1, "smoke", S9), killed(Tv2, "smoke", S9)],
};

pub(super) const M12: Mutant = Mutant {
    id: "M12",
    bug: "B12",
    says: "The completion test can be missed.",
    edit: |r| r.markers.test_after_every_ack = false,
    plans: &[
        killed(Tv1, "missed-test", L2),
        killed(Tv2, "missed-test", L2),
    ],
};

pub(super) const M29: Mutant = Mutant {
    id: "M29",
    bug: "B29",
    says: "An acknowledgement ticks off another partition too.",
    edit: |r| r.markers.ack_ticks_own_partition = false,
    plans: &[
        killed(Tv1, "lost-marker", L1),
        killed(Tv2, "lost-marker", L1),
        killed(Tv1, "lost-marker", S1),
        killed(Tv2, "lost-marker", S1),
    ],
};

pub(super) const M61: Mutant = Mutant {
    id: "M61",
    bug: "B61",
    says: "A marker that is lost in the sender is not sent again.",
    edit: |r| r.markers.resend_lost = false,
    plans: &[
        killed(Tv1, "lost-marker", L2),
        killed(Tv2, "lost-marker", L2),
        killed(Tv1, "lost-marker", S1),
        killed(Tv2, "lost-marker", S1),
    ],
};

pub(super) const M62: Mutant = Mutant {
    id: "M62",
    bug: "B62",
    says: "A deleted partition blocks the completion.",
    edit: |r| r.markers.drop_deleted = false,
    plans: &[
        killed(Tv1, "deleted-topic", L2),
        killed(Tv2, "deleted-topic", L2),
    ],
};

pub(super) const M10_M31: Mutant = Mutant {
    id: "M10+M31",
    bug: "B10",
    says: "Two acknowledgements both complete, and a marker for an unknown producer is refused.",
    edit: |r| {
        r.markers.completion_owned = false;
        r.produce.unknown_marker_ok = false;
    },
    plans: &[killed(Tv1, "eviction", L2), killed(Tv2, "eviction", L2)],
};
