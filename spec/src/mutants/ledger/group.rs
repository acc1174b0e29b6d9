//! Faults of the group coordinator: staged offsets and who may stage them.

use super::super::Mutant;
use super::super::plan::{equivalent, killed};
use crate::properties::Id::*;
use crate::scenario::RuleSet::*;

pub(super) const M23A: Mutant = Mutant {
    id: "M23a",
    bug: "B23",
    says: "A marker is acknowledged before its offsets are applied.",
    edit: |r| r.group.ack_after_apply = false,
    plans: &[
        killed(Tv1, "offsets-late", S1),
        killed(Tv2, "offsets-late", S1),
    ],
};

pub(super) const M23B: Mutant = Mutant {
    id: "M23b",
    bug: "B23",
    says: "Staged offsets are told apart by producer id and epoch; Kafka goes by the producer id alone.",
    edit: |r| r.group.staged_by_producer_id = false,
    plans: &[
        equivalent(
            Tv1,
            "offsets-late",
            S1,
            "a marker is acknowledged only once its offsets are applied",
            |r| r.group.ack_after_apply = false,
        ),
        equivalent(
            Tv2,
            "offsets-late",
            S1,
            "a marker is acknowledged only once its offsets are applied",
            |r| r.group.ack_after_apply = false,
        ),
    ],
};

pub(super) const M24A: Mutant = Mutant {
    id: "M24a",
    bug: "B24",
    says: "Staging does not ask the coordinator.",
    edit: |r| r.group.verify_staging = false,
    plans: &[
        killed(Tv1, "offsets-late", L3),
        killed(Tv2, "offsets-late", L3),
        killed(Tv1, "offsets-late", S2),
    ],
};

pub(super) const M24B: Mutant = Mutant {
    id: "M24b",
    bug: "B24",
    says: "Staging checks first and appends later.",
    edit: |r| {
        r.group.staging_atomic = false;
    },
    plans: &[
        killed(Tv1, "offsets-late", L3),
        killed(Tv2, "offsets-late", L3),
        killed(Tv1, "offsets-late", S2),
        killed(Tv2, "offsets-late", S2),
    ],
};

pub(super) const M24C: Mutant = Mutant {
    id: "M24c",
    bug: "B24",
    says: "Staging does not compare the epoch.",
    edit: |r| r.group.staging_checks_epoch = false,
    plans: &[
        equivalent(
            Tv1,
            "offsets-late",
            L3,
            "staging asks the coordinator first",
            |r| r.group.verify_staging = false,
        ),
        equivalent(
            Tv2,
            "offsets-late",
            L3,
            "staging asks the coordinator first",
            |r| r.group.verify_staging = false,
        ),
    ],
};

pub(super) const M25: Mutant = Mutant {
    id: "M25",
    bug: "B25",
    says: "OffsetFetch does not wait for staged offsets.",
    edit: |r| r.group.fetch_waits_for_staged = false,
    plans: &[killed(Tv1, "rebalance", S6), killed(Tv2, "rebalance", S6)],
};

pub(super) const M26: Mutant = Mutant {
    id: "M26",
    bug: "B26",
    says: "Staging does not compare the generation.",
    edit: |r| r.group.check_generation = false,
    plans: &[killed(Tv1, "rebalance", S6), killed(Tv2, "rebalance", S6)],
};

pub(super) const M28: Mutant = Mutant {
    id: "M28",
    bug: "B28",
    says: "A group that rebalances acknowledges a marker and ignores it.",
    edit: |r| r.group.marker_in_any_state = false,
    plans: &[killed(Tv1, "rebalance", S1), killed(Tv2, "rebalance", S1)],
};

pub(super) const M68: Mutant = Mutant {
    id: "M68",
    bug: "B68",
    says: "Offsets expire although some are staged.",
    edit: |r| r.group.staged_pin_group = false,
    plans: &[
        killed(Tv1, "offsets-only", S1),
        killed(Tv2, "offsets-only", S1),
    ],
};

pub(super) const M70B: Mutant = Mutant {
    id: "M70b",
    bug: "B70",
    says: "A group coordinator serves while it loads.",
    edit: |r| r.group.serve_after_load = false,
    plans: &[
        killed(Tv1, "offsets-restart", S6),
        killed(Tv2, "offsets-restart", S6),
    ],
};

pub(super) const X14: Mutant = Mutant {
    id: "X14",
    bug: "-",
    says: "Staging does not ask whether the member is in the group.",
    edit: |r| r.group.check_member = false,
    plans: &[
        equivalent(
            Tv1,
            "member-expiry",
            S6,
            "the generation of a group that has lost its owner is another one",
            |r| r.group.check_generation = false,
        ),
        equivalent(
            Tv2,
            "member-expiry",
            S6,
            "the generation of a group that has lost its owner is another one",
            |r| r.group.check_generation = false,
        ),
    ],
};

pub(super) const X15: Mutant = Mutant {
    id: "X15",
    bug: "-",
    says: "Staging does not compare the instance id.",
    edit: |r| r.group.check_instance = false,
    plans: &[
        equivalent(
            Tv1,
            "static-member",
            S6,
            "a replaced member is no member any more",
            |r| r.group.check_member = false,
        ),
        equivalent(
            Tv2,
            "static-member",
            S6,
            "a replaced member is no member any more",
            |r| r.group.check_member = false,
        ),
    ],
};
