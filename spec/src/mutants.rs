//! Mutants.
use crate::rules::Rules;
/// A mutant.
pub struct Mutant { /// id
 pub id: &'static str, /// edit
 pub edit: fn(&mut Rules) }
/// find
pub fn find(id: &str) -> Option<&'static Mutant> { MUTANTS.iter().find(|m| m.id == id) }
/// all
pub const MUTANTS: &[Mutant] = &[];
