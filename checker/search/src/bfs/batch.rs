//! Successors whose fingerprints are looked up together, so that the memory is waited for once and not for each.

use stateright::Model;

use super::room::Room;
use crate::fingerprint::Fingerprint;
use crate::links::Link;

/// Successors in a batch: enough to wait for memory together, few enough to stay in the cache; and no more than a
/// word has bits.
const BATCH: usize = 32;

/// Successors that are not looked up yet, in the order of the search: lists of one length.
pub(super) struct Batch<M: Model> {
    pub(super) states: Room<M::State>,
    pub(super) fingerprints: Vec<Fingerprint>,
    pub(super) links: Vec<Link>,
    /// Empty unless there is an observer.
    pub(super) actions: Vec<M::Action>,
}

impl<M: Model> Batch<M> {
    pub(super) fn new() -> Self {
        Self {
            states: Room::default(),
            fingerprints: Vec::with_capacity(BATCH),
            links: Vec::with_capacity(BATCH),
            actions: Vec::new(),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.fingerprints.len() == BATCH
    }

    /// A bit for each successor.
    pub(super) fn all(&self) -> u64 {
        (1 << self.fingerprints.len()) - 1
    }

    /// Forgets all but the actions.
    pub(super) fn clear(&mut self) {
        self.states.clear();
        self.fingerprints.clear();
        self.links.clear();
    }
}
