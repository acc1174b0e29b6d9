//! The set of visited fingerprints: open addressing in cache lines of four, no tombstones.
//!
//! A fingerprint's home line grows with its value, so a page grows in place, from its last line to its first: no second
//! copy is made, and no memory given back for a larger piece, which the system would have to clear anew.

use crate::fingerprint::{Digest, Fingerprint};

const PAGES: usize = 64;
const FIRST_LINES: usize = 4;
/// Lines in a chunk, 32 KiB: when a page grows, only its last chunk can move.
const CHUNK: usize = 512;
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

    /// Slots are filled from the first, so this is also the place of the next.
    #[inline]
    fn filled(&self) -> usize {
        self.0.iter().filter(|slot| **slot != VACANT).count()
    }

    /// Puts `bits`, which is nowhere yet, here; false when there is no room.
    #[inline]
    fn add(&mut self, bits: u128) -> bool {
        let filled = self.filled();
        let slot = self.0.get_mut(filled);
        slot.map(|slot| *slot = bits).is_some()
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
        let chunks = self.pages.iter().flat_map(|page| &page.chunks);
        chunks.map(|chunk| size_of_val(&chunk[..])).sum()
    }
}

impl Shard<'_> {
    /// Adds at most 64 fingerprints, all of this shard, in order. Marks each that was not there.
    #[inline]
    pub(crate) fn claim(&mut self, fingerprints: &[Fingerprint]) -> u64 {
        touch(self.pages, self.first_page, fingerprints);
        let (mut marks, mut overflowing) = (0, 0);
        for (bit, fingerprint) in fingerprints.iter().enumerate() {
            let page = &mut self.pages[page_of(*fingerprint) - self.first_page];
            let (new, overflows) = page.insert_at_home(*fingerprint);
            marks |= u64::from(new) << bit;
            overflowing |= u64::from(overflows) << bit;
            if page.is_full() {
                // In order: of equal fingerprints the first has to be the new one.
                marks |= self.claim_each(std::mem::take(&mut overflowing), fingerprints);
                self.pages[page_of(*fingerprint) - self.first_page].grow_if_full();
            }
        }
        self.touch_after_home(overflowing, fingerprints);
        marks | self.claim_each(overflowing, fingerprints)
    }

    /// Adds those fingerprints that `which` has a bit for.
    #[inline]
    fn claim_each(&mut self, mut which: u64, fingerprints: &[Fingerprint]) -> u64 {
        let mut marks = 0;
        while which != 0 {
            let bit = which.trailing_zeros();
            which &= which - 1;
            let fingerprint = fingerprints[bit as usize];
            let page = &mut self.pages[page_of(fingerprint) - self.first_page];
            marks |= u64::from(page.insert(fingerprint)) << bit;
        }
        marks
    }

    /// Reads the lines after the homes of those fingerprints that `which` has a bit for, as [`touch`] does their homes.
    #[inline]
    fn touch_after_home(&self, mut which: u64, fingerprints: &[Fingerprint]) {
        let mut touched = 0;
        while which != 0 {
            let bits = fingerprints[which.trailing_zeros() as usize];
            which &= which - 1;
            let page = &self.pages[page_of(bits) - self.first_page];
            touched ^= page.line(page.after(page.home(bits.bits()))).0[0] as u64;
        }
        std::hint::black_box(touched);
    }
}

/// Reads the home lines of all fingerprints before any is used, so that the memory is waited for once and not 64
/// times. The first of the pages has the number `first_page`.
#[inline]
fn touch(pages: &[Page], first_page: usize, fingerprints: &[Fingerprint]) {
    let mut touched = 0;
    for fingerprint in fingerprints {
        let page = &pages[page_of(*fingerprint) - first_page];
        // The low word alone: the point is to have the line on its way.
        touched ^= page.line(page.home(fingerprint.bits())).0[0] as u64;
    }
    std::hint::black_box(touched);
}

/// Marks those of at most 64 fingerprints that are not in their home lines. The first of the pages has the number
/// `first_page`.
#[inline]
fn absent(pages: &[Page], first_page: usize, fingerprints: &[Fingerprint]) -> u64 {
    touch(pages, first_page, fingerprints);
    let mut absent = 0u64;
    for (bit, fingerprint) in fingerprints.iter().enumerate() {
        let page = &pages[page_of(*fingerprint) - first_page];
        let bits = fingerprint.bits();
        absent |= u64::from(!page.line(page.home(bits)).contains(bits)) << bit;
    }
    absent
}

/// The low bits pick the page; the home slot uses the high half.
#[inline]
fn page_of(fingerprint: Fingerprint) -> usize {
    (fingerprint.bits() % PAGES as u128) as usize
}

struct Page {
    /// All of one length, but for the last, which may be shorter.
    chunks: Vec<Box<[Line]>>,
    lines: usize,
    len: usize,
    digest: Digest,
}

impl Page {
    fn new() -> Self {
        Self {
            chunks: vec![vacant(FIRST_LINES)],
            lines: FIRST_LINES,
            len: 0,
            digest: Digest::default(),
        }
    }

    #[inline]
    fn line(&self, at: usize) -> &Line {
        &self.chunks[at / CHUNK][at % CHUNK]
    }

    #[inline]
    fn line_mut(&mut self, at: usize) -> &mut Line {
        &mut self.chunks[at / CHUNK][at % CHUNK]
    }

    #[inline]
    fn home(&self, bits: u128) -> usize {
        // The high half, scaled to the number of lines: below it by construction.
        (((bits >> 64) * self.lines as u128) >> 64) as usize
    }

    /// The line after this one; the first comes after the last.
    #[inline]
    fn after(&self, at: usize) -> usize {
        if at + 1 == self.lines { 0 } else { at + 1 }
    }

    #[inline]
    fn insert(&mut self, fingerprint: Fingerprint) -> bool {
        let (mut new, overflows) = self.insert_at_home(fingerprint);
        if overflows {
            new = self.insert_after_home(fingerprint);
        }
        self.grow_if_full();
        new
    }

    /// Adds a fingerprint if it is not in its home line and that has room. Says whether it was added, and whether it
    /// is not there for want of room. The page may then be full.
    ///
    /// Whether it is new is as good as random, so nothing is decided by a branch: a slot is written in any case, with
    /// what it had if there is nothing to add.
    #[inline]
    fn insert_at_home(&mut self, fingerprint: Fingerprint) -> (bool, bool) {
        let bits = fingerprint.bits();
        let home = self.home(bits);
        let line = self.line_mut(home);
        let (known, filled) = (line.contains(bits), line.filled());
        let slot = filled.min(line.0.len() - 1);
        let has_room = filled == slot;
        let new = !known & has_room;
        let kept = line.0[slot];
        line.0[slot] = if new { bits } else { kept };
        self.len += usize::from(new);
        self.digest.add_if(new, fingerprint);
        (new, !known & !has_room)
    }

    /// Adds a fingerprint that is not in its home line, which is full; false when it was there.
    fn insert_after_home(&mut self, fingerprint: Fingerprint) -> bool {
        let bits = fingerprint.bits();
        let mut at = self.home(bits);
        loop {
            at = self.after(at);
            let line = self.line_mut(at);
            if line.contains(bits) {
                return false;
            }
            // A page always has room.
            if line.add(bits) {
                break;
            }
        }
        self.len += 1;
        self.digest.add(fingerprint);
        true
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.len * FULL.1 > self.lines * 4 * FULL.0
    }

    #[inline]
    fn grow_if_full(&mut self) {
        if self.is_full() {
            self.grow();
        }
    }

    /// Puts `bits`, which is nowhere yet, in the first line that has room from its home to the last line; false when
    /// there is none.
    #[inline]
    fn add_before_the_end(&mut self, bits: u128) -> bool {
        for at in self.home(bits)..self.lines {
            if self.line_mut(at).add(bits) {
                return true;
            }
        }
        false
    }

    /// Puts `bits`, which is nowhere yet and has no room before the end, in the first line that has room.
    fn add_from_the_start(&mut self, bits: u128) {
        let mut at = 0;
        while !self.line_mut(at).add(bits) {
            at += 1;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let old = self.lines;
        self.lines = old * GROWTH.0 / GROWTH.1;
        let mut last = self.chunks.pop().map_or(Vec::new(), Vec::from);
        loop {
            let before = self.chunks.len() * CHUNK;
            last.resize(CHUNK.min(self.lines - before), Line::VACANT);
            self.chunks.push(last.into_boxed_slice());
            if self.chunks.len() * CHUNK >= self.lines {
                break;
            }
            last = Vec::new();
        }
        self.spread(old);
    }

    /// Moves what lies in the first `old` lines to where it belongs in all of them. Lines are emptied from the last
    /// to the first, and a fingerprint is placed once all lines from its home on are emptied: it then lies as if the
    /// others had never lain elsewhere.
    fn spread(&mut self, old: usize) {
        let mut waiting: Vec<u128> = Vec::new();
        let mut past_the_end = Vec::new();
        for emptied in (0..old).rev() {
            let line = std::mem::replace(self.line_mut(emptied), Line::VACANT);
            // Few wait, and not for long: those that had found their home line full.
            let held = std::mem::take(&mut waiting);
            for bits in line.0.into_iter().chain(held) {
                if bits == VACANT {
                    continue;
                }
                if self.home(bits) < emptied {
                    waiting.push(bits);
                } else if !self.add_before_the_end(bits) {
                    past_the_end.push(bits);
                }
            }
        }
        for bits in past_the_end {
            self.add_from_the_start(bits);
        }
    }
}

fn vacant(lines: usize) -> Box<[Line]> {
    vec![Line::VACANT; lines].into_boxed_slice()
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

    #[test]
    fn a_page_that_grows_in_place_loses_nothing_at_any_size() {
        let mut page = Page::new();
        let mut inserted = Vec::new();
        let mut lines = page.lines;
        for value in 0..60_000u32 {
            let print = Fingerprint::of(&value);
            // Now and then one from the end, where lines overflow into the first ones.
            let print = if value % 97 == 0 {
                print.sharing_home()
            } else {
                print
            };
            assert!(page.insert(print), "{value}");
            inserted.push(print);
            if page.lines != lines {
                lines = page.lines;
                assert!(
                    !inserted.iter().any(|print| page.insert(*print)),
                    "{lines} lines"
                );
            }
        }
        assert!(page.chunks.len() > 20, "{} chunks", page.chunks.len());
        assert_eq!(page.len, inserted.len());
    }
}
