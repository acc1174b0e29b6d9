//! The cores together: a producer that crashes, its coordinator, two data partitions and a group, with messages in any
//! order, lost answers and (in TV2) copies. At the end a read_committed reader sees whole transactions only.

mod acts;
mod wires;

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::batch::{BatchProducer, NewBatch, NewRecord};
use crate::coordinator::{
    self, AddOffsetsToTxn, AddPartitionsToTxn, AddPartitionsToTxnForm, AppendOutcome, AppendTicket,
    Authorization, Claim, Config, Coordinator, Correlation, EndTxn, InitProducerId, Leadership,
    MarkerOutcome, MarkerTicket, PartitionAccess, ProducerIdBlock,
};
use crate::group::{self, GroupConfig, GroupCoordinator, MemberIdentity, OffsetToCommit};
use crate::partition::{
    self, Acks, Partition, PartitionConfig, TransactionSupport, WriteTxnMarker,
};
use crate::types::{
    CoordinatorEpoch, IsolationLevel, LeaderEpoch, RequestId, Timestamp, TransactionalId,
};

const GROUP: usize = 2;

#[derive(Clone, Debug)]
enum Message {
    ToCoordinator(Origin, coordinator::Request),
    ToClient(u64, Response),
    Produce(ProduceBatch),
    BatchAnswer(ProduceBatch, ErrorCode),
    StageOffsets(u64, group::TxnOffsetCommit),
    Appended(AppendTicket),
    Marker(usize, MarkerTicket),
    MarkerAnswer(MarkerTicket, TopicPartition, ErrorCode),
    Verified(usize, RequestId, Result<(), ErrorCode>),
}

/// Who waits for a coordinator's answer.
#[derive(Clone, Debug)]
enum Origin {
    Client(u64),
    Partition(usize, RequestId),
    Nobody,
}

/// Who waits for a partition's answer.
#[derive(Clone, Debug)]
enum Waiter {
    Batch(ProduceBatch),
    Marker(MarkerTicket),
    Offsets(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Open,
    Committed,
    Aborted,
    Unknown,
}

#[derive(Clone, Debug)]
struct Txn {
    outcome: Outcome,
    batches: Vec<(i32, u64)>,
    has_offsets: bool,
}

struct World {
    version: TransactionVersion,
    client: TransactionManager,
    coordinator: Coordinator,
    data: Vec<Partition>,
    group: GroupCoordinator,
    flight: Vec<Message>,
    origins: BTreeMap<u64, Origin>,
    waiters: BTreeMap<RequestId, Waiter>,
    /// Names the request of the client that is on its way: an answer to an earlier one is late.
    connection: u64,
    next: u64,
    now: i64,
    txns: Vec<Txn>,
}

fn manager(features: TransactionVersion) -> TransactionManager {
    TransactionManager::new(ProducerConfig {
        features,
        coordinator_can_bump: true,
    })
}

fn claim(producer: ProducerIdAndEpoch) -> Claim {
    Claim {
        producer_id: Some(producer.producer_id),
        producer_epoch: Some(producer.producer_epoch),
    }
}

fn place(index: usize) -> TopicPartition {
    if index == GROUP {
        TopicPartition::new("__consumer_offsets", 0)
    } else {
        partition(i32::try_from(index).unwrap())
    }
}

fn index_of(partition: &TopicPartition) -> usize {
    if partition.topic.as_str() == "t" {
        usize::try_from(partition.partition).unwrap()
    } else {
        GROUP
    }
}

impl World {
    fn new(version: TransactionVersion) -> Self {
        let config = Config {
            transaction_log_partitions: 1,
            offsets_partitions: 1,
            ..Config::default()
        };
        let mut world = Self {
            version,
            client: manager(version),
            coordinator: Coordinator::new(config, version),
            data: vec![Partition::new(PartitionConfig::default()); 2],
            group: GroupCoordinator::new(GroupConfig::default(), PartitionConfig::default()),
            flight: Vec::new(),
            origins: BTreeMap::new(),
            waiters: BTreeMap::new(),
            connection: 0,
            next: 0,
            now: 0,
            txns: Vec::new(),
        };
        let leader_epoch = LeaderEpoch::new(0);
        for data in &mut world.data {
            data.step(
                partition::Input::BecomeLeader { leader_epoch },
                Timestamp::from_millis(0),
            );
        }
        world.group_step(group::Input::BecomeLeader { leader_epoch });
        world.group_step(group::Input::Load { leader_epoch });
        let coordinator_epoch = CoordinatorEpoch::new(0);
        for leadership in [
            Leadership::Elected {
                partition: 0,
                coordinator_epoch,
            },
            Leadership::Loaded {
                partition: 0,
                coordinator_epoch,
            },
        ] {
            world.coordinator_step(coordinator::Input::Leadership(leadership));
        }
        world.call(Call::InitTransactions);
        world
    }

    fn fresh(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn time(&self) -> Timestamp {
        Timestamp::from_millis(self.now)
    }
}

fn play(version: TransactionVersion, steps: &[(u8, usize)]) -> World {
    let mut world = World::new(version);
    world.settle();
    for (action, pick) in steps {
        world.step(*action, *pick);
    }
    world.settle();
    world.check();
    world
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn tv2_transactions_are_all_or_nothing(
        steps in proptest::collection::vec((0_u8..26, any::<usize>()), 0..200),
    ) {
        play(TransactionVersion::V2, &steps);
    }

    /// TV1 without copies and late requests, against which it has no defence (KAFKA-17754), and in order by partition.
    #[test]
    fn tv1_transactions_are_all_or_nothing(
        steps in proptest::collection::vec((0_u8..26, any::<usize>()), 0..200),
    ) {
        play(TransactionVersion::V1, &steps);
    }
}

#[test]
fn the_sessions_do_commit_and_abort() {
    for version in [TransactionVersion::V1, TransactionVersion::V2] {
        let mut world = World::new(version);
        world.settle();
        for (number, end) in (0..6).zip(
            [Call::CommitTransaction, Call::AbortTransaction]
                .into_iter()
                .cycle(),
        ) {
            world.begin();
            world.send(number % 2);
            world.send_offsets();
            while !world.flight.is_empty() {
                let message = world.flight.remove(0);
                world.deliver(message);
            }
            world.call(end);
            world.settle();
        }
        world.check();
        let outcomes: Vec<Outcome> = world.txns.iter().map(|txn| txn.outcome).collect();
        let expected = [Outcome::Committed, Outcome::Aborted].repeat(3);
        assert_eq!(outcomes, expected, "{version:?}");
    }
}
