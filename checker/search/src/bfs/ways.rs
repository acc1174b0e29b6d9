//! The first hit of each way in which a property is broken.

use std::collections::BTreeMap;

use crate::outcome::HitPlace;

/// States without a successor whose ways are looked for.
const MOST_TERMINAL: usize = 4096;

/// What a worker has seen of the ways in which properties are broken.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ways {
    /// The lowest-numbered hit of each bit and way.
    first: BTreeMap<(u32, u16), u32>,
    /// The lowest-numbered states that violate bits for having no successor, in order. Their ways are found in the
    /// end: while a state is expanded, its predecessor is no longer at hand.
    terminal: Vec<(u32, u64)>,
}

impl Ways {
    /// State number `state` breaks these bits in this way.
    pub(crate) fn record(&mut self, bits: u64, way: u16, state: u32) {
        for bit in (0..u64::BITS).filter(|bit| bits >> bit & 1 == 1) {
            let first = self.first.entry((bit, way)).or_insert(state);
            *first = state.min(*first);
        }
    }

    /// State number `state` violates these bits for having no successor. Numbers come in order.
    pub(crate) fn record_terminal(&mut self, bits: u64, state: u32) {
        if self.terminal.len() < MOST_TERMINAL {
            self.terminal.push((state, bits));
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for ((bit, way), state) in &other.first {
            self.record(1 << bit, *way, *state);
        }
        self.terminal.extend(&other.terminal);
        self.terminal.sort_unstable();
        self.terminal.truncate(MOST_TERMINAL);
    }

    /// Bit, way and number of each first hit.
    pub(crate) fn first(&self) -> impl Iterator<Item = (u32, u16, u32)> {
        self.first
            .iter()
            .map(|((bit, way), state)| (*bit, *way, *state))
    }

    /// Number and bits of the states without a successor.
    pub(crate) fn terminal(&self) -> &[(u32, u64)] {
        &self.terminal
    }

    /// The first hits of all ways, with those into terminal states, where `way_of` says how each of those ends.
    pub(crate) fn all(
        &self,
        mut way_of: impl FnMut(u32) -> Option<u16>,
    ) -> BTreeMap<(u32, u16), (u32, HitPlace)> {
        let mut all: BTreeMap<_, _> = self
            .first
            .iter()
            .map(|(key, state)| (*key, (*state, HitPlace::State)))
            .collect();
        for (state, bits) in &self.terminal {
            let Some(way) = way_of(*state) else {
                continue;
            };
            for bit in (0..u64::BITS).filter(|bit| bits >> bit & 1 == 1) {
                let first = all
                    .entry((bit, way))
                    .or_insert((*state, HitPlace::Terminal));
                if *state < first.0 {
                    *first = (*state, HitPlace::Terminal);
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_number_wins_whoever_saw_it() {
        let (mut one, mut other) = (Ways::default(), Ways::default());
        one.record(0b101, 7, 30);
        other.record(0b1, 7, 20);
        other.record_terminal(0b1, 10);
        one.merge(&other);
        let first: Vec<_> = one.first().collect();
        assert_eq!(first, [(0, 7, 20), (2, 7, 30)]);
        let all = one.all(|_| Some(7));
        assert_eq!(all[&(0, 7)], (10, HitPlace::Terminal));
        assert_eq!(all[&(2, 7)], (30, HitPlace::State));
    }
}
