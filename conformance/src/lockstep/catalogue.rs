//! Which scenarios are run in lockstep.

use fencepost_spec::scenario::RuleSet::{self, Tv1, Tv2, Upgrade};

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

/// `conform` without further words: every kind of step, with all rules, each case to its end.
pub const DEFAULT: &[Case] = &[
    case("smoke", Tv1),
    case("smoke", Tv2),
    case("retry", Tv1),
    case("retry", Tv2),
    case("zombie", Tv1),
    case("zombie", Tv2),
    case("timer", Tv1),
    case("timer", Tv2),
    case("late", Tv1),
    case("late", Tv2),
    case("election", Tv2),
    case("stale-coordinator", Tv1),
    case("stale-coordinator", Tv2),
    case("failed-append", Tv1),
    case("failed-append", Tv2),
    case("offsets", Tv1),
    case("offsets", Tv2),
    case("offsets-late", Tv1),
    case("offsets-late", Tv2),
    case("offsets-only", Tv1),
    case("offsets-only", Tv2),
    case("offsets-election", Tv1),
    case("offsets-election", Tv2),
    case("rebalance", Tv1),
    case("rebalance", Tv2),
    case("reader", Tv1),
    case("reader", Tv2),
    case("storage", Tv1),
    case("storage", Tv2),
    case("eviction", Tv1),
    case("eviction", Tv2),
    case("exhaustion", Tv1),
    case("exhaustion", Tv2),
    case("rotation", Tv1),
    case("rotation", Tv2),
    case("two-phase", Tv2),
    case("two-phase-rotation", Tv2),
    case("two-phase-double-overflow", Tv2),
    case("upgrade", Upgrade),
    case("pipeline", Tv1),
    case("pipeline", Tv2),
    case("idempotent", Tv1),
    case("idempotent", Tv2),
    case("sequence-wrap", Tv1),
    case("sequence-wrap", Tv2),
    case("answers", Tv1),
    case("answers", Tv2),
    case("hanging", Tv1),
    case("deleted-topic", Tv1),
    case("deleted-topic", Tv2),
    case("expired-id", Tv1),
    case("expired-id", Tv2),
    case("clock", Tv1),
    case("clock", Tv2),
    case("retry-eager", Tv1),
    case("retry-eager", Tv2),
    case("retry-once", Tv1),
    case("retry-once", Tv2),
    case("bump-retry", Tv1),
    case("bump-retry", Tv2),
    case("upgrade-retry", Upgrade),
    case("lost-marker", Tv1),
    case("lost-marker", Tv2),
    case("timer-once", Tv1),
    case("timer-once", Tv2),
];

/// `conform --profile mutation`: small runs that meet every kind of step.
pub const MUTATION: &[Case] = &[
    case("smoke", Tv1),
    case("smoke", Tv2),
    case("timer", Tv1),
    case("timer", Tv2),
    case("zombie", Tv2),
    case("late", Tv2),
    case("offsets-election", Tv1),
    case("offsets-election", Tv2),
    case("offsets-only", Tv2),
    case("storage", Tv1),
    case("eviction", Tv1),
    case("rotation", Tv1),
    case("rotation", Tv2),
    case("two-phase-rotation", Tv2),
    case("two-phase-double-overflow", Tv2),
    case("upgrade", Upgrade),
    case("pipeline", Tv2),
    case("idempotent", Tv1),
    case("sequence-wrap", Tv2),
    case("answers", Tv1),
    case("answers", Tv2),
    case("deleted-topic", Tv2),
    case("retry-eager", Tv1),
    case("lost-marker", Tv2),
    case("rebalance", Tv2),
];

/// Where each state of the model is met with one state of production: whatever production keeps beside it follows from it,
/// so nothing piles up there that no answer shows.
const ONE_STATE: &[Case] = &[
    case("smoke", Tv1),
    case("smoke", Tv2),
    case("timer", Tv2),
    case("eviction", Tv1),
    case("rotation", Tv2),
    case("two-phase-rotation", Tv2),
    case("two-phase-double-overflow", Tv2),
    case("idempotent", Tv1),
    case("sequence-wrap", Tv2),
    case("deleted-topic", Tv2),
    case("lost-marker", Tv2),
];

/// Whether production may have one state only for each of the model's in this run.
pub(super) fn keeps_one_state(scenario: &str, rules: &str) -> bool {
    let is_it = |case: &Case| case.scenario == scenario && case.rules.name() == rules;
    ONE_STATE.iter().any(is_it)
}

#[cfg(test)]
mod tests {
    use super::{DEFAULT, MUTATION, ONE_STATE};
    use fencepost_spec::scenario::find;

    #[test]
    fn every_case_is_a_run_of_the_catalogue() {
        for case in DEFAULT.iter().chain(MUTATION).chain(ONE_STATE) {
            let entry = find(case.scenario);
            let runs = entry.map_or(&[][..], |entry| entry.runs);
            let known = runs.iter().any(|(rules, _)| *rules == case.rules);
            assert!(known, "{case:?}");
        }
    }
}
