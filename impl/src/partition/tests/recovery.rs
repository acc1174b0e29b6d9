//! Roles, failed appends, snapshots, restarts.

use super::*;
use crate::error_code::ErrorCode::{KafkaStorageError, NotLeaderOrFollower};
use crate::types::TransactionResult::{Abort, Commit};

fn batches(partition: &Partition) -> Vec<RecordBatch> {
    partition
        .log()
        .batches_from(Offset::ZERO)
        .cloned()
        .collect()
}

fn stored(partition: &Partition, snapshot: Option<Snapshot>) -> Stored {
    Stored {
        batches: batches(partition),
        snapshot,
        aborted: partition.aborted().clone(),
        high_watermark: partition.high_watermark(),
    }
}

fn recovered(stored: Stored) -> Partition {
    Partition::recover(PartitionConfig::default(), stored).unwrap()
}

#[test]
fn a_follower_takes_what_the_leader_sends() {
    let mut leader = Leader::unverified();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    leader.mark(Marker::tv1(1, 0, Abort)).unwrap();
    leader.produce(Data::txn(1, 0, 1)).unwrap();
    leader.step(Input::Replicated {
        up_to: Offset::new(2),
    });
    let mut follower = Partition::new(leader.partition.config);
    let input = Input::Replicate {
        batches: batches(&leader.partition),
        high_watermark: Offset::new(2),
    };
    let effects = follower.step(input.clone(), Timestamp::from_millis(5));
    assert_eq!(effects.len(), 3);
    assert_eq!(follower.producers(), leader.partition.producers());
    assert_eq!(follower.aborted(), leader.partition.aborted());
    assert_eq!(
        follower.last_stable_offset(),
        leader.partition.last_stable_offset()
    );
    // What it has already is not taken twice, and a leader takes nothing.
    assert_eq!(follower.step(input.clone(), Timestamp::from_millis(5)), []);
    assert_eq!(leader.step(input), []);
}

#[test]
fn a_follower_does_not_check_epochs() {
    let mut older = Data::txn(1, 3, 0).batch();
    let mut newer = Data::txn(1, 4, 0).batch();
    newer.base_offset = Offset::ZERO;
    older.base_offset = Offset::new(1);
    let mut follower = Partition::new(PartitionConfig::default());
    follower.step(
        Input::Replicate {
            batches: vec![newer.write().unwrap(), older.write().unwrap()],
            high_watermark: Offset::ZERO,
        },
        Timestamp::from_millis(0),
    );
    assert_eq!(follower.log().end_offset(), Offset::new(2));
    let state = follower.producers().get(ProducerId::new(1)).unwrap();
    assert_eq!(state.epoch, ProducerEpoch::new(3));
}

#[test]
fn losing_the_lead_refuses_all_that_waits() {
    let mut leader = Leader::tv1();
    let (parked, _) = leader.send(Data::txn(1, 0, 0));
    leader.mark(Marker::tv1(2, 0, Commit)).unwrap();
    let effects = leader.step(Input::BecomeFollower {
        leader_epoch: LeaderEpoch::new(2),
    });
    let answers: Vec<Answer> = effects
        .into_iter()
        .map(|effect| match effect {
            Effect::Reply { answer, .. } => answer,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        answers,
        [
            Answer::Produce(Err(NotLeaderOrFollower)),
            Answer::WriteTxnMarker(Err(NotLeaderOrFollower))
        ]
    );
    assert_eq!(leader.answer(parked, Ok(())), []);
    assert_eq!(leader.partition.verifications().iter().count(), 0);
}

#[test]
fn b70_news_of_a_leadership_that_is_known_changes_nothing() {
    let mut leader = Leader::tv1();
    leader.send(Data::txn(1, 0, 0));
    let before = leader.partition.clone();
    for leader_epoch in [LeaderEpoch::new(0), LeaderEpoch::new(1)] {
        assert_eq!(leader.step(Input::BecomeLeader { leader_epoch }), []);
        assert_eq!(leader.step(Input::BecomeFollower { leader_epoch }), []);
    }
    assert_eq!(leader.partition, before);
}

#[test]
fn a_failed_append_is_taken_back_with_all_that_came_after() {
    let mut leader = Leader::unverified();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    leader.replicate_all();
    let before = leader.partition.clone();
    leader.mark(Marker::tv1(1, 0, Abort)).unwrap();
    leader.produce(Data::plain(2, 0, 0)).unwrap();
    let effects = leader.step(Input::AppendFailed {
        from: Offset::new(1),
    });
    assert_eq!(effects[0], Effect::Truncate { to: Offset::new(1) });
    assert!(matches!(
        effects[1],
        Effect::Reply {
            answer: Answer::WriteTxnMarker(Err(KafkaStorageError)),
            ..
        }
    ));
    assert_eq!(leader.partition, before);
    // Nothing that is replicated can fail.
    assert_eq!(leader.step(Input::AppendFailed { from: Offset::ZERO }), []);
}

#[test]
fn a_truncated_marker_opens_its_transaction_again() {
    let mut leader = Leader::unverified();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    leader.produce(Data::txn(1, 0, 1)).unwrap();
    leader.step(Input::Replicated {
        up_to: Offset::new(1),
    });
    let before = (leader.partition.producers().clone(), leader.stable());
    leader.mark(Marker::tv1(1, 0, Abort)).unwrap();
    leader.step(Input::BecomeFollower {
        leader_epoch: LeaderEpoch::new(2),
    });
    leader.step(Input::Truncate { to: Offset::new(2) });
    assert_eq!(
        (leader.partition.producers().clone(), leader.stable()),
        before
    );
    assert_eq!(leader.partition.aborted().iter().count(), 0);
    // Below the high watermark, which only an unclean election asks for.
    leader.step(Input::Truncate { to: Offset::ZERO });
    assert_eq!(leader.partition.producers(), &ProducerStates::default());
    assert_eq!((leader.stable(), leader.end()), (0, 0));
}

#[test]
fn a_leader_does_not_truncate() {
    let mut leader = Leader::unverified();
    leader.produce(Data::plain(1, 0, 0)).unwrap();
    assert_eq!(leader.step(Input::Truncate { to: Offset::ZERO }), []);
    assert_eq!(leader.end(), 1);
}

#[test]
fn the_snapshots_bytes_are_kafkas() {
    let mut leader = Leader::unverified();
    leader.produce(Data::txn(258, 3, 7).of(2)).unwrap();
    let bytes = leader.partition.snapshot().to_bytes();
    let crc = crc32c::crc32c(&bytes[6..]);
    let mut expected = vec![0, 1];
    expected.extend_from_slice(&crc.to_be_bytes());
    expected.extend_from_slice(&[0, 0, 0, 1]);
    expected.extend_from_slice(&[0, 0, 0, 0, 0, 0, 1, 2]);
    expected.extend_from_slice(&[0, 3]);
    expected.extend_from_slice(&[0, 0, 0, 8]);
    expected.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 1]);
    expected.extend_from_slice(&[0, 0, 0, 1]);
    expected.extend_from_slice(&[0; 8]);
    expected.extend_from_slice(&[0xff; 4]);
    expected.extend_from_slice(&[0; 8]);
    assert_eq!(&bytes[..], &expected[..]);
}

#[test]
fn a_bad_snapshot_is_refused() {
    let mut leader = Leader::unverified();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    let snapshot = leader.partition.snapshot();
    let good = snapshot.to_bytes();
    let read = |bytes: &[u8]| Snapshot::from_bytes(snapshot.offset, bytes);
    assert_eq!(read(&good), Ok(snapshot.clone()));
    for cut in 0..good.len() {
        assert!(read(&good[..cut]).is_err(), "{cut}");
    }
    for at in 0..good.len() {
        let mut bytes = good.to_vec();
        bytes[at] ^= 0x10;
        assert!(read(&bytes).is_err(), "{at}");
    }
    // Good bytes at another offset: the transaction would begin after the log's end (B35).
    assert_eq!(
        Snapshot::from_bytes(Offset::ZERO, &good),
        Err(SnapshotError::Producer(0))
    );
}

#[test]
fn b35_a_snapshot_keeps_producers_without_data() {
    let mut leader = Leader::tv2();
    leader.mark(Marker::tv2(1, 4, Abort).by(2)).unwrap();
    leader.produce(Data::txn(2, 0, 0)).unwrap();
    leader.replicate_all();
    let bytes = leader.partition.snapshot().to_bytes();
    let snapshot = Snapshot::from_bytes(leader.partition.log().end_offset(), &bytes).unwrap();
    let again = recovered(stored(&leader.partition, Some(snapshot)));
    assert_eq!(again.producers(), leader.partition.producers());
    assert_eq!(again.last_stable_offset(), Offset::new(1));
}

#[test]
fn b35_a_snapshot_beyond_the_log_or_the_high_watermark_is_not_used() {
    let mut leader = Leader::unverified();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    leader.step(Input::Replicated {
        up_to: Offset::new(1),
    });
    leader.mark(Marker::tv1(1, 0, Abort)).unwrap();
    let snapshot = leader.partition.snapshot();
    // The marker is not replicated: a reader must not pass the transaction after a restart either.
    let again = recovered(stored(&leader.partition, Some(snapshot.clone())));
    assert_eq!(again.last_stable_offset(), Offset::ZERO);
    assert_eq!(again.producers(), leader.partition.producers());
    // The marker is gone.
    let mut cut = stored(&leader.partition, Some(snapshot));
    cut.batches.pop();
    let again = recovered(cut);
    assert_eq!(again.producers().ongoing().count(), 1);
    assert_eq!(again.aborted().iter().count(), 0);
}

#[test]
fn recovery_of_a_log_that_goes_back_is_refused() {
    let mut leader = Leader::unverified();
    leader.produce(Data::plain(1, 0, 0)).unwrap();
    leader.produce(Data::plain(1, 0, 1)).unwrap();
    let mut damaged = stored(&leader.partition, None);
    damaged.batches.swap(0, 1);
    assert_eq!(
        Partition::recover(PartitionConfig::default(), damaged),
        Err(RecoveryError::Batch(Offset::ZERO))
    );
}

#[test]
fn silent_producers_expire_unless_their_transaction_is_open() {
    const DAY: i64 = 86_400_000;
    let mut leader = Leader::tv1();
    leader.produce(Data::plain(1, 0, 0)).unwrap();
    leader.produce(Data::txn(2, 0, 0)).unwrap();
    leader.send(Data::txn(3, 0, 0));
    leader.now = DAY - 1;
    leader.step(Input::Tick);
    assert!(leader.state(1).is_some());
    leader.now = DAY;
    leader.step(Input::Tick);
    assert_eq!(leader.state(1), None);
    assert!(leader.state(2).is_some());
    assert_eq!(leader.partition.verifications().iter().count(), 0);
    // Bringing the log's end back does not bring the producer back.
    leader.step(Input::AppendFailed {
        from: Offset::new(1),
    });
    assert_eq!(leader.state(1), None);
}

#[test]
fn no_damaged_snapshot_is_taken_for_one() {
    let mut leader = Leader::tv2();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    leader.produce(Data::plain(2, 3, 0)).unwrap();
    let snapshot = leader.partition.snapshot();
    let good = snapshot.to_bytes();
    let read = |bytes: &[u8]| Snapshot::from_bytes(snapshot.offset, bytes);
    assert_eq!(read(&good).as_ref(), Ok(&snapshot));
    for cut in 0..good.len() {
        assert!(read(&good[..cut]).is_err(), "cut at {cut}");
    }
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut damaged = good.to_vec();
            damaged[at] ^= 1 << bit;
            assert!(read(&damaged).is_err(), "byte {at} bit {bit}");
        }
    }
}
