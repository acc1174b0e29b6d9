//! Faults of the client.

use super::super::Mutant;
use super::super::plan::killed;
use crate::properties::Id::*;
use crate::scenario::RuleSet::*;

pub(super) const M22: Mutant = Mutant {
    id: "M22",
    bug: "B22",
    says: "A client takes a fresh identity after a mapping error.",
    edit: |r| r.client.mapping_error_is_fatal = false,
    plans: &[killed(Tv1, "expired-id", S5), killed(Tv2, "expired-id", S5)],
};

pub(super) const M41A: Mutant = Mutant {
    id: "M41a",
    bug: "B41",
    says: "A client renumbers batches whose fate is open.",
    edit: |r| r.client.drain_before_bump = false,
    plans: &[killed(Tv1, "idempotent", S6), killed(Tv2, "idempotent", S6)],
};

pub(super) const M41B: Mutant = Mutant {
    id: "M41b",
    bug: "B41",
    says: "A client bumps its epoch and restarts the sequences of one partition only.",
    edit: |r| r.client.bump_resets_all_partitions = false,
    plans: &[killed(Tv1, "idempotent", S7), killed(Tv2, "idempotent", S7)],
};

pub(super) const M41C: Mutant = Mutant {
    id: "M41c",
    bug: "B41",
    says: "After a given-up Produce a client goes on at the same epoch.",
    edit: |r| r.client.bump_after_give_up = false,
    plans: &[killed(Tv1, "late", S2)],
};

pub(super) const M42: Mutant = Mutant {
    id: "M42",
    bug: "B42",
    says: "A client restarts its sequence at the same epoch.",
    edit: |r| r.client.keeps_sequence = false,
    plans: &[killed(Tv1, "idempotent", S1), killed(Tv2, "idempotent", S1)],
};

pub(super) const M44: Mutant = Mutant {
    id: "M44",
    bug: "B44",
    says: "A client commits although a send has failed.",
    edit: |r| r.client.error_latch = false,
    plans: &[killed(Tv1, "late", S1), killed(Tv2, "late", S1)],
};

pub(super) const M45A: Mutant = Mutant {
    id: "M45a",
    bug: "B45",
    says: "EndTxn does not wait for acknowledgements.",
    edit: |r| r.client.end_waits_for_acks = false,
    plans: &[
        killed(Tv1, "pipeline", S1),
        killed(Tv2, "pipeline", S1),
        killed(Tv1, "deleted-topic", L1),
    ],
};

pub(super) const M45B: Mutant = Mutant {
    id: "M45b",
    bug: "B45",
    says: "EndTxn is skipped while a registration is in flight.",
    edit: |r| r.client.end_waits_for_registration = false,
    plans: &[killed(Tv1, "smoke", S1)],
};

pub(super) const M46: Mutant = Mutant {
    id: "M46",
    bug: "B46",
    says: "A refused EndTxn is reported as success.",
    edit: |r| r.client.reports_end_error = false,
    plans: &[killed(Tv1, "zombie", S1), killed(Tv2, "zombie", S1)],
};

pub(super) const M47: Mutant = Mutant {
    id: "M47",
    bug: "B47",
    says: "A plain batch inside a transaction is accepted.",
    edit: |r| {
        r.client.batches_are_transactional = false;
        r.produce.refuse_plain_in_txn = false;
    },
    plans: &[killed(Tv1, "pipeline", S2), killed(Tv2, "pipeline", S2)],
};

pub(super) const M50: Mutant = Mutant {
    id: "M50",
    bug: "B50",
    says: "A client turns to TV2 without a bump.",
    edit: |r| r.client.bump_at_upgrade = false,
    plans: &[killed(Upgrade, "upgrade", S4)],
};
