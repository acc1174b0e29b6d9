//! The set of visited fingerprints: open addressing, sixteen bytes a slot, no tombstones.
//!
//! A fingerprint's home slot grows with its value, so copying into a larger table reads and writes in order. The
//! table is split into pages that grow one at a time: growth never holds two copies of the whole.

use crate::fingerprint::{Digest, Fingerprint};

const PAGES: usize = 256;
const FIRST_CAPACITY: usize = 16;
/// A page grows when it is fuller than 4/5; it then grows by a quarter, so that it is never emptier than 3/5 for
/// long: 20 to 26 bytes a fingerprint.
const FULL_NUMERATOR: usize = 4;
const FULL_DENOMINATOR: usize = 5;

const VACANT: u128 = 0;

/// A set of fingerprints, with their digest.
pub(crate) struct Visited {
    pages: Vec<Page>,
}

/// Some pages of a [`Visited`], for one thread to add to while others add to the rest.
pub(crate) struct Shard<'a> {
    first_page: usize,
    pages: &'a mut [Page],
}

impl Visited {
    pub(crate) fn new() -> Self {
        Self {
            pages: (0..PAGES).map(|_| Page::new()).collect(),
        }
    }

    #[inline]
    pub(crate) fn contains(&self, fingerprint: Fingerprint) -> bool {
        self.pages[page_of(fingerprint)].contains(fingerprint.bits())
    }

    /// Adds a fingerprint; true when it was not there.
    #[inline]
    pub(crate) fn insert(&mut self, fingerprint: Fingerprint) -> bool {
        self.pages[page_of(fingerprint)].insert(fingerprint)
    }

    /// Splits into at most `count` shards; each fingerprint belongs to one.
    pub(crate) fn shards(&mut self, count: usize) -> Vec<Shard<'_>> {
        let each = PAGES.div_ceil(count.max(1));
        self.pages
            .chunks_mut(each)
            .enumerate()
            .map(|(position, pages)| Shard {
                first_page: position * each,
                pages,
            })
            .collect()
    }

    pub(crate) fn digest(&self) -> Digest {
        let mut digest = Digest::default();
        self.pages.iter().for_each(|page| digest.merge(page.digest));
        digest
    }

    /// Bytes held by the slots.
    pub(crate) fn bytes(&self) -> usize {
        self.pages
            .iter()
            .map(|page| size_of_val(&page.slots[..]))
            .sum()
    }
}

impl Shard<'_> {
    /// Adds a fingerprint if it belongs to this shard: true when it does and was not there.
    #[inline]
    pub(crate) fn claim(&mut self, fingerprint: Fingerprint) -> bool {
        // A page below the first wraps around to a number that is no page of any shard.
        let page = page_of(fingerprint).wrapping_sub(self.first_page);
        self.pages
            .get_mut(page)
            .is_some_and(|page| page.insert(fingerprint))
    }
}

/// The low byte picks the page; the home slot uses the high half.
#[inline]
fn page_of(fingerprint: Fingerprint) -> usize {
    (fingerprint.bits() % PAGES as u128) as usize
}

struct Page {
    slots: Vec<u128>,
    len: usize,
    digest: Digest,
}

impl Page {
    fn new() -> Self {
        Self {
            slots: vec![VACANT; FIRST_CAPACITY],
            len: 0,
            digest: Digest::default(),
        }
    }

    #[inline]
    fn home(&self, bits: u128) -> usize {
        // The high half, scaled to the number of slots: below `slots.len()` by construction.
        (((bits >> 64) * self.slots.len() as u128) >> 64) as usize
    }

    #[inline]
    fn contains(&self, bits: u128) -> bool {
        self.slots[self.seek(bits)] == bits
    }

    /// The slot that holds `bits`, or the vacant slot where it belongs. A page always has a vacant slot.
    #[inline]
    fn seek(&self, bits: u128) -> usize {
        let mut at = self.home(bits);
        loop {
            let found = self.slots[at];
            if found == bits || found == VACANT {
                return at;
            }
            at += 1;
            if at == self.slots.len() {
                at = 0;
            }
        }
    }

    #[inline]
    fn insert(&mut self, fingerprint: Fingerprint) -> bool {
        let bits = fingerprint.bits();
        let at = self.seek(bits);
        if self.slots[at] == bits {
            return false;
        }
        self.slots[at] = bits;
        self.len += 1;
        self.digest.add(fingerprint);
        if self.len * FULL_DENOMINATOR > self.slots.len() * FULL_NUMERATOR {
            self.grow();
        }
        true
    }

    #[cold]
    fn grow(&mut self) {
        let capacity = self.slots.len() + self.slots.len() / 4;
        let old = std::mem::replace(&mut self.slots, vec![VACANT; capacity]);
        for bits in old.into_iter().filter(|bits| *bits != VACANT) {
            let at = self.seek(bits);
            self.slots[at] = bits;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn agrees_with_a_hash_set_and_stays_within_26_bytes() {
        let mut visited = Visited::new();
        let mut oracle = HashSet::new();
        let mut digest = Digest::default();
        for step in 0..400_000u64 {
            // Every value comes several times, at various distances.
            let fingerprint = Fingerprint::of(&(step % 7 * (step % 90_001)));
            assert_eq!(visited.contains(fingerprint), oracle.contains(&fingerprint));
            let new = oracle.insert(fingerprint);
            if new {
                digest.add(fingerprint);
            }
            assert_eq!(visited.insert(fingerprint), new);
        }
        assert!(oracle.len() > 100_000, "{}", oracle.len());
        assert_eq!(visited.digest(), digest);
        let each = visited.bytes() as f64 / oracle.len() as f64;
        assert!((20.0..26.0).contains(&each), "{each} bytes");
    }

    #[test]
    fn shards_share_the_set_out() {
        let mut visited = Visited::new();
        let prints: Vec<_> = (0..5000u32).map(|value| Fingerprint::of(&value)).collect();
        for count in [1, 2, 3, 7, 256, 1000] {
            visited = Visited::new();
            let mut claimed = 0;
            for mut shard in visited.shards(count) {
                claimed += prints.iter().filter(|print| shard.claim(**print)).count();
                assert!(!prints.iter().any(|print| shard.claim(*print)));
            }
            assert_eq!(claimed, prints.len(), "{count} shards");
        }
        assert!(prints.iter().all(|print| visited.contains(*print)));
    }

    #[test]
    fn a_page_with_one_home_slot_for_all_still_finds_them() {
        // Consecutive values share their high half, so their home is the same slot of the same page.
        let mut page = Page::new();
        let prints: Vec<_> = (0..200u32)
            .map(|value| Fingerprint::of(&value).sharing_home())
            .collect();
        assert!(prints.iter().all(|print| page.insert(*print)));
        assert!(prints.iter().all(|print| page.contains(print.bits())));
        assert!(!page.contains(Fingerprint::of(&200u32).sharing_home().bits()));
    }
}
