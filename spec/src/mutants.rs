//! Mutants: named edits of the rules, one for each way in which a real broker or client has been
//! wrong. The file holds them all; code that runs the rules never asks which one is on.

use crate::properties::Id;
use crate::rules::Rules;
use crate::scenario::RuleSet;

mod ledger;
mod liveness;

pub use ledger::MUTANTS;
pub use liveness::{FAIR_PLANS, FairPlan};

/// An edit of the right rules.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// Its id in the mutation plan: `M01a`.
    pub id: &'static str,
    /// The public bug that it seeds: `B01`.
    pub bug: &'static str,
    /// What is wrong, in a sentence.
    pub says: &'static str,
    /// The edit.
    pub edit: fn(&mut Rules),
    /// Where it is judged, and what is expected there.
    pub plans: &'static [Plan],
}

/// One judgement of a mutant.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Under which rules.
    pub rules: RuleSet,
    /// In which scenario.
    pub scenario: &'static str,
    /// What is expected.
    pub expect: Expect,
}

/// What a judgement is expected to give.
#[derive(Clone, Copy, Debug)]
pub enum Expect {
    /// At least this property is broken that the right rules keep there.
    Killed(Id),
    /// Nothing more is broken than under the right rules: another guard masks the fault. The pair
    /// of the mutant and that guard off is killed by this property.
    Equivalent {
        /// The guard that masks it.
        masked_by: &'static str,
        /// The guard off.
        guard_off: fn(&mut Rules),
        /// What the pair breaks.
        pair_breaks: Id,
    },
    /// A known limitation of the right rules: this property is broken, and stays so.
    Expected {
        /// What is broken.
        breaks: Id,
        /// Why that is no fault of ours.
        why: &'static str,
    },
    /// Only fair-cycle liveness can see it.
    Pending {
        /// Why the search of states cannot.
        why: &'static str,
    },
}

/// The mutant of this id.
pub fn find(id: &str) -> Option<&'static Mutant> {
    MUTANTS.iter().find(|m| m.id.eq_ignore_ascii_case(id))
}
