//! Faults in InitProducerId, the fence and the end of the epochs.

use super::super::Mutant;
use super::super::plan::killed;
use crate::properties::Id::*;
use crate::rules::EpochRule;
use crate::scenario::RuleSet::*;

pub(super) const M07: Mutant = Mutant {
    id: "M07",
    bug: "B07",
    says: "A fencing abort does not raise the epoch.",
    edit: |r| {
        r.init.fence_bumps_epoch = false;
        r.verification = false;
    },
    plans: &[killed(Tv1, "zombie", S5), killed(Tv2, "zombie", S5)],
};

pub(super) const M19A: Mutant = Mutant {
    id: "M19a",
    bug: "B19",
    says: "A fence and its abort both raise the epoch.",
    edit: |r| r.init.fence_single_bump = false,
    plans: &[killed(Tv2, "exhaustion", S8), killed(Tv2, "exhaustion", L2)],
};

pub(super) const M19B: Mutant = Mutant {
    id: "M19b",
    bug: "B19",
    says: "A fencing abort at the last epoch does not rotate the producer id.",
    edit: |r| r.init.fence_rotates = false,
    plans: &[
        killed(Tv2, "exhaustion", L4),
        killed(Tv2, "exhaustion", S14),
    ],
};

pub(super) const M20: Mutant = Mutant {
    id: "M20",
    bug: "B20",
    says: "A fence that could not be written raises the epoch in memory again and again.",
    edit: |r| {
        r.init.remember_failed_fence = false;
        r.init.failed_fence_keeps_epoch = false;
    },
    plans: &[
        killed(Tv1, "failed-fence", S9),
        killed(Tv2, "failed-fence", S9),
    ],
};

pub(super) const M66B: Mutant = Mutant {
    id: "M66b",
    bug: "B66",
    says: "InitProducerId at the last epoch does not rotate the producer id.",
    edit: |r| r.init.init_rotates = false,
    plans: &[
        killed(Tv1, "exhaustion", S14),
        killed(Tv2, "exhaustion", S14),
    ],
};

pub(super) const M14D_B51: Mutant = Mutant {
    id: "M14d+B51",
    bug: "B51",
    says: "Answers come before the log, and EndTxn accepts an epoch above the stored one.",
    edit: |r| {
        r.init.answer_after_durable = false;
        r.add.answer_after_durable = false;
        r.end_txn.epoch_rule = EpochRule::AtLeast;
    },
    plans: &[killed(Tv1, "election", S2), killed(Tv2, "election", S2)],
};

pub(super) const M14D: Mutant = Mutant {
    id: "M14d",
    bug: "B14",
    says: "InitProducerId is answered before its record is durable.",
    edit: |r| r.init.answer_after_durable = false,
    plans: &[killed(Tv1, "election", S5), killed(Tv2, "election", S8)],
};
