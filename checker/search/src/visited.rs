//! The set of visited fingerprints: open addressing in cache lines of four, no tombstones.
//!
//! A fingerprint's home line grows with its value, so copying into a larger table reads and writes in order. The
//! table is split into pages that grow one at a time: growth never holds two copies of the whole.

use crate::fingerprint::{Digest, Fingerprint};

const PAGES: usize = 256;
const FIRST_LINES: usize = 4;
/// A page grows when it is fuller than 17/20, to 13/10 of its size: it is then 13/20 full, so a fingerprint takes 19
/// to 25 bytes.
const FULL: (usize, usize) = (17, 20);
const GROWTH: (usize, usize) = (13, 10);

const VACANT: u128 = 0;

/// A cache line of slots, filled from the first.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([u128; 4]);

impl Line {
    const VACANT: Self = Self([VACANT; 4]);

    #[inline]
    fn contains(&self, bits: u128) -> bool {
        // No short cut: four comparisons cost less than one wrong guess.
        let [a, b, c, d] = self.0.map(|slot| slot == bits);
        a | b | c | d
    }
}

/// A set of fingerprints, with their digest.
pub(crate) struct Visited {
    pages: Vec<Page>,
}

/// How the set is shared out between threads.
#[derive(Clone, Copy)]
pub(crate) struct Sharing {
    pages_each: usize,
}

impl Sharing {
    /// At most `count` shards.
    pub(crate) fn between(count: usize) -> Self {
        Self {
            pages_each: PAGES.div_ceil(count.max(1)),
        }
    }

    pub(crate) fn count(self) -> usize {
        PAGES.div_ceil(self.pages_each)
    }

    #[inline]
    pub(crate) fn shard_of(self, fingerprint: Fingerprint) -> usize {
        page_of(fingerprint) / self.pages_each
    }
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

    /// Adds a fingerprint; true when it was not there.
    #[inline]
    pub(crate) fn insert(&mut self, fingerprint: Fingerprint) -> bool {
        self.pages[page_of(fingerprint)].insert(fingerprint)
    }

    /// Marks those of at most 64 fingerprints that are not seen at a glance: all that are not there, and few others.
    #[inline]
    pub(crate) fn absent(&self, fingerprints: &[Fingerprint]) -> u64 {
        absent(&self.pages, 0, fingerprints)
    }

    /// The pages, shared out: each fingerprint belongs to the shard that `sharing` says.
    pub(crate) fn shards(&mut self, sharing: Sharing) -> Vec<Shard<'_>> {
        self.pages
            .chunks_mut(sharing.pages_each)
            .enumerate()
            .map(|(position, pages)| Shard {
                first_page: position * sharing.pages_each,
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
            .map(|page| size_of_val(&page.lines[..]))
            .sum()
    }
}

impl Shard<'_> {
    /// Adds at most 64 fingerprints, all of this shard, in order. Marks each that was not there.
    #[inline]
    pub(crate) fn claim(&mut self, fingerprints: &[Fingerprint]) -> u64 {
        let mut absent = absent(self.pages, self.first_page, fingerprints);
        let mut marks = 0;
        while absent != 0 {
            let bit = absent.trailing_zeros();
            absent &= absent - 1;
            let fingerprint = fingerprints[bit as usize];
            let page = &mut self.pages[page_of(fingerprint) - self.first_page];
            marks |= u64::from(page.insert(fingerprint)) << bit;
        }
        marks
    }
}

/// Marks those of at most 64 fingerprints that are not in their home lines. The first of the pages has the number
/// `first_page`.
///
/// All homes are read before any is used, so that the memory is waited for once and not 64 times.
#[inline]
fn absent(pages: &[Page], first_page: usize, fingerprints: &[Fingerprint]) -> u64 {
    let mut touched = 0;
    for fingerprint in fingerprints {
        let page = &pages[page_of(*fingerprint) - first_page];
        // The low word alone: the point is to have the line on its way.
        touched ^= page.lines[page.home(fingerprint.bits())].0[0] as u64;
    }
    std::hint::black_box(touched);
    let mut absent = 0u64;
    for (bit, fingerprint) in fingerprints.iter().enumerate() {
        let page = &pages[page_of(*fingerprint) - first_page];
        let bits = fingerprint.bits();
        absent |= u64::from(!page.lines[page.home(bits)].contains(bits)) << bit;
    }
    absent
}

/// The low byte picks the page; the home slot uses the high half.
#[inline]
fn page_of(fingerprint: Fingerprint) -> usize {
    (fingerprint.bits() % PAGES as u128) as usize
}

struct Page {
    lines: Vec<Line>,
    len: usize,
    digest: Digest,
}

impl Page {
    fn new() -> Self {
        Self {
            lines: vec![Line::VACANT; FIRST_LINES],
            len: 0,
            digest: Digest::default(),
        }
    }

    #[inline]
    fn home(&self, bits: u128) -> usize {
        // The high half, scaled to the number of lines: below it by construction.
        (((bits >> 64) * self.lines.len() as u128) >> 64) as usize
    }

    /// Puts `bits` in the first line from its home that has room; false when it is there already. A page always has
    /// room.
    #[inline]
    fn place(&mut self, bits: u128) -> bool {
        let mut at = self.home(bits);
        loop {
            for slot in &mut self.lines[at].0 {
                if *slot == VACANT {
                    *slot = bits;
                    return true;
                }
                if *slot == bits {
                    return false;
                }
            }
            at += 1;
            if at == self.lines.len() {
                at = 0;
            }
        }
    }

    #[inline]
    fn insert(&mut self, fingerprint: Fingerprint) -> bool {
        if !self.place(fingerprint.bits()) {
            return false;
        }
        self.len += 1;
        self.digest.add(fingerprint);
        if self.len * FULL.1 > self.lines.len() * 4 * FULL.0 {
            self.grow();
        }
        true
    }

    #[cold]
    fn grow(&mut self) {
        let lines = self.lines.len() * GROWTH.0 / GROWTH.1;
        let old = std::mem::replace(&mut self.lines, vec![Line::VACANT; lines]);
        for bits in old.into_iter().flat_map(|line| line.0) {
            if bits != VACANT {
                self.place(bits);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn agrees_with_a_hash_set_and_stays_within_25_bytes() {
        let mut visited = Visited::new();
        let mut oracle = HashSet::new();
        let mut digest = Digest::default();
        for step in 0..400_000u64 {
            // Every value comes several times, at various distances.
            let fingerprint = Fingerprint::of(&(step % 7 * (step % 90_001)));
            let new = oracle.insert(fingerprint);
            if new {
                digest.add(fingerprint);
            }
            assert_eq!(visited.insert(fingerprint), new);
        }
        assert!(oracle.len() > 100_000, "{}", oracle.len());
        assert_eq!(visited.digest(), digest);
        let each = visited.bytes() as f64 / oracle.len() as f64;
        assert!((18.0..25.5).contains(&each), "{each} bytes");
    }

    #[test]
    fn shards_share_the_set_out() {
        let prints: Vec<_> = (0..5000u32).map(|value| Fingerprint::of(&value)).collect();
        for count in [1, 2, 3, 7, 256, 1000] {
            let mut visited = Visited::new();
            let sharing = Sharing::between(count);
            let mut claimed = 0;
            let shards = visited.shards(sharing);
            assert_eq!(shards.len(), sharing.count());
            for (number, mut shard) in shards.into_iter().enumerate() {
                let mut own = prints.clone();
                own.retain(|print| sharing.shard_of(*print) == number);
                for chunk in own.chunks(64) {
                    claimed += shard.claim(chunk).count_ones();
                    assert_eq!(shard.claim(chunk), 0);
                }
            }
            assert_eq!(claimed, 5000, "{count} shards");
            assert!(!prints.iter().any(|print| visited.insert(*print)));
        }
    }

    #[test]
    fn of_equal_fingerprints_in_one_claim_the_first_is_marked() {
        let mut visited = Visited::new();
        let prints = [1u8, 2, 1, 3, 2, 1].map(|value| Fingerprint::of(&value));
        assert_eq!(
            visited.shards(Sharing::between(1))[0].claim(&prints),
            0b001011
        );
    }

    #[test]
    fn a_page_with_one_home_for_all_still_finds_them() {
        let mut page = Page::new();
        let prints: Vec<_> = (0..200u32)
            .map(|value| Fingerprint::of(&value).sharing_home())
            .collect();
        assert!(prints.iter().all(|print| page.insert(*print)));
        assert!(!prints.iter().any(|print| page.insert(*print)));
    }
}
