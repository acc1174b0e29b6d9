//! Where a mutant is judged, and what is expected there.

use crate::properties::Id;
use crate::rules::Rules;
use crate::scenario::RuleSet;

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

/// The mutant breaks `id` there.
pub(super) const fn killed(rules: RuleSet, scenario: &'static str, id: Id) -> Plan {
    Plan {
        rules,
        scenario,
        expect: Expect::Killed(id),
    }
}

/// The mutant breaks nothing there, for what `masked_by` says; with that guard off, too, `pair_breaks` is broken.
pub(super) const fn equivalent(
    rules: RuleSet,
    scenario: &'static str,
    pair_breaks: Id,
    masked_by: &'static str,
    guard_off: fn(&mut Rules),
) -> Plan {
    Plan {
        rules,
        scenario,
        expect: Expect::Equivalent {
            masked_by,
            guard_off,
            pair_breaks,
        },
    }
}

/// The right rules themselves break `breaks` there, for what `why` says.
pub(super) const fn expected(
    rules: RuleSet,
    scenario: &'static str,
    breaks: Id,
    why: &'static str,
) -> Plan {
    Plan {
        rules,
        scenario,
        expect: Expect::Expected { breaks, why },
    }
}
