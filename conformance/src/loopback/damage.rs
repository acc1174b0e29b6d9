//! Files of a partition that were damaged while the broker was down: none of them may be read as if it were whole.

use bytes::{Bytes, BytesMut};
use fencepost::partition::{AbortedIndex, ENTRY_LEN, Partition, Snapshot};
use fencepost::types::Offset;

/// Where a snapshot's checksum lies; it covers all that follows.
const CRC: std::ops::Range<usize> = 2..6;
/// Where a snapshot's producers begin, and how many bytes each has.
const HEADER: usize = 10;
const PRODUCER: usize = 46;
/// Where a producer's fields lie: id, epoch, last offset, offset delta, first offset of the open transaction.
const ID: usize = 0;
const EPOCH: usize = 8;
const LAST_OFFSET: usize = 14;
const OFFSET_DELTA: usize = 22;
const FIRST_OFFSET: usize = 38;
/// Where an aborted transaction's fields lie, each of 8 bytes behind the version.
const FIELDS: [usize; 4] = [2, 10, 18, 26];
const FIRST: usize = FIELDS[1];
const LAST: usize = FIELDS[2];

/// Damages the snapshot and the transaction index of a partition in many ways.
///
/// # Panics
/// Where one of them is read all the same.
pub(super) fn is_noticed(partition: &Partition) {
    let snapshot = partition.snapshot();
    let offset = snapshot.offset;
    for bytes in snapshots(&snapshot.to_bytes(), offset) {
        let read = Snapshot::from_bytes(offset, &bytes);
        assert!(read.is_err(), "a damaged snapshot is read: {read:?}");
    }
    for bytes in indexes(&partition.aborted().to_bytes()) {
        let read = AbortedIndex::from_bytes(&bytes);
        assert!(read.is_err(), "a damaged index is read: {read:?}");
    }
}

/// Every bit that may flip in it, other lengths, and whole files of producers that cannot be.
fn snapshots(good: &Bytes, end: Offset) -> Vec<Bytes> {
    let mut damaged: Vec<Bytes> = (0..good.len() * 8).map(|bit| flipped(good, bit)).collect();
    damaged.extend((0..good.len()).map(|len| good.slice(..len)));
    damaged.push([&good[..], &[0]].concat().into());
    let producers = (good.len() - HEADER) / PRODUCER;
    for start in (0..producers).map(|at| HEADER + at * PRODUCER) {
        let past = end.get().to_be_bytes();
        let negative = i64::MIN.to_be_bytes();
        // A batch whose first offset would be below 0.
        let wide = i32::MAX.to_be_bytes();
        let has_batch = good[start + LAST_OFFSET] < 0x80;
        let mut wrong: Vec<(usize, &[u8])> = vec![
            (ID, &negative),
            (EPOCH, &negative[..2]),
            (FIRST_OFFSET, &past),
        ];
        if has_batch {
            wrong.extend([(LAST_OFFSET, &past[..]), (OFFSET_DELTA, &negative[..4])]);
            wrong.push((OFFSET_DELTA, &wide));
        }
        damaged.extend(wrong.iter().map(|(at, with)| {
            let mut bytes = BytesMut::from(&good[..]);
            bytes[start + at..start + at + with.len()].copy_from_slice(with);
            let sum = crc32c::crc32c(&bytes[CRC.end..]).to_be_bytes();
            bytes[CRC].copy_from_slice(&sum);
            bytes.freeze()
        }));
    }
    damaged
}

/// Other lengths and versions, negative fields, markers out of order, and transactions that end before they begin.
fn indexes(good: &Bytes) -> Vec<Bytes> {
    let mut damaged = vec![[&good[..], &[0]].concat().into()];
    let cut = (1..good.len()).filter(|len| len % ENTRY_LEN > 0);
    damaged.extend(cut.map(|len| good.slice(..len)));
    for start in (0..good.len()).step_by(ENTRY_LEN) {
        damaged.push(flipped(good, start * 8 + 15));
        damaged.extend(FIELDS.map(|at| flipped(good, (start + at) * 8)));
        let mut bytes = BytesMut::from(&good[..]);
        let last = i64::from_be_bytes(field(good, start + LAST));
        bytes[start + FIRST..start + FIRST + 8].copy_from_slice(&(last + 1).to_be_bytes());
        damaged.push(bytes.freeze());
        // The same marker twice.
        let entry = &good[start..start + ENTRY_LEN];
        let (before, after) = good.split_at(start);
        damaged.push([before, entry, after].concat().into());
    }
    damaged
}

fn field(bytes: &Bytes, at: usize) -> [u8; 8] {
    let mut field = [0; 8];
    field.copy_from_slice(&bytes[at..at + 8]);
    field
}

fn flipped(good: &Bytes, bit: usize) -> Bytes {
    let mut bytes = BytesMut::from(&good[..]);
    bytes[bit / 8] ^= 0x80 >> (bit % 8);
    bytes.freeze()
}
