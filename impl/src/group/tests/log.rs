//! The offsets are what the log says: live, read again, and after compaction.

use proptest::prelude::*;

use super::super::load;
use super::*;
use crate::batch::{NewBatch, NewRecord};
use crate::partition::Log;

#[derive(Clone, Debug)]
enum Step {
    Commit(i32, i64),
    Stage(i64, i32, i64),
    End(i64, TransactionResult),
    Old,
}

fn any_step() -> impl Strategy<Value = Step> {
    let result = prop_oneof![
        Just(TransactionResult::Commit),
        Just(TransactionResult::Abort)
    ];
    prop_oneof![
        (0_i32..3, 0_i64..100).prop_map(|(partition, offset)| Step::Commit(partition, offset)),
        (0_i64..3, 0_i32..3, 0_i64..100)
            .prop_map(|(id, partition, offset)| Step::Stage(id, partition, offset)),
        (0_i64..3, result).prop_map(|(id, result)| Step::End(id, result)),
        Just(Step::Old),
    ]
}

/// Keyed by partition: the last commit by record order among plain ones and those of committed transactions.
#[derive(Default)]
struct Naive {
    written: i64,
    committed: std::collections::BTreeMap<i32, (i64, i64)>,
    staged: Vec<(i64, i32, i64, i64)>,
}

impl Naive {
    fn put(&mut self, partition: i32, at: i64, offset: i64) {
        let known = self.committed.entry(partition).or_insert((-1, 0));
        *known = (*known).max((at, offset));
    }

    fn step(&mut self, step: &Step) {
        self.written += 1;
        match *step {
            Step::Commit(partition, offset) => self.put(partition, self.written, offset),
            Step::Stage(id, partition, offset) => {
                self.staged.push((id, partition, self.written, offset))
            }
            Step::End(id, result) => {
                let (own, rest) = std::mem::take(&mut self.staged)
                    .into_iter()
                    .partition(|it| it.0 == id);
                self.staged = rest;
                let own: Vec<(i64, i32, i64, i64)> = own;
                if result == TransactionResult::Commit {
                    own.iter().for_each(|it| self.put(it.1, it.2, it.3));
                }
            }
            Step::Old => {
                let staged: Vec<i32> = self.staged.iter().map(|it| it.1).collect();
                self.committed
                    .retain(|partition, _| staged.contains(partition));
            }
        }
    }
}

fn play(host: &mut Host, steps: &[Step]) {
    let mut naive = Naive::default();
    for step in steps {
        match *step {
            Step::Commit(partition, offset) => host.commit(&[(partition, offset)]),
            Step::Stage(id, partition, offset) => host.stage(id, 0, &[(partition, offset)]),
            Step::End(id, result) => host.mark(id, 0, result).unwrap(),
            Step::Old => {
                host.now += GroupConfig::default().offsets_retention_ms;
                host.step(Input::Tick);
            }
        }
        naive.step(step);
        let expected: Vec<(i32, i64)> =
            naive.committed.iter().map(|(at, it)| (*at, it.1)).collect();
        assert_eq!(host.committed(), expected, "{step:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn offsets_follow_their_records_and_a_reload_changes_nothing(
        steps in proptest::collection::vec(any_step(), 0..30),
        part: u8,
    ) {
        let mut host = Host::new();
        play(&mut host, &steps);
        let log = host.group.partition().log();
        let high_watermark = host.group.partition().high_watermark();
        let loaded = load::load(log, high_watermark, Timestamp::from_millis(0));
        prop_assert_eq!(loaded.offsets.latest(), host.group.offsets());
        prop_assert_eq!(loaded.offsets.replicated(), host.group.replicated_offsets());
        // With the high watermark anywhere: the end is the same, and the replicated part is that of the shorter log.
        let behind = Offset::new(log.end_offset().get() * i64::from(part) / 255);
        let loaded = load::load(log, behind, Timestamp::from_millis(0));
        prop_assert_eq!(loaded.offsets.latest(), host.group.offsets());
    }

    /// B69: whatever records compaction leaves, a load ends, and tombstones without a record are nothing.
    #[test]
    fn a_compacted_log_can_always_be_read(
        steps in proptest::collection::vec(any_step(), 0..30),
        kept in proptest::collection::vec(any::<bool>(), 60),
    ) {
        let mut host = Host::new();
        play(&mut host, &steps);
        let mut offsets = Offsets::default();
        let batches = host.group.partition().log().batches_from(Offset::ZERO);
        for (batch, keep) in batches.zip(kept) {
            if keep {
                load::replay(batch, &mut offsets);
            }
        }
        let staged: Vec<_> = offsets.staged().map(|(_, key, _)| key.clone()).collect();
        for key in staged {
            prop_assert!(offsets.is_staged(&key));
        }
    }
}

#[test]
fn b69_a_tombstone_before_its_record_is_followed() {
    let batch = |base: i64, value: Option<Bytes>| {
        let record = NewRecord::new(
            Timestamp::from_millis(0),
            Some(key(0).encode().unwrap()),
            value,
        );
        let batch = NewBatch {
            base_offset: Offset::new(base),
            ..offset_commit::new_batch(vec![record], None)
        };
        batch.write().unwrap()
    };
    let mut host = Host::new();
    host.commit(&[(0, 7)]);
    let committed = host
        .group
        .partition()
        .log()
        .batches_from(Offset::ZERO)
        .next()
        .unwrap()
        .clone();
    let mut offsets = Offsets::default();
    load::replay(&batch(0, None), &mut offsets);
    assert_eq!(offsets, Offsets::default());
    load::replay(&committed, &mut offsets);
    assert_eq!(offsets.iter().count(), 1);
    load::replay(&batch(5, None), &mut offsets);
    assert_eq!(offsets, Offsets::default());
}

#[test]
fn a_tombstone_takes_staged_offsets_along() {
    let mut host = Host::new();
    host.stage(1, 0, &[(0, 7), (1, 7)]);
    let mut offsets = host.group.offsets().clone();
    offsets.remove(&key(0));
    assert!(!offsets.is_staged(&key(0)));
    offsets.end_txn(ProducerId::new(1), TransactionResult::Commit);
    let left: Vec<i32> = offsets
        .iter()
        .map(|(key, _)| key.partition.partition)
        .collect();
    assert_eq!(left, [1]);
}

#[test]
fn records_that_are_not_understood_are_passed_over() {
    let odd = [
        NewRecord::new(Timestamp::from_millis(0), None, Some(Bytes::new())),
        NewRecord::new(
            Timestamp::from_millis(0),
            Some(Bytes::from_static(&[0, 9, 1])),
            Some(Bytes::new()),
        ),
        NewRecord::new(
            Timestamp::from_millis(0),
            Some(key(0).encode().unwrap()),
            Some(Bytes::from_static(&[0, 9])),
        ),
        NewRecord::new(
            Timestamp::from_millis(0),
            Some(Bytes::from_static(&[0, 2, 0, 1, b'g'])),
            Some(Bytes::from_static(&[7])),
        ),
    ];
    let mut partition = Partition::new(PartitionConfig::default());
    let batch = offset_commit::new_batch(odd.to_vec(), None)
        .write()
        .unwrap();
    partition.follow(batch).unwrap();
    let log: &Log = partition.log();
    let loaded = load::load(log, Offset::ZERO, Timestamp::from_millis(0));
    assert_eq!(loaded.offsets.latest(), &Offsets::default());
    assert!(loaded.groups.is_empty());
}
