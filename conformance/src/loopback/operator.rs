//! What whoever started the broker may do to it: hold it back, let it go on, restart it from its records alone.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use fencepost::batch::{RecordBatch, ScanEnd, scan};
use fencepost::coordinator::{
    self, AppendOutcome, AppendTicket, Authorization, Config, Coordinator, Leadership, MarkerTicket,
};
use fencepost::error_code::ErrorCode;
use fencepost::group::{self, GroupConfig, GroupCoordinator};
use fencepost::partition::{
    AbortedIndex, AbortedTxn, Input, Partition, PartitionConfig, Snapshot, Stored,
};
use fencepost::types::{CoordinatorEpoch, TopicPartition};

use super::broker::{Broker, Work};
use super::controller::Blocks;
use super::topics::LEADER_EPOCH;
use super::{LoopbackConfig, damage, index};

/// What is done to the broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// No record of the transaction log is replicated from here on.
    HoldLog,
    /// No marker is sent from here on.
    HoldMarkers,
    /// What was held goes on.
    LetGo,
    /// The disk fails the next write to a partition of data or of committed offsets.
    FailWrite,
    /// What callers may do from here on.
    Grant(Rights),
    /// After so many writes to the transaction log one fails, with this error.
    FailLog(u32, ErrorCode),
    /// So many writes fit into the transaction log, and no more, until what was held goes on.
    FillLog(u32),
    /// How the controller answers requests for producer ids from here on.
    ProducerIds(Blocks),
    /// A restart on a transaction log to whose partitions a later version has written a record each.
    ForeignRecords,
    /// A restart on a transaction log whose ids are all at this producer epoch.
    RaiseEpochs(i16),
    /// Followers of all partitions take the lead, and the coordinator starts again from its records.
    FailOver,
    /// Each file of a partition of data is read back damaged in many ways: none may be read as if it were whole.
    ReadDamaged,
    /// Of each partition of data a replica without the last so many batches takes the lead.
    Lose(usize),
    /// The clock stands still from here on, but for [`Self::Pass`].
    StopClock,
    /// The coordinator and every leader hear of their own election again, at the same epoch, and of what was meant for
    /// the followers that they were.
    ElectAgain,
    /// The coordinator hears that an older epoch than its own belongs to another broker.
    ResignLate,
    /// Another broker coordinates from here on.
    Resign,
    /// Another broker leads one partition of the transaction log from here on.
    ResignOne(i32),
    /// The coordinator is elected, and cannot read its log yet.
    Unload,
    /// The load of the leadership before the present one comes to its end.
    LoadLate,
    /// A restart with `transaction.two.phase.commit.enable` set so.
    TwoPhase(bool),
    /// So much time passes at once, and every sweep runs.
    Pass(Duration),
    /// The clock is set back by as much, at most to what it was when the broker started.
    SetBack(Duration),
    /// The process ends and starts again: every core comes up from what a disk would have. A stop in good order leaves
    /// snapshots of the producers and the transaction indexes behind, a kill leaves the logs.
    Restart {
        /// Whether the stop was in good order.
        gently: bool,
    },
}

/// What callers may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// Everything but two-phase commit.
    pub all: Authorization,
    /// Two-phase commit.
    pub two_phase: Authorization,
}

impl Rights {
    /// Everybody may everything.
    pub const ALL: Self = Self {
        all: Authorization::Allowed,
        two_phase: Authorization::Allowed,
    };
}

/// How the cores are set up, each time that they start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) coordinator: Config,
    pub(super) group: GroupConfig,
    pub(super) partition: PartitionConfig,
    /// How many producer ids the controller gives at a time.
    pub(super) block: i32,
}

impl Settings {
    pub(super) fn new(config: LoopbackConfig) -> Self {
        Self {
            coordinator: Config {
                two_phase_commit_enable: true,
                ..config.coordinator
            },
            group: GroupConfig {
                initial_rebalance_delay_ms: 0,
                ..GroupConfig::default()
            },
            partition: PartitionConfig {
                verification: config.verification,
                ..PartitionConfig::default()
            },
            block: config.producer_id_block,
        }
    }
}

/// What is held back, and what will fail.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) log: bool,
    pub(super) markers: bool,
    pub(super) fails: bool,
    pub(super) blocks: Blocks,
    pub(super) late_blocks: usize,
    pub(super) load: bool,
    pub(super) appends: Vec<AppendTicket>,
    pub(super) unsent: Vec<(MarkerTicket, TopicPartition)>,
}

impl Broker {
    pub(super) fn carry_out(&mut self, order: Order) {
        self.check_guards();
        match order {
            Order::HoldLog => self.held.log = true,
            Order::HoldMarkers => self.held.markers = true,
            Order::LetGo => self.let_go(),
            Order::Grant(rights) => self.rights = rights,
            Order::FailLog(after, error) => self.disk.failing = Some((after, error)),
            Order::FillLog(room) => self.disk.room = Some(room),
            Order::ProducerIds(blocks) => self.held.blocks = blocks,
            Order::ForeignRecords => {
                let partitions = self.settings.coordinator.transaction_log_partitions;
                self.disk.write_foreign_records(partitions);
                self.restart(false);
            }
            Order::RaiseEpochs(epoch) => {
                self.disk.raise_epochs(epoch);
                self.restart(false);
            }
            Order::FailOver => {
                self.forget_requests();
                self.disk.coordinator_epoch += 1;
                self.lead_coordinator();
                self.fail_over();
            }
            Order::ReadDamaged => self
                .topics
                .partitions_mut()
                .for_each(|it| damage::is_noticed(it)),
            Order::Lose(lost) => self.lose(lost),
            Order::StopClock => self.stopped = Some(SystemTime::now()),
            Order::ElectAgain => {
                self.hear(|partition, coordinator_epoch| Leadership::Elected {
                    partition,
                    coordinator_epoch,
                });
                self.hear_late();
            }
            Order::ResignLate => {
                self.disk.coordinator_epoch -= 1;
                self.resign();
                self.disk.coordinator_epoch += 1;
            }
            Order::Resign => self.resign(),
            Order::ResignOne(partition) => {
                let resigned = Leadership::Resigned {
                    partition,
                    coordinator_epoch: CoordinatorEpoch::new(self.disk.coordinator_epoch),
                };
                let input = coordinator::Input::Leadership(resigned);
                self.queue(Work::Coordinator(input));
                self.settle();
            }
            Order::Unload => {
                self.disk.coordinator_epoch += 1;
                self.held.load = true;
                self.hear(|partition, coordinator_epoch| Leadership::Elected {
                    partition,
                    coordinator_epoch,
                });
            }
            Order::LoadLate => {
                self.disk.coordinator_epoch -= 1;
                self.hear(|partition, coordinator_epoch| Leadership::Replayed {
                    partition,
                    coordinator_epoch,
                    records: Vec::new(),
                });
                self.hear(|partition, coordinator_epoch| Leadership::Loaded {
                    partition,
                    coordinator_epoch,
                });
                self.disk.coordinator_epoch += 1;
            }
            Order::TwoPhase(enabled) => {
                self.settings.coordinator.two_phase_commit_enable = enabled;
                self.restart(true);
            }
            Order::FailWrite => self.held.fails = true,
            Order::Pass(time) => {
                self.passed += time;
                self.sweep();
            }
            Order::SetBack(time) => self.passed = self.passed.saturating_sub(time),
            Order::Restart { gently } => self.restart(gently),
        }
    }

    fn resign(&mut self) {
        self.hear(|partition, coordinator_epoch| Leadership::Resigned {
            partition,
            coordinator_epoch,
        });
    }

    /// The coordinator hears something about each partition of its log.
    fn hear(&mut self, of: impl Fn(i32, CoordinatorEpoch) -> Leadership) {
        let epoch = CoordinatorEpoch::new(self.disk.coordinator_epoch);
        for partition in 0..self.settings.coordinator.transaction_log_partitions {
            let input = coordinator::Input::Leadership(of(partition, epoch));
            self.queue(Work::Coordinator(input));
        }
        self.settle();
    }

    fn let_go(&mut self) {
        let held = std::mem::take(&mut self.held);
        self.disk.room = None;
        self.give_late_blocks(held.late_blocks);
        if held.load {
            self.lead_coordinator();
        }
        for ticket in held.appends {
            let input = coordinator::Input::AppendFinished(ticket, AppendOutcome::Written);
            self.queue(Work::Coordinator(input));
        }
        for (ticket, partition) in held.unsent {
            self.send_marker(ticket, partition);
        }
        self.settle();
    }

    fn restart(&mut self, gently: bool) {
        let now = self.now();
        self.forget_requests();
        for replica in self.topics.partitions_mut() {
            let stored = stored(replica, gently);
            *replica = come_up(self.settings.partition, stored);
            let leader_epoch = LEADER_EPOCH;
            replica.step(Input::BecomeLeader { leader_epoch }, now);
        }
        for group in &mut self.groups {
            let stored = stored(group.partition(), gently).map(compacted);
            let partition = come_up(self.settings.partition, stored);
            *group = GroupCoordinator::of(self.settings.group, partition);
        }
        self.disk.coordinator_epoch += 1;
        self.lead();
    }

    /// The coordinator is a new one, and whoever waits for an answer sees the connection end.
    fn forget_requests(&mut self) {
        self.held = Held::default();
        self.queue.clear();
        self.waiters.clear();
        self.calls.clear();
        self.coordinator = Coordinator::new(self.settings.coordinator, self.level);
    }

    /// Takes the lead of everything, and reads what there is.
    pub(super) fn lead(&mut self) {
        self.lead_coordinator();
        for partition in 0..self.offsets_partitions() {
            let leader_epoch = LEADER_EPOCH;
            let leads = group::Input::BecomeLeader { leader_epoch };
            self.queue(Work::Group(partition, leads));
            self.queue(Work::Group(partition, group::Input::Load { leader_epoch }));
        }
        self.settle();
    }

    fn lead_coordinator(&mut self) {
        let coordinator_epoch = CoordinatorEpoch::new(self.disk.coordinator_epoch);
        for partition in 0..self.settings.coordinator.transaction_log_partitions {
            let records = self.disk.records.get(&partition);
            let elected = Leadership::Elected {
                partition,
                coordinator_epoch,
            };
            let replayed = Leadership::Replayed {
                partition,
                coordinator_epoch,
                records: records.cloned().unwrap_or_default(),
            };
            let loaded = Leadership::Loaded {
                partition,
                coordinator_epoch,
            };
            for leadership in [elected, replayed, loaded] {
                let input = coordinator::Input::Leadership(leadership);
                self.queue(Work::Coordinator(input));
            }
        }
        self.settle();
    }
}

/// The replica that comes up from what is stored. What cannot be read comes up empty, which whoever looks at it sees.
fn come_up(config: PartitionConfig, stored: Option<Stored>) -> Partition {
    stored
        .and_then(|stored| Partition::recover(config, stored).ok())
        .unwrap_or_else(|| Partition::new(config))
}

/// What the cleaner leaves: no plain record of a key that a later one has. Only batches of one record are looked at.
fn compacted(stored: Stored) -> Stored {
    let mut later = BTreeSet::new();
    let mut batches: Vec<RecordBatch> = Vec::new();
    for batch in stored.batches.into_iter().rev() {
        let is_replaced = plain_key(&batch).is_some_and(|key| !later.insert(key));
        if !is_replaced {
            batches.push(batch);
        }
    }
    batches.reverse();
    Stored { batches, ..stored }
}

fn plain_key(batch: &RecordBatch) -> Option<Vec<u8>> {
    let header = batch.header();
    if header.is_control || header.is_transactional {
        return None;
    }
    let mut records = batch.records().ok()?;
    let only = records.next()?.ok()?;
    records
        .next()
        .is_none()
        .then(|| only.key.map(<[u8]>::to_vec))?
}

fn stored(of: &Partition, gently: bool) -> Option<Stored> {
    let log = of.log();
    let batches = log.batches_from(log.start_offset());
    let bytes: Vec<u8> = batches.flat_map(|batch| batch.bytes().to_vec()).collect();
    let found = scan(Bytes::from(bytes));
    let batches: Vec<RecordBatch> = match found.end {
        ScanEnd::Clean => found.batches,
        ScanEnd::TornTail(_) | ScanEnd::Damaged(_) => return None,
    };
    let (snapshot, aborted) = if gently {
        let taken = of.snapshot();
        let read = Snapshot::from_bytes(taken.offset, &taken.to_bytes()).ok()?;
        let listed: Vec<AbortedTxn> = of.aborted().iter().copied().collect();
        assert_eq!(listed, index::aborted(&batches), "the transaction index");
        let index = AbortedIndex::from_bytes(&of.aborted().to_bytes()).ok()?;
        (Some(read), index)
    } else {
        (None, AbortedIndex::default())
    };
    Some(Stored {
        batches,
        snapshot,
        aborted,
        high_watermark: of.high_watermark(),
    })
}
