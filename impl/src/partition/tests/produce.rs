//! What a leader accepts from producers.

use super::*;
use crate::batch::RecordBatch;
use crate::error_code::ErrorCode::{
    ClusterAuthorizationFailed, ConcurrentTransactions, CoordinatorLoadInProgress,
    CoordinatorNotAvailable, CorruptMessage, InvalidProducerEpoch, InvalidProducerIdMapping,
    InvalidRecord, InvalidTxnState, NetworkException, NotCoordinator, NotEnoughReplicas,
    NotLeaderOrFollower, OutOfOrderSequenceNumber, ProducerFenced, TransactionAbortable,
    TransactionalIdAuthorizationFailed,
};
use crate::types::TransactionResult::{Abort, Commit};

#[test]
fn what_is_not_one_batch_of_data_is_refused() {
    let good = Data::txn(1, 0, 0).bytes();
    let two: Bytes = [good.clone(), good.clone()].concat().into();
    let mut corrupt = good.to_vec();
    corrupt[62] ^= 1;
    let mut control = Data::txn(1, 0, 0).batch();
    control.is_control = true;
    let cases: [(&str, Bytes, ErrorCode); 6] = [
        ("empty", Bytes::new(), InvalidRecord),
        ("two", two, InvalidRecord),
        ("cut", good.slice(..70), CorruptMessage),
        ("corrupt", corrupt.into(), CorruptMessage),
        (
            "control",
            control.write().unwrap().bytes().clone(),
            InvalidRecord,
        ),
        ("no sequence", Data::txn(1, 0, -1).bytes(), InvalidRecord),
    ];
    for (name, records, code) in cases {
        let mut leader = Leader::tv1();
        let before = leader.partition.clone();
        let effects = leader.step(Input::Produce(Produce {
            request: RequestId(1),
            transactional_id: Some(TransactionalId::new("t")),
            support: TransactionSupport::Verify,
            acks: Acks::All,
            records,
        }));
        assert_eq!(produced(&effects), Some(Err(code)), "{name}");
        assert_eq!(leader.partition, before, "{name}");
    }
}

#[test]
fn a_batch_without_a_producer_is_nobodys_transaction() {
    let mut nobody = Data::txn(1, 0, 0).batch();
    nobody.producer = None;
    let mut leader = Leader::tv1();
    let effects = leader.step(Input::Produce(Produce {
        request: RequestId(1),
        transactional_id: Some(TransactionalId::new("t")),
        support: TransactionSupport::Verify,
        acks: Acks::Leader,
        records: nobody.write().unwrap().bytes().clone(),
    }));
    assert!(matches!(produced(&effects), Some(Ok(_))), "{effects:?}");
    assert_eq!(leader.partition.producers().ongoing().count(), 0);
    assert_eq!(leader.partition.parked().count(), 0);
}

#[test]
fn a_transaction_needs_a_transactional_id() {
    let mut leader = Leader::tv1();
    let effects = leader.step(Input::Produce(Produce {
        request: RequestId(1),
        transactional_id: None,
        support: TransactionSupport::Verify,
        acks: Acks::All,
        records: Data::txn(1, 0, 0).bytes(),
    }));
    assert_eq!(
        produced(&effects),
        Some(Err(TransactionalIdAuthorizationFailed))
    );
}

#[test]
fn a_follower_refuses() {
    let mut leader = Leader::tv1();
    leader.step(Input::BecomeFollower {
        leader_epoch: LeaderEpoch::new(2),
    });
    assert_eq!(
        leader.produce(Data::plain(1, 0, 0)),
        Err(NotLeaderOrFollower)
    );
    assert_eq!(
        leader.mark(Marker::tv1(1, 0, Commit)),
        Err(NotLeaderOrFollower)
    );
}

#[test]
fn b14_acks_say_when_to_answer() {
    let send = |acks| {
        let mut leader = Leader::tv1();
        let effects = leader.step(Input::Produce(Produce {
            request: RequestId(9),
            transactional_id: None,
            support: TransactionSupport::Add,
            acks,
            records: Data::plain(1, 0, 0).bytes(),
        }));
        let at_once = produced(&effects).is_some();
        (at_once, produced(&leader.replicate_all()).is_some())
    };
    assert_eq!(send(Acks::None), (false, false));
    assert_eq!(send(Acks::Leader), (true, false));
    assert_eq!(send(Acks::All), (false, true));
}

#[test]
fn the_first_batch_of_a_transaction_asks_and_later_ones_do_not() {
    for (mut leader, verify) in [(Leader::tv1(), true), (Leader::tv2(), false)] {
        let (request, effects) = leader.send(Data::txn(7, 3, 0));
        assert_eq!(
            effects,
            [Effect::AskCoordinator {
                request,
                transactional_id: TransactionalId::new("t"),
                producer_id: ProducerId::new(7),
                producer_epoch: ProducerEpoch::new(3),
                verify_only: verify,
            }]
        );
        assert_eq!(leader.end(), 0);
        assert!(matches!(
            leader.answer(request, Ok(()))[..],
            [Effect::Append(_), Effect::Reply { .. }]
        ));
        let (_, effects) = leader.send(Data::txn(7, 3, 1));
        assert!(matches!(
            effects[..],
            [Effect::Append(_), Effect::Reply { .. }]
        ));
        // Plain data of another producer never asks, whatever id the request has (B47).
        let (_, effects) = leader.send(Data::plain(8, 0, 0));
        assert!(matches!(
            effects[..],
            [Effect::Append(_), Effect::Reply { .. }]
        ));
    }
}

#[test]
fn the_coordinators_refusals_are_translated() {
    use TransactionSupport::{Add, Verify, VerifyOrAbortable};
    let table: [(ErrorCode, [ErrorCode; 3]); 9] = [
        (ProducerFenced, [InvalidProducerEpoch; 3]),
        (
            TransactionAbortable,
            [InvalidTxnState, TransactionAbortable, TransactionAbortable],
        ),
        (ClusterAuthorizationFailed, [InvalidTxnState; 3]),
        (InvalidProducerIdMapping, [InvalidProducerIdMapping; 3]),
        (
            ConcurrentTransactions,
            [NotEnoughReplicas, NotEnoughReplicas, ConcurrentTransactions],
        ),
        (NetworkException, [NotEnoughReplicas; 3]),
        (CoordinatorLoadInProgress, [NotEnoughReplicas; 3]),
        (CoordinatorNotAvailable, [NotEnoughReplicas; 3]),
        (NotCoordinator, [NotEnoughReplicas; 3]),
    ];
    for (said, heard) in table {
        for (support, heard) in [Verify, VerifyOrAbortable, Add].into_iter().zip(heard) {
            let mut leader = Leader::with(PartitionConfig::default(), support);
            let (request, _) = leader.send(Data::txn(1, 0, 0));
            let effects = leader.answer(request, Err(said));
            assert_eq!(produced(&effects), Some(Err(heard)), "{said:?} {support:?}");
            assert_eq!(leader.end(), 0);
            assert_eq!(leader.partition.parked().count(), 0);
        }
    }
}

#[test]
fn an_answer_to_nothing_says_nothing() {
    let mut leader = Leader::tv1();
    let (request, _) = leader.send(Data::txn(1, 0, 0));
    leader.answer(request, Ok(()));
    assert_eq!(leader.answer(request, Ok(())), []);
    assert_eq!(leader.end(), 1);
}

#[test]
fn b72_a_repeated_batch_is_answered_with_its_first_offsets() {
    let mut leader = Leader::unverified();
    for sequence in 0..5 {
        assert_eq!(
            leader.produce_at(Data::plain(1, 0, 2 * sequence).of(2)),
            Ok(i64::from(2 * sequence))
        );
    }
    // M72: the window is as wide as what may be in flight.
    for sequence in 0..5 {
        assert_eq!(
            leader.produce_at(Data::plain(1, 0, 2 * sequence).of(2)),
            Ok(i64::from(2 * sequence))
        );
    }
    assert_eq!(leader.end(), 10);
    // Not exactly the same sequences: no repetition.
    assert_eq!(
        leader.produce(Data::plain(1, 0, 8)),
        Err(OutOfOrderSequenceNumber)
    );
    // Out of the window: never 46, just out of order.
    leader.produce(Data::plain(1, 0, 10)).unwrap();
    assert_eq!(
        leader.produce(Data::plain(1, 0, 0).of(2)),
        Err(OutOfOrderSequenceNumber)
    );
}

#[test]
fn a_repetition_waits_for_the_high_watermark_as_the_first_did() {
    let mut leader = Leader::unverified();
    leader.produce(Data::plain(1, 0, 0)).unwrap();
    let again = |request, leader: &mut Leader| {
        leader.step(Input::Produce(Produce {
            request: RequestId(request),
            transactional_id: None,
            support: TransactionSupport::Add,
            acks: Acks::All,
            records: Data::plain(1, 0, 0).bytes(),
        }))
    };
    assert_eq!(again(70, &mut leader), []);
    leader.replicate_all();
    assert!(produced(&again(71, &mut leader)).is_some());
}

#[test]
fn sequences() {
    let max = i32::MAX;
    // What was appended (epoch, first sequence, count), then what comes, then whether it follows.
    let table = [
        ("next", (0, 0, 3), (0, 3), Ok(3)),
        ("gap", (0, 0, 3), (0, 4), Err(OutOfOrderSequenceNumber)),
        (
            "again, but longer ago",
            (0, 3, 1),
            (0, 2),
            Err(OutOfOrderSequenceNumber),
        ),
        ("after the largest comes 0", (0, max, 1), (0, 0), Ok(1)),
        ("wrap inside a batch", (0, max, 3), (0, 2), Ok(3)),
        (
            "0 only after the largest",
            (0, 5, 1),
            (0, 0),
            Err(OutOfOrderSequenceNumber),
        ),
        ("a new epoch begins at 0", (0, 5, 1), (1, 0), Ok(1)),
        (
            "a new epoch elsewhere",
            (0, 5, 1),
            (1, 6),
            Err(OutOfOrderSequenceNumber),
        ),
        (
            "an older epoch",
            (1, 0, 1),
            (0, 1),
            Err(InvalidProducerEpoch),
        ),
    ];
    for (name, (epoch, first, count), (then_epoch, then), expected) in table {
        let mut leader = Leader::unverified();
        leader
            .produce(Data::plain(1, epoch, first).of(count))
            .unwrap();
        assert_eq!(
            leader.produce_at(Data::plain(1, then_epoch, then)),
            expected,
            "{name}"
        );
    }
}

#[test]
fn an_unknown_producer_may_begin_anywhere_in_tv1_and_at_0_in_tv2() {
    assert_eq!(Leader::tv1().produce_at(Data::txn(1, 4, 9)), Ok(0));
    assert_eq!(
        Leader::tv2().produce(Data::txn(1, 4, 9)),
        Err(OutOfOrderSequenceNumber)
    );
    assert_eq!(Leader::tv2().produce_at(Data::txn(1, 4, 0)), Ok(0));
}

#[test]
fn sequences_go_on_after_a_tv1_marker_and_begin_again_after_a_tv2_marker() {
    let mut leader = Leader::tv1();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    leader.mark(Marker::tv1(1, 0, Commit)).unwrap();
    assert_eq!(
        leader.clone().produce(Data::txn(1, 0, 0)),
        Ok(Produced {
            base_offset: Offset::ZERO,
            last_offset: Offset::ZERO,
        }),
        "a repetition"
    );
    assert_eq!(
        leader.clone().produce(Data::txn(1, 0, 2)),
        Err(OutOfOrderSequenceNumber)
    );
    assert_eq!(leader.produce_at(Data::txn(1, 0, 1)), Ok(2));

    let mut leader = Leader::tv2();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    leader.mark(Marker::tv2(1, 1, Commit)).unwrap();
    assert_eq!(
        leader.clone().produce(Data::txn(1, 1, 1)),
        Err(OutOfOrderSequenceNumber)
    );
    assert_eq!(leader.produce_at(Data::txn(1, 1, 0)), Ok(2));
}

#[test]
fn plain_data_inside_an_open_transaction_is_refused() {
    let mut leader = Leader::tv1();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    assert_eq!(leader.produce(Data::plain(1, 0, 1)), Err(InvalidTxnState));
    leader.mark(Marker::tv1(1, 0, Abort)).unwrap();
    assert_eq!(leader.produce_at(Data::plain(1, 0, 1)), Ok(2));
}

#[test]
fn the_first_refusal_is_the_one_that_is_answered() {
    // Of an older epoch, unverified, out of order, inside an open transaction: each fault hides the later ones.
    let mut leader = Leader::tv1();
    let (unverified, _) = leader.send(Data::txn(1, 5, 7));
    let (old, _) = leader.send(Data::txn(1, 4, 7));
    leader.mark(Marker::tv1(1, 5, Abort)).unwrap();
    let answer = produced(&leader.answer(old, Ok(())));
    assert_eq!(answer, Some(Err(InvalidProducerEpoch)));
    let answer = produced(&leader.answer(unverified, Ok(())));
    assert_eq!(answer, Some(Err(InvalidTxnState)));
    leader.produce(Data::txn(1, 5, 0)).unwrap();
    leader.produce(Data::txn(1, 5, 1)).unwrap();
    assert_eq!(
        leader.produce(Data::plain(1, 4, 7)),
        Err(InvalidProducerEpoch)
    );
    assert_eq!(
        leader.produce(Data::plain(1, 5, 7)),
        Err(OutOfOrderSequenceNumber)
    );
    assert_eq!(leader.produce(Data::plain(1, 5, 2)), Err(InvalidTxnState));
    // And a repetition is seen before all of them.
    leader.mark(Marker::tv1(1, 5, Abort)).unwrap();
    assert_eq!(leader.produce_at(Data::txn(1, 5, 1)), Ok(2));
}

#[test]
fn a_refused_question_leaves_a_trace_only_where_its_epoch_is_not_old() {
    // Kafka 4.4: a newer epoch's sequence 0 stays the lowest until a marker, an older one's is never noted.
    for (epoch, then) in [(2, Ok(1)), (4, Err(OutOfOrderSequenceNumber))] {
        let mut leader = Leader::tv2();
        leader.produce(Data::txn(1, 3, 0)).unwrap();
        let (request, effects) = leader.send(Data::txn(1, epoch, 0));
        let refused = produced(&effects)
            .unwrap_or_else(|| produced(&leader.answer(request, Err(ProducerFenced))).unwrap());
        assert_eq!(refused, Err(InvalidProducerEpoch));
        assert_eq!(leader.produce_at(Data::txn(1, 3, 1)), then, "{epoch}");
        leader.mark(Marker::tv2(1, 4, Abort)).unwrap();
        assert!(leader.produce(Data::txn(1, 4, 0)).is_ok());
    }
}

#[test]
fn a_new_epoch_over_an_older_open_transaction_goes_on_with_it() {
    // Kafka 4.4: once the coordinator says yes, the transaction keeps its first offset.
    let mut leader = Leader::tv1();
    leader.produce(Data::txn(1, 1, 0)).unwrap();
    assert_eq!(leader.produce_at(Data::txn(1, 3, 0)), Ok(1));
    let open: Vec<(Offset, ProducerId)> = leader.partition.producers().ongoing().collect();
    assert_eq!(open, [(Offset::ZERO, ProducerId::new(1))]);
}

#[test]
fn what_is_appended_is_what_was_sent() {
    let mut leader = Leader::tv2();
    leader.produce(Data::plain(9, 0, 0)).unwrap();
    leader.produce(Data::txn(1, 0, 0).of(3)).unwrap();
    let stored: Vec<&RecordBatch> = leader
        .partition
        .log()
        .batches_from(Offset::new(2))
        .collect();
    let sent = RecordBatch::parse(Data::txn(1, 0, 0).of(3).bytes()).unwrap();
    let placed = sent
        .placed_at(Offset::new(1), Some(LeaderEpoch::new(1)))
        .unwrap();
    assert_eq!(stored, [&placed]);
}
