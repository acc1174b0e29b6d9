//! Faults of a partition leader: verification, sequences, markers.

use super::super::Mutant;
use super::super::plan::{equivalent, killed};
use crate::properties::Id::*;
use crate::rules::OpenRule;
use crate::scenario::RuleSet::*;

pub(super) const M02: Mutant = Mutant {
    id: "M02",
    bug: "B02",
    says: "The first batch of a transaction is appended without asking the coordinator.",
    edit: |r| r.produce.ask_coordinator = false,
    plans: &[
        killed(Tv1, "late", L1),
        killed(Tv2, "late", L1),
        killed(Tv1, "late", S2),
        killed(Tv2, "late", S7),
    ],
};

pub(super) const M03: Mutant = Mutant {
    id: "M03",
    bug: "B03",
    says: "The verification guard is not compared at append.",
    edit: |r| r.produce.compare_guard = false,
    plans: &[
        killed(Tv1, "late", L1),
        equivalent(
            Tv2,
            "late",
            L1,
            "the marker carries the bumped epoch",
            |r| r.end_txn.bump_epoch_at_prepare = false,
        ),
        killed(Tv1, "late", S2),
    ],
};

pub(super) const M04: Mutant = Mutant {
    id: "M04",
    bug: "B04",
    says: "A partition counts a transaction as open whatever its epoch.",
    edit: |r| r.produce.open_rule = OpenRule::AnyEpoch,
    plans: &[killed(Tv2, "smoke", L1), killed(Tv2, "smoke", S1)],
};

pub(super) const M04B: Mutant = Mutant {
    id: "M04b",
    bug: "B04",
    says: "A marker wipes the guard of the next transaction.",
    edit: |r| r.produce.marker_keeps_next_guard = false,
    plans: &[killed(Tv2, "smoke", S7)],
};

pub(super) const M05: Mutant = Mutant {
    id: "M05",
    bug: "B05",
    says: "A marker at the epoch of the open transaction is accepted.",
    edit: |r| r.strict_marker_epoch = false,
    plans: &[killed(Tv2, "markers", S2)],
};

pub(super) const M06A: Mutant = Mutant {
    id: "M06a",
    bug: "B06",
    says: "A repeated marker is refused.",
    edit: |r| r.produce.repeated_marker_ok = false,
    plans: &[killed(Tv2, "markers", L2)],
};

pub(super) const M14C: Mutant = Mutant {
    id: "M14c",
    bug: "B14",
    says: "A batch is acknowledged before it is replicated.",
    edit: |r| r.produce.ack_after_replication = false,
    plans: &[killed(Tv1, "storage", S1), killed(Tv2, "storage", S1)],
};

pub(super) const M31: Mutant = Mutant {
    id: "M31",
    bug: "B31",
    says: "A marker for an unknown producer is refused.",
    edit: |r| r.produce.unknown_marker_ok = false,
    plans: &[killed(Tv1, "eviction", L2), killed(Tv2, "eviction", L2)],
};

pub(super) const M32A: Mutant = Mutant {
    id: "M32a",
    bug: "B32",
    says: "A partition does not compare coordinator epochs.",
    edit: |r| r.produce.check_coordinator_epoch = false,
    plans: &[
        killed(Tv1, "eviction", S4),
        equivalent(
            Tv2,
            "eviction",
            S4,
            "a marker must carry a higher epoch",
            |r| r.strict_marker_epoch = false,
        ),
    ],
};

pub(super) const M33: Mutant = Mutant {
    id: "M33",
    bug: "B33",
    says: "A new epoch is written into an older open transaction, whose marker then decides it.",
    edit: |r| {
        r.produce.open_rule = OpenRule::AnyEpoch;
        r.strict_marker_epoch = false;
    },
    plans: &[killed(Tv2, "smoke", S4)],
};

pub(super) const M40: Mutant = Mutant {
    id: "M40",
    bug: "B40",
    says: "Any first sequence is accepted.",
    edit: |r| r.produce.check_first_sequence = false,
    plans: &[
        killed(Tv1, "pipeline-verification", S7),
        killed(Tv2, "pipeline", S7),
    ],
};

pub(super) const M66A: Mutant = Mutant {
    id: "M66a",
    bug: "B66",
    says: "Sequences do not wrap.",
    edit: |r| r.produce.sequence_wraps = false,
    plans: &[
        killed(Tv1, "sequence-wrap", S7),
        killed(Tv2, "sequence-wrap", S7),
    ],
};

pub(super) const M72: Mutant = Mutant {
    id: "M72",
    bug: "B72",
    says: "Fewer batches are remembered than may be in flight.",
    edit: |r| r.produce.window = 1,
    plans: &[killed(Tv1, "idempotent", S7), killed(Tv2, "pipeline", S7)],
};

pub(super) const M91: Mutant = Mutant {
    id: "M91",
    bug: "B91",
    says: "An abort leaves the transaction open at the partition.",
    edit: |r| r.produce.abort_clears_all = false,
    plans: &[
        killed(Tv1, "smoke", L1),
        killed(Tv2, "smoke", L1),
        killed(Tv2, "smoke", S1),
    ],
};
