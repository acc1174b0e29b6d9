//! Bounds, data and aborted transactions.

use super::*;
use crate::types::TransactionResult::{Abort, Commit};

fn fetch(
    leader: &Leader,
    from: i64,
    isolation: IsolationLevel,
    max_bytes: usize,
) -> Result<Fetched, ErrorCode> {
    leader
        .partition
        .fetch(Offset::new(from), isolation, max_bytes)
}

/// Transaction 1 at 0 and 1, plain data at 2, transaction 1 aborted at 3.
fn aborted_log() -> Leader {
    let mut leader = Leader::unverified();
    leader.produce(Data::txn(1, 0, 0).of(2)).unwrap();
    leader.produce(Data::plain(2, 0, 0)).unwrap();
    leader.mark(Marker::tv1(1, 0, Abort)).unwrap();
    leader
}

#[test]
fn the_last_stable_offset_waits_for_the_marker_to_be_replicated() {
    let mut leader = aborted_log();
    let stable_at = |leader: &mut Leader, up_to| {
        leader.step(Input::Replicated {
            up_to: Offset::new(up_to),
        });
        (leader.partition.high_watermark().get(), leader.stable())
    };
    assert_eq!(stable_at(&mut leader, 0), (0, 0));
    assert_eq!(stable_at(&mut leader, 3), (3, 0));
    assert_eq!(stable_at(&mut leader, 4), (4, 4));
    // It never moves back, and never past the end.
    assert_eq!(stable_at(&mut leader, 1), (4, 4));
    assert_eq!(stable_at(&mut leader, 99), (4, 4));
}

#[test]
fn each_isolation_level_has_its_bound() {
    let mut leader = aborted_log();
    leader.step(Input::Replicated {
        up_to: Offset::new(3),
    });
    let uncommitted = fetch(&leader, 0, IsolationLevel::ReadUncommitted, usize::MAX).unwrap();
    assert_eq!(uncommitted.data.upper, Offset::new(3));
    assert_eq!(uncommitted.aborted_transactions, None);
    let committed = fetch(&leader, 0, IsolationLevel::ReadCommitted, usize::MAX).unwrap();
    assert_eq!(committed.data.batches, []);
    assert_eq!(committed.aborted_transactions, Some(vec![]));
    assert_eq!(committed.last_stable_offset, Offset::ZERO);
    leader.replicate_all();
    let committed = fetch(&leader, 0, IsolationLevel::ReadCommitted, usize::MAX).unwrap();
    assert_eq!(committed.data.batches.len(), 3);
    assert_eq!(committed.aborted_transactions.unwrap().len(), 1);
}

#[test]
fn offsets_outside_the_log_are_refused_and_the_end_is_empty() {
    let mut leader = aborted_log();
    leader.replicate_all();
    for isolation in [
        IsolationLevel::ReadUncommitted,
        IsolationLevel::ReadCommitted,
    ] {
        assert_eq!(
            fetch(&leader, 5, isolation, 1),
            Err(ErrorCode::OffsetOutOfRange)
        );
        let end = fetch(&leader, 4, isolation, 1).unwrap();
        assert_eq!(
            (end.data.batches.len(), end.data.upper),
            (0, Offset::new(4))
        );
    }
    leader.step(Input::BecomeFollower {
        leader_epoch: LeaderEpoch::new(2),
    });
    assert_eq!(
        fetch(&leader, 0, IsolationLevel::ReadCommitted, 1),
        Err(ErrorCode::NotLeaderOrFollower)
    );
}

#[test]
fn a_reader_gets_whole_batches_and_at_least_one() {
    let mut leader = aborted_log();
    leader.replicate_all();
    let read = |from, max| {
        let data = fetch(&leader, from, IsolationLevel::ReadUncommitted, max)
            .unwrap()
            .data;
        (
            data.batches.first().map(|it| it.base_offset().get()),
            data.batches.len(),
            data.upper.get(),
        )
    };
    let first = leader
        .partition
        .log()
        .batches_from(Offset::ZERO)
        .next()
        .unwrap()
        .bytes()
        .len();
    assert_eq!(read(0, 0), (Some(0), 1, 2));
    assert_eq!(
        read(1, 1),
        (Some(0), 1, 2),
        "the batch that holds the offset"
    );
    assert_eq!(read(0, first), (Some(0), 1, 2));
    assert_eq!(read(0, usize::MAX), (Some(0), 3, 4));
    assert_eq!(read(2, usize::MAX), (Some(2), 2, 4));
}

#[test]
fn the_aborted_list_is_for_the_data_that_is_sent() {
    // M37: neither short nor of another range.
    let mut leader = aborted_log();
    leader.produce(Data::txn(3, 0, 0)).unwrap();
    leader.mark(Marker::tv1(3, 0, Abort)).unwrap();
    leader.replicate_all();
    let listed = |from, max| {
        let fetched = fetch(&leader, from, IsolationLevel::ReadCommitted, max).unwrap();
        let aborted = fetched.aborted_transactions.unwrap();
        aborted
            .iter()
            .map(|it| it.producer_id.get())
            .collect::<Vec<_>>()
    };
    assert_eq!(listed(0, 0), [1]);
    assert_eq!(listed(0, usize::MAX), [1, 3]);
    assert_eq!(listed(4, usize::MAX), [3]);
}

#[test]
fn a_committed_transaction_is_read_in_full() {
    let mut leader = Leader::tv2();
    leader.produce(Data::txn(1, 0, 0)).unwrap();
    leader.produce(Data::txn(1, 0, 1)).unwrap();
    leader.mark(Marker::tv2(1, 1, Commit)).unwrap();
    leader.replicate_all();
    assert_eq!(leader.committed_values(), ["1/0/0", "1/0/1"]);
}
