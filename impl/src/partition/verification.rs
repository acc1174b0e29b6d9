//! Verification guards: the tokens that tie a coordinator's answer to the transaction it was about.
//!
//! KIP-890 part 1. A partition asks the coordinator before it appends a transaction's first batch. Between question and
//! append the transaction may end (B03), so the question is made under a guard, a marker wipes the guard, and the append
//! compares.

use im::OrdMap;

use crate::types::{ProducerEpoch, ProducerId, Sequence, Timestamp};

/// A token that no other question about the same producer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VerificationGuard {
    producer_id: ProducerId,
    number: u64,
}

/// A producer whose first batch of a transaction is being asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VerificationEntry {
    /// The token of the questions since the last append.
    pub guard: VerificationGuard,
    /// The smallest sequence asked about at this epoch: nothing later may be appended before it (B40). None where the
    /// records have no sequences.
    pub lowest_sequence: Option<Sequence>,
    /// The highest epoch asked about.
    pub epoch: ProducerEpoch,
    /// Whether whoever asked first speaks TV2, where the first write of a new epoch has sequence 0.
    pub supports_epoch_bump: bool,
    /// When it was made: expiry counts from here.
    pub since: Timestamp,
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) producer_id: ProducerId,
    pub(crate) epoch: ProducerEpoch,
    pub(crate) sequence: Option<Sequence>,
    pub(crate) supports_epoch_bump: bool,
}

/// The questions of one partition, by producer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Verifications {
    entries: OrdMap<ProducerId, VerificationEntry>,
    /// How many parked requests hold each guard: a wiped guard must not be given out again while one of them may still
    /// come back with it.
    held: OrdMap<VerificationGuard, usize>,
}

impl Verifications {
    /// The entry of one producer.
    #[must_use]
    pub fn get(&self, producer_id: ProducerId) -> Option<&VerificationEntry> {
        self.entries.get(&producer_id)
    }

    /// Every entry, by producer.
    pub fn iter(&self) -> impl Iterator<Item = (ProducerId, &VerificationEntry)> {
        self.entries.iter().map(|(id, entry)| (*id, entry))
    }

    /// Opens or joins the producer's question and hands out its guard, to be given back with [`Self::release`].
    pub(crate) fn hold(&mut self, question: Question, now: Timestamp) -> VerificationGuard {
        let entry = match self.entries.get(&question.producer_id) {
            Some(entry) => joined(*entry, question),
            None => VerificationEntry {
                guard: self.unused_guard(question.producer_id),
                lowest_sequence: question.sequence,
                epoch: question.epoch,
                supports_epoch_bump: question.supports_epoch_bump,
                since: now,
            },
        };
        self.entries.insert(question.producer_id, entry);
        let holders = self.held.get(&entry.guard).copied().unwrap_or(0) + 1;
        self.held.insert(entry.guard, holders);
        entry.guard
    }

    /// A parked request has come back, or was given up.
    pub(crate) fn release(&mut self, guard: VerificationGuard) {
        match self.held.get(&guard) {
            Some(holders) if *holders > 1 => {
                let rest = holders - 1;
                self.held.insert(guard, rest);
            }
            Some(_) | None => {
                self.held.remove(&guard);
            }
        }
    }

    /// Whether the guard is still the producer's own.
    #[must_use]
    pub fn holds(&self, producer_id: ProducerId, guard: Option<VerificationGuard>) -> bool {
        guard.is_some() && self.get(producer_id).map(|entry| entry.guard) == guard
    }

    /// Transactional data was appended: whatever was asked before says nothing any more.
    pub(crate) fn wipe(&mut self, producer_id: ProducerId) {
        self.entries.remove(&producer_id);
    }

    /// A marker at this epoch was appended: what was asked before says nothing any more. One exception: in TV2 a
    /// question at the marker's own epoch is about the transaction after the one that the marker ends (KAFKA-18654).
    pub(crate) fn wipe_by_marker(&mut self, producer_id: ProducerId, epoch: ProducerEpoch) {
        let is_next = |entry: &VerificationEntry| entry.supports_epoch_bump && entry.epoch == epoch;
        if !self.get(producer_id).is_some_and(is_next) {
            self.wipe(producer_id);
        }
    }

    /// Leadership ended: every question is void.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Forgets the entries that are old.
    pub(crate) fn expire(&mut self, is_old: impl Fn(&VerificationEntry) -> bool) {
        let old = self.entries.iter().filter(|(_, entry)| is_old(entry));
        let old: Vec<ProducerId> = old.map(|(id, _)| *id).collect();
        for id in old {
            self.entries.remove(&id);
        }
    }

    /// The smallest number that no parked request of the producer holds. Smallest rather than next, and each producer's
    /// by itself, so that equal situations are equal states.
    fn unused_guard(&self, producer_id: ProducerId) -> VerificationGuard {
        let mut guard = VerificationGuard {
            producer_id,
            number: 0,
        };
        while self.held.contains_key(&guard) {
            guard.number += 1;
        }
        guard
    }
}

/// An entry that one more question joins: a higher epoch starts the sequences afresh, the same epoch keeps the lowest. As
/// in Kafka 4.4 the version stays that of the first question.
fn joined(mut entry: VerificationEntry, question: Question) -> VerificationEntry {
    if question.epoch > entry.epoch {
        entry.epoch = question.epoch;
        entry.lowest_sequence = question.sequence;
    } else if question.epoch == entry.epoch && question.sequence < entry.lowest_sequence {
        entry.lowest_sequence = question.sequence;
    }
    entry
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Question, Verifications};
    use crate::types::{ProducerEpoch, ProducerId, Sequence, Timestamp};

    const NOW: Timestamp = Timestamp::from_millis(0);

    fn question(id: i64, epoch: i16, sequence: i32) -> Question {
        Question {
            producer_id: ProducerId::new(id),
            epoch: ProducerEpoch::new(epoch),
            sequence: Some(Sequence::new(sequence)),
            supports_epoch_bump: false,
        }
    }

    #[test]
    fn a_wiped_guard_does_not_come_back_while_it_is_held() {
        let id = ProducerId::new(1);
        let mut all = Verifications::default();
        let first = all.hold(question(1, 0, 0), NOW);
        assert!(all.holds(id, Some(first)));
        all.wipe(id);
        assert!(!all.holds(id, Some(first)));
        let second = all.hold(question(1, 0, 0), NOW);
        assert_ne!(first, second);
        assert!(!all.holds(id, Some(first)));
        all.release(first);
        all.release(second);
        all.wipe(id);
        assert_eq!(all, Verifications::default());
        assert_eq!(all.hold(question(1, 0, 0), NOW), first);
    }

    #[test]
    fn what_one_producer_asks_does_not_number_another_ones_guard() {
        let ask = |ids: [i64; 2]| {
            let mut all = Verifications::default();
            let guards = ids.map(|id| (id, all.hold(question(id, 0, 0), NOW)));
            (all, guards.into_iter().collect::<BTreeMap<_, _>>())
        };
        assert_eq!(ask([1, 2]), ask([2, 1]));
    }

    #[test]
    fn no_guard_never_holds() {
        let mut all = Verifications::default();
        assert!(!all.holds(ProducerId::new(1), None));
        all.hold(question(1, 0, 0), NOW);
        assert!(!all.holds(ProducerId::new(1), None));
    }

    #[test]
    fn the_lowest_sequence_is_kept_and_a_higher_epoch_starts_again() {
        let id = ProducerId::new(1);
        let mut all = Verifications::default();
        let lowest = |all: &Verifications| all.get(id).and_then(|it| it.lowest_sequence);
        let guard = all.hold(question(1, 3, 5), NOW);
        assert_eq!(all.hold(question(1, 3, 2), NOW), guard);
        assert_eq!(lowest(&all), Some(Sequence::new(2)));
        all.hold(question(1, 2, 0), NOW);
        all.hold(question(1, 3, 9), NOW);
        assert_eq!(lowest(&all), Some(Sequence::new(2)));
        all.hold(question(1, 4, 7), NOW);
        assert_eq!(lowest(&all), Some(Sequence::new(7)));
    }

    #[test]
    fn the_version_is_that_of_the_first_question() {
        let mut all = Verifications::default();
        all.hold(question(1, 0, 0), NOW);
        let newer = Question {
            supports_epoch_bump: true,
            ..question(1, 1, 0)
        };
        all.hold(newer, NOW);
        let entry = all.get(ProducerId::new(1));
        assert_eq!(entry.map(|it| it.supports_epoch_bump), Some(false));
        assert_eq!(entry.map(|it| it.epoch), Some(ProducerEpoch::new(1)));
    }
}
