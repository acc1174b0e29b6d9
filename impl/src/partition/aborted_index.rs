//! The transaction index: which aborted transactions a range of the log holds.

use bytes::{Buf, BufMut, Bytes};
use im::OrdMap;
use thiserror::Error;

use crate::types::{Offset, ProducerId};

/// Bytes of one entry.
pub const ENTRY_LEN: usize = 34;
const VERSION: i16 = 0;

/// One aborted transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbortedTxn {
    /// Whose it was.
    pub producer_id: ProducerId,
    /// Its first offset.
    pub first_offset: Offset,
    /// Its marker's offset.
    pub last_offset: Offset,
    /// The last stable offset once its marker was written: the first offset of the earliest other open transaction, or
    /// else the offset after the marker. Transactions that end later begin at or after it, so a reader whose range ends
    /// at or below it may stop here.
    pub last_stable_offset: Offset,
}

/// Why the bytes of an index are not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum IndexError {
    /// Bytes remain that are no whole entry.
    #[error("{0} bytes after the last whole entry")]
    Truncated(usize),
    /// An entry of a version that this code does not know.
    #[error("entry version {0}")]
    Version(i16),
    /// A negative id or offset.
    #[error("a negative id or offset")]
    Negative,
    /// Marker offsets that do not rise, or a transaction that ends before it begins.
    #[error("offsets out of order")]
    Order,
}

/// Entries by marker offset. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AbortedIndex {
    entries: OrdMap<Offset, AbortedTxn>,
}

impl AbortedIndex {
    pub(super) fn append(&mut self, entry: AbortedTxn) {
        self.entries.insert(entry.last_offset, entry);
    }

    /// Drops the transactions whose marker is at `to` or later.
    pub(super) fn truncate(&mut self, to: Offset) {
        self.entries = self.entries.split(&to).0;
    }

    /// Every entry, by marker offset.
    pub fn iter(&self) -> impl Iterator<Item = &AbortedTxn> {
        self.entries.values()
    }

    /// The aborted transactions that may have records in `from..upper`, by marker offset.
    #[must_use]
    pub fn collect(&self, from: Offset, upper: Offset) -> Vec<AbortedTxn> {
        let mut found = Vec::new();
        for (_, entry) in self.entries.range(from..) {
            if entry.first_offset < upper {
                found.push(*entry);
            }
            if entry.last_stable_offset >= upper {
                break;
            }
        }
        found
    }

    /// The entries as Kafka stores them, 34 bytes each, big-endian.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        let mut out = Vec::with_capacity(self.entries.len() * ENTRY_LEN);
        for entry in self.entries.values() {
            out.put_i16(VERSION);
            out.put_i64(entry.producer_id.get());
            out.put_i64(entry.first_offset.get());
            out.put_i64(entry.last_offset.get());
            out.put_i64(entry.last_stable_offset.get());
        }
        out.into()
    }

    /// Reads what [`Self::to_bytes`] writes.
    ///
    /// # Errors
    /// [`IndexError`], at the first entry that is not valid.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self, IndexError> {
        let mut index = Self::default();
        while !bytes.is_empty() {
            let (mut raw, rest) = bytes
                .split_at_checked(ENTRY_LEN)
                .ok_or(IndexError::Truncated(bytes.len()))?;
            bytes = rest;
            let version = raw.get_i16();
            if version != VERSION {
                return Err(IndexError::Version(version));
            }
            let entry = AbortedTxn {
                producer_id: ProducerId::from_wire(raw.get_i64()).ok_or(IndexError::Negative)?,
                first_offset: Offset::from_wire(raw.get_i64()).ok_or(IndexError::Negative)?,
                last_offset: Offset::from_wire(raw.get_i64()).ok_or(IndexError::Negative)?,
                last_stable_offset: Offset::from_wire(raw.get_i64()).ok_or(IndexError::Negative)?,
            };
            let rises = index
                .entries
                .get_max()
                .is_none_or(|(last, _)| *last < entry.last_offset);
            if !rises || entry.first_offset > entry.last_offset {
                return Err(IndexError::Order);
            }
            index.append(entry);
        }
        Ok(index)
    }
}

#[cfg(test)]
mod tests {
    use super::{AbortedIndex, AbortedTxn, IndexError};
    use crate::types::{Offset, ProducerId};
    use proptest::prelude::*;

    fn entry(id: i64, first: i64, last: i64, stable: i64) -> AbortedTxn {
        AbortedTxn {
            producer_id: ProducerId::new(id),
            first_offset: Offset::new(first),
            last_offset: Offset::new(last),
            last_stable_offset: Offset::new(stable),
        }
    }

    fn index(entries: &[AbortedTxn]) -> AbortedIndex {
        let mut index = AbortedIndex::default();
        entries.iter().for_each(|entry| index.append(*entry));
        index
    }

    #[test]
    fn entries_are_34_bytes() {
        let bytes = index(&[entry(1, 2, 3, 4)]).to_bytes();
        let mut expected = vec![0, 0];
        for number in [1_u8, 2, 3, 4] {
            expected.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, number]);
        }
        assert_eq!(&bytes[..], &expected[..]);
    }

    #[test]
    fn bad_bytes_are_refused() {
        let good = index(&[entry(1, 2, 3, 4), entry(1, 5, 6, 7)])
            .to_bytes()
            .to_vec();
        let read = |bytes: &[u8]| AbortedIndex::from_bytes(bytes);
        assert_eq!(read(&good[..67]), Err(IndexError::Truncated(33)));
        let mut bytes = good.clone();
        bytes[1] = 1;
        assert_eq!(read(&bytes), Err(IndexError::Version(1)));
        bytes = good.clone();
        bytes[10] = 0x80;
        assert_eq!(read(&bytes), Err(IndexError::Negative));
        bytes = good.clone();
        bytes.rotate_left(34);
        assert_eq!(read(&bytes), Err(IndexError::Order));
        bytes = good;
        bytes[17] = 9;
        assert_eq!(read(&bytes), Err(IndexError::Order));
    }

    #[test]
    fn a_range_gets_what_overlaps_it_and_stops_at_a_stable_offset() {
        let all = [entry(1, 0, 4, 2), entry(2, 2, 6, 7), entry(3, 8, 9, 10)];
        let index = index(&all);
        let collect = |from, upper| index.collect(Offset::new(from), Offset::new(upper));
        assert_eq!(collect(0, 2), [all[0]]);
        assert_eq!(collect(0, 3), [all[0], all[1]]);
        assert_eq!(collect(5, 7), [all[1]]);
        assert_eq!(collect(5, 9), [all[1], all[2]]);
        assert_eq!(collect(10, 20), []);
    }

    #[test]
    fn truncation_forgets_markers_that_are_gone() {
        let mut index = index(&[entry(1, 0, 4, 5), entry(2, 5, 6, 7)]);
        index.truncate(Offset::new(6));
        assert_eq!(index.iter().count(), 1);
        index.truncate(Offset::new(4));
        assert_eq!(index.iter().count(), 0);
    }

    proptest! {
        #[test]
        fn bytes_go_round_and_hostile_ones_do_not_panic(
            starts in proptest::collection::vec((0_i64..5, 0_i64..50, 0_i64..50), 0..8),
            noise in proptest::collection::vec(any::<u8>(), 0..120),
        ) {
            let entries: Vec<AbortedTxn> = (0_i64..)
                .zip(starts)
                .map(|(at, (id, first, stable))| entry(id, first, 50 + at, stable))
                .collect();
            let index = index(&entries);
            prop_assert_eq!(AbortedIndex::from_bytes(&index.to_bytes()), Ok(index));
            let _ = AbortedIndex::from_bytes(&noise);
        }
    }
}
