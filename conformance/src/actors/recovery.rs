//! Crashes: what is on a disk when the process stops inside a write, and who comes up from it.
//!
//! Nothing of the memory is used, only bytes: batches with their checksums, the snapshot's file, the transaction index.

use super::{Broker, Difference, Frame, Outbox, Production, Write};
use crate::map::{self, RecordForm, Unmapped, log_record};
use bytes::Bytes;
use fencepost::batch::{NewBatch, NewRecord, RecordBatch, ScanEnd, scan};
use fencepost::coordinator::LogRecord;
use fencepost::partition::{AbortedIndex, Partition, PartitionConfig, Snapshot, Stored};
use fencepost::types::{LeaderEpoch, Offset as ImplOffset};
use fencepost_spec::coordinator::{Coordinator, TransactionLog};
use fencepost_spec::group::Group;
use fencepost_spec::partition as s;
use fencepost_spec::types::*;

/// When the process stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Moment {
    /// Before a byte of it is on the disk.
    Before,
    /// With a part of it on the disk.
    Torn,
    /// With all of it on the disk, and nobody told.
    After,
}

impl Moment {
    /// Every moment.
    pub const ALL: [Self; 3] = [Self::Before, Self::Torn, Self::After];

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::Torn => "torn",
            Self::After => "after",
        }
    }

    /// What may be on the disk of a write of these bytes. A torn write ends early, or has its length and holes in it.
    pub fn cuts(self, written: &[u8]) -> Vec<Bytes> {
        let first = |length: usize| Bytes::copy_from_slice(&written[..length]);
        match self {
            Self::Before => vec![Bytes::new()],
            Self::After => vec![first(written.len())],
            Self::Torn => {
                let half = written.len() / 2;
                let mut hollow = written.to_vec();
                hollow[half..].fill(0);
                let cuts = [
                    first(1),
                    first(half),
                    first(written.len() - 1),
                    hollow.into(),
                ];
                cuts.into_iter().filter(|cut| *cut != written).collect()
            }
        }
    }
}

/// What a partition has on its disk.
#[derive(Clone, Debug)]
pub(super) struct Disk {
    log: Vec<u8>,
    /// The files of snapshots, oldest first, with the offset in their name.
    snapshots: Vec<(ImplOffset, Bytes)>,
    aborted: Bytes,
    /// The high watermark that was last stored.
    high_watermark: ImplOffset,
}

impl Disk {
    /// The disk of a partition whose log ends before this offset.
    pub(super) fn below(end: ImplOffset, core: &Partition, snapshot: Option<&Snapshot>) -> Self {
        let log = core.log();
        let batches = log.batches_from(log.start_offset());
        let batches = batches.take_while(|batch| batch.base_offset() < end);
        let file = |snapshot: &Snapshot| (snapshot.offset, snapshot.to_bytes());
        Self {
            log: batches.flat_map(|batch| batch.bytes().to_vec()).collect(),
            snapshots: snapshot.map(file).into_iter().collect(),
            aborted: core.aborted().to_bytes(),
            high_watermark: core.high_watermark(),
        }
    }

    /// The core that comes up from it, and the snapshot that it has read: the newest that is whole.
    pub(super) fn recover(
        &self,
        config: PartitionConfig,
    ) -> Result<(Partition, Option<Snapshot>), Difference> {
        let mut snapshots = self.snapshots.iter().rev();
        let snapshot =
            snapshots.find_map(|(offset, bytes)| Snapshot::from_bytes(*offset, bytes).ok());
        let stored = Stored {
            batches: whole_batches(self.log.clone().into())?,
            snapshot: snapshot.clone(),
            aborted: AbortedIndex::from_bytes(&self.aborted)
                .map_err(|error| Difference::effect("transaction index", error))?,
            high_watermark: self.high_watermark,
        };
        let core = Partition::recover(config, stored)
            .map_err(|error| Difference::effect("partition", error))?;
        Ok((core, snapshot))
    }
}

/// The batches up to a torn end; damage before the end is no end.
fn whole_batches(log: Bytes) -> Result<Vec<RecordBatch>, Difference> {
    let found = scan(log);
    match found.end {
        ScanEnd::Clean | ScanEnd::TornTail(_) => Ok(found.batches),
        ScanEnd::Damaged(error) => Err(Difference::effect("log", error)),
    }
}

impl Broker {
    /// The transaction-state log as its leader has it, as bytes, with the batch of one more record beside it.
    pub(super) fn disk(
        &self,
        log: &TransactionLog,
        record: &LogRecord,
    ) -> Result<(Vec<u8>, Bytes), Difference> {
        let form = RecordForm::at(self.clock);
        let topics = self.topics;
        let encode = |id, value: Option<&_>| log_record(topics, form, id, value);
        let committed = (0..).map(TransactionalId).zip(&log.committed);
        let committed = committed.filter(|(_, value)| value.is_some());
        let committed = committed.map(|(id, value)| encode(id, value.as_ref()));
        let appended = log.appended.iter();
        let appended = appended.map(|it| encode(it.transactional_id, it.value.as_ref()));
        let mut image = Vec::new();
        let mut end = ImplOffset::ZERO;
        for record in committed.chain(appended) {
            let batch = log_batch(end, &record?)?;
            end = batch.next_offset();
            image.extend_from_slice(batch.bytes());
        }
        Ok((image, log_batch(end, record)?.bytes().clone()))
    }

    /// The broker that is elected at `epoch` after a crash, and finds this log.
    pub(super) fn recovered(
        &self,
        version: TransactionVersion,
        two_phase: bool,
        epoch: CoordinatorEpoch,
        log: Bytes,
    ) -> Result<Self, Difference> {
        let first = self.next_producer_id()?;
        let mut broker = Self {
            clock: self.clock,
            ..Self::new(self.id, self.topics, version, two_phase, first)
        };
        let mut out = Outbox::default();
        broker.elected(epoch, &mut out)?;
        broker.replay(log_records(log)?, &mut out)?;
        Ok(broker)
    }
}

fn log_batch(base_offset: ImplOffset, record: &LogRecord) -> Result<RecordBatch, Difference> {
    let batch = NewBatch {
        base_offset,
        leader_epoch: Some(LeaderEpoch::new(0)),
        producer: None,
        is_transactional: false,
        is_control: false,
        records: vec![NewRecord::new(
            map::Clock::default().late(),
            Some(record.key.clone()),
            record.value.clone(),
        )],
    };
    batch
        .write()
        .map_err(|error| Unmapped::new("batch", error).into())
}

fn log_records(log: Bytes) -> Result<Vec<LogRecord>, Difference> {
    let mut records = Vec::new();
    for batch in whole_batches(log)? {
        let malformed = |error| Difference::effect("log", error);
        for record in batch.records().map_err(malformed)? {
            let record = record.map_err(malformed)?;
            let key = record
                .key
                .ok_or_else(|| Difference::Missing("key".to_owned()))?;
            records.push(LogRecord {
                key: Bytes::copy_from_slice(key),
                value: record.value.map(Bytes::copy_from_slice),
            });
        }
    }
    Ok(records)
}

/// A partition that has come up after a crash, as the model would say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveredPartition {
    /// The partition.
    pub partition: s::Partition,
    /// The offsets that its log holds, where it is the offsets partition.
    pub offsets: Option<Group>,
}

impl Production {
    /// The brokers that may come up at `frame` after a crash in this write of a record, elected at `epoch`.
    ///
    /// # Errors
    /// [`Difference`] where one does not come up.
    pub fn brokers_after_crash(
        &self,
        frame: &Frame<'_>,
        (id, record): (BrokerId, &LogRecord),
        epoch: CoordinatorEpoch,
        moment: Moment,
    ) -> Result<Vec<Coordinator>, Difference> {
        let broker = &self.brokers()[usize::from(id.0)];
        let (image, written) = broker.disk(&frame.before.log, record)?;
        let cuts = moment.cuts(&written).into_iter();
        let recovered = cuts.map(|cut| {
            let log = [&image[..], &cut[..]].concat();
            let (version, two_phase) = (frame.before.version, frame.rules.two_phase);
            let broker = broker.recovered(version, two_phase, epoch, log.into())?;
            broker.abstract_state(frame.scenario.ids, frame.blocking)
        });
        recovered.collect()
    }

    /// The partitions that may come up after a crash in a write that led from here to `after`. `applied` is how far
    /// readers are served, where that lags.
    ///
    /// # Errors
    /// [`Difference`] where one does not come up.
    pub fn partitions_after_crash(
        &self,
        after: &Self,
        write: &Write,
        moment: Moment,
        applied: Option<Offset>,
    ) -> Result<Vec<RecoveredPartition>, Difference> {
        let (partition, batch) = match write {
            Write::TransactionState { .. } => return Ok(Vec::new()),
            Write::Batch { partition, batch } => (*partition, Some(batch)),
            Write::Snapshot { partition } => (*partition, None),
        };
        let at = usize::from(partition.0);
        let known = match moment {
            Moment::Before | Moment::Torn => self,
            Moment::After => after,
        };
        let (Some(replica), Some(old)) = (after.replicas().get(at), known.replicas().get(at))
        else {
            return offsets_after_crash((after, known), batch, moment);
        };
        let end = batch.map_or(replica.core()?.log().end_offset(), RecordBatch::base_offset);
        let mut disk = Disk::below(end, replica.core()?, self.replicas()[at].snapshot());
        disk.high_watermark = old.core()?.high_watermark();
        disk.aborted = self.replicas()[at].core()?.aborted().to_bytes();
        let written = match (batch, replica.snapshot()) {
            (Some(batch), _) => batch.bytes().clone(),
            (None, Some(snapshot)) => snapshot.to_bytes(),
            (None, None) => return Err(Difference::Missing("snapshot".to_owned())),
        };
        let cuts = moment.cuts(&written).into_iter();
        let recovered = cuts.map(|cut| {
            let mut disk = disk.clone();
            match batch {
                Some(_) => disk.log.extend_from_slice(&cut),
                None => disk.snapshots.push((end, cut)),
            }
            let replica = replica.recovered(&disk)?;
            Ok(RecoveredPartition {
                partition: replica.abstract_state(applied)?,
                offsets: None,
            })
        });
        recovered.collect()
    }
}

fn offsets_after_crash(
    (after, known): (&Production, &Production),
    batch: Option<&RecordBatch>,
    moment: Moment,
) -> Result<Vec<RecoveredPartition>, Difference> {
    let missing = || Difference::Missing("batch of the offsets partition".to_owned());
    let (offsets, known) = (after.offsets(), known.offsets());
    let (Some(offsets), Some(known), Some(batch)) = (offsets, known, batch) else {
        return Err(missing());
    };
    let mut disk = Disk::below(batch.base_offset(), offsets.partition(), None);
    disk.high_watermark = known.partition().high_watermark();
    let cuts = moment.cuts(batch.bytes()).into_iter();
    let recovered = cuts.map(|cut| {
        let mut disk = disk.clone();
        disk.log.extend_from_slice(&cut);
        let offsets = offsets.recovered(&disk)?;
        Ok(RecoveredPartition {
            partition: offsets.abstract_partition()?,
            offsets: Some(offsets.abstract_offsets()?),
        })
    });
    recovered.collect()
}
