//! The first hit of each property, by the number of the state.

use crate::checks::MAX_NAMES;
use crate::outcome::HitPlace;

/// The lowest-numbered hit of each bit. States are numbered in the order of a breadth-first search, so the lowest
/// number has a shortest way to it.
#[derive(Clone, Debug)]
pub(super) struct FirstHits {
    /// Bits hit so far.
    bits: u64,
    first: [(u32, HitPlace); MAX_NAMES],
}

impl FirstHits {
    pub(super) fn new() -> Self {
        Self {
            bits: 0,
            first: [(u32::MAX, HitPlace::State); MAX_NAMES],
        }
    }

    /// The bits hit so far.
    pub(super) fn bits(&self) -> u64 {
        self.bits
    }

    /// State number `state` hits these bits.
    #[inline]
    pub(super) fn record(&mut self, bits: u64, state: u32, place: HitPlace) {
        if bits != 0 {
            self.record_each(bits, state, place);
        }
    }

    fn record_each(&mut self, bits: u64, state: u32, place: HitPlace) {
        self.bits |= bits;
        for (bit, first) in self.first.iter_mut().enumerate() {
            // A state that is hit as such, before it is expanded, keeps that place.
            if bits >> bit & 1 == 1 && state < first.0 {
                *first = (state, place);
            }
        }
    }

    pub(super) fn merge(&mut self, other: &FirstHits) {
        for (bit, state, place) in other.iter() {
            self.record(1 << bit, state, place);
        }
    }

    /// Bit, number of the state, and place of each first hit.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32, HitPlace)> {
        (0..MAX_NAMES as u32)
            .zip(&self.first)
            .filter(|(bit, _)| self.bits >> bit & 1 == 1)
            .map(|(bit, (state, place))| (bit, *state, *place))
    }
}
