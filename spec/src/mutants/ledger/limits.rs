//! What the right rules themselves break: known limits, expected to show.

use super::super::Mutant;
use super::super::plan::expected;
use crate::properties::Id::*;
use crate::scenario::RuleSet::*;

pub(super) const M21: Mutant = Mutant {
    id: "M21",
    bug: "B21",
    says: "The previous epoch is not in the record.",
    edit: |_| {},
    // A client at transaction.version 2 asks for a bump only where it comes from 1.
    plans: &[
        expected(
            Tv1,
            "bump-retry",
            S7,
            "Kafka 4.4.0 does not write LastProducerEpoch (KAFKA-20357 is later)",
        ),
        expected(
            Upgrade,
            "upgrade-retry",
            S7,
            "Kafka 4.4.0 does not write LastProducerEpoch (KAFKA-20357 is later)",
        ),
    ],
};

pub(super) const M49: Mutant = Mutant {
    id: "M49",
    bug: "B49",
    says: "An operator writes an abort marker while the coordinator has the transaction.",
    edit: |_| {},
    plans: &[
        expected(Tv1, "operator", S3, "a documented limitation of KIP-664"),
        expected(Tv2, "operator", S3, "a documented limitation of KIP-664"),
    ],
};

pub(super) const M62B: Mutant = Mutant {
    id: "M62b",
    bug: "B62",
    says: "A partition without a leader is taken for a deleted one.",
    edit: |_| {},
    plans: &[
        expected(
            Tv1,
            "leaderless",
            L1,
            "Kafka 4.4.0 drops the marker (KAFKA-20734); with the rule repaired the scenario holds",
        ),
        expected(
            Tv2,
            "leaderless",
            L1,
            "Kafka 4.4.0 drops the marker (KAFKA-20734); with the rule repaired the scenario holds",
        ),
    ],
};
