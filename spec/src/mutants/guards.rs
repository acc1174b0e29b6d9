//! The guards: every rule that refuses, waits or remembers, with the mutant that lets through what it stops (safety)
//! and the one that stops what it lets through (liveness). Where there is none, a search to the end shows it.
//!
//! The two mutants of a guard need not edit the same rule: a guard that is missing and one that is too strict are
//! often two rules (a marker at the epoch of the open transaction: M05 and M06a).

use crate::scenario::RuleSet;

/// A guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Its place in [`crate::rules::Rules`].
    pub rule: &'static str,
    /// What breaks a safety property.
    pub safety: Side,
    /// What breaks a liveness property.
    pub liveness: Side,
}

/// One side of a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// This mutant of the ledger breaks it, if need be with the guard off that masks it.
    By(&'static str),
    /// Nothing can.
    Cannot(Cannot),
}

/// Why a guard has no mutant on one side: the mutant that opens it breaks nothing there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cannot {
    /// The mutant.
    pub mutant: &'static str,
    /// Under which rules it is searched.
    pub rules: RuleSet,
    /// In which scenario.
    pub scenario: &'static str,
    /// Why.
    pub why: &'static str,
}

macro_rules! side {
    ($by:literal) => {
        Side::By($by)
    };
    (cannot $mutant:literal $rules:ident $scenario:literal $why:literal) => {
        Side::Cannot(Cannot {
            mutant: $mutant,
            rules: RuleSet::$rules,
            scenario: $scenario,
            why: $why,
        })
    };
}

macro_rules! guards {
    ($($rule:literal [$($safety:tt)*] [$($liveness:tt)*])+) => {
        /// Every guard, in the order of the rules.
        pub const GUARDS: &[Guard] = &[$(Guard {
            rule: $rule,
            safety: side!($($safety)*),
            liveness: side!($($liveness)*),
        }),+];
    };
}

/// The rules that are no guards: what the run is about, switches of Kafka's own, and Kafka's rules that are holes
/// themselves (docs/DEVIATIONS.md; a test closes each of them and the same bounds hold).
pub const NO_GUARDS: &[&str] = &[
    "transaction_version",
    "upgrade",
    "verification",
    "two_phase",
    "init.ongoing_compares_epoch",
    "markers.drop_leaderless",
    "log.refused_completion_clears_pending",
    "log.log_last_epoch",
];

guards! {
    "strict_marker_epoch" ["M05"] ["M06a"]
    "init.answer_after_durable" ["M14d"]
        [cannot "M14d" Tv2 "re-election-once" "an answer that comes too early keeps nobody waiting"]
    "init.fence_bumps_epoch" ["M07"] ["M07"]
    "init.fence_single_bump" ["M19a"] ["M19a"]
    "init.fence_rotates" ["M19b"] ["M19b"]
    "init.init_rotates" ["M66b"] ["M66b"]
    "init.remember_failed_fence" ["M20"]
        [cannot "M20" Tv1 "failed-fence" "at the last epoch the next InitProducerId takes a fresh producer id"]
    "init.failed_fence_keeps_epoch" ["M20"]
        [cannot "M20" Tv2 "failed-fence" "at the last epoch the next InitProducerId takes a fresh producer id"]
    "add.shortcut_only_in_ongoing" ["M09a"]
        [cannot "M09a" Tv1 "smoke" "completion clears the partition set, so that no registration is a repeat"]
    "add.answer_after_durable" ["M14a"] ["M14a"]
    "add.ongoing_is_logged" ["M14b"] ["M14b"]
    "add.pending_before_identity" ["M19d"]
        [cannot "M19d" Tv2 "rotation" "the refusal is final: the client stops, and nobody waits"]
    "add.add_offsets_opens" ["M55"]
        [cannot "M55" Tv1 "offsets-only" "EndTxn is refused in Empty: the client stops, and nothing is open"]
    "end_txn.guards_tv1" ["M16a"] ["M16a"]
    "end_txn.guards_tv2" ["M16a-tv2"]
        [cannot "M19d" Tv2 "rotation" "the refusal is final: the client stops, and nobody waits"]
    "end_txn.epoch_rule" ["M01b"]
        [cannot "M01b" Tv2 "retry-once" "an EndTxn too many is carried out, as every decision is"]
    "end_txn.bump_epoch_at_prepare" ["M01a"] ["M01a"]
    "end_txn.answer_next_identity" ["M19c"]
        [cannot "M19c" Tv2 "rotation" "an identity that is past is refused for good: the client stops"]
    "end_txn.cell" ["M17-tv2"]
        [cannot "M17-tv2" Tv2 "retry-once" "either answer is final, and nobody waits for another"]
    "end_txn.retry_needs_same_verb" ["M01c"]
        [cannot "M01c" Tv2 "timer" "either answer is final, and nobody waits for another"]
    "markers.completion_owned" ["M10"] ["M12"]
    "markers.test_after_every_ack" ["M10"] ["M12"]
    "markers.ack_ticks_own_partition" ["M29"] ["M29"]
    "markers.resend_lost" ["M61"] ["M61"]
    "markers.drop_deleted"
        [cannot "M62" Tv1 "deleted-topic" "what is held up was decided, and is there for every reader but of the deleted topic"]
        ["M62"]
    "markers.completion_clears_partitions" ["M09b"] ["M09b"]
    "log.failure_clears_pending" ["M13b"] ["M13a"]
    "log.completion_stays_pending" ["M13b"] ["M13b"]
    "log.resume_prepared"
        [cannot "M85" Tv1 "offsets-election" "what is not resumed is not decided otherwise"]
        ["M85"]
    "log.load_replaces_cache" ["M57"] ["M57"]
    "log.serve_only_after_load" ["M70"] ["M70"]
    "log.tolerate_clock_back"
        [cannot "M60" Tv1 "clock" "a transition that stops changes nothing"]
        ["M60"]
    "log.timer_bumps_epoch" ["M08"] ["M08"]
    "log.timer_skips_2pc" ["X13"]
        [cannot "X13" Tv2 "two-phase" "an abort too many ends what was open"]
    "produce.ask_coordinator" ["M02"] ["M02"]
    "produce.compare_guard" ["M03"] ["M03"]
    "produce.marker_keeps_next_guard" ["M04b"]
        [cannot "M04b" Tv2 "smoke" "the client aborts after the refusal, and goes on"]
    "produce.open_rule" ["M33"] ["M04"]
    "produce.repeated_marker_ok" ["M05"] ["M06a"]
    "produce.unknown_marker_ok" ["M32b"] ["M31"]
    "produce.check_coordinator_epoch" ["M32a"]
        [cannot "M32a" Tv1 "eviction" "a marker too many is accepted, and acknowledged"]
    "produce.check_first_sequence" ["M40"]
        [cannot "M40" Tv1 "pipeline-verification" "the client aborts after the refusal, and goes on"]
    "produce.window" ["M72"] ["M72"]
    "produce.refuse_plain_in_txn" ["M47"]
        [cannot "M47" Tv2 "pipeline" "a batch too many is accepted, and acknowledged"]
    "produce.abort_clears_all" ["M91"] ["M91"]
    "produce.ack_after_replication" ["M14c"] ["M14c"]
    "produce.sequence_wraps" ["M66a"] ["M66a"]
    "storage.evict_only_when_quiet" ["M32b"]
        [cannot "M32b" Tv1 "eviction" "a producer that is not known is taken for a new one"]
    "storage.snapshot_open_txns" ["M35a"]
        [cannot "M35a" Tv1 "storage" "what the partition has forgotten its marker decides nevertheless"]
    "storage.snapshot_at_its_offset" ["M35b"] ["M35b"]
    "storage.compact_data_first" ["M39a"] ["M39a"]
    "storage.compact_after_replicas" ["M39b"] ["M39b"]
    "fetch.single_bound" ["M36a"]
        [cannot "M36a" Tv2 "reader-once" "nothing in the protocol waits for a reader"]
    "fetch.bound_by_applied" ["M36b"]
        [cannot "M36b" Tv2 "reader-once" "nothing in the protocol waits for a reader"]
    "fetch.bound_exclusive" ["M36c"]
        [cannot "M36c" Tv2 "reader-once" "nothing in the protocol waits for a reader"]
    "fetch.bound_by_lso" ["M36d"]
        [cannot "M36d" Tv2 "reader-once" "nothing in the protocol waits for a reader"]
    "fetch.bound_by_high_watermark" ["X10"]
        [cannot "X10" Tv2 "reader-once" "nothing in the protocol waits for a reader"]
    "fetch.serve_after_recovery" ["M36e"]
        [cannot "M36e" Tv2 "reader-once" "nothing in the protocol waits for a reader"]
    "fetch.aborted_list_when_delayed" ["M37a"]
        [cannot "M37a" Tv2 "reader-once" "nothing in the protocol waits for a reader"]
    "fetch.aborted_list_full_range" ["M37b"]
        [cannot "M37b" Tv2 "reader-once" "nothing in the protocol waits for a reader"]
    "group.ack_after_apply" ["M23a"]
        [cannot "M23a" Tv2 "rebalance" "an acknowledgement that comes too early keeps nobody waiting"]
    "group.staged_by_producer_id" ["M23b"]
        [cannot "M23b" Tv2 "rebalance" "every marker that is appended is applied to what its producer has staged before"]
    "group.verify_staging" ["M24a"] ["M24a"]
    "group.staging_atomic" ["M24b"] ["M24b"]
    "group.staging_checks_epoch"
        [cannot "M24c" Tv2 "offsets-late" "the coordinator has refused it before"]
        ["M24c"]
    "group.fetch_waits_for_staged" ["M25"]
        [cannot "M25" Tv2 "rebalance" "a member that does not wait goes on sooner"]
    "group.check_instance" ["X15"]
        [cannot "X15" Tv2 "rebalance" "a member too many may stage, and its marker decides it"]
    "group.check_member" ["X14"]
        [cannot "X14" Tv2 "member-expiry" "a member too many may stage, and its marker decides it"]
    "group.check_generation" ["M26"]
        [cannot "M26" Tv2 "rebalance" "a member too many may stage, and its marker decides it"]
    "group.serve_after_load" ["M70b"]
        [cannot "M70b" Tv2 "offsets-restart" "a member that does not wait goes on sooner"]
    "group.marker_in_any_state" ["M28"] ["M28"]
    "group.staged_pin_group" ["M68"]
        [cannot "M68" Tv2 "offsets-only" "a marker for an offset that is gone is applied to nothing, and acknowledged"]
    "client.mapping_error_is_fatal" ["M22"]
        [cannot "M22" Tv2 "expired-id" "a client that should stop goes on"]
    "client.bump_after_give_up" ["M41c"]
        [cannot "M41c" Tv1 "late" "a client that does not bump goes on sooner"]
    "client.drain_before_bump" ["M41a"]
        [cannot "M41a" Tv2 "idempotent" "a client that does not wait goes on sooner"]
    "client.bump_resets_all_partitions" ["M41b"]
        [cannot "M41b" Tv2 "idempotent" "a sequence out of order is refused for good: the client stops"]
    "client.keeps_sequence" ["M42"]
        [cannot "M42" Tv2 "idempotent" "a batch that is taken for a repeat is acknowledged"]
    "client.error_latch" ["M44"]
        [cannot "M44" Tv2 "late" "a client that does not abort goes on"]
    "client.end_waits_for_acks" ["M45a"] ["M45a"]
    "client.end_waits_for_registration" ["M45b"]
        [cannot "M45b" Tv1 "smoke" "a client that does not wait goes on sooner"]
    "client.reports_end_error" ["M46"]
        [cannot "M46" Tv2 "zombie" "a client that should stop goes on"]
    "client.bump_at_upgrade" ["M50"]
        [cannot "M50" Upgrade "upgrade" "a client that does not bump goes on sooner"]
    "client.batches_are_transactional" ["M47"]
        [cannot "M47" Tv2 "pipeline" "a batch too many is accepted, and acknowledged"]
}
