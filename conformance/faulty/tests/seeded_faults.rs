//! The lockstep run finds every fault that is compiled into the cores, and says by which steps.

use Fault::*;
use fencepost_conformance_faulty::fault::{self, Fault};
use fencepost_conformance_faulty::lockstep::{Options, ReplayError, Run, replay, run_case};
use fencepost_spec::scenario::RuleSet::{self, Tv1, Tv2, Upgrade};
use fencepost_spec::scenario::find;
use fencepost_spec::trace::TraceFile;
use std::collections::BTreeSet;

/// Where each fault is met.
const FAULTS: &[(Fault, &str, RuleSet)] = &[
    (DecisionKeepsEpoch, "smoke", Tv2),
    (OlderEpochEnds, "retry-eager", Tv2),
    (RetryIgnoresDirection, "timer", Tv2),
    (PartitionsSurviveCompletion, "smoke", Tv1),
    (OpenByIdOnly, "smoke", Tv2),
    (MarkerOfSameEpoch, "markers", Tv2),
    (FenceKeepsEpoch, "zombie", Tv1),
    (TimerKeepsEpoch, "timer", Tv1),
    (ZombieCoordinatorWrites, "eviction", Tv1),
    (OlderEpochAppends, "zombie", Tv1),
    (RetriedCommitRefused, "retry-once", Tv1),
    (RepeatedMarkerRefused, "markers", Tv2),
    (UnknownProducerRefused, "eviction", Tv1),
    (NobodyIsAsked, "late", Tv1),
    (GuardNotCompared, "late", Tv1),
    (AbortAnswersCommit, "timer", Tv1),
    (AnsweredBeforeDurable, "smoke", Tv1),
    (AnsweredBeforeReplicated, "storage", Tv1),
    (PreparedNotResumed, "offsets-election", Tv1),
    (FirstRecordCounts, "smoke", Tv1),
    (RecoveryForgetsAborted, "storage", Tv1),
    (TornBatchAccepted, "smoke", Tv1),
    (FirstMarkerCompletes, "smoke", Tv1),
    (LostMarkerForgotten, "lost-marker", Tv1),
    (DeletedPartitionBlocks, "deleted-topic", Tv1),
    (PendingSurvivesFailure, "failed-append", Tv1),
    (StagedUnasked, "offsets-only", Tv1),
    (UnstableAnswered, "rebalance", Tv1),
    (AnyGenerationStages, "rebalance", Tv1),
    (MarkerIgnoredInRebalance, "rebalance", Tv1),
    (OffsetsAddNothing, "offsets-only", Tv1),
    (StableIsReplicated, "smoke", Tv1),
    (AbortedListEmpty, "reader", Tv1),
    (MarkerLeavesOpen, "smoke", Tv1),
    (SnapshotForgetsOpen, "storage", Tv1),
    (AnySequence, "idempotent", Tv1),
    (WindowOfOne, "idempotent", Tv1),
    (OldIdentityAnswered, "rotation", Tv2),
    (NeverRotates, "rotation", Tv2),
    (FailedFenceRaisesAgain, "failed-fence", Tv1),
    (FencedByPartition, "zombie", Tv1),
    (UnknownIdIsFenced, "expired-id", Tv1),
    (ClockBackRefused, "clock", Tv1),
    (FailedSendForgotten, "bump-retry", Tv1),
    (BatchNumberedAgain, "pipeline", Tv1),
    (FailedEndIsSuccess, "timer", Tv1),
    (GivenUpWithoutBump, "bump-retry", Tv1),
    (SequencesSurviveEpoch, "retry-eager", Tv2),
    (UpgradeWithoutBump, "upgrade", Upgrade),
    (MappingErrorAborts, "expired-id", Tv1),
    (FencedAborts, "zombie", Tv1),
    (OffsetsUnregistered, "offsets-only", Tv1),
];

/// The run of a case on cores with this fault.
fn run(fault: Option<Fault>, scenario: &str, rules: RuleSet) -> Run {
    run_with(fault, scenario, rules, Options::default())
}

fn run_with(fault: Option<Fault>, scenario: &str, rules: RuleSet, options: Options) -> Run {
    let entry = find(scenario).unwrap_or_else(|| panic!("no scenario {scenario}"));
    fault::set(fault);
    let run = run_case(entry, rules, options);
    fault::set(None);
    run
}

/// What a fault's run says first.
fn first_difference(fault: Fault) -> String {
    let case = FAULTS.iter().find(|(it, ..)| *it == fault);
    let (_, scenario, rules) = case.unwrap_or_else(|| panic!("{fault:?} has no case"));
    let divergence = run(Some(fault), scenario, *rules).divergence;
    divergence.map_or_else(String::new, |it| it.differences.join("\n"))
}

#[test]
fn every_fault_is_found_by_a_trace_that_fails_until_it_is_gone() {
    let mut missed = Vec::new();
    for (fault, scenario, rules) in FAULTS.iter().copied() {
        let found = run(Some(fault), scenario, rules);
        let Some(divergence) = found.divergence else {
            missed.push(format!("{fault:?} in {scenario} {}", rules.name()));
            continue;
        };
        println!(
            "{fault:?} ({}, {}): {scenario} {}, {} steps. {}",
            fault.bug(),
            fault.kind(),
            rules.name(),
            divergence.steps,
            divergence.differences.first().map_or("", String::as_str)
        );
        let file = TraceFile::read(&divergence.to_string());
        let file = file.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        assert_eq!(replay(&file).ok(), Some(divergence.steps), "{fault:?}");
        fault::set(Some(fault));
        let again = replay(&file);
        fault::set(None);
        assert!(
            matches!(&again, Err(ReplayError::Differs(it)) if it.steps == divergence.steps),
            "{fault:?}: {again:?}"
        );
    }
    assert!(missed.is_empty(), "not found: {missed:#?}");
}

#[test]
fn every_fault_has_a_case_and_every_kind_of_fault_in_the_cores_has_a_fault() {
    for fault in Fault::ALL {
        let cases = FAULTS.iter().filter(|(it, ..)| it == fault).count();
        assert_eq!(cases, 1, "{fault:?}");
        assert!(!fault.says().is_empty());
    }
    let kinds: BTreeSet<&str> = Fault::ALL.iter().map(|fault| fault.kind()).collect();
    for kind in 1..=14 {
        let kind = format!("K{kind}");
        assert!(kinds.contains(kind.as_str()), "{kind}");
    }
}

#[test]
fn without_a_fault_the_same_cases_agree() {
    let cases: BTreeSet<(&str, RuleSet)> = FAULTS
        .iter()
        .map(|(_, scenario, rules)| (*scenario, *rules))
        .filter(|(scenario, _)| *scenario != "markers")
        .collect();
    for (scenario, rules) in cases {
        let found = run(None, scenario, rules);
        assert!(
            found.is_ok(),
            "{scenario} {}: {:?}",
            rules.name(),
            found.divergence
        );
    }
}

/// Seeds B1 and B2: the journal of transaction states, and what recovery reads of a log.
#[test]
fn a_recovery_that_reads_its_bytes_wrongly_is_found_by_a_crash() {
    for fault in [
        FirstRecordCounts,
        RecoveryForgetsAborted,
        PartitionsSurviveCompletion,
    ] {
        let found = first_difference(fault);
        assert!(
            found.starts_with("after a crash, after "),
            "{fault:?}: {found}"
        );
    }
    // Half a batch that counts as a whole one holds a record that nobody can read.
    let found = first_difference(TornBatchAccepted);
    assert!(found.contains("unexpected effect of log"), "{found}");
}

/// Seed A7. Why AddOffsets calls AddPartitions, what happens when marker writes fail after EndTxn, and what the
/// coordinator epoch is for: without each of them, the run differs; with them it agrees.
#[test]
fn a7_the_documents_three_questions_are_answered_by_runs() {
    for fault in [
        OffsetsAddNothing,
        LostMarkerForgotten,
        ZombieCoordinatorWrites,
    ] {
        assert!(!first_difference(fault).is_empty(), "{fault:?}");
    }
    for (scenario, rules) in [
        ("offsets-only", Tv1),
        ("lost-marker", Tv1),
        ("eviction", Tv1),
    ] {
        let found = run(None, scenario, rules);
        assert!(found.is_ok(), "{scenario}: {:?}", found.divergence);
    }
}

/// The properties find faults in production by themselves, with nothing compared.
#[test]
fn the_properties_bite_on_production_without_any_comparison() {
    let options = Options {
        only_properties: true,
        ..Options::default()
    };
    let mut found = Vec::new();
    for (fault, scenario, rules) in FAULTS.iter().copied() {
        let divergence = run_with(Some(fault), scenario, rules, options).divergence;
        let differences = divergence
            .map(|it| it.differences.join(" "))
            .unwrap_or_default();
        if differences.starts_with("properties that are broken") {
            found.push((fault, differences));
        }
    }
    println!("{found:#?}");
    assert!(found.len() >= 10, "{found:#?}");
    let (scenario, rules) = ("smoke", Tv1);
    let right = run_with(None, scenario, rules, options);
    assert!(right.is_ok(), "{:?}", right.divergence);
}
