//! Judgements of mutants on fair cycles: every retriable answer is really sent, so that a livelock is a cycle, and a
//! dead end is a state in which a fair run stays.

use crate::properties::Id;
use crate::scenario::RuleSet;

/// One judgement of a mutant of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairPlan {
    /// The mutant's id.
    pub mutant: &'static str,
    /// Under which rules.
    pub rules: RuleSet,
    /// In which scenario, with retriable answers really sent.
    pub scenario: &'static str,
    /// What a fair run breaks that the right rules keep there.
    pub breaks: Id,
}

macro_rules! plans {
    ($($mutant:literal $rules:ident $scenario:literal $breaks:ident),+ $(,)?) => {
        /// Every judgement on fair cycles.
        pub const FAIR_PLANS: &[FairPlan] = &[$(FairPlan {
            mutant: $mutant,
            rules: RuleSet::$rules,
            scenario: $scenario,
            breaks: Id::$breaks,
        }),+];
    };
}

plans! {
    "M01a" Tv2 "smoke" L4,
    "M02" Tv1 "late" L1,
    "M02" Tv2 "smoke" L1,
    "M03" Tv1 "late" L1,
    "M04" Tv2 "smoke" L4,
    "M06a" Tv2 "lost-marker" L2,
    "M07" Tv1 "zombie" L1,
    "M07" Tv2 "zombie" L4,
    "M08" Tv2 "timer" L4,
    "M09b" Tv1 "late" L1,
    "M12" Tv1 "missed-test" L2,
    "M12" Tv2 "missed-test" L2,
    "M13a" Tv1 "failed-append" L4,
    "M13a" Tv2 "failed-append" L4,
    "M13b" Tv1 "failed-append" L4,
    "M13b" Tv2 "failed-append" L4,
    "M14a" Tv1 "offsets-election" L3,
    "M14a" Tv2 "offsets-election" L3,
    "M14b" Tv1 "offsets-election" L3,
    "M14b" Tv2 "offsets-election" L3,
    "M14c" Tv1 "storage" L1,
    "M14c" Tv2 "storage" L1,
    "M19b" Tv2 "exhaustion" L4,
    "M24a" Tv1 "offsets-late" L3,
    "M24a" Tv2 "offsets-late" L3,
    "M24b" Tv1 "offsets-late" L3,
    "M24b" Tv2 "offsets-late" L3,
    "M28" Tv1 "rebalance" L3,
    "M28" Tv2 "rebalance" L3,
    "M29" Tv1 "lost-marker" L1,
    "M29" Tv2 "lost-marker" L1,
    "M31" Tv1 "eviction" L4,
    "M31" Tv2 "eviction" L2,
    "M35b" Tv1 "storage" L4,
    "M35b" Tv2 "storage" L4,
    "M39a" Tv1 "compaction" L1,
    "M39a" Tv2 "compaction" L1,
    "M39b" Tv1 "compaction-replica" L1,
    "M39b" Tv2 "compaction-replica" L1,
    "M57" Tv1 "re-election-once" L2,
    "M57" Tv2 "re-election-once" L2,
    "M60" Tv1 "clock" L2,
    "M60" Tv2 "clock" L2,
    "M61" Tv1 "lost-marker" L2,
    "M61" Tv2 "lost-marker" L2,
    "M62" Tv1 "deleted-topic" L2,
    "M62" Tv2 "deleted-topic" L2,
    "M66a" Tv1 "sequence-wrap" L4,
    "M66a" Tv2 "sequence-wrap" L4,
    "M70" Tv1 "re-election-once" L4,
    "M70" Tv2 "re-election-once" L4,
    "M72" Tv1 "idempotent" L4,
    "M66b" Tv2 "rotation" L4,
    "M85" Tv1 "offsets-election" L2,
    "M85" Tv2 "offsets-election" L2,
    "M91" Tv1 "smoke" L1,
    "M91" Tv2 "smoke" L1,
}
