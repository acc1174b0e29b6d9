//! Which scenarios are run in lockstep.

use fencepost_spec::scenario::RuleSet;

/// A scenario under a rule set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The scenario's name.
    pub scenario: &'static str,
    /// The rules.
    pub rules: RuleSet,
}

const fn case(scenario: &'static str, rules: RuleSet) -> Case {
    Case { scenario, rules }
}

/// `conform` without further words.
pub const DEFAULT: &[Case] = &[
    case("smoke", RuleSet::Tv1),
    case("smoke", RuleSet::Tv2),
];

/// `conform --profile mutation`: small runs that meet every kind of step.
pub const MUTATION: &[Case] = &[
    case("smoke", RuleSet::Tv1),
    case("smoke", RuleSet::Tv2),
];
