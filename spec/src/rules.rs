//! The protocol as a value. The right rules are Apache Kafka's, as released; a mutant is an edit
//! of this value ([`crate::mutants`]). Code that runs the rules reads these fields and never asks
//! which mutant is on.

use crate::coordinator::{EndTxnCell, EndTxnGuard, EndTxnRow};
use crate::types::TransactionVersion;

/// The rules of a whole run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    /// The finalized `transaction.version` at the start.
    pub transaction_version: TransactionVersion,
    /// The finalized version may be raised to TV2 inside the run.
    pub upgrade: bool,
    /// `transaction.partition.verification.enable`.
    pub verification: bool,
    /// The marker of a TV2 transaction must carry a higher epoch (KIP-1228).
    pub strict_marker_epoch: bool,
    /// `transaction.two.phase.commit.enable`.
    pub two_phase: bool,
    /// InitProducerId and epoch fences.
    pub init: InitRules,
    /// AddPartitionsToTxn and AddOffsetsToTxn.
    pub add: AddRules,
    /// EndTxn.
    pub end_txn: EndTxnRules,
    /// Markers and completion at the coordinator.
    pub markers: MarkerRules,
    /// The coordinator's log, load and timers.
    pub log: LogRules,
    /// Partition leaders: Produce and WriteTxnMarkers.
    pub produce: ProduceRules,
    /// Partition logs: recovery, compaction.
    pub storage: StorageRules,
    /// Fetch.
    pub fetch: FetchRules,
    /// The offsets partition.
    pub group: GroupRules,
    /// The client.
    pub client: ClientRules,
}

/// InitProducerId, the fence and exhaustion.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InitRules {
    /// The answer waits for the log (KIP-98).
    pub answer_after_durable: bool,
    /// An expected epoch is compared while a transaction is open (Kafka does not: the fence comes
    /// first, and the bump that would compare it later; docs/DEVIATIONS.md).
    pub ongoing_compares_epoch: bool,
    /// A fencing abort raises the epoch before it aborts.
    pub fence_bumps_epoch: bool,
    /// Under TV2 the fence and the abort share one bump (KAFKA-19367).
    pub fence_single_bump: bool,
    /// A coordinator's own abort at 32766 rotates the producer id (KAFKA-20090).
    pub fence_rotates: bool,
    /// InitProducerId at 32766 rotates the producer id.
    pub init_rotates: bool,
    /// A failed fence is remembered, so that the next one does not bump again (KAFKA-9666).
    pub remember_failed_fence: bool,
    /// Under TV2 a failed fence leaves the epoch in memory alone (KAFKA-19367).
    pub failed_fence_keeps_epoch: bool,
}

/// AddPartitionsToTxn and AddOffsetsToTxn.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AddRules {
    /// "Already there" is answered only in Ongoing (KAFKA-5268).
    pub shortcut_only_in_ongoing: bool,
    /// The answer waits for the log (KIP-98).
    pub answer_after_durable: bool,
    /// The Ongoing transition is logged.
    pub ongoing_is_logged: bool,
    /// What is pending is asked before the identity is compared (KAFKA-18660).
    pub pending_before_identity: bool,
    /// AddOffsetsToTxn opens a transaction as AddPartitionsToTxn does.
    pub add_offsets_opens: bool,
}

/// How EndTxn compares the request's epoch with the stored one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EpochRule {
    /// Only the stored epoch.
    Equal,
    /// Any epoch up to the stored one.
    AtMost,
    /// Any epoch from the stored one on (KAFKA-9600's fault).
    AtLeast,
}

/// EndTxn.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EndTxnRules {
    /// First refusal wins; TV1's order.
    pub guards_tv1: [EndTxnGuard; 4],
    /// First refusal wins; TV2's order (KAFKA-18464, KAFKA-18660).
    pub guards_tv2: [EndTxnGuard; 4],
    /// The epoch comparison in Ongoing.
    pub epoch_rule: EpochRule,
    /// TV2: the decision raises the epoch (KIP-890).
    pub bump_epoch_at_prepare: bool,
    /// TV2: the answer names the identity after completion (KAFKA-18660).
    pub answer_next_identity: bool,
    /// One cell of the decision table that answers otherwise.
    pub cell: Option<(EndTxnCell, EndTxnRow)>,
    /// TV2: a retry is recognised only for the same verb.
    pub retry_needs_same_verb: bool,
}

/// Markers and completion.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MarkerRules {
    /// Only the acknowledgement that empties the set completes (KAFKA-10080).
    pub completion_owned: bool,
    /// Every acknowledgement is followed by the completion test (KAFKA-9777).
    pub test_after_every_ack: bool,
    /// An acknowledgement ticks off only its own partition (KAFKA-17877).
    pub ack_ticks_own_partition: bool,
    /// A marker lost in the sender is sent again (KAFKA-6131).
    pub resend_lost: bool,
    /// A deleted partition is dropped from the set (KAFKA-5202).
    pub drop_deleted: bool,
    /// A partition without a leader is taken for a deleted one (KAFKA-20734: Kafka 4.4.0 does).
    pub drop_leaderless: bool,
    /// Completion clears the partition set (KAFKA-5268).
    pub completion_clears_partitions: bool,
}

/// The coordinator's log, load and timers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LogRules {
    /// A failed append clears the pending transition (KAFKA-5351).
    pub failure_clears_pending: bool,
    /// A completion whose append failed stays pending while it is retried (KAFKA-5416).
    pub completion_stays_pending: bool,
    /// A completion that the log refuses because another broker leads is no longer pending, as any
    /// other refused append (Kafka's rule, docs/DEVIATIONS.md).
    pub refused_completion_clears_pending: bool,
    /// The record holds the previous epoch (KAFKA-20357, not in Kafka 4.4.0).
    pub log_last_epoch: bool,
    /// Load resumes what is prepared.
    pub resume_prepared: bool,
    /// Load replaces what an earlier term left in the cache (KAFKA-9307).
    pub load_replaces_cache: bool,
    /// Nothing is served before load has finished.
    pub serve_only_after_load: bool,
    /// A clock that steps back does not stop a transition (KAFKA-5415).
    pub tolerate_clock_back: bool,
    /// The timer raises the epoch before it aborts (KAFKA-6119).
    pub timer_bumps_epoch: bool,
    /// The timer leaves two-phase transactions alone (KIP-939).
    pub timer_skips_2pc: bool,
}

/// Whether a partition has an open transaction of a producer, for verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpenRule {
    /// Same producer id and epoch (KAFKA-18575).
    SameEpoch,
    /// The producer id alone.
    AnyEpoch,
}

/// Produce and WriteTxnMarkers at a partition leader.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProduceRules {
    /// The first batch of a transaction asks the coordinator (KIP-890 part 1).
    pub ask_coordinator: bool,
    /// The verification guard is compared at append (KAFKA-14884).
    pub compare_guard: bool,
    /// TV2: a marker at the epoch of a waiting guard leaves it, for the guard belongs to the next
    /// transaction (KAFKA-18575).
    pub marker_keeps_next_guard: bool,
    /// What counts as an open transaction.
    pub open_rule: OpenRule,
    /// A marker equal to the partition's epoch with nothing open is a repeat (KAFKA-19999).
    pub repeated_marker_ok: bool,
    /// A marker for a producer without state is accepted.
    pub unknown_marker_ok: bool,
    /// The coordinator epoch of markers is compared.
    pub check_coordinator_epoch: bool,
    /// The first sequence is checked: 0 under TV2, not past the lowest seen under TV1 (KAFKA-14904).
    pub check_first_sequence: bool,
    /// How many batches are remembered for duplicates.
    pub window: u8,
    /// A non-transactional batch inside a transaction is refused (KAFKA-14916).
    pub refuse_plain_in_txn: bool,
    /// An abort marker clears every field of the open transaction.
    pub abort_clears_all: bool,
    /// Acknowledged only once replicated.
    pub ack_after_replication: bool,
    /// Sequences wrap from `i32::MAX` to 0.
    pub sequence_wraps: bool,
}

/// Partition logs at rest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StorageRules {
    /// Producer state is only dropped once nothing old can be in flight.
    pub evict_only_when_quiet: bool,
    /// A snapshot holds open transactions.
    pub snapshot_open_txns: bool,
    /// A snapshot holds nothing past its offset (KAFKA-6683).
    pub snapshot_at_its_offset: bool,
    /// A marker is compacted only after its data (KAFKA-14055).
    pub compact_data_first: bool,
    /// A marker is compacted only when every replica has it.
    pub compact_after_replicas: bool,
}

/// Fetch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FetchRules {
    /// The bound is taken once (KAFKA-9807).
    pub single_bound: bool,
    /// The last stable offset waits for what is applied.
    pub bound_by_applied: bool,
    /// The first undecided offset itself is not readable.
    pub bound_exclusive: bool,
    /// read_committed is bounded by the last stable offset.
    pub bound_by_lso: bool,
    /// Nothing past the high watermark is read.
    pub bound_by_high_watermark: bool,
    /// A new leader serves only once it has recovered.
    pub serve_after_recovery: bool,
    /// A fetch that waited still carries the aborted list (KAFKA-5376).
    pub aborted_list_when_delayed: bool,
    /// The aborted list covers the whole range that is returned.
    pub aborted_list_full_range: bool,
}

/// The offsets partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupRules {
    /// A marker is acknowledged after its offsets are applied (KAFKA-17507).
    pub ack_after_apply: bool,
    /// Staged offsets are told apart by producer id only (Kafka's rule).
    pub staged_by_producer_id: bool,
    /// Staging asks the coordinator first (KAFKA-15449).
    pub verify_staging: bool,
    /// Generation, guard and append are one step (KAFKA-15784).
    pub staging_atomic: bool,
    /// Staging compares the epoch.
    pub staging_checks_epoch: bool,
    /// OffsetFetch waits for staged offsets (KIP-447).
    pub fetch_waits_for_staged: bool,
    /// Staging compares the instance id (KIP-345).
    pub check_instance: bool,
    /// Staging asks whether the member is in the group (KIP-447).
    pub check_member: bool,
    /// Staging compares the generation (KIP-447).
    pub check_generation: bool,
    /// Nothing is served before the offsets partition is read.
    pub serve_after_load: bool,
    /// Markers are applied in every state of the group.
    pub marker_in_any_state: bool,
    /// Staged offsets pin the group against expiry (KAFKA-19163).
    pub staged_pin_group: bool,
}

/// The client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClientRules {
    /// INVALID_PRODUCER_ID_MAPPING is fatal (KAFKA-18019).
    pub mapping_error_is_fatal: bool,
    /// After a given-up Produce the client bumps its epoch (KIP-360).
    pub bump_after_give_up: bool,
    /// Batches whose fate is open keep their number (KAFKA-14034).
    pub drain_before_bump: bool,
    /// A bump restarts the sequences of every partition (KAFKA-12152).
    pub bump_resets_all_partitions: bool,
    /// The sequence counter outlives everything but an epoch change.
    pub keeps_sequence: bool,
    /// A failed send forbids the commit (KAFKA-9279).
    pub error_latch: bool,
    /// EndTxn waits for every acknowledgement (KAFKA-5449).
    pub end_waits_for_acks: bool,
    /// EndTxn is not skipped while a registration is in flight.
    pub end_waits_for_registration: bool,
    /// An error answer to EndTxn reaches the application.
    pub reports_end_error: bool,
    /// The first transaction under TV2 is preceded by a bump (KAFKA-18227).
    pub bump_at_upgrade: bool,
    /// Every batch of a transaction carries the transactional flag (KAFKA-5364).
    pub batches_are_transactional: bool,
}

impl Rules {
    /// Apache Kafka's rules at the given `transaction.version`.
    pub fn kafka(version: TransactionVersion) -> Self {
        use EndTxnGuard::*;
        Self {
            transaction_version: version,
            upgrade: false,
            verification: true,
            strict_marker_epoch: true,
            two_phase: true,
            init: InitRules {
                answer_after_durable: true,
                ongoing_compares_epoch: false,
                fence_bumps_epoch: true,
                fence_single_bump: true,
                fence_rotates: true,
                init_rotates: true,
                remember_failed_fence: true,
                failed_fence_keeps_epoch: true,
            },
            add: AddRules {
                shortcut_only_in_ongoing: true,
                answer_after_durable: true,
                ongoing_is_logged: true,
                pending_before_identity: true,
                add_offsets_opens: true,
            },
            end_txn: EndTxnRules {
                guards_tv1: [
                    MappingExists,
                    SameProducerId,
                    CurrentEpoch,
                    NoPendingTransition,
                ],
                guards_tv2: [
                    MappingExists,
                    NoPendingTransition,
                    SameProducerId,
                    CurrentEpoch,
                ],
                epoch_rule: EpochRule::Equal,
                bump_epoch_at_prepare: true,
                answer_next_identity: true,
                cell: None,
                retry_needs_same_verb: true,
            },
            markers: MarkerRules {
                completion_owned: true,
                test_after_every_ack: true,
                ack_ticks_own_partition: true,
                resend_lost: true,
                drop_deleted: true,
                drop_leaderless: true,
                completion_clears_partitions: true,
            },
            log: LogRules {
                failure_clears_pending: true,
                completion_stays_pending: true,
                refused_completion_clears_pending: true,
                log_last_epoch: false,
                resume_prepared: true,
                load_replaces_cache: true,
                serve_only_after_load: true,
                tolerate_clock_back: true,
                timer_bumps_epoch: true,
                timer_skips_2pc: true,
            },
            produce: ProduceRules {
                ask_coordinator: true,
                compare_guard: true,
                marker_keeps_next_guard: true,
                open_rule: OpenRule::SameEpoch,
                repeated_marker_ok: true,
                unknown_marker_ok: true,
                check_coordinator_epoch: true,
                check_first_sequence: true,
                window: 5,
                refuse_plain_in_txn: true,
                abort_clears_all: true,
                ack_after_replication: true,
                sequence_wraps: true,
            },
            storage: StorageRules {
                evict_only_when_quiet: true,
                snapshot_open_txns: true,
                snapshot_at_its_offset: true,
                compact_data_first: true,
                compact_after_replicas: true,
            },
            fetch: FetchRules {
                single_bound: true,
                bound_by_applied: true,
                bound_exclusive: true,
                bound_by_lso: true,
                bound_by_high_watermark: true,
                serve_after_recovery: true,
                aborted_list_when_delayed: true,
                aborted_list_full_range: true,
            },
            group: GroupRules {
                ack_after_apply: true,
                staged_by_producer_id: true,
                verify_staging: true,
                staging_atomic: true,
                staging_checks_epoch: true,
                fetch_waits_for_staged: true,
                check_instance: true,
                check_member: true,
                check_generation: true,
                serve_after_load: true,
                marker_in_any_state: true,
                staged_pin_group: true,
            },
            client: ClientRules {
                mapping_error_is_fatal: true,
                bump_after_give_up: true,
                drain_before_bump: true,
                bump_resets_all_partitions: true,
                keeps_sequence: true,
                error_latch: true,
                end_waits_for_acks: true,
                end_waits_for_registration: true,
                reports_end_error: true,
                bump_at_upgrade: true,
                batches_are_transactional: true,
            },
        }
    }
}
