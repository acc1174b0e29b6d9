//! The ledger: every mutant with its judgements.

use super::{Expect, Mutant, Plan};
use crate::properties::Id;
use crate::rules::EpochRule;
use crate::scenario::RuleSet::*;

/// Every mutant.
pub const MUTANTS: &[Mutant] = &[
    Mutant {
        id: "M01b",
        bug: "B01",
        says: "EndTxn in Ongoing accepts an epoch up to the stored one.",
        edit: |r| r.end_txn.epoch_rule = EpochRule::AtMost,
        plans: &[Plan { rules: Tv2, scenario: "retry", expect: Expect::Killed(Id::S2) }],
    },
];
