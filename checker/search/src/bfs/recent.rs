//! What a worker has found lately: most successors that are known are known from a few parents before, and need not be
//! looked up in the visited set, which is a walk to memory.

use crate::fingerprint::Fingerprint;

/// 64 KiB: within the second level of any cache. Of the duplicates in `InitPid` with four clients it knows four in five.
const SLOTS: usize = 1 << 12;

/// Fingerprints that one worker has found: each in the one slot that its low bits name, until another takes it.
/// Zero, which is no fingerprint, is an empty slot.
pub(super) struct Recent(Box<[u128; SLOTS]>);

impl Recent {
    pub(super) fn new() -> Self {
        Self(Box::new([0; SLOTS]))
    }

    /// Whether this fingerprint was asked for lately; it is remembered.
    #[inline]
    pub(super) fn knows(&mut self, fingerprint: Fingerprint) -> bool {
        let bits = fingerprint.bits();
        let slot = &mut self.0[bits as usize % SLOTS];
        std::mem::replace(slot, bits) == bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_knows_nothing_that_it_was_not_asked_for() {
        let mut recent = Recent::new();
        let prints: Vec<_> = (0..20_000u32)
            .map(|value| Fingerprint::of(&value))
            .collect();
        assert!(!prints.iter().any(|print| recent.knows(*print)));
        assert!(recent.knows(prints[19_999]));
        let known = prints
            .iter()
            .rev()
            .filter(|print| recent.knows(**print))
            .count();
        assert!((SLOTS * 3 / 4..=SLOTS).contains(&known), "{known}");
    }
}
