//! The read_committed filter.

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::batch::{BatchProducer, EndTxnMarker, NewBatch, NewRecord, RecordBatch};
use crate::partition::{AbortedTxn, Input as Told, Partition, PartitionConfig};
use crate::types::{CoordinatorEpoch, IsolationLevel, LeaderEpoch, Sequence, Timestamp};

fn data(base: i64, id: i64, transactional: bool) -> RecordBatch {
    let batch = NewBatch {
        base_offset: Offset::new(base),
        leader_epoch: None,
        producer: Some(BatchProducer {
            producer_id: ProducerId::new(id),
            producer_epoch: ProducerEpoch::new(0),
            base_sequence: Some(Sequence::ZERO),
        }),
        is_transactional: transactional,
        is_control: false,
        records: vec![NewRecord::new(
            Timestamp::from_millis(0),
            None,
            Some(Bytes::from_static(b"v")),
        )],
    };
    batch.write().unwrap()
}

fn marker(base: i64, id: i64, result: TransactionResult) -> RecordBatch {
    let mut batch = NewBatch::end_txn_marker(
        ProducerId::new(id),
        ProducerEpoch::new(0),
        EndTxnMarker {
            result,
            coordinator_epoch: CoordinatorEpoch::new(0),
        },
        Timestamp::from_millis(0),
    );
    batch.base_offset = Offset::new(base);
    batch.write().unwrap()
}

fn aborted(id: i64, first: i64, last: i64) -> AbortedTxn {
    AbortedTxn {
        producer_id: ProducerId::new(id),
        first_offset: Offset::new(first),
        last_offset: Offset::new(last),
        last_stable_offset: Offset::new(last + 1),
    }
}

fn kept(consumed: &Consumed) -> Vec<i64> {
    consumed
        .batches
        .iter()
        .map(|batch| batch.base_offset().get())
        .collect()
}

#[test]
fn producers_are_hidden_from_their_first_offset_to_their_abort_marker() {
    let batches = [
        data(0, 1, true),
        data(1, 2, true),
        data(2, 1, false),
        marker(3, 1, TransactionResult::Abort),
        data(4, 1, true),
        marker(5, 1, TransactionResult::Commit),
        marker(6, 2, TransactionResult::Commit),
    ];
    let consumed = read_committed(Offset::ZERO, &batches, &[aborted(1, 0, 3)]).unwrap();
    // Plain data is never hidden, whoever wrote it.
    assert_eq!(kept(&consumed), [1, 2, 4]);
    assert_eq!(consumed.position, Offset::new(7));
}

#[test]
fn the_list_may_be_in_any_order_and_name_more_than_the_data_holds() {
    let batches = [
        data(5, 1, true),
        marker(6, 1, TransactionResult::Abort),
        data(7, 2, true),
    ];
    let list = [aborted(2, 8, 20), aborted(1, 5, 6), aborted(3, 0, 2)];
    let consumed = read_committed(Offset::new(5), &batches, &list).unwrap();
    assert_eq!(kept(&consumed), [7]);
}

#[test]
fn b92_the_position_moves_past_what_is_not_delivered() {
    let batches = [data(0, 1, true), marker(1, 1, TransactionResult::Abort)];
    let consumed = read_committed(Offset::ZERO, &batches, &[aborted(1, 0, 1)]).unwrap();
    assert_eq!(
        (kept(&consumed), consumed.position),
        (vec![], Offset::new(2))
    );
    let nothing = read_committed(Offset::new(9), &[], &[]).unwrap();
    assert_eq!(nothing.position, Offset::new(9));
}

#[test]
fn a_commit_marker_does_not_end_hiding_and_a_new_transaction_hides_again() {
    let batches = [
        data(0, 1, true),
        marker(1, 1, TransactionResult::Abort),
        data(2, 1, true),
        marker(3, 1, TransactionResult::Abort),
        data(4, 1, true),
        marker(5, 1, TransactionResult::Commit),
    ];
    let list = [aborted(1, 0, 1), aborted(1, 2, 3)];
    let consumed = read_committed(Offset::ZERO, &batches, &list).unwrap();
    assert_eq!(kept(&consumed), [4]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// On a follower's log, which takes any history: the filter and the index agree with a plain reading of the log.
    #[test]
    fn the_filter_keeps_exactly_what_committed(
        steps in proptest::collection::vec((0_i64..4, 0_u8..4), 0..40),
        start: u8,
        max_bytes in 0_usize..1500,
    ) {
        let batches: Vec<RecordBatch> = (0_i64..)
            .zip(&steps)
            .map(|(base, (id, kind))| match kind {
                0 => marker(base, *id, TransactionResult::Commit),
                1 => marker(base, *id, TransactionResult::Abort),
                _ => data(base, *id, true),
            })
            .collect();
        let mut partition = Partition::new(PartitionConfig::default());
        let high_watermark = Offset::new(i64::try_from(batches.len()).unwrap());
        let now = Timestamp::from_millis(0);
        partition.step(Told::Replicate { batches: batches.clone(), high_watermark }, now);
        partition.step(Told::BecomeLeader { leader_epoch: LeaderEpoch::new(0) }, now);
        let stable = partition.last_stable_offset();
        let from = Offset::new(stable.get() * i64::from(start) / 255);
        let fetched = partition.fetch(from, IsolationLevel::ReadCommitted, max_bytes).unwrap();
        let list = fetched.aborted_transactions.unwrap();
        let consumed = read_committed(from, &fetched.data.batches, &list).unwrap();
        let expected: Vec<i64> = (0_i64..)
            .zip(&steps)
            .filter(|(base, (id, kind))| {
                let inside = Offset::new(*base) >= from && Offset::new(*base) < fetched.data.upper;
                let end = steps[usize::try_from(*base).unwrap()..].iter().find(|(other, kind)| other == id && *kind < 2);
                inside && *kind >= 2 && end.is_some_and(|(_, kind)| *kind == 0)
            })
            .map(|(base, _)| base)
            .collect();
        prop_assert_eq!(kept(&consumed), expected);
        prop_assert_eq!(consumed.position, fetched.data.upper);
    }
}
