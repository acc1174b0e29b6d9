//! Faults in the coordinator's log, its load, its clock and its timer.

use super::super::Mutant;
use super::super::plan::killed;
use crate::properties::Id::*;
use crate::scenario::RuleSet::*;

pub(super) const M08: Mutant = Mutant {
    id: "M08",
    bug: "B08",
    says: "The timer aborts at the current epoch.",
    edit: |r| r.log.timer_bumps_epoch = false,
    plans: &[
        killed(Tv1, "late", S1),
        killed(Tv2, "timer", L2),
        killed(Tv1, "late", S3),
        killed(Tv2, "timer", S3),
    ],
};

pub(super) const M13A: Mutant = Mutant {
    id: "M13a",
    bug: "B13",
    says: "A failed append leaves the transition pending.",
    edit: |r| r.log.failure_clears_pending = false,
    plans: &[
        killed(Tv1, "failed-append", L2),
        killed(Tv2, "failed-append", L2),
    ],
};

pub(super) const M13B: Mutant = Mutant {
    id: "M13b",
    bug: "B13",
    says: "A completion that is retried is no longer pending.",
    edit: |r| r.log.completion_stays_pending = false,
    plans: &[
        killed(Tv1, "failed-append", S9),
        killed(Tv2, "failed-append", S9),
    ],
};

pub(super) const M57: Mutant = Mutant {
    id: "M57",
    bug: "B57",
    says: "A re-elected coordinator keeps its old cache.",
    edit: |r| r.log.load_replaces_cache = false,
    plans: &[
        killed(Tv1, "re-election", S9),
        killed(Tv2, "re-election", S9),
    ],
};

pub(super) const M60: Mutant = Mutant {
    id: "M60",
    bug: "B60",
    says: "A clock that steps back stops a transition.",
    edit: |r| r.log.tolerate_clock_back = false,
    plans: &[killed(Tv1, "clock", L2), killed(Tv2, "clock", L2)],
};

pub(super) const M70: Mutant = Mutant {
    id: "M70",
    bug: "B70",
    says: "A coordinator serves while it loads.",
    edit: |r| r.log.serve_only_after_load = false,
    plans: &[
        killed(Tv1, "re-election", S9),
        killed(Tv2, "re-election", S9),
    ],
};

pub(super) const M85: Mutant = Mutant {
    id: "M85",
    bug: "B85",
    says: "What is prepared is not resumed on load.",
    edit: |r| r.log.resume_prepared = false,
    plans: &[killed(Tv1, "election", L2), killed(Tv2, "election", L2)],
};

pub(super) const X13: Mutant = Mutant {
    id: "X13",
    bug: "-",
    says: "The timer ends two-phase transactions.",
    edit: |r| r.log.timer_skips_2pc = false,
    plans: &[killed(Tv2, "two-phase", S13)],
};

pub(super) const M08_M05: Mutant = Mutant {
    id: "M08+M05",
    bug: "B08",
    says: "The timer aborts at the current epoch, and a marker at the epoch of the open transaction is accepted.",
    edit: |r| {
        r.log.timer_bumps_epoch = false;
        r.strict_marker_epoch = false;
    },
    plans: &[killed(Tv2, "late", S1)],
};
