//! The cases find the faults of the cores over TCP: the loopback broker runs the twin's cores, a fault is set on the
//! thread that runs them, and a case that passes without it fails.

use Asked::*;
use fencepost::types::TransactionVersion::{self, V1, V2};
use fencepost_conformance_faulty::cases::{Configuration, Level, OwnRun, Verdict, ask_our_own};
use fencepost_conformance_faulty::fault::{self, Fault};
use fencepost_conformance_faulty::loopback::Tamper;
use std::collections::BTreeSet;

/// Which cases a case is among.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Asked {
    /// Those of a level, which any broker is asked.
    Any(Level),
    /// Those that take our own broker: its clock, its disk, its restarts.
    Ours,
}

/// Full includes core.
const FULL: Asked = Any(Level::Full);

/// A fault, the case that must notice, and the version of the cluster.
struct Row {
    fault: Fault,
    /// Gives the thread that runs the cores the fault, as soon as its coordinator hears of anything at all.
    tamper: Tamper,
    version: TransactionVersion,
    asked: Asked,
    id: &'static str,
}

macro_rules! rows {
    ($(($fault:ident, $version:ident, $asked:expr, $id:literal)),+ $(,)?) => {
        static ROWS: &[Row] = &[$(Row {
            fault: Fault::$fault,
            tamper: Tamper {
                coordinator_takes: |input| {
                    fault::set(Some(Fault::$fault));
                    input
                },
                ..Tamper::NONE
            },
            version: $version,
            asked: $asked,
            id: $id,
        }),+];
    };
}

rows! {
    (DecisionKeepsEpoch, V2, FULL, "end/16"),
    (OlderEpochEnds, V2, FULL, "end/14"),
    (RetryIgnoresDirection, V2, FULL, "end/21"),
    (PartitionsSurviveCompletion, V2, FULL, "parts/07"),
    (MarkerOfSameEpoch, V2, FULL, "markers/05"),
    (FenceKeepsEpoch, V1, FULL, "fence/01"),
    (TimerKeepsEpoch, V1, Ours, "time/01"),
    (ZombieCoordinatorWrites, V2, Any(Level::Fault), "init/21"),
    (OlderEpochAppends, V2, FULL, "markers/12"),
    (RetriedCommitRefused, V2, FULL, "end/06"),
    (RepeatedMarkerRefused, V2, FULL, "markers/08"),
    (UnknownProducerRefused, V2, FULL, "markers/11"),
    (NobodyIsAsked, V2, FULL, "tv2/01"),
    (AbortAnswersCommit, V2, FULL, "end/07"),
    (AnsweredBeforeReplicated, V2, Ours, "disk/01"),
    (FirstRecordCounts, V2, Ours, "load/03"),
    (TornBatchAccepted, V2, Ours, "size/02"),
    (StagedUnasked, V2, FULL, "offsets/03"),
    (UnstableAnswered, V2, FULL, "offsets/01"),
    (AnyGenerationStages, V2, FULL, "offsets/08"),
    (OffsetsAddNothing, V2, FULL, "parts/12"),
    (StableIsReplicated, V2, FULL, "lso/03"),
    (AbortedListEmpty, V2, FULL, "lso/05"),
    (MarkerLeavesOpen, V2, FULL, "seq/06"),
    (SnapshotForgetsOpen, V2, Ours, "load/04"),
    (AnySequence, V2, FULL, "seq/02"),
    (WindowOfOne, V2, FULL, "seq/03"),
    (OldIdentityAnswered, V2, Any(Level::TwoPhase), "2pc/03"),
    (NeverRotates, V2, Any(Level::Slow), "epoch/01"),
    (FencedByPartition, V2, FULL, "fence/10"),
    (UnknownIdIsFenced, V2, FULL, "parts/01"),
    (AnsweredBeforeDurable, V2, Ours, "disk/05"),
    (PendingSurvivesFailure, V1, Ours, "disk/05"),
    (FailedFenceRaisesAgain, V1, Ours, "disk/06"),
    (OpenByIdOnly, V2, Any(Level::Fault), "tour/produce/open/concurrent_transactions"),
    (FirstMarkerCompletes, V2, Any(Level::Fault), "tour/add_offsets_to_txn/pending_prepare_abort/concurrent_transactions"),
    (PreparedNotResumed, V2, Ours, "undone/01"),
    (LostMarkerForgotten, V2, Ours, "undone/02"),
    (DeletedPartitionBlocks, V2, Ours, "undone/03"),
    (ClockBackRefused, V2, Ours, "undone/04"),
    (MarkerIgnoredInRebalance, V2, Ours, "party/15"),
}

/// What a case says of the cores.
fn verdict(row: &'static Row, tamper: Tamper) -> (Verdict, String) {
    let run = OwnRun {
        transaction_version: row.version,
        configuration: Configuration::OneNode,
        level: match row.asked {
            Any(level) => level,
            Ours => Level::Fault,
        },
        globs: std::slice::from_ref(&row.id),
        ours: row.asked == Ours,
        walked: 0,
    };
    let report = ask_our_own(&run, tamper).unwrap_or_else(|error| panic!("{}: {error}", row.id));
    let [case] = report.cases.as_slice() else {
        panic!("{}: {} cases", row.id, report.cases.len());
    };
    (case.verdict, case.story())
}

#[test]
fn a_fault_in_the_cores_is_caught_by_a_case_that_passes_without_it() {
    for row in ROWS {
        let (fault, id) = (row.fault, row.id);
        let (right, story) = verdict(row, Tamper::NONE);
        assert_eq!(right, Verdict::Pass, "{id} without a fault: {story}");
        let (wrong, story) = verdict(row, row.tamper);
        assert_eq!(wrong, Verdict::Fail, "{fault:?}, {id}: {story}");
        let last = story.lines().rev().nth(1).unwrap_or_default();
        println!("{fault:?} ({}): {id}.{last}", fault.bug());
    }
    let faults: BTreeSet<String> = ROWS.iter().map(|it| format!("{:?}", it.fault)).collect();
    assert_eq!(faults.len(), ROWS.len(), "a fault stands twice");
}
