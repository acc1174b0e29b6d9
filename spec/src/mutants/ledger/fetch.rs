//! Faults in Fetch.

use super::super::Mutant;
use super::super::plan::killed;
use crate::properties::Id::*;
use crate::scenario::RuleSet::*;

pub(super) const M36A: Mutant = Mutant {
    id: "M36a",
    bug: "B36",
    says: "A fetch reads the high watermark twice.",
    edit: |r| r.fetch.single_bound = false,
    plans: &[killed(Tv1, "reader", S2), killed(Tv2, "reader", S2)],
};

pub(super) const M36B: Mutant = Mutant {
    id: "M36b",
    bug: "B36",
    says: "The last stable offset is taken from the visible end while application lags.",
    edit: |r| r.fetch.bound_by_applied = false,
    plans: &[
        killed(Tv1, "reader-fail-over", S2),
        killed(Tv2, "reader-fail-over", S2),
    ],
};

pub(super) const M36C: Mutant = Mutant {
    id: "M36c",
    bug: "B36",
    says: "The first undecided offset is readable.",
    edit: |r| r.fetch.bound_exclusive = false,
    plans: &[killed(Tv1, "reader", S2), killed(Tv2, "reader", S2)],
};

pub(super) const M36D: Mutant = Mutant {
    id: "M36d",
    bug: "B36",
    says: "read_committed is bounded by the high watermark.",
    edit: |r| r.fetch.bound_by_lso = false,
    plans: &[killed(Tv1, "reader", S2), killed(Tv2, "reader", S2)],
};

pub(super) const M36E: Mutant = Mutant {
    id: "M36e",
    bug: "B36",
    says: "A new leader serves before it has recovered.",
    edit: |r| r.fetch.serve_after_recovery = false,
    plans: &[
        killed(Tv1, "reader-fail-over", S2),
        killed(Tv2, "reader-fail-over", S2),
    ],
};

pub(super) const M37A: Mutant = Mutant {
    id: "M37a",
    bug: "B37",
    says: "A fetch that waited omits the aborted list.",
    edit: |r| r.fetch.aborted_list_when_delayed = false,
    plans: &[killed(Tv1, "reader", S2), killed(Tv2, "reader", S2)],
};

pub(super) const M37B: Mutant = Mutant {
    id: "M37b",
    bug: "B37",
    says: "The aborted list covers too short a range.",
    edit: |r| r.fetch.aborted_list_full_range = false,
    plans: &[killed(Tv1, "reader", S2), killed(Tv2, "reader", S2)],
};

pub(super) const X10: Mutant = Mutant {
    id: "X10",
    bug: "B36",
    says: "A read is bounded by the log end.",
    edit: |r| r.fetch.bound_by_high_watermark = false,
    plans: &[
        killed(Tv1, "reader-fail-over", S10),
        killed(Tv2, "reader-fail-over", S10),
    ],
};
