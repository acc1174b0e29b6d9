//! Producer snapshots: the producers' states at one offset, so that recovery need not read the whole log.
//!
//! The bytes are those of Kafka's snapshot files: version, checksum, count, then 46 bytes for each producer. Only the
//! last batch of a producer is kept.

use bytes::{Buf, BufMut, Bytes};
use thiserror::Error;

use super::Partition;
use super::producer_state::{BatchMetadata, ProducerState, ProducerStates};
use crate::types::{CoordinatorEpoch, Offset, ProducerEpoch, ProducerId, Sequence, Timestamp};

const VERSION: i16 = 1;
const HEADER_LEN: usize = 10;
const ENTRY_LEN: usize = 46;

/// The producers of a partition as the log below `offset` says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Snapshot {
    /// The log end at which it was taken: a part of the file's name, not of its bytes.
    pub offset: Offset,
    /// The states, each with its last batch only.
    pub producers: ProducerStates,
}

/// Why the bytes of a snapshot are not one. Such a snapshot is thrown away, and recovery begins earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum SnapshotError {
    /// Another length than the count of producers gives.
    #[error("{0} bytes do not fit the announced producers")]
    Length(usize),
    /// A version that this code does not know.
    #[error("version {0}")]
    Version(i16),
    /// The checksum does not fit.
    #[error("the checksum does not fit")]
    Crc,
    /// A producer without an id or epoch, or with offsets that do not exist.
    #[error("producer {0} of the snapshot is not valid")]
    Producer(usize),
}

impl Partition {
    /// The producers' states at the log end. Producers without data, whose epoch only a marker has raised, are part of
    /// it (B35).
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let mut producers = ProducerStates::default();
        for (id, state) in self.producers().iter() {
            let mut state = state.clone();
            let forgotten = state.batches.len().saturating_sub(1);
            state.batches.drain(..forgotten);
            seed!(SnapshotForgetsOpen, state.current_txn_first_offset = None);
            producers.restore(id, state);
        }
        Snapshot {
            offset: self.log.end_offset(),
            producers,
        }
    }
}

impl Snapshot {
    /// The bytes of the file.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        let mut body = Vec::new();
        let mut count = 0_i32;
        for (id, state) in self.producers.iter() {
            put_producer(&mut body, id, state);
            count += 1;
        }
        let mut tail = Vec::with_capacity(4 + body.len());
        tail.put_i32(count);
        tail.extend_from_slice(&body);
        let mut out = Vec::with_capacity(HEADER_LEN + body.len());
        out.put_i16(VERSION);
        out.put_u32(crc32c::crc32c(&tail));
        out.extend_from_slice(&tail);
        out.into()
    }

    /// Reads the file of the snapshot taken at `offset`.
    ///
    /// # Errors
    /// [`SnapshotError`], with nothing half read.
    pub fn from_bytes(offset: Offset, mut bytes: &[u8]) -> Result<Self, SnapshotError> {
        let length = SnapshotError::Length(bytes.len());
        if bytes.len() < HEADER_LEN {
            return Err(length);
        }
        let version = bytes.get_i16();
        if version != VERSION {
            return Err(SnapshotError::Version(version));
        }
        if bytes.get_u32() != crc32c::crc32c(bytes) {
            return Err(SnapshotError::Crc);
        }
        let count = usize::try_from(bytes.get_i32()).map_err(|_| length)?;
        if count.checked_mul(ENTRY_LEN) != Some(bytes.len()) {
            return Err(length);
        }
        let mut producers = ProducerStates::default();
        for (index, raw) in bytes.chunks_exact(ENTRY_LEN).enumerate() {
            let (id, state) = take_producer(raw, offset).ok_or(SnapshotError::Producer(index))?;
            producers.restore(id, state);
        }
        Ok(Self { offset, producers })
    }
}

fn put_producer(out: &mut Vec<u8>, id: ProducerId, state: &ProducerState) {
    let last = state.batches.last();
    out.put_i64(id.get());
    out.put_i16(state.epoch.get());
    out.put_i32(Sequence::to_wire(last.map(|it| it.last_sequence)));
    out.put_i64(Offset::to_wire(last.map(|it| it.last_offset)));
    out.put_i32(last.map_or(0, |it| it.offset_delta));
    out.put_i64(state.last_timestamp.as_millis());
    out.put_i32(CoordinatorEpoch::to_wire(state.coordinator_epoch));
    out.put_i64(Offset::to_wire(state.current_txn_first_offset));
}

fn take_producer(mut raw: &[u8], end: Offset) -> Option<(ProducerId, ProducerState)> {
    let id = ProducerId::from_wire(raw.get_i64())?;
    let epoch = ProducerEpoch::from_wire(raw.get_i16())?;
    let last_sequence = Sequence::from_wire(raw.get_i32());
    let last_offset = Offset::from_wire(raw.get_i64());
    let offset_delta = raw.get_i32();
    let last_timestamp = Timestamp::from_millis(raw.get_i64());
    let coordinator_epoch = CoordinatorEpoch::from_wire(raw.get_i32());
    let current_txn_first_offset = Offset::from_wire(raw.get_i64());
    let batch = match (last_sequence, last_offset) {
        (Some(last_sequence), Some(last_offset)) => Some(BatchMetadata {
            last_sequence,
            last_offset,
            offset_delta,
            timestamp: last_timestamp,
        }),
        (None, _) | (_, None) => None,
    };
    let in_log = |offset: Option<Offset>| offset.is_none_or(|offset| offset < end);
    let delta_fits = batch.is_none_or(|it| {
        it.offset_delta >= 0 && i64::from(it.offset_delta) <= it.last_offset.get()
    });
    (in_log(last_offset) && in_log(current_txn_first_offset) && delta_fits).then_some((
        id,
        ProducerState {
            epoch,
            coordinator_epoch,
            last_timestamp,
            current_txn_first_offset,
            batches: batch.into_iter().collect(),
        },
    ))
}
