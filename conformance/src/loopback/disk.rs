//! The transaction log as it lies on the disk, and what can be wrong with that disk.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};
use fencepost::coordinator::{AppendOutcome, LogRecord};
use fencepost::error_code::ErrorCode;

/// The most bytes of a tombstone's record beside its key.
const RECORD: usize = 28;
/// Where a record's value has the producer epoch: after its version and the producer id.
const PRODUCER_EPOCH: std::ops::Range<usize> = 10..12;
/// The key of a record of some later version.
const FOREIGN_KEY: [u8; 4] = [0, 9, 0, 0];

/// The transaction log, and how often it has been led.
#[derive(Debug, Default)]
pub(super) struct Disk {
    pub(super) records: BTreeMap<i32, Vec<LogRecord>>,
    pub(super) coordinator_epoch: i32,
    /// After so many writes one fails, with this error.
    pub(super) failing: Option<(u32, ErrorCode)>,
    /// So many writes fit; without a number, any.
    pub(super) room: Option<u32>,
    /// How many records of a later version each partition has.
    foreign: usize,
}

impl Disk {
    /// Appends; a batch of several records must fit `max.message.bytes`, which is what one of tombstones may have.
    pub(super) fn append(
        &mut self,
        partition: i32,
        records: Vec<LogRecord>,
        max_bytes: usize,
    ) -> AppendOutcome {
        match self.failing {
            Some((0, error)) => {
                self.failing = None;
                return AppendOutcome::Failed(error);
            }
            Some((after, error)) => self.failing = Some((after - 1, error)),
            None => {}
        }
        match &mut self.room {
            Some(0) => return AppendOutcome::Failed(ErrorCode::KafkaStorageError),
            Some(room) => *room -= 1,
            None => {}
        }
        let bytes: usize = records.iter().map(|it| it.key.len() + RECORD).sum();
        if records.len() > 1 && bytes > max_bytes {
            return AppendOutcome::Failed(ErrorCode::RecordListTooLarge);
        }
        self.records.entry(partition).or_default().extend(records);
        AppendOutcome::Written
    }

    /// A broker of a later version has written a record to each of so many partitions.
    pub(super) fn write_foreign_records(&mut self, partitions: i32) {
        self.foreign += 1;
        for partition in 0..partitions {
            let record = LogRecord {
                key: Bytes::from_static(&FOREIGN_KEY),
                value: Some(Bytes::from_static(&FOREIGN_KEY)),
            };
            self.records.entry(partition).or_default().push(record);
        }
    }

    /// How many records whoever reads a partition passes over.
    pub(super) fn foreign_records(&self) -> usize {
        self.foreign
    }

    /// Every record is of this producer epoch, as if so many sessions had come and gone.
    pub(super) fn raise_epochs(&mut self, epoch: i16) {
        let records = self.records.values_mut().flatten();
        for record in records.filter(|it| it.key != FOREIGN_KEY[..]) {
            let Some(value) = record.value.take() else {
                continue;
            };
            let mut bytes = BytesMut::from(&value[..]);
            bytes[PRODUCER_EPOCH].copy_from_slice(&epoch.to_be_bytes());
            record.value = Some(bytes.freeze());
        }
    }
}
