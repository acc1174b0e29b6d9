//! The ledger: every mutant with its judgements.

use super::{Expect, Mutant, Plan};
use crate::coordinator::{EndTxnCell, EndTxnGuard, EndTxnRow, Freshness, TransactionState};
use crate::error_code::ErrorCode;
use crate::properties::Id;
use crate::rules::{EpochRule, OpenRule};
use crate::scenario::RuleSet::*;
use crate::types::{TransactionResult, TransactionVersion};

/// Every mutant.
pub const MUTANTS: &[Mutant] = &[
    Mutant {
        id: "M01a",
        bug: "B01",
        says: "The decision does not raise the epoch.",
        edit: |r| r.end_txn.bump_epoch_at_prepare = false,
        plans: &[Plan {
            rules: Tv2,
            scenario: "retry",
            expect: Expect::Killed(Id::S1),
        }],
    },
    Mutant {
        id: "M01b",
        bug: "B01",
        says: "EndTxn in Ongoing accepts any epoch up to the stored one.",
        edit: |r| r.end_txn.epoch_rule = EpochRule::AtMost,
        plans: &[Plan {
            rules: Tv2,
            scenario: "retry",
            expect: Expect::Killed(Id::S2),
        }],
    },
    Mutant {
        id: "M01c",
        bug: "B01",
        says: "A retry of EndTxn is recognised whichever verb it has.",
        edit: |r| r.end_txn.retry_needs_same_verb = false,
        plans: &[Plan {
            rules: Tv2,
            scenario: "timer",
            expect: Expect::Killed(Id::S1),
        }],
    },
    Mutant {
        id: "M02",
        bug: "B02",
        says: "The first batch of a transaction is appended without asking the coordinator.",
        edit: |r| r.produce.ask_coordinator = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "late",
                expect: Expect::Killed(Id::L1),
            },
            Plan {
                rules: Tv2,
                scenario: "late",
                expect: Expect::Killed(Id::L1),
            },
        ],
    },
    Mutant {
        id: "M03",
        bug: "B03",
        says: "The verification guard is not compared at append.",
        edit: |r| r.produce.compare_guard = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "late",
                expect: Expect::Killed(Id::L1),
            },
            Plan {
                rules: Tv2,
                scenario: "late",
                expect: Expect::Equivalent {
                    masked_by: "the marker carries the bumped epoch",
                    guard_off: |r| r.end_txn.bump_epoch_at_prepare = false,
                    pair_breaks: Id::L1,
                },
            },
        ],
    },
    Mutant {
        id: "M04",
        bug: "B04",
        says: "A partition counts a transaction as open whatever its epoch.",
        edit: |r| r.produce.open_rule = OpenRule::AnyEpoch,
        plans: &[Plan {
            rules: Tv2,
            scenario: "smoke",
            expect: Expect::Killed(Id::L1),
        }],
    },
    Mutant {
        id: "M04b",
        bug: "B04",
        says: "A marker wipes the guard of the next transaction.",
        edit: |r| r.produce.marker_keeps_next_guard = false,
        plans: &[Plan {
            rules: Tv2,
            scenario: "smoke",
            expect: Expect::Killed(Id::S7),
        }],
    },
    Mutant {
        id: "M05",
        bug: "B05",
        says: "A marker at the epoch of the open transaction is accepted.",
        edit: |r| r.strict_marker_epoch = false,
        plans: &[Plan {
            rules: Tv2,
            scenario: "markers",
            expect: Expect::Killed(Id::S2),
        }],
    },
    Mutant {
        id: "M06a",
        bug: "B06",
        says: "A repeated marker is refused.",
        edit: |r| r.produce.repeated_marker_ok = false,
        plans: &[Plan {
            rules: Tv2,
            scenario: "markers",
            expect: Expect::Killed(Id::L2),
        }],
    },
    Mutant {
        id: "M07",
        bug: "B07",
        says: "A fencing abort does not raise the epoch.",
        edit: |r| {
            r.init.fence_bumps_epoch = false;
            r.verification = false;
        },
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "zombie",
                expect: Expect::Killed(Id::S5),
            },
            Plan {
                rules: Tv2,
                scenario: "zombie",
                expect: Expect::Killed(Id::S5),
            },
        ],
    },
    Mutant {
        id: "M08",
        bug: "B08",
        says: "The timer aborts at the current epoch.",
        edit: |r| r.log.timer_bumps_epoch = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "late",
                expect: Expect::Killed(Id::S1),
            },
            Plan {
                rules: Tv2,
                scenario: "timer",
                expect: Expect::Killed(Id::L2),
            },
        ],
    },
    Mutant {
        id: "M09a",
        bug: "B09",
        says: "A registration is answered from a finished transaction.",
        edit: |r| r.add.shortcut_only_in_ongoing = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "smoke",
                expect: Expect::Equivalent {
                    masked_by: "completion clears the partition set",
                    guard_off: |r| r.markers.completion_clears_partitions = false,
                    pair_breaks: Id::S1,
                },
            },
            Plan {
                rules: Tv2,
                scenario: "smoke",
                expect: Expect::Equivalent {
                    masked_by: "completion clears the partition set",
                    guard_off: |r| r.markers.completion_clears_partitions = false,
                    pair_breaks: Id::S7,
                },
            },
        ],
    },
    Mutant {
        id: "M09b",
        bug: "B09",
        says: "The partition set survives completion.",
        edit: |r| r.markers.completion_clears_partitions = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "late",
                expect: Expect::Killed(Id::L1),
            },
            Plan {
                rules: Tv2,
                scenario: "smoke",
                expect: Expect::Equivalent {
                    masked_by: "a registration is answered at once only in Ongoing",
                    guard_off: |r| r.add.shortcut_only_in_ongoing = false,
                    pair_breaks: Id::S7,
                },
            },
        ],
    },
    Mutant {
        id: "M10",
        bug: "B10",
        says: "Two acknowledgements both write the completion record.",
        edit: |r| r.markers.completion_owned = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "smoke",
                expect: Expect::Killed(Id::S9),
            },
            Plan {
                rules: Tv2,
                scenario: "smoke",
                expect: Expect::Killed(Id::S9),
            },
        ],
    },
    Mutant {
        id: "M12",
        bug: "B12",
        says: "The completion test can be missed.",
        edit: |r| r.markers.test_after_every_ack = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "missed-test",
                expect: Expect::Killed(Id::L2),
            },
            Plan {
                rules: Tv2,
                scenario: "missed-test",
                expect: Expect::Killed(Id::L2),
            },
        ],
    },
    Mutant {
        id: "M13a",
        bug: "B13",
        says: "A failed append leaves the transition pending.",
        edit: |r| r.log.failure_clears_pending = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "failed-append",
                expect: Expect::Killed(Id::L2),
            },
            Plan {
                rules: Tv2,
                scenario: "failed-append",
                expect: Expect::Killed(Id::L2),
            },
        ],
    },
    Mutant {
        id: "M13b",
        bug: "B13",
        says: "A completion that is retried is no longer pending.",
        edit: |r| r.log.completion_stays_pending = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "failed-append",
                expect: Expect::Killed(Id::S9),
            },
            Plan {
                rules: Tv2,
                scenario: "failed-append",
                expect: Expect::Killed(Id::S9),
            },
        ],
    },
    Mutant {
        id: "M14a",
        bug: "B14",
        says: "AddPartitionsToTxn is answered before its record is durable.",
        edit: |r| r.add.answer_after_durable = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "offsets-election",
                expect: Expect::Killed(Id::S1),
            },
            Plan {
                rules: Tv2,
                scenario: "offsets-election",
                expect: Expect::Killed(Id::S1),
            },
        ],
    },
    Mutant {
        id: "M14b",
        bug: "B14",
        says: "The Ongoing transition is not logged.",
        edit: |r| r.add.ongoing_is_logged = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "offsets-election",
                expect: Expect::Killed(Id::S9),
            },
            Plan {
                rules: Tv2,
                scenario: "offsets-election",
                expect: Expect::Killed(Id::S9),
            },
        ],
    },
    Mutant {
        id: "M14c",
        bug: "B14",
        says: "A batch is acknowledged before it is replicated.",
        edit: |r| r.produce.ack_after_replication = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "storage",
                expect: Expect::Killed(Id::S1),
            },
            Plan {
                rules: Tv2,
                scenario: "storage",
                expect: Expect::Killed(Id::S1),
            },
        ],
    },
    Mutant {
        id: "M16a",
        bug: "B16",
        says: "EndTxn in PrepareAbort accepts a commit.",
        edit: |r| {
            r.end_txn.guards_tv1 = [
                EndTxnGuard::MappingExists,
                EndTxnGuard::SameProducerId,
                EndTxnGuard::CurrentEpoch,
                EndTxnGuard::CurrentEpoch,
            ];
            r.end_txn.cell = Some((
                EndTxnCell {
                    version: TransactionVersion::Tv1,
                    state: TransactionState::PrepareAbort,
                    result: TransactionResult::Commit,
                    freshness: Freshness::Current,
                },
                EndTxnRow::Begin,
            ));
        },
        plans: &[Plan {
            rules: Tv1,
            scenario: "retry",
            expect: Expect::Killed(Id::S12),
        }],
    },
    Mutant {
        id: "M16a-tv2",
        bug: "B16",
        says: "A late EndTxn in PrepareAbort accepts a commit.",
        edit: |r| {
            r.end_txn.guards_tv2 = [
                EndTxnGuard::MappingExists,
                EndTxnGuard::SameProducerId,
                EndTxnGuard::CurrentEpoch,
                EndTxnGuard::CurrentEpoch,
            ];
            r.end_txn.cell = Some((
                EndTxnCell {
                    version: TransactionVersion::Tv2,
                    state: TransactionState::PrepareAbort,
                    result: TransactionResult::Commit,
                    freshness: Freshness::Retry,
                },
                EndTxnRow::Begin,
            ));
        },
        plans: &[Plan {
            rules: Tv2,
            scenario: "timer",
            expect: Expect::Killed(Id::S12),
        }],
    },
    Mutant {
        id: "M16b",
        bug: "B16",
        says: "A commit of an aborted transaction is answered with success.",
        edit: |r| {
            r.end_txn.cell = Some((
                EndTxnCell {
                    version: TransactionVersion::Tv1,
                    state: TransactionState::CompleteAbort,
                    result: TransactionResult::Commit,
                    freshness: Freshness::Current,
                },
                EndTxnRow::AlreadyDone,
            ))
        },
        plans: &[Plan {
            rules: Tv1,
            scenario: "timer-once",
            expect: Expect::Equivalent {
                masked_by: "the timer raises the epoch, so that the commit is fenced",
                guard_off: |r| r.log.timer_bumps_epoch = false,
                pair_breaks: Id::S1,
            },
        }],
    },
    Mutant {
        id: "M16b-tv2",
        bug: "B16",
        says: "A late commit of an aborted transaction is answered with success.",
        edit: |r| {
            r.end_txn.cell = Some((
                EndTxnCell {
                    version: TransactionVersion::Tv2,
                    state: TransactionState::CompleteAbort,
                    result: TransactionResult::Commit,
                    freshness: Freshness::Retry,
                },
                EndTxnRow::AlreadyDone,
            ))
        },
        plans: &[Plan {
            rules: Tv2,
            scenario: "timer",
            expect: Expect::Killed(Id::S1),
        }],
    },
    Mutant {
        id: "M17",
        bug: "B17",
        says: "A repeated commit is answered with a definite error.",
        edit: |r| {
            r.end_txn.cell = Some((
                EndTxnCell {
                    version: TransactionVersion::Tv1,
                    state: TransactionState::CompleteCommit,
                    result: TransactionResult::Commit,
                    freshness: Freshness::Current,
                },
                EndTxnRow::Refuse(ErrorCode::InvalidTxnState),
            ))
        },
        plans: &[Plan {
            rules: Tv1,
            scenario: "retry-once",
            expect: Expect::Killed(Id::S7),
        }],
    },
    Mutant {
        id: "M17-tv2",
        bug: "B17",
        says: "A repeated commit is answered with a definite error.",
        edit: |r| {
            r.end_txn.cell = Some((
                EndTxnCell {
                    version: TransactionVersion::Tv2,
                    state: TransactionState::CompleteCommit,
                    result: TransactionResult::Commit,
                    freshness: Freshness::Retry,
                },
                EndTxnRow::Refuse(ErrorCode::InvalidTxnState),
            ))
        },
        plans: &[Plan {
            rules: Tv2,
            scenario: "retry-once",
            expect: Expect::Killed(Id::S7),
        }],
    },
    Mutant {
        id: "M19a",
        bug: "B19",
        says: "A fence and its abort both raise the epoch.",
        edit: |r| r.init.fence_single_bump = false,
        plans: &[Plan {
            rules: Tv2,
            scenario: "exhaustion",
            expect: Expect::Killed(Id::S8),
        }],
    },
    Mutant {
        id: "M19b",
        bug: "B19",
        says: "A fencing abort at the last epoch does not rotate the producer id.",
        edit: |r| r.init.fence_rotates = false,
        plans: &[Plan {
            rules: Tv2,
            scenario: "exhaustion",
            expect: Expect::Killed(Id::L4),
        }],
    },
    Mutant {
        id: "M19c",
        bug: "B19",
        says: "EndTxn at the last epoch answers with the old producer id.",
        edit: |r| r.end_txn.answer_next_identity = false,
        plans: &[Plan {
            rules: Tv2,
            scenario: "exhaustion",
            expect: Expect::Killed(Id::S14),
        }],
    },
    Mutant {
        id: "M19d",
        bug: "B19",
        says: "EndTxn compares the producer id before it asks what is pending.",
        edit: |r| {
            r.add.pending_before_identity = false;
            r.end_txn.guards_tv2 = [
                EndTxnGuard::MappingExists,
                EndTxnGuard::SameProducerId,
                EndTxnGuard::NoPendingTransition,
                EndTxnGuard::CurrentEpoch,
            ];
        },
        plans: &[Plan {
            rules: Tv2,
            scenario: "rotation",
            expect: Expect::Killed(Id::S7),
        }],
    },
    Mutant {
        id: "M20",
        bug: "B20",
        says: "A fence that could not be written raises the epoch in memory again and again.",
        edit: |r| {
            r.init.remember_failed_fence = false;
            r.init.failed_fence_keeps_epoch = false;
        },
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "failed-fence",
                expect: Expect::Killed(Id::S9),
            },
            Plan {
                rules: Tv2,
                scenario: "failed-fence",
                expect: Expect::Killed(Id::S9),
            },
        ],
    },
    Mutant {
        id: "M21",
        bug: "B21",
        says: "The previous epoch is not in the record.",
        edit: |_| {},
        plans: &[Plan {
            rules: Tv1,
            scenario: "bump-retry",
            expect: Expect::Expected {
                breaks: Id::S7,
                why: "Kafka 4.4.0 does not write LastProducerEpoch (KAFKA-20357 is later)",
            },
        }],
    },
    Mutant {
        id: "M22",
        bug: "B22",
        says: "A client takes a fresh identity after a mapping error.",
        edit: |r| r.client.mapping_error_is_fatal = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "expired-id",
                expect: Expect::Killed(Id::S5),
            },
            Plan {
                rules: Tv2,
                scenario: "expired-id",
                expect: Expect::Killed(Id::S5),
            },
        ],
    },
    Mutant {
        id: "M23a",
        bug: "B23",
        says: "A marker is acknowledged before its offsets are applied.",
        edit: |r| r.group.ack_after_apply = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "offsets-late",
                expect: Expect::Killed(Id::S1),
            },
            Plan {
                rules: Tv2,
                scenario: "offsets-late",
                expect: Expect::Killed(Id::S1),
            },
        ],
    },
    Mutant {
        id: "M23b",
        bug: "B23",
        says: "Staged offsets are told apart by producer id and epoch; Kafka goes by the producer id alone.",
        edit: |r| r.group.staged_by_producer_id = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "offsets-late",
                expect: Expect::Equivalent {
                    masked_by: "a marker is acknowledged only once its offsets are applied",
                    guard_off: |r| r.group.ack_after_apply = false,
                    pair_breaks: Id::S1,
                },
            },
            Plan {
                rules: Tv2,
                scenario: "offsets-late",
                expect: Expect::Equivalent {
                    masked_by: "a marker is acknowledged only once its offsets are applied",
                    guard_off: |r| r.group.ack_after_apply = false,
                    pair_breaks: Id::S1,
                },
            },
        ],
    },
    Mutant {
        id: "M24a",
        bug: "B24",
        says: "Staging does not ask the coordinator.",
        edit: |r| r.group.verify_staging = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "offsets-late",
                expect: Expect::Killed(Id::L3),
            },
            Plan {
                rules: Tv2,
                scenario: "offsets-late",
                expect: Expect::Killed(Id::L3),
            },
        ],
    },
    Mutant {
        id: "M24b",
        bug: "B24",
        says: "Staging checks first and appends later.",
        edit: |r| {
            r.group.staging_atomic = false;
        },
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "offsets-late",
                expect: Expect::Killed(Id::L3),
            },
            Plan {
                rules: Tv2,
                scenario: "offsets-late",
                expect: Expect::Killed(Id::L3),
            },
        ],
    },
    Mutant {
        id: "M24c",
        bug: "B24",
        says: "Staging does not compare the epoch.",
        edit: |r| r.group.staging_checks_epoch = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "offsets-late",
                expect: Expect::Equivalent {
                    masked_by: "staging asks the coordinator first",
                    guard_off: |r| r.group.verify_staging = false,
                    pair_breaks: Id::L3,
                },
            },
            Plan {
                rules: Tv2,
                scenario: "offsets-late",
                expect: Expect::Equivalent {
                    masked_by: "staging asks the coordinator first",
                    guard_off: |r| r.group.verify_staging = false,
                    pair_breaks: Id::L3,
                },
            },
        ],
    },
    Mutant {
        id: "M25",
        bug: "B25",
        says: "OffsetFetch does not wait for staged offsets.",
        edit: |r| r.group.fetch_waits_for_staged = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "rebalance",
                expect: Expect::Killed(Id::S6),
            },
            Plan {
                rules: Tv2,
                scenario: "rebalance",
                expect: Expect::Killed(Id::S6),
            },
        ],
    },
    Mutant {
        id: "M26",
        bug: "B26",
        says: "Staging does not compare the generation.",
        edit: |r| r.group.check_generation = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "rebalance",
                expect: Expect::Killed(Id::S6),
            },
            Plan {
                rules: Tv2,
                scenario: "rebalance",
                expect: Expect::Killed(Id::S6),
            },
        ],
    },
    Mutant {
        id: "M28",
        bug: "B28",
        says: "A group that rebalances acknowledges a marker and ignores it.",
        edit: |r| r.group.marker_in_any_state = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "rebalance",
                expect: Expect::Killed(Id::S1),
            },
            Plan {
                rules: Tv2,
                scenario: "rebalance",
                expect: Expect::Killed(Id::S1),
            },
        ],
    },
    Mutant {
        id: "M29",
        bug: "B29",
        says: "An acknowledgement ticks off another partition too.",
        edit: |r| r.markers.ack_ticks_own_partition = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "lost-marker",
                expect: Expect::Killed(Id::L1),
            },
            Plan {
                rules: Tv2,
                scenario: "lost-marker",
                expect: Expect::Killed(Id::L1),
            },
        ],
    },
    Mutant {
        id: "M31",
        bug: "B31",
        says: "A marker for an unknown producer is refused.",
        edit: |r| r.produce.unknown_marker_ok = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "eviction",
                expect: Expect::Killed(Id::L2),
            },
            Plan {
                rules: Tv2,
                scenario: "eviction",
                expect: Expect::Killed(Id::L2),
            },
        ],
    },
    Mutant {
        id: "M32a",
        bug: "B32",
        says: "A partition does not compare coordinator epochs.",
        edit: |r| r.produce.check_coordinator_epoch = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "eviction",
                expect: Expect::Killed(Id::S4),
            },
            Plan {
                rules: Tv2,
                scenario: "eviction",
                expect: Expect::Equivalent {
                    masked_by: "a marker must carry a higher epoch",
                    guard_off: |r| r.strict_marker_epoch = false,
                    pair_breaks: Id::S4,
                },
            },
        ],
    },
    Mutant {
        id: "M32b",
        bug: "B32",
        says: "A partition forgets a producer whose old markers may still arrive.",
        edit: |r| r.storage.evict_only_when_quiet = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "eviction",
                expect: Expect::Killed(Id::S4),
            },
            Plan {
                rules: Tv2,
                scenario: "eviction",
                expect: Expect::Equivalent {
                    masked_by: "a marker must carry a higher epoch than the data that it decides",
                    guard_off: |r| {
                        r.strict_marker_epoch = false;
                        r.produce.check_coordinator_epoch = false;
                    },
                    pair_breaks: Id::S4,
                },
            },
        ],
    },
    Mutant {
        id: "M33",
        bug: "B33",
        says: "A new epoch is written into an older open transaction, whose marker then decides it.",
        edit: |r| {
            r.produce.open_rule = OpenRule::AnyEpoch;
            r.strict_marker_epoch = false;
        },
        plans: &[Plan {
            rules: Tv2,
            scenario: "smoke",
            expect: Expect::Killed(Id::S4),
        }],
    },
    Mutant {
        id: "M35a",
        bug: "B35",
        says: "A snapshot leaves open transactions out.",
        edit: |r| r.storage.snapshot_open_txns = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "storage",
                expect: Expect::Killed(Id::S9),
            },
            Plan {
                rules: Tv2,
                scenario: "storage",
                expect: Expect::Killed(Id::S9),
            },
        ],
    },
    Mutant {
        id: "M35b",
        bug: "B35",
        says: "A snapshot holds more than its offset says.",
        edit: |r| r.storage.snapshot_at_its_offset = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "storage",
                expect: Expect::Killed(Id::S9),
            },
            Plan {
                rules: Tv2,
                scenario: "storage",
                expect: Expect::Killed(Id::S9),
            },
        ],
    },
    Mutant {
        id: "M36a",
        bug: "B36",
        says: "A fetch reads the high watermark twice.",
        edit: |r| r.fetch.single_bound = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "reader",
                expect: Expect::Killed(Id::S2),
            },
            Plan {
                rules: Tv2,
                scenario: "reader",
                expect: Expect::Killed(Id::S2),
            },
        ],
    },
    Mutant {
        id: "M36b",
        bug: "B36",
        says: "The last stable offset is taken from the visible end while application lags.",
        edit: |r| r.fetch.bound_by_applied = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "reader-fail-over",
                expect: Expect::Killed(Id::S2),
            },
            Plan {
                rules: Tv2,
                scenario: "reader-fail-over",
                expect: Expect::Killed(Id::S2),
            },
        ],
    },
    Mutant {
        id: "M36c",
        bug: "B36",
        says: "The first undecided offset is readable.",
        edit: |r| r.fetch.bound_exclusive = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "reader",
                expect: Expect::Killed(Id::S2),
            },
            Plan {
                rules: Tv2,
                scenario: "reader",
                expect: Expect::Killed(Id::S2),
            },
        ],
    },
    Mutant {
        id: "M36d",
        bug: "B36",
        says: "read_committed is bounded by the high watermark.",
        edit: |r| r.fetch.bound_by_lso = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "reader",
                expect: Expect::Killed(Id::S2),
            },
            Plan {
                rules: Tv2,
                scenario: "reader",
                expect: Expect::Killed(Id::S2),
            },
        ],
    },
    Mutant {
        id: "M36e",
        bug: "B36",
        says: "A new leader serves before it has recovered.",
        edit: |r| r.fetch.serve_after_recovery = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "reader-fail-over",
                expect: Expect::Killed(Id::S2),
            },
            Plan {
                rules: Tv2,
                scenario: "reader-fail-over",
                expect: Expect::Killed(Id::S2),
            },
        ],
    },
    Mutant {
        id: "M37a",
        bug: "B37",
        says: "A fetch that waited omits the aborted list.",
        edit: |r| r.fetch.aborted_list_when_delayed = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "reader",
                expect: Expect::Killed(Id::S2),
            },
            Plan {
                rules: Tv2,
                scenario: "reader",
                expect: Expect::Killed(Id::S2),
            },
        ],
    },
    Mutant {
        id: "M37b",
        bug: "B37",
        says: "The aborted list covers too short a range.",
        edit: |r| r.fetch.aborted_list_full_range = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "reader",
                expect: Expect::Killed(Id::S2),
            },
            Plan {
                rules: Tv2,
                scenario: "reader",
                expect: Expect::Killed(Id::S2),
            },
        ],
    },
    Mutant {
        id: "M39a",
        bug: "B39",
        says: "Compaction drops a marker before its data.",
        edit: |r| r.storage.compact_data_first = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "compaction",
                expect: Expect::Killed(Id::S11),
            },
            Plan {
                rules: Tv2,
                scenario: "compaction",
                expect: Expect::Killed(Id::S11),
            },
        ],
    },
    Mutant {
        id: "M39b",
        bug: "B39",
        says: "Compaction drops a marker that a replica does not have.",
        edit: |r| r.storage.compact_after_replicas = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "compaction-replica",
                expect: Expect::Killed(Id::L1),
            },
            Plan {
                rules: Tv2,
                scenario: "compaction-replica",
                expect: Expect::Killed(Id::L1),
            },
        ],
    },
    Mutant {
        id: "M40",
        bug: "B40",
        says: "Any first sequence is accepted.",
        edit: |r| r.produce.check_first_sequence = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "pipeline-verification",
                expect: Expect::Killed(Id::S7),
            },
            Plan {
                rules: Tv2,
                scenario: "pipeline",
                expect: Expect::Killed(Id::S7),
            },
        ],
    },
    Mutant {
        id: "M41a",
        bug: "B41",
        says: "A client renumbers batches whose fate is open.",
        edit: |r| r.client.drain_before_bump = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "idempotent",
                expect: Expect::Killed(Id::S6),
            },
            Plan {
                rules: Tv2,
                scenario: "idempotent",
                expect: Expect::Killed(Id::S6),
            },
        ],
    },
    Mutant {
        id: "M41b",
        bug: "B41",
        says: "A client bumps its epoch and restarts the sequences of one partition only.",
        edit: |r| r.client.bump_resets_all_partitions = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "idempotent",
                expect: Expect::Killed(Id::S7),
            },
            Plan {
                rules: Tv2,
                scenario: "idempotent",
                expect: Expect::Killed(Id::S7),
            },
        ],
    },
    Mutant {
        id: "M41c",
        bug: "B41",
        says: "After a given-up Produce a client goes on at the same epoch.",
        edit: |r| r.client.bump_after_give_up = false,
        plans: &[Plan {
            rules: Tv1,
            scenario: "late",
            expect: Expect::Killed(Id::S2),
        }],
    },
    Mutant {
        id: "M42",
        bug: "B42",
        says: "A client restarts its sequence at the same epoch.",
        edit: |r| r.client.keeps_sequence = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "idempotent",
                expect: Expect::Killed(Id::S1),
            },
            Plan {
                rules: Tv2,
                scenario: "idempotent",
                expect: Expect::Killed(Id::S1),
            },
        ],
    },
    Mutant {
        id: "M44",
        bug: "B44",
        says: "A client commits although a send has failed.",
        edit: |r| r.client.error_latch = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "late",
                expect: Expect::Killed(Id::S1),
            },
            Plan {
                rules: Tv2,
                scenario: "late",
                expect: Expect::Killed(Id::S1),
            },
        ],
    },
    Mutant {
        id: "M45a",
        bug: "B45",
        says: "EndTxn does not wait for acknowledgements.",
        edit: |r| r.client.end_waits_for_acks = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "pipeline",
                expect: Expect::Killed(Id::S1),
            },
            Plan {
                rules: Tv2,
                scenario: "pipeline",
                expect: Expect::Killed(Id::S1),
            },
        ],
    },
    Mutant {
        id: "M45b",
        bug: "B45",
        says: "EndTxn is skipped while a registration is in flight.",
        edit: |r| r.client.end_waits_for_registration = false,
        plans: &[Plan {
            rules: Tv1,
            scenario: "smoke",
            expect: Expect::Killed(Id::S1),
        }],
    },
    Mutant {
        id: "M46",
        bug: "B46",
        says: "A refused EndTxn is reported as success.",
        edit: |r| r.client.reports_end_error = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "zombie",
                expect: Expect::Killed(Id::S1),
            },
            Plan {
                rules: Tv2,
                scenario: "zombie",
                expect: Expect::Killed(Id::S1),
            },
        ],
    },
    Mutant {
        id: "M47",
        bug: "B47",
        says: "A plain batch inside a transaction is accepted.",
        edit: |r| {
            r.client.batches_are_transactional = false;
            r.produce.refuse_plain_in_txn = false;
        },
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "pipeline",
                expect: Expect::Killed(Id::S2),
            },
            Plan {
                rules: Tv2,
                scenario: "pipeline",
                expect: Expect::Killed(Id::S2),
            },
        ],
    },
    Mutant {
        id: "M49",
        bug: "B49",
        says: "An operator writes an abort marker while the coordinator has the transaction.",
        edit: |_| {},
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "operator",
                expect: Expect::Expected {
                    breaks: Id::S3,
                    why: "a documented limitation of KIP-664",
                },
            },
            Plan {
                rules: Tv2,
                scenario: "operator",
                expect: Expect::Expected {
                    breaks: Id::S3,
                    why: "a documented limitation of KIP-664",
                },
            },
        ],
    },
    Mutant {
        id: "M50",
        bug: "B50",
        says: "A client turns to TV2 without a bump.",
        edit: |r| r.client.bump_at_upgrade = false,
        plans: &[Plan {
            rules: Upgrade,
            scenario: "upgrade",
            expect: Expect::Killed(Id::S4),
        }],
    },
    Mutant {
        id: "M55",
        bug: "B55",
        says: "AddOffsetsToTxn does not open a transaction.",
        edit: |r| r.add.add_offsets_opens = false,
        plans: &[Plan {
            rules: Tv1,
            scenario: "offsets-only",
            expect: Expect::Killed(Id::S7),
        }],
    },
    Mutant {
        id: "M57",
        bug: "B57",
        says: "A re-elected coordinator keeps its old cache.",
        edit: |r| r.log.load_replaces_cache = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "re-election",
                expect: Expect::Killed(Id::S9),
            },
            Plan {
                rules: Tv2,
                scenario: "re-election",
                expect: Expect::Killed(Id::S9),
            },
        ],
    },
    Mutant {
        id: "M60",
        bug: "B60",
        says: "A clock that steps back stops a transition.",
        edit: |r| r.log.tolerate_clock_back = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "clock",
                expect: Expect::Killed(Id::L2),
            },
            Plan {
                rules: Tv2,
                scenario: "clock",
                expect: Expect::Killed(Id::L2),
            },
        ],
    },
    Mutant {
        id: "M61",
        bug: "B61",
        says: "A marker that is lost in the sender is not sent again.",
        edit: |r| r.markers.resend_lost = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "lost-marker",
                expect: Expect::Killed(Id::L2),
            },
            Plan {
                rules: Tv2,
                scenario: "lost-marker",
                expect: Expect::Killed(Id::L2),
            },
        ],
    },
    Mutant {
        id: "M62",
        bug: "B62",
        says: "A deleted partition blocks the completion.",
        edit: |r| r.markers.drop_deleted = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "deleted-topic",
                expect: Expect::Killed(Id::L2),
            },
            Plan {
                rules: Tv2,
                scenario: "deleted-topic",
                expect: Expect::Killed(Id::L2),
            },
        ],
    },
    Mutant {
        id: "M62b",
        bug: "B62",
        says: "A partition without a leader is taken for a deleted one.",
        edit: |_| {},
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "leaderless",
                expect: Expect::Expected {
                    breaks: Id::L1,
                    why: "Kafka 4.4.0 drops the marker (KAFKA-20734); with the rule repaired the scenario holds",
                },
            },
            Plan {
                rules: Tv2,
                scenario: "leaderless",
                expect: Expect::Expected {
                    breaks: Id::L1,
                    why: "Kafka 4.4.0 drops the marker (KAFKA-20734); with the rule repaired the scenario holds",
                },
            },
        ],
    },
    Mutant {
        id: "M66a",
        bug: "B66",
        says: "Sequences do not wrap.",
        edit: |r| r.produce.sequence_wraps = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "sequence-wrap",
                expect: Expect::Killed(Id::S7),
            },
            Plan {
                rules: Tv2,
                scenario: "sequence-wrap",
                expect: Expect::Killed(Id::S7),
            },
        ],
    },
    Mutant {
        id: "M66b",
        bug: "B66",
        says: "InitProducerId at the last epoch does not rotate the producer id.",
        edit: |r| r.init.init_rotates = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "exhaustion",
                expect: Expect::Killed(Id::S14),
            },
            Plan {
                rules: Tv2,
                scenario: "exhaustion",
                expect: Expect::Killed(Id::S14),
            },
        ],
    },
    Mutant {
        id: "M68",
        bug: "B68",
        says: "Offsets expire although some are staged.",
        edit: |r| r.group.staged_pin_group = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "offsets-only",
                expect: Expect::Killed(Id::S1),
            },
            Plan {
                rules: Tv2,
                scenario: "offsets-only",
                expect: Expect::Killed(Id::S1),
            },
        ],
    },
    Mutant {
        id: "M70",
        bug: "B70",
        says: "A coordinator serves while it loads.",
        edit: |r| r.log.serve_only_after_load = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "re-election",
                expect: Expect::Killed(Id::S9),
            },
            Plan {
                rules: Tv2,
                scenario: "re-election",
                expect: Expect::Killed(Id::S9),
            },
        ],
    },
    Mutant {
        id: "M72",
        bug: "B72",
        says: "Fewer batches are remembered than may be in flight.",
        edit: |r| r.produce.window = 1,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "idempotent",
                expect: Expect::Killed(Id::S7),
            },
            Plan {
                rules: Tv2,
                scenario: "pipeline",
                expect: Expect::Killed(Id::S7),
            },
        ],
    },
    Mutant {
        id: "M85",
        bug: "B85",
        says: "What is prepared is not resumed on load.",
        edit: |r| r.log.resume_prepared = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "election",
                expect: Expect::Killed(Id::L2),
            },
            Plan {
                rules: Tv2,
                scenario: "election",
                expect: Expect::Killed(Id::L2),
            },
        ],
    },
    Mutant {
        id: "M91",
        bug: "B91",
        says: "An abort leaves the transaction open at the partition.",
        edit: |r| r.produce.abort_clears_all = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "smoke",
                expect: Expect::Killed(Id::L1),
            },
            Plan {
                rules: Tv2,
                scenario: "smoke",
                expect: Expect::Killed(Id::L1),
            },
        ],
    },
    Mutant {
        id: "X10",
        bug: "B36",
        says: "A read is bounded by the log end.",
        edit: |r| r.fetch.bound_by_high_watermark = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "reader-fail-over",
                expect: Expect::Killed(Id::S10),
            },
            Plan {
                rules: Tv2,
                scenario: "reader-fail-over",
                expect: Expect::Killed(Id::S10),
            },
        ],
    },
    Mutant {
        id: "X13",
        bug: "-",
        says: "The timer ends two-phase transactions.",
        edit: |r| r.log.timer_skips_2pc = false,
        plans: &[Plan {
            rules: Tv2,
            scenario: "two-phase",
            expect: Expect::Killed(Id::S13),
        }],
    },
    Mutant {
        id: "M08+M05",
        bug: "B08",
        says: "The timer aborts at the current epoch, and a marker at the epoch of the open transaction is accepted.",
        edit: |r| {
            r.log.timer_bumps_epoch = false;
            r.strict_marker_epoch = false;
        },
        plans: &[Plan {
            rules: Tv2,
            scenario: "late",
            expect: Expect::Killed(Id::S1),
        }],
    },
    Mutant {
        id: "M10+M31",
        bug: "B10",
        says: "Two acknowledgements both complete, and a marker for an unknown producer is refused.",
        edit: |r| {
            r.markers.completion_owned = false;
            r.produce.unknown_marker_ok = false;
        },
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "eviction",
                expect: Expect::Killed(Id::L2),
            },
            Plan {
                rules: Tv2,
                scenario: "eviction",
                expect: Expect::Killed(Id::L2),
            },
        ],
    },
    Mutant {
        id: "M14d+B51",
        bug: "B51",
        says: "Answers come before the log, and EndTxn accepts an epoch above the stored one.",
        edit: |r| {
            r.init.answer_after_durable = false;
            r.add.answer_after_durable = false;
            r.end_txn.epoch_rule = EpochRule::AtLeast;
        },
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "election",
                expect: Expect::Killed(Id::S2),
            },
            Plan {
                rules: Tv2,
                scenario: "election",
                expect: Expect::Killed(Id::S2),
            },
        ],
    },
    Mutant {
        id: "M14d",
        bug: "B14",
        says: "InitProducerId is answered before its record is durable.",
        edit: |r| r.init.answer_after_durable = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "election",
                expect: Expect::Killed(Id::S5),
            },
            Plan {
                rules: Tv2,
                scenario: "election",
                expect: Expect::Killed(Id::S8),
            },
        ],
    },
    Mutant {
        id: "M16a-commit",
        bug: "B16",
        says: "EndTxn in PrepareCommit accepts an abort.",
        edit: |r| {
            r.end_txn.guards_tv1 = [
                EndTxnGuard::MappingExists,
                EndTxnGuard::SameProducerId,
                EndTxnGuard::CurrentEpoch,
                EndTxnGuard::CurrentEpoch,
            ];
            r.end_txn.cell = Some((
                EndTxnCell {
                    version: TransactionVersion::Tv1,
                    state: TransactionState::PrepareCommit,
                    result: TransactionResult::Abort,
                    freshness: Freshness::Current,
                },
                EndTxnRow::Begin,
            ));
        },
        plans: &[Plan {
            rules: Tv1,
            scenario: "retry",
            expect: Expect::Killed(Id::S12),
        }],
    },
    Mutant {
        id: "M17+M46",
        bug: "B17",
        says: "A repeated commit is answered with a definite error, which the client reports as success.",
        edit: |r| {
            r.end_txn.cell = Some((
                EndTxnCell {
                    version: TransactionVersion::Tv1,
                    state: TransactionState::CompleteCommit,
                    result: TransactionResult::Commit,
                    freshness: Freshness::Current,
                },
                EndTxnRow::Refuse(ErrorCode::InvalidTxnState),
            ));
            r.client.reports_end_error = false;
        },
        plans: &[Plan {
            rules: Tv1,
            scenario: "zombie",
            expect: Expect::Killed(Id::S1),
        }],
    },
    Mutant {
        id: "M70b",
        bug: "B70",
        says: "A group coordinator serves while it loads.",
        edit: |r| r.group.serve_after_load = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "offsets-restart",
                expect: Expect::Killed(Id::S6),
            },
            Plan {
                rules: Tv2,
                scenario: "offsets-restart",
                expect: Expect::Killed(Id::S6),
            },
        ],
    },
    Mutant {
        id: "X14",
        bug: "-",
        says: "Staging does not ask whether the member is in the group.",
        edit: |r| r.group.check_member = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "member-expiry",
                expect: Expect::Equivalent {
                    masked_by: "the generation of a group that has lost its owner is another one",
                    guard_off: |r| r.group.check_generation = false,
                    pair_breaks: Id::S6,
                },
            },
            Plan {
                rules: Tv2,
                scenario: "member-expiry",
                expect: Expect::Equivalent {
                    masked_by: "the generation of a group that has lost its owner is another one",
                    guard_off: |r| r.group.check_generation = false,
                    pair_breaks: Id::S6,
                },
            },
        ],
    },
    Mutant {
        id: "X15",
        bug: "-",
        says: "Staging does not compare the instance id.",
        edit: |r| r.group.check_instance = false,
        plans: &[
            Plan {
                rules: Tv1,
                scenario: "static-member",
                expect: Expect::Equivalent {
                    masked_by: "a replaced member is no member any more",
                    guard_off: |r| r.group.check_member = false,
                    pair_breaks: Id::S6,
                },
            },
            Plan {
                rules: Tv2,
                scenario: "static-member",
                expect: Expect::Equivalent {
                    masked_by: "a replaced member is no member any more",
                    guard_off: |r| r.group.check_member = false,
                    pair_breaks: Id::S6,
                },
            },
        ],
    },
];
