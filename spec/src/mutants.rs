//! Mutants: named edits of the rules, one for each way in which a real broker or client has been
//! wrong. [`ledger`] lists them all; code that runs the rules never asks which one is on.

use crate::rules::Rules;

mod guards;
mod ledger;
mod liveness;
mod plan;

pub use guards::{Cannot, GUARDS, Guard, NO_GUARDS, Side};
pub use ledger::MUTANTS;
pub use liveness::{FAIR_PLANS, FairPlan};
pub use plan::{Expect, Plan};

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

/// The mutant of this id.
pub fn find(id: &str) -> Option<&'static Mutant> {
    MUTANTS.iter().find(|m| m.id.eq_ignore_ascii_case(id))
}
