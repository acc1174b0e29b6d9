//! 128-bit fingerprints of states.
//!
//! The hasher packs what `Hash` writes into 64-bit words and stirs each word into a 128-bit state with a
//! multiplication that loses nothing: each step is a bijection of the state, so two streams of one length that differ
//! in one word never collide, and others collide as rarely as 128 well-mixed bits allow. It has no seed, so a
//! fingerprint is the same in every run, in debug and in release. It depends on the build target only through types
//! that `Hash` itself writes as raw memory (slices of wide integers, in the target's byte order).

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// Odd, and with as many ones as zeros in either half: the multiplier of PCG's 128-bit generator.
const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;
/// The state before the first word: the fractional digits of pi.
const START: u128 = 0x243F_6A88_85A3_08D3_1319_8A2E_0370_7344;
/// Lengths and discriminants below this fit one byte; others follow this byte as eight more.
const WIDE: u8 = 0xFF;

/// The fingerprint of a state: 128 well-mixed bits of its `Hash`, never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// The fingerprint of `value`.
    #[inline]
    pub fn of<T: Hash>(value: &T) -> Self {
        let mut hasher = StateHasher::new();
        value.hash(&mut hasher);
        hasher.fingerprint()
    }

    /// A fingerprint with the highest possible high half, for tests of crowded tables.
    #[cfg(test)]
    pub(crate) fn sharing_home(self) -> Self {
        Self(self.0 | u128::MAX << 64)
    }

    /// The 128 bits, never zero.
    #[inline]
    pub fn bits(self) -> u128 {
        self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// An order-free sum of fingerprints: equal for equal sets of states, whatever the order of visit or thread count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Digest(u128);

impl Digest {
    /// Adds one state to the set. A state added twice counts twice.
    #[inline]
    pub fn add(&mut self, fingerprint: Fingerprint) {
        self.0 = self.0.wrapping_add(fingerprint.0);
    }

    /// Adds one state, or none, without a branch.
    #[inline]
    pub(crate) fn add_if(&mut self, added: bool, fingerprint: Fingerprint) {
        let mask = 0u128.wrapping_sub(u128::from(added));
        self.0 = self.0.wrapping_add(fingerprint.0 & mask);
    }

    /// Adds all states of another, disjoint set.
    pub fn merge(&mut self, other: Digest) {
        self.0 = self.0.wrapping_add(other.0);
    }

    /// The sum modulo 2^128.
    pub fn bits(self) -> u128 {
        self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The hasher behind [`Fingerprint`]. `finish` gives the low 64 bits.
#[derive(Clone, Debug)]
pub struct StateHasher {
    state: u128,
    /// Bytes not yet stirred in, from the low end.
    word: u64,
    /// How many bits of `word` are taken, 0 to 56.
    filled: u32,
    /// Words stirred in so far.
    words: u64,
}

impl StateHasher {
    /// A hasher that has seen nothing.
    #[inline]
    pub fn new() -> Self {
        Self {
            state: START,
            word: 0,
            filled: 0,
            words: 0,
        }
    }

    /// The fingerprint of all that was written.
    #[inline]
    pub fn fingerprint(&self) -> Fingerprint {
        // The count of bytes goes in, so that trailing zero bytes are told apart from padding.
        let bytes = self.words * 8 + u64::from(self.filled / 8);
        let state = stir(stir(stir(self.state, self.word), bytes), 0);
        Fingerprint(if state == 0 { 1 } else { state })
    }

    #[inline]
    fn put(&mut self, value: u64, bits: u32) {
        self.word |= value << self.filled;
        let filled = self.filled + bits;
        if filled < 64 {
            self.filled = filled;
            return;
        }
        self.state = stir(self.state, self.word);
        self.words += 1;
        self.filled = filled - 64;
        // What did not fit. A shift by the whole width is no shift, hence the test.
        self.word = if self.filled == 0 {
            0
        } else {
            value >> (bits - self.filled)
        };
    }

    /// A length or a discriminant: nearly always small, and one byte is then enough.
    #[inline]
    fn put_size(&mut self, value: u64) {
        if value < u64::from(WIDE) {
            self.put(value, 8);
        } else {
            self.put(u64::from(WIDE), 8);
            self.put(value, 64);
        }
    }
}

#[inline]
fn stir(state: u128, word: u64) -> u128 {
    let product = (state ^ u128::from(word)).wrapping_mul(MULTIPLIER);
    product ^ (product >> 64)
}

impl Default for StateHasher {
    fn default() -> Self {
        Self::new()
    }
}

impl Hasher for StateHasher {
    fn finish(&self) -> u64 {
        // The low half of a 128-bit value: truncation is meant.
        self.fingerprint().0 as u64
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.put(u64::from_le_bytes(*word), 64);
        }
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            // At most seven bytes.
            self.put(u64::from_le_bytes(word), rest.len() as u32 * 8);
        }
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.put(u64::from(value), 8);
    }

    #[inline]
    fn write_u16(&mut self, value: u16) {
        self.put(u64::from(value), 16);
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.put(u64::from(value), 32);
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.put(value, 64);
    }

    #[inline]
    fn write_u128(&mut self, value: u128) {
        self.put(value as u64, 64);
        self.put((value >> 64) as u64, 64);
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.put_size(value as u64);
    }

    #[inline]
    fn write_isize(&mut self, value: isize) {
        self.put_size(value as u64);
    }

    #[inline]
    fn write_i8(&mut self, value: i8) {
        self.write_u8(value.cast_unsigned());
    }

    #[inline]
    fn write_i16(&mut self, value: i16) {
        self.write_u16(value.cast_unsigned());
    }

    #[inline]
    fn write_i32(&mut self, value: i32) {
        self.write_u32(value.cast_unsigned());
    }

    #[inline]
    fn write_i64(&mut self, value: i64) {
        self.write_u64(value.cast_unsigned());
    }

    #[inline]
    fn write_i128(&mut self, value: i128) {
        self.write_u128(value.cast_unsigned());
    }
}

/// A map from the bits of fingerprints.
pub(crate) type FingerprintMap<T> = HashMap<u128, T, BuildHasherDefault<LowHalf>>;

/// Fingerprints are well mixed: their low half is their hash.
#[derive(Default)]
pub(crate) struct LowHalf(u64);

impl Hasher for LowHalf {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    fn write_u128(&mut self, value: u128) {
        self.0 = value as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn pinned_so_that_runs_debug_and_release_agree() {
        assert_eq!(Fingerprint::of(&()).to_string(), PIN_UNIT);
        assert_eq!(
            Fingerprint::of(&(1u8, -1i16, "text", Some(7u64), vec![1u8, 2, 3])).to_string(),
            PIN_MIXED
        );
    }

    const PIN_UNIT: &str = "56195e879c8e6ecf87315b418357d069";
    const PIN_MIXED: &str = "94304d37410bde82a363584d25c16b5c";

    #[test]
    fn streams_that_differ_only_in_trailing_zeros_differ() {
        let all: HashSet<Fingerprint> = (0..40)
            .map(|zeros| {
                let mut hasher = StateHasher::new();
                for _ in 0..zeros {
                    hasher.write_u8(0);
                }
                hasher.fingerprint()
            })
            .collect();
        assert_eq!(all.len(), 40);
    }

    #[test]
    fn packing_does_not_depend_on_how_bytes_are_grouped() {
        let mut bytes = StateHasher::new();
        bytes.write(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        let mut mixed = StateHasher::new();
        mixed.write_u8(1);
        mixed.write_u16(u16::from_le_bytes([2, 3]));
        mixed.write_u64(u64::from_le_bytes([4, 5, 6, 7, 8, 9, 10, 11]));
        assert_eq!(bytes.fingerprint(), mixed.fingerprint());
    }

    #[test]
    fn every_input_bit_reaches_every_output_bit() {
        let base = [0u8; 24];
        for bit in 0..24 * 8 {
            let mut flips = [0u32; 128];
            for round in 0..64u8 {
                let mut left = base;
                left[23] = round;
                left[0] ^= round.wrapping_mul(37);
                let mut right = left;
                right[bit / 8] ^= 1 << (bit % 8);
                let changed = Fingerprint::of(&left).bits() ^ Fingerprint::of(&right).bits();
                for (position, count) in flips.iter_mut().enumerate() {
                    *count += u32::from(changed >> position & 1 == 1);
                }
            }
            let total: u32 = flips.iter().sum();
            // 64 rounds of 128 bits, half of them expected to change.
            assert!(
                (3300..4900).contains(&total),
                "input bit {bit}: {total} of 8192"
            );
            assert!(
                flips.iter().all(|count| *count > 8),
                "input bit {bit}: {flips:?}"
            );
        }
    }

    #[test]
    fn low_and_high_halves_of_small_counters_do_not_collide() {
        let mut low = HashSet::new();
        let mut high = HashSet::new();
        for a in 0..1000u16 {
            for b in 0..300u16 {
                let bits = Fingerprint::of(&(a, b, 0u8)).bits();
                low.insert(bits as u64);
                high.insert((bits >> 64) as u64);
            }
        }
        // A 64-bit half collides among 300,000 values with a chance of 2 in a billion.
        assert_eq!((low.len(), high.len()), (300_000, 300_000));
    }
}
