//! Random histories against a log read naively.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::batch::ControlRecord;

/// What a reader keeps: a transaction counts as aborted from its first offset on until its producer's abort marker.
pub(super) fn filtered(batches: &[RecordBatch], aborted: &[AbortedTxn]) -> Vec<String> {
    let mut kept = Vec::new();
    for batch in batches {
        if batch.header().is_control {
            continue;
        }
        let hidden = batch.header().is_transactional
            && aborted.iter().any(|txn| {
                Some(txn.producer_id) == batch.producer().map(|it| it.producer_id)
                    && (txn.first_offset..=txn.last_offset).contains(&batch.base_offset())
            });
        if !hidden {
            let values = batch
                .records()
                .unwrap()
                .map(|it| it.unwrap().value.unwrap().to_vec());
            kept.extend(values.map(|value| String::from_utf8(value).unwrap()));
        }
    }
    kept
}

/// A transaction as a second reading of the log finds it.
#[derive(Debug)]
struct Naive {
    id: ProducerId,
    first: Offset,
    end: Option<(Offset, TransactionResult)>,
}

fn transactions(log: &Log) -> Vec<Naive> {
    let mut all: Vec<Naive> = Vec::new();
    let mut open: BTreeMap<ProducerId, usize> = BTreeMap::new();
    for batch in log.batches_from(Offset::ZERO) {
        let Some(id) = batch.producer().map(|it| it.producer_id) else {
            continue;
        };
        match batch.control_record().unwrap() {
            Some(ControlRecord::EndTxn(marker)) => {
                if let Some(at) = open.remove(&id) {
                    all[at].end = Some((batch.base_offset(), marker.result));
                }
            }
            Some(ControlRecord::Other(_)) => unreachable!(),
            None if batch.header().is_transactional => {
                open.entry(id).or_insert_with(|| {
                    all.push(Naive {
                        id,
                        first: batch.base_offset(),
                        end: None,
                    });
                    all.len() - 1
                });
            }
            None => {}
        }
    }
    all
}

fn naive_stable(log: &Log, high_watermark: Offset) -> Offset {
    transactions(log)
        .iter()
        .filter(|txn| txn.end.is_none_or(|(marker, _)| marker >= high_watermark))
        .map(|txn| txn.first)
        .chain([high_watermark])
        .min()
        .unwrap()
}

/// Values of plain data and of transactions whose commit lies below the bound.
fn naive_committed(log: &Log, from: Offset, upper: Offset) -> Vec<String> {
    let all = transactions(log);
    let mut kept = Vec::new();
    for batch in log
        .batches_from(from)
        .take_while(|batch| batch.next_offset() <= upper)
    {
        if batch.header().is_control {
            continue;
        }
        let id = batch.producer().map(|it| it.producer_id);
        let committed = !batch.header().is_transactional
            || all.iter().any(|txn| {
                Some(txn.id) == id
                    && txn.first <= batch.base_offset()
                    && txn.end.is_some_and(|(marker, result)| {
                        marker > batch.base_offset() && result == TransactionResult::Commit
                    })
                    // The transaction that holds the batch, not an earlier one of the same producer.
                    && !all.iter().any(|later| {
                        later.id == txn.id && later.first > txn.first && later.first <= batch.base_offset()
                    })
            });
        if committed {
            let values = batch
                .records()
                .unwrap()
                .map(|it| it.unwrap().value.unwrap().to_vec());
            kept.extend(values.map(|value| String::from_utf8(value).unwrap()));
        }
    }
    kept
}

#[derive(Clone, Debug)]
enum Step {
    Write { id: i64, plain: bool, count: i32 },
    End { id: i64, result: TransactionResult },
    Replicate { part: u8 },
}

fn any_step() -> impl Strategy<Value = Step> {
    let result = prop_oneof![
        Just(TransactionResult::Commit),
        Just(TransactionResult::Abort)
    ];
    prop_oneof![
        4 => (0_i64..4, any::<bool>(), 1_i32..4)
            .prop_map(|(id, plain, count)| Step::Write { id, plain: plain && id == 0, count }),
        3 => (1_i64..4, result).prop_map(|(id, result)| Step::End { id, result }),
        2 => any::<u8>().prop_map(|part| Step::Replicate { part }),
    ]
}

/// Plays a history in which every request is legal, in TV1 or TV2.
fn play(leader: &mut Leader, steps: &[Step], tv2: bool) {
    let mut at: BTreeMap<i64, (i16, i32)> = BTreeMap::new();
    for step in steps {
        match step {
            Step::Write { id, plain, count } => {
                let (epoch, sequence) = at.get(id).copied().unwrap_or((0, 0));
                let data = if *plain {
                    Data::plain(*id, epoch, sequence)
                } else {
                    Data::txn(*id, epoch, sequence)
                };
                // Producer 0 writes either plain data or one endless transaction.
                if leader.produce(data.of(*count)).is_ok() {
                    at.insert(*id, (epoch, sequence + count));
                }
            }
            Step::End { id, result } => {
                let (epoch, sequence) = at.get(id).copied().unwrap_or((0, 0));
                if tv2 {
                    leader.mark(Marker::tv2(*id, epoch + 1, *result)).unwrap();
                    at.insert(*id, (epoch + 1, 0));
                } else {
                    leader.mark(Marker::tv1(*id, epoch, *result)).unwrap();
                    at.insert(*id, (epoch, sequence));
                }
            }
            Step::Replicate { part } => {
                let up_to = Offset::new(leader.end() * i64::from(*part) / 255);
                leader.step(Input::Replicated { up_to });
            }
        }
        let partition = &leader.partition;
        let expected = naive_stable(partition.log(), partition.high_watermark());
        assert_eq!(partition.last_stable_offset(), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn readers_see_exactly_what_was_committed(
        steps in proptest::collection::vec(any_step(), 0..40),
        tv2: bool,
        starts in proptest::collection::vec((any::<u8>(), 0_usize..600), 4),
    ) {
        let mut leader = if tv2 { Leader::tv2() } else { Leader::tv1() };
        play(&mut leader, &steps, tv2);
        let partition = &leader.partition;
        let stable = partition.last_stable_offset();
        for (part, max_bytes) in starts {
            let wanted = Offset::new(stable.get() * i64::from(part) / 255);
            let fetched = partition.fetch(wanted, IsolationLevel::ReadCommitted, max_bytes).unwrap();
            prop_assert!(fetched.data.upper <= stable || fetched.data.batches.is_empty());
            let seen = filtered(&fetched.data.batches, &fetched.aborted_transactions.unwrap());
            prop_assert_eq!(seen, naive_committed(partition.log(), wanted, fetched.data.upper));
        }
    }

    #[test]
    fn the_state_is_what_the_log_says(
        steps in proptest::collection::vec(any_step(), 0..40),
        tv2: bool,
        cut: u8,
        snapshot_after: u8,
    ) {
        let mut leader = if tv2 { Leader::tv2() } else { Leader::tv1() };
        let early = steps.len() * usize::from(snapshot_after) / 255;
        let (before, after) = steps.split_at(early);
        play(&mut leader, before, tv2);
        let snapshot = leader.partition.snapshot();
        play_on(&mut leader, after, tv2);
        let live = leader.partition.clone();
        let stored = |snapshot| Stored {
            batches: live.log().batches_from(Offset::ZERO).cloned().collect(),
            snapshot,
            aborted: live.aborted().clone(),
            high_watermark: live.high_watermark(),
        };
        // From the whole log: everything.
        let replayed = Partition::recover(live.config, stored(None)).unwrap();
        prop_assert_eq!(replayed.producers(), live.producers());
        prop_assert_eq!(replayed.aborted(), live.aborted());
        prop_assert_eq!(&replayed.unreplicated, &live.unreplicated);
        prop_assert_eq!(replayed.last_stable_offset(), live.last_stable_offset());
        // From a snapshot: all but the older batches of each producer's window.
        let bytes = snapshot.to_bytes();
        let read = Snapshot::from_bytes(snapshot.offset, &bytes).unwrap();
        let restored = Partition::recover(live.config, stored(Some(read))).unwrap();
        prop_assert_eq!(restored.aborted(), live.aborted());
        prop_assert_eq!(restored.last_stable_offset(), live.last_stable_offset());
        for (id, state) in live.producers().iter() {
            let mut expected = state.clone();
            let mut found = restored.producers().get(id).unwrap().clone();
            prop_assert_eq!(found.last_sequence(), expected.last_sequence());
            found.batches.clear();
            expected.batches.clear();
            prop_assert_eq!(found, expected);
        }
        // Cut anywhere: what is left is what the shorter log says.
        let to = Offset::new(live.log().end_offset().get() * i64::from(cut) / 255);
        leader.step(Input::BecomeFollower { leader_epoch: LeaderEpoch::new(2) });
        leader.step(Input::Truncate { to });
        let short = &leader.partition;
        let again = Partition::recover(live.config, Stored {
            batches: short.log().batches_from(Offset::ZERO).cloned().collect(),
            snapshot: None,
            aborted: AbortedIndex::default(),
            high_watermark: short.high_watermark(),
        }).unwrap();
        prop_assert_eq!(again.producers(), short.producers());
        prop_assert_eq!(again.last_stable_offset(), short.last_stable_offset());
        prop_assert_eq!(again.aborted(), short.aborted());
    }

    #[test]
    fn hostile_snapshots_do_not_panic(noise in proptest::collection::vec(any::<u8>(), 0..200), good_crc: bool) {
        let mut bytes = noise;
        if good_crc && bytes.len() >= 10 {
            bytes[..2].copy_from_slice(&[0, 1]);
            let count = u32::try_from((bytes.len() - 10) / 46).unwrap();
            bytes.truncate(10 + 46 * usize::try_from(count).unwrap());
            bytes[6..10].copy_from_slice(&count.to_be_bytes());
            let crc = crc32c::crc32c(&bytes[6..]);
            bytes[2..6].copy_from_slice(&crc.to_be_bytes());
        }
        let _ = Snapshot::from_bytes(Offset::new(1000), &bytes);
    }
}

/// Goes on with a history: epochs and sequences are read back from the partition.
fn play_on(leader: &mut Leader, steps: &[Step], tv2: bool) {
    for step in steps {
        match step {
            Step::Write { id, plain, count } => {
                let (epoch, sequence) = position(leader, *id);
                let data = if *plain {
                    Data::plain(*id, epoch, sequence)
                } else {
                    Data::txn(*id, epoch, sequence)
                };
                let _ = leader.produce(data.of(*count));
            }
            Step::End { id, result } => {
                let (epoch, _) = position(leader, *id);
                if tv2 {
                    leader.mark(Marker::tv2(*id, epoch + 1, *result)).unwrap();
                } else {
                    leader.mark(Marker::tv1(*id, epoch, *result)).unwrap();
                }
            }
            Step::Replicate { part } => {
                let up_to = Offset::new(leader.end() * i64::from(*part) / 255);
                leader.step(Input::Replicated { up_to });
            }
        }
    }
}

fn position(leader: &Leader, id: i64) -> (i16, i32) {
    leader.state(id).map_or((0, 0), |state| {
        let next = state.last_sequence().map_or(0, |last| last.plus(1).get());
        (state.epoch.get(), next)
    })
}
