//! Crash points: for every durable write of every step, the process stops before it, inside it or right after it, and
//! what comes up from the bytes alone is what the model's load or recovery gives at that point.

use super::compare::{forget_batches, refused, takes_snapshots};
use super::{Lockstep, Mismatch};
use crate::actors::{Difference, Frame, Moment, Production, RecoveredPartition, Write};
use crate::map::{normal_coordinator, normal_group, normal_partition, spec_transactional_id};
use fencepost::coordinator::LogRecord;
use fencepost::records::transaction_log::TransactionLogKey;
use fencepost_spec::coordinator::Coordinator;
use fencepost_spec::group::Group;
use fencepost_spec::message::{AppendTxnRecord, Message};
use fencepost_spec::partition::Partition;
use fencepost_spec::step::{Context, Out, Step};
use fencepost_spec::types::*;
use fencepost_spec::world::State;
use std::collections::BTreeMap;

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WriteKind {
    /// A record of the transaction-state log.
    TransactionState,
    /// Records of a producer.
    Data,
    /// A marker, on a data or an offsets partition.
    Marker,
    /// Staged offsets, or tombstones of expired ones.
    Offsets,
    /// A snapshot of a partition's producers.
    Snapshot,
}

impl WriteKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [
        Self::TransactionState,
        Self::Data,
        Self::Marker,
        Self::Offsets,
        Self::Snapshot,
    ];

    /// Its word in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::TransactionState => "transaction-state append",
            Self::Data => "data append",
            Self::Marker => "marker append",
            Self::Offsets => "offsets append",
            Self::Snapshot => "snapshot",
        }
    }

    fn of(write: &Write, scenario_partitions: u8) -> Self {
        match write {
            Write::TransactionState { .. } => Self::TransactionState,
            Write::Snapshot { .. } => Self::Snapshot,
            Write::Batch { batch, .. } if batch.header().is_control => Self::Marker,
            Write::Batch { partition, .. } if partition.0 == scenario_partitions => Self::Offsets,
            Write::Batch { .. } => Self::Data,
        }
    }
}

/// How many crash points were taken, by write and moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrashPoints(BTreeMap<(WriteKind, Moment), u64>);

impl CrashPoints {
    fn take(&mut self, kind: WriteKind, moment: Moment) {
        *self.0.entry((kind, moment)).or_default() += 1;
    }

    /// Each, with its count.
    pub fn iter(&self) -> impl Iterator<Item = ((WriteKind, Moment), u64)> {
        self.0.iter().map(|(point, count)| (*point, *count))
    }
}

/// One step on both sides.
#[derive(Clone, Copy)]
pub(super) struct Taken<'a> {
    /// The model before and after.
    pub(super) model: (&'a State, &'a State),
    /// What the model sent.
    pub(super) sent: &'a [Message],
    /// Production before and after.
    pub(super) production: (&'a Production, &'a Production),
    /// What production wrote.
    pub(super) writes: &'a [Write],
}

impl Lockstep {
    /// Crashes at each write of the step.
    pub(super) fn crash(&self, taken: Taken<'_>, points: &mut CrashPoints) -> Result<(), Mismatch> {
        let frame = self.frame(taken.model.0);
        for write in taken.writes {
            let kind = WriteKind::of(write, frame.scenario.partitions);
            for moment in Moment::ALL {
                let took = match write {
                    Write::TransactionState { broker, record } => {
                        let id = record_id(record).map_err(refused)?;
                        let mut sent = taken.sent.iter();
                        let sent = sent.find_map(|it| appended(it, (*broker, id)));
                        let Some(sent) = sent.filter(|it| is_leaders(it, frame.before)) else {
                            continue;
                        };
                        let epoch = CoordinatorEpoch(frame.before.log.epoch.0 + 1);
                        let before = taken.production.0;
                        let record = (*broker, record);
                        let found = before.brokers_after_crash(&frame, record, epoch, moment);
                        let written = (moment == Moment::After).then_some(&sent);
                        let expected = recovered_coordinator(&frame, *broker, epoch, written);
                        found.and_then(|found| same_coordinators(&expected, &found))
                    }
                    Write::Batch { partition, .. } | Write::Snapshot { partition } => {
                        let state = match moment {
                            Moment::Before | Moment::Torn => taken.model.0,
                            Moment::After => taken.model.1,
                        };
                        let expected = recovered_partition(&frame, state, *partition);
                        let lags = frame.scenario.pace.apply_lag;
                        let applied = lags.then_some(expected.partition.applied);
                        let (before, after) = taken.production;
                        let found = before.partitions_after_crash(after, write, moment, applied);
                        found.and_then(|found| same_partitions(&frame, &expected, found))
                    }
                };
                points.take(kind, moment);
                if let Some(mismatch) = took.map_err(refused)? {
                    return Err(Mismatch::Value {
                        what: format!("after a crash, {} {}", moment.name(), kind.name()),
                        model: mismatch.0,
                        production: mismatch.1,
                    });
                }
            }
        }
        Ok(())
    }
}

type Differing = Option<(String, String)>;

/// The id that a record is of: a step may write records of several.
fn record_id(record: &LogRecord) -> Result<TransactionalId, Difference> {
    let key = TransactionLogKey::decode(&record.key);
    let key = key.map_err(|error| Difference::Record(error.to_string()))?;
    Ok(spec_transactional_id(&key.transactional_id)?)
}

fn appended(message: &Message, by: (BrokerId, TransactionalId)) -> Option<AppendTxnRecord> {
    match message {
        Message::AppendTxnRecord(m) if (m.broker, m.transactional_id) == by => Some(*m),
        _ => None,
    }
}

/// Whether the log takes the record: a deposed coordinator's is refused before it is written.
fn is_leaders(record: &AppendTxnRecord, before: &State) -> bool {
    record.coordinator_epoch == before.log.epoch
}

/// The model's coordinator of a broker that is elected once everything in the log, and then this record, is replicated.
fn recovered_coordinator(
    frame: &Frame<'_>,
    broker: BrokerId,
    epoch: CoordinatorEpoch,
    written: Option<&AppendTxnRecord>,
) -> Coordinator {
    let ctx = Context {
        rules: frame.rules,
        version: frame.before.version,
        blocking: frame.blocking,
    };
    let mut out = Out::default();
    let mut log = frame.before.log.clone();
    if let Some(record) = written {
        log.append(record, false, &mut out);
    }
    while log.commit(&mut out) == Step::Handled {}
    log.epoch = epoch;
    let mut coordinator = Coordinator::new(broker, frame.scenario.ids, false);
    coordinator.elected(&ctx, epoch);
    coordinator.load(&ctx, &log, &mut out);
    normal_coordinator(&coordinator)
}

/// The first that differs. Ids, which are the controller's, and the clock are no part of the log.
fn same_coordinators(
    expected: &Coordinator,
    found: &[Coordinator],
) -> Result<Differing, Difference> {
    let differs = found.iter().find_map(|found| {
        let expected = Coordinator {
            next_producer_id: found.next_producer_id,
            clock_back: found.clock_back,
            ..expected.clone()
        };
        (*found != expected).then(|| (format!("{expected:?}"), format!("{found:?}")))
    });
    Ok(differs)
}

/// The model's partition after a restart, with what its log says of the group's offsets.
fn recovered_partition(
    frame: &Frame<'_>,
    state: &State,
    partition: PartitionIndex,
) -> RecoveredPartition {
    let mut recovered = state.partitions[usize::from(partition.0)].clone();
    let mut out = Out::default();
    recovered.restart(&mut out);
    recovered.recover(frame.rules);
    let is_offsets = frame.scenario.offsets && partition.0 == frame.scenario.partitions;
    let ctx = Context {
        rules: frame.rules,
        version: state.version,
        blocking: frame.blocking,
    };
    let group = state.group.as_ref().filter(|_| is_offsets);
    RecoveredPartition {
        partition: compared(frame, normal_partition(&recovered, is_offsets)),
        offsets: group.map(|group| without_members(normal_group(group, &ctx))),
    }
}

fn compared(frame: &Frame<'_>, mut partition: Partition) -> Partition {
    if takes_snapshots(frame) {
        forget_batches(&mut partition);
    }
    partition
}

/// Members come back by their own requests.
fn without_members(group: Group) -> Group {
    let Group {
        state,
        generation,
        member,
        members,
        replaced,
        ..
    } = Group::default();
    Group {
        state,
        generation,
        member,
        members,
        replaced,
        ..group
    }
}

fn same_partitions(
    frame: &Frame<'_>,
    expected: &RecoveredPartition,
    found: Vec<RecoveredPartition>,
) -> Result<Differing, Difference> {
    let differs = found.into_iter().find_map(|found| {
        let found = RecoveredPartition {
            partition: compared(frame, found.partition),
            offsets: found.offsets,
        };
        (found != *expected).then(|| (format!("{expected:?}"), format!("{found:?}")))
    });
    Ok(differs)
}
