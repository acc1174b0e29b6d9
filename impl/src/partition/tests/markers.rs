//! What a leader accepts from coordinators.

use super::*;
use crate::error_code::ErrorCode::{InvalidProducerEpoch, TransactionCoordinatorFenced};
use crate::types::TransactionResult::{Abort, Commit};

const MAX: i16 = i16::MAX;

#[test]
fn marker_epochs() {
    // (what the partition knows: epoch, whether a transaction is open), marker epoch, TV1's answer, TV2's answer.
    let refused = Err(InvalidProducerEpoch);
    let table = [
        (None, 0, Ok(()), Ok(())),
        (Some((5, true)), 4, refused, refused),
        (Some((5, true)), 5, Ok(()), refused),
        (Some((5, true)), 6, Ok(()), Ok(())),
        (Some((5, true)), 9, Ok(()), Ok(())),
        (Some((5, false)), 4, refused, refused),
        // KAFKA-19999: the marker that was written already comes again.
        (Some((5, false)), 5, Ok(()), Ok(())),
        (Some((5, false)), 6, Ok(()), Ok(())),
        // KAFKA-20090: nothing is above 32767.
        (Some((MAX, true)), MAX, Ok(()), Ok(())),
        (Some((MAX - 1, true)), MAX, Ok(()), Ok(())),
        (Some((MAX - 1, true)), MAX - 1, Ok(()), refused),
    ];
    for (known, epoch, tv1, tv2) in table {
        let mut leader = Leader::unverified();
        if let Some((epoch, open)) = known {
            let data = Data {
                transactional: open,
                ..Data::txn(1, epoch, 0)
            };
            leader.produce(data).unwrap();
        }
        let before = leader.end();
        assert_eq!(
            leader.clone().mark(Marker::tv1(1, epoch, Abort)),
            tv1,
            "{known:?} {epoch}"
        );
        assert_eq!(
            leader.mark(Marker::tv2(1, epoch, Abort)),
            tv2,
            "{known:?} {epoch}"
        );
        assert_eq!(leader.end() - before, i64::from(tv2.is_ok()));
    }
}

#[test]
fn coordinator_epochs() {
    for (first, second, answer) in [
        (3, 3, Ok(())),
        (3, 4, Ok(())),
        (3, 2, Err(TransactionCoordinatorFenced)),
    ] {
        let mut leader = Leader::tv1();
        leader.mark(Marker::tv1(1, 0, Commit).by(first)).unwrap();
        assert_eq!(leader.mark(Marker::tv1(1, 0, Commit).by(second)), answer);
    }
    // The producer epoch is asked first.
    let mut leader = Leader::tv1();
    leader.mark(Marker::tv1(1, 5, Commit).by(3)).unwrap();
    assert_eq!(
        leader.mark(Marker::tv1(1, 4, Commit).by(2)),
        Err(InvalidProducerEpoch)
    );
}

#[test]
fn b91_a_marker_ends_the_transaction_and_clears_all_that_was_its() {
    // B91: nothing of an aborted transaction is left behind.
    let mut leader = Leader::tv2();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    leader.now = 77;
    leader.mark(Marker::tv2(1, 1, Abort).by(4)).unwrap();
    let state = leader.state(1).unwrap();
    assert_eq!(state.epoch, ProducerEpoch::new(1));
    assert_eq!(state.coordinator_epoch, Some(CoordinatorEpoch::new(4)));
    assert_eq!(state.last_timestamp, Timestamp::from_millis(77));
    assert_eq!(state.current_txn_first_offset, None);
    assert_eq!(state.batches, []);
    assert_eq!(leader.partition.producers().ongoing().count(), 0);
}

#[test]
fn a_marker_without_an_open_transaction_is_appended_and_only_fences() {
    let mut leader = Leader::tv2();
    leader.mark(Marker::tv2(1, 3, Abort)).unwrap();
    leader.replicate_all();
    assert_eq!(leader.end(), 1);
    assert_eq!(leader.stable(), 1);
    assert_eq!(leader.partition.aborted().iter().count(), 0);
    assert_eq!(
        leader.produce(Data::txn(1, 2, 0)),
        Err(InvalidProducerEpoch)
    );
}

#[test]
fn b29_a_marker_is_answered_when_it_is_replicated() {
    let mut leader = Leader::tv2();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    leader.mark(Marker::tv2(1, 1, Commit)).unwrap();
    assert_eq!(
        leader.step(Input::Replicated {
            up_to: Offset::new(1)
        }),
        []
    );
    assert!(matches!(
        leader.step(Input::Replicated {
            up_to: Offset::new(2)
        })[..],
        [Effect::Reply {
            answer: Answer::WriteTxnMarker(Ok(())),
            ..
        }]
    ));
}

#[test]
fn only_aborted_transactions_are_indexed_with_the_offset_that_is_then_stable() {
    let mut leader = Leader::unverified();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    leader.produce(Data::txn(2, 0, 0)).unwrap();
    leader.produce(Data::txn(3, 0, 0)).unwrap();
    leader.mark(Marker::tv1(1, 0, Abort)).unwrap();
    leader.mark(Marker::tv1(2, 0, Commit)).unwrap();
    leader.mark(Marker::tv1(3, 0, Abort)).unwrap();
    let entry = |id, first, last, stable| AbortedTxn {
        producer_id: ProducerId::new(id),
        first_offset: Offset::new(first),
        last_offset: Offset::new(last),
        last_stable_offset: Offset::new(stable),
    };
    let entries: Vec<AbortedTxn> = leader.partition.aborted().iter().copied().collect();
    assert_eq!(entries, [entry(1, 0, 3, 1), entry(3, 2, 5, 6)]);
}
