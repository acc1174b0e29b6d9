//! Successors whose fingerprints are looked up together, so that the memory is waited for once and not for each.

use stateright::Model;

use super::recent::Recent;
use super::room::Room;
use crate::fingerprint::Fingerprint;
use crate::links::Link;

/// Successors in a batch: enough to wait for memory together, few enough to stay in the cache; and no more than a
/// word has bits.
const BATCH: usize = 32;

/// Successors that are not looked up yet, in the order of the search.
pub(super) struct Batch<M: Model> {
    /// As many as links.
    pub(super) states: Room<M::State>,
    pub(super) links: Vec<Link>,
    /// As many, or none when there is no observer.
    pub(super) actions: Vec<M::Action>,
    asked: Asked,
}

/// The successors that are to be looked up: their fingerprints, and which of the batch they are.
struct Asked {
    fingerprints: [Fingerprint; BATCH],
    positions: [u8; BATCH],
    len: usize,
}

impl<M: Model> Batch<M> {
    pub(super) fn new() -> Self {
        Self {
            states: Room::default(),
            links: Vec::with_capacity(BATCH),
            actions: Vec::new(),
            asked: Asked {
                fingerprints: [Fingerprint::of(&()); BATCH],
                positions: [0; BATCH],
                len: 0,
            },
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.links.len() == BATCH
    }

    /// A bit for each successor.
    pub(super) fn all(&self) -> u64 {
        (1 << self.links.len()) - 1
    }

    /// The next successor, which is not yet kept, is to be looked up.
    #[inline]
    pub(super) fn ask(&mut self, fingerprint: Fingerprint) {
        self.asked.put(fingerprint, self.links.len(), true);
    }

    /// All successors are to be looked up, except those that are known from lately.
    #[inline]
    pub(super) fn ask_all(
        &mut self,
        recent: &mut Recent,
        all: bool,
        fingerprint: impl Fn(&M::State) -> Fingerprint,
    ) {
        // First all, so that none waits for what is remembered of the one before.
        let mut prints = [self.asked.fingerprints[0]; BATCH];
        for (print, state) in prints.iter_mut().zip(self.states.states()) {
            *print = fingerprint(state);
        }
        for (position, fingerprint) in prints[..self.links.len()].iter().enumerate() {
            let known = recent.knows(*fingerprint);
            self.asked.put(*fingerprint, position, all || !known);
        }
    }

    /// The fingerprints that are asked for.
    pub(super) fn asked(&self) -> &[Fingerprint] {
        &self.asked.fingerprints[..self.asked.len]
    }

    /// Which successor the fingerprint with this number belongs to.
    #[inline]
    pub(super) fn position(&self, asked: usize) -> usize {
        usize::from(self.asked.positions[asked])
    }

    /// Forgets all but the actions.
    pub(super) fn clear(&mut self) {
        self.states.clear();
        self.links.clear();
        self.asked.len = 0;
    }
}

impl Asked {
    /// Written always and counted only when `wanted`: a branch would be guessed wrong every other time.
    #[inline]
    fn put(&mut self, fingerprint: Fingerprint, position: usize, wanted: bool) {
        self.fingerprints[self.len] = fingerprint;
        // Fewer than `BATCH`.
        self.positions[self.len] = position as u8;
        self.len += usize::from(wanted);
    }
}
