//! Faults in AddPartitionsToTxn and AddOffsetsToTxn.

use super::super::Mutant;
use super::super::plan::{equivalent, killed};
use crate::properties::Id::*;
use crate::scenario::RuleSet::*;

pub(super) const M09A: Mutant = Mutant {
    id: "M09a",
    bug: "B09",
    says: "A registration is answered from a finished transaction.",
    edit: |r| r.add.shortcut_only_in_ongoing = false,
    plans: &[
        equivalent(
            Tv1,
            "smoke",
            S1,
            "completion clears the partition set",
            |r| r.markers.completion_clears_partitions = false,
        ),
        equivalent(
            Tv2,
            "smoke",
            S7,
            "completion clears the partition set",
            |r| r.markers.completion_clears_partitions = false,
        ),
    ],
};

pub(super) const M14A: Mutant = Mutant {
    id: "M14a",
    bug: "B14",
    says: "AddPartitionsToTxn is answered before its record is durable.",
    edit: |r| r.add.answer_after_durable = false,
    plans: &[
        killed(Tv1, "offsets-election", S1),
        killed(Tv2, "offsets-election", S1),
    ],
};

pub(super) const M14B: Mutant = Mutant {
    id: "M14b",
    bug: "B14",
    says: "The Ongoing transition is not logged.",
    edit: |r| r.add.ongoing_is_logged = false,
    plans: &[
        killed(Tv1, "offsets-election", S9),
        killed(Tv2, "offsets-election", S9),
    ],
};

pub(super) const M55: Mutant = Mutant {
    id: "M55",
    bug: "B55",
    says: "AddOffsetsToTxn does not open a transaction.",
    edit: |r| r.add.add_offsets_opens = false,
    plans: &[killed(Tv1, "offsets-only", S7)],
};
