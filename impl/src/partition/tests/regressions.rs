//! Bugs that brokers have had in this layer. Each test names the bug and shows the right behaviour.

use super::*;
use crate::error_code::ErrorCode::{
    ConcurrentTransactions, InvalidProducerEpoch, InvalidTxnState, NetworkException,
    NotEnoughReplicas, OutOfOrderSequenceNumber, TransactionAbortable,
    TransactionCoordinatorFenced,
};
use crate::types::TransactionResult::{Abort, Commit};

/// The answer to the coordinator's question, where it was asked.
fn asked(effects: &[Effect]) -> bool {
    effects
        .iter()
        .any(|effect| matches!(effect, Effect::AskCoordinator { .. }))
}

#[test]
fn b02_a_late_produce_after_the_abort_opens_nothing() {
    // P registers p0 and its Produce is held; it gives up, the abort marker lands; then the Produce arrives.
    let mut leader = Leader::tv1();
    leader.mark(Marker::tv1(1, 0, Abort)).unwrap();
    let (late, effects) = leader.send(Data::txn(1, 0, 0));
    assert!(asked(&effects));
    let answer = produced(&leader.answer(late, Err(TransactionAbortable)));
    assert_eq!(answer, Some(Err(TransactionAbortable)));
    leader.replicate_all();
    assert_eq!(leader.stable(), leader.end());
}

#[test]
fn b03_an_answer_from_before_the_marker_is_worth_nothing_after_it() {
    let mut leader = Leader::tv1();
    let (request, _) = leader.send(Data::txn(1, 0, 0));
    // "Ongoing, and this partition is in": but before the append the transaction is aborted here.
    leader.mark(Marker::tv1(1, 0, Abort)).unwrap();
    assert_eq!(
        produced(&leader.answer(request, Ok(()))),
        Some(Err(InvalidTxnState))
    );
    leader.replicate_all();
    assert_eq!(leader.stable(), leader.end());
}

#[test]
fn b03_a_second_question_does_not_revive_the_first_answer() {
    let mut leader = Leader::tv1();
    let (first, _) = leader.send(Data::txn(1, 0, 0));
    leader.mark(Marker::tv1(1, 0, Abort)).unwrap();
    let (second, _) = leader.send(Data::txn(1, 0, 0));
    assert_eq!(
        produced(&leader.answer(first, Ok(()))),
        Some(Err(InvalidTxnState))
    );
    assert!(matches!(
        produced(&leader.answer(second, Ok(()))),
        Some(Ok(_))
    ));
}

#[test]
fn b04_an_older_epochs_open_transaction_is_not_the_new_ones() {
    // T1's marker is on its way while T2's first batch, an epoch later, arrives: the coordinator must be asked, and it
    // says that T1 is still completing.
    let mut leader = Leader::tv2();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    let (request, effects) = leader.send(Data::txn(1, 1, 0));
    assert!(asked(&effects));
    let answer = produced(&leader.answer(request, Err(ConcurrentTransactions)));
    assert_eq!(answer, Some(Err(ConcurrentTransactions)));
    leader.mark(Marker::tv2(1, 1, Commit)).unwrap();
    assert_eq!(leader.produce_at(Data::txn(1, 1, 0)), Ok(2));
    leader.mark(Marker::tv2(1, 2, Abort)).unwrap();
    leader.replicate_all();
    assert_eq!(leader.committed_values(), ["1/0/0"]);
}

#[test]
fn b04_the_marker_before_does_not_wipe_the_question_about_the_next_transaction() {
    // T2's first batch waits for the coordinator while T1's marker, which carries T2's epoch, lands (KAFKA-18654).
    let mut leader = Leader::tv2();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    let (next, effects) = leader.send(Data::txn(1, 1, 0));
    assert!(asked(&effects));
    leader.mark(Marker::tv2(1, 1, Commit)).unwrap();
    assert!(matches!(
        produced(&leader.answer(next, Ok(()))),
        Some(Ok(_))
    ));
    // A later marker wipes as ever.
    let (late, _) = leader.send(Data::txn(2, 1, 0));
    leader.mark(Marker::tv2(2, 2, Abort)).unwrap();
    assert_eq!(
        produced(&leader.answer(late, Ok(()))),
        Some(Err(InvalidProducerEpoch))
    );
}

#[test]
fn without_verification_a_tv2_partition_still_joins_its_transaction() {
    let mut leader = Leader::unverified();
    assert!(!asked(&leader.send(Data::txn(1, 0, 0)).1));
    leader.support = TransactionSupport::Add;
    assert!(asked(&leader.send(Data::txn(2, 0, 0)).1));
}

#[test]
fn b05_a_repeated_tv2_marker_does_not_end_the_next_transaction() {
    let mut leader = Leader::tv2();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    leader.mark(Marker::tv2(1, 1, Commit)).unwrap();
    leader.produce(Data::txn(1, 1, 0)).unwrap();
    assert_eq!(
        leader.mark(Marker::tv2(1, 1, Commit)),
        Err(InvalidProducerEpoch)
    );
    leader.mark(Marker::tv2(1, 2, Abort)).unwrap();
    leader.replicate_all();
    assert_eq!(leader.committed_values(), ["1/0/0"]);
}

#[test]
fn b06_a_marker_that_comes_again_is_accepted_when_nothing_is_open() {
    let mut leader = Leader::tv2();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    leader.mark(Marker::tv2(1, 1, Abort)).unwrap();
    assert_eq!(leader.mark(Marker::tv2(1, 1, Abort)), Ok(()));
    assert_eq!(leader.end(), 3);
    assert_eq!(leader.partition.aborted().iter().count(), 1);
}

#[test]
fn b31_a_marker_for_a_forgotten_producer_is_accepted() {
    let mut leader = Leader::tv2();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    leader.mark(Marker::tv2(1, 1, Commit)).unwrap();
    leader.now = 86_400_000;
    leader.step(Input::Tick);
    assert_eq!(leader.state(1), None);
    assert_eq!(leader.mark(Marker::tv2(1, 1, Commit)), Ok(()));
}

#[test]
fn b32_a_coordinator_that_lost_its_leadership_decides_nothing() {
    let mut leader = Leader::tv1();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    leader.mark(Marker::tv1(1, 0, Commit).by(2)).unwrap();
    leader.produce(Data::txn(1, 0, 1)).unwrap();
    assert_eq!(
        leader.mark(Marker::tv1(1, 0, Commit).by(1)),
        Err(TransactionCoordinatorFenced)
    );
    leader.mark(Marker::tv1(1, 0, Abort).by(2)).unwrap();
    leader.replicate_all();
    assert_eq!(leader.committed_values(), ["1/0/0"]);
}

/// A7: what the coordinator epoch is for. The partition has heard of leadership 2, so what leadership 1 still decides
/// comes too late, whatever it says; the transaction is decided by 2 alone.
#[test]
fn a7_the_coordinator_epoch_stops_a_zombie_coordinator() {
    let mut leader = Leader::tv2();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    leader.mark(Marker::tv2(1, 1, Abort).by(2)).unwrap();
    leader.produce(Data::txn(1, 1, 0)).unwrap();
    for result in [Commit, Abort] {
        assert_eq!(
            leader.mark(Marker::tv2(1, 2, result).by(1)),
            Err(TransactionCoordinatorFenced)
        );
    }
    leader.mark(Marker::tv2(1, 2, Commit).by(2)).unwrap();
    leader.replicate_all();
    assert_eq!(leader.committed_values(), ["1/1/0"]);
}

#[test]
fn b36_a_bound_that_was_taken_stays_the_bound() {
    // KAFKA-9807: the high watermark moves between the bound and the read.
    let mut leader = Leader::unverified();
    leader.produce(Data::plain(1, 0, 0)).unwrap();
    leader.replicate_all();
    let bound = leader.partition.fetch_bound(IsolationLevel::ReadCommitted);
    leader.produce(Data::txn(2, 0, 0)).unwrap();
    leader.replicate_all();
    let data = leader
        .partition
        .fetch_data(Offset::ZERO, bound, usize::MAX)
        .unwrap();
    assert_eq!(data.upper, Offset::new(1));
}

#[test]
fn b37_an_abort_between_the_read_and_the_list_is_in_the_list() {
    let mut leader = Leader::unverified();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    leader.mark(Marker::tv1(1, 0, Abort)).unwrap();
    leader.replicate_all();
    let bound = leader.partition.fetch_bound(IsolationLevel::ReadCommitted);
    let data = leader
        .partition
        .fetch_data(Offset::ZERO, bound, usize::MAX)
        .unwrap();
    leader.produce(Data::txn(1, 0, 1)).unwrap();
    leader.mark(Marker::tv1(1, 0, Abort)).unwrap();
    leader.replicate_all();
    let aborted = leader.partition.fetch_aborted(Offset::ZERO, data.upper);
    assert_eq!(
        reference::filtered(&data.batches, &aborted),
        Vec::<String>::new()
    );
}

#[test]
fn b40_a_later_batch_does_not_overtake_an_earlier_one_that_is_being_asked_about() {
    for mut leader in [Leader::tv1(), Leader::tv2()] {
        let (first, _) = leader.send(Data::txn(1, 0, 0));
        let (second, _) = leader.send(Data::txn(1, 0, 1));
        let refused = produced(&leader.answer(first, Err(NetworkException)));
        assert_eq!(refused, Some(Err(NotEnoughReplicas)));
        let early = produced(&leader.answer(second, Ok(())));
        assert_eq!(early, Some(Err(OutOfOrderSequenceNumber)));
        assert_eq!(leader.produce_at(Data::txn(1, 0, 0)), Ok(0));
        assert_eq!(leader.produce_at(Data::txn(1, 0, 1)), Ok(1));
    }
}

#[test]
fn b47_plain_data_cannot_hide_in_a_transaction() {
    let mut leader = Leader::tv1();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    assert_eq!(leader.produce(Data::plain(1, 0, 1)), Err(InvalidTxnState));
    leader.mark(Marker::tv1(1, 0, Abort)).unwrap();
    leader.replicate_all();
    assert_eq!(leader.committed_values(), Vec::<String>::new());
}

#[test]
fn b52_a_marker_counts_as_life() {
    let mut leader = Leader::tv1();
    leader.produce(Data::txn(1, 3, 0)).unwrap();
    leader.now = 86_400_000;
    leader.mark(Marker::tv1(1, 3, Abort).by(5)).unwrap();
    leader.step(Input::Tick);
    assert_eq!(
        leader.mark(Marker::tv1(1, 3, Abort).by(4)),
        Err(TransactionCoordinatorFenced)
    );
}

#[test]
fn b33_a_late_marker_of_an_older_epoch_decides_nothing() {
    // The older transaction is closed by the marker that also raises the epoch; its copy comes after the new data.
    let mut leader = Leader::tv2();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    leader.mark(Marker::tv2(1, 1, Abort)).unwrap();
    leader.produce(Data::txn(1, 1, 0)).unwrap();
    assert_eq!(
        leader.mark(Marker::tv2(1, 1, Abort)),
        Err(InvalidProducerEpoch)
    );
    assert_eq!(
        leader.mark(Marker::tv1(1, 0, Abort)),
        Err(InvalidProducerEpoch)
    );
    leader.mark(Marker::tv2(1, 2, Commit)).unwrap();
    leader.replicate_all();
    assert_eq!(leader.committed_values(), ["1/1/0"]);
}

#[test]
fn b66_sequences_wrap_over_the_window_and_the_snapshot() {
    let mut leader = Leader::unverified();
    leader
        .produce(Data::plain(1, 0, i32::MAX - 1).of(4))
        .unwrap();
    let kept = leader.state(1).unwrap().batches[0];
    assert_eq!(kept.first_sequence().get(), i32::MAX - 1);
    assert_eq!(kept.last_sequence.get(), 1);
    assert_eq!(
        leader.produce_at(Data::plain(1, 0, i32::MAX - 1).of(4)),
        Ok(0)
    );
    let bytes = leader.partition.snapshot().to_bytes();
    let snapshot = Snapshot::from_bytes(Offset::new(4), &bytes).unwrap();
    let restored = snapshot.producers.get(ProducerId::new(1)).unwrap();
    assert_eq!(restored.batches, [kept]);
    assert_eq!(leader.produce_at(Data::plain(1, 0, 2)), Ok(4));
}
