//! Faults in what a partition keeps: snapshots, expiry, compaction.

use super::super::Mutant;
use super::super::plan::{equivalent, killed};
use crate::properties::Id::*;
use crate::scenario::RuleSet::*;

pub(super) const M32B: Mutant = Mutant {
    id: "M32b",
    bug: "B32",
    says: "A partition forgets a producer whose old markers may still arrive.",
    edit: |r| r.storage.evict_only_when_quiet = false,
    plans: &[
        killed(Tv1, "eviction", S4),
        equivalent(
            Tv2,
            "eviction",
            S4,
            "a marker must carry a higher epoch than the data that it decides",
            |r| {
                r.strict_marker_epoch = false;
                r.produce.check_coordinator_epoch = false;
            },
        ),
    ],
};

pub(super) const M35A: Mutant = Mutant {
    id: "M35a",
    bug: "B35",
    says: "A snapshot leaves open transactions out.",
    edit: |r| r.storage.snapshot_open_txns = false,
    plans: &[killed(Tv1, "storage", S9), killed(Tv2, "storage", S9)],
};

pub(super) const M35B: Mutant = Mutant {
    id: "M35b",
    bug: "B35",
    says: "A snapshot holds more than its offset says.",
    edit: |r| r.storage.snapshot_at_its_offset = false,
    plans: &[killed(Tv1, "storage", S9), killed(Tv2, "storage", S9)],
};

pub(super) const M39A: Mutant = Mutant {
    id: "M39a",
    bug: "B39",
    says: "Compaction drops a marker before its data.",
    edit: |r| r.storage.compact_data_first = false,
    plans: &[
        killed(Tv1, "compaction", S11),
        killed(Tv2, "compaction", S11),
    ],
};

pub(super) const M39B: Mutant = Mutant {
    id: "M39b",
    bug: "B39",
    says: "Compaction drops a marker that a replica does not have.",
    edit: |r| r.storage.compact_after_replicas = false,
    plans: &[
        killed(Tv1, "compaction-replica", L1),
        killed(Tv2, "compaction-replica", L1),
        killed(Tv1, "compaction-replica", S10),
        killed(Tv2, "compaction-replica", S10),
    ],
};
