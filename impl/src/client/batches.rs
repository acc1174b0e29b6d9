//! The batches of one partition on their way: sequences, retries, what is in flight.

use super::request::BatchId;
use crate::types::{ProducerIdAndEpoch, Sequence};

/// How many batches of a partition may be in flight: as many as a broker remembers.
pub const MAX_IN_FLIGHT: usize = 5;

/// The number that a batch was sent under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Numbered {
    /// The identity.
    pub producer: ProducerIdAndEpoch,
    /// The sequence of the first record.
    pub base_sequence: Sequence,
    /// Whether it has been sent and not been answered.
    pub in_flight: bool,
}

/// A batch that is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Batch {
    /// Which.
    pub id: BatchId,
    /// How many records; at least 1.
    pub count: i32,
    /// Its number, once it has been sent: it keeps it.
    pub number: Option<Numbered>,
}

/// The batches of one partition, in the order of their sequences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Batches {
    queue: Vec<Batch>,
    /// The sequence of the next new batch.
    next_sequence: Option<Sequence>,
    /// The sequence of the last record that was acknowledged at this epoch.
    last_acked: Option<Sequence>,
    /// Whether a batch with a number was given up: what comes after it will never be in order.
    has_gap: bool,
}

impl Batches {
    /// The batches that are not done.
    #[must_use]
    pub fn queue(&self) -> &[Batch] {
        &self.queue
    }

    /// The sequence of the next new batch.
    #[must_use]
    pub fn next_sequence(&self) -> Sequence {
        self.next_sequence.unwrap_or(Sequence::ZERO)
    }

    pub(super) fn push(&mut self, id: BatchId, count: i32) {
        self.queue.push(Batch {
            id,
            count,
            number: None,
        });
    }

    /// The next batch to send, numbered. A batch that is sent again goes alone and in its turn: until it is done, what
    /// comes after it waits.
    pub(super) fn next_to_send(&mut self, producer: ProducerIdAndEpoch) -> Option<Batch> {
        let next_sequence = self.next_sequence();
        let in_flight = |batch: &Batch| batch.number.is_some_and(|number| number.in_flight);
        let sent = self.queue.iter().filter(|batch| in_flight(batch)).count();
        let (at, batch) = self
            .queue
            .iter_mut()
            .enumerate()
            .find(|(_, batch)| !in_flight(batch))?;
        match &mut batch.number {
            Some(number) => {
                if at > 0 {
                    return None;
                }
                number.in_flight = true;
                seed!(BatchNumberedAgain, number.base_sequence = next_sequence);
            }
            None => {
                if sent >= MAX_IN_FLIGHT {
                    return None;
                }
                batch.number = Some(Numbered {
                    producer,
                    base_sequence: next_sequence,
                    in_flight: true,
                });
                self.next_sequence = Some(next_sequence.plus(batch.count));
            }
        }
        Some(*batch)
    }

    /// Whether this batch is in flight.
    pub(super) fn is_in_flight(&self, id: BatchId) -> bool {
        let found = self.queue.iter().find(|batch| batch.id == id);
        found.is_some_and(|batch| batch.number.is_some_and(|number| number.in_flight))
    }

    /// Whether the broker refuses this batch only because it still misses one before it.
    pub(super) fn waits_for_earlier(&self, id: BatchId) -> bool {
        let expected = self.last_acked.map_or(Sequence::ZERO, |last| last.plus(1));
        let found = self.queue.iter().find(|batch| batch.id == id);
        let number = found.and_then(|batch| batch.number);
        !self.has_gap && number.is_some_and(|number| number.base_sequence != expected)
    }

    pub(super) fn acknowledge(&mut self, id: BatchId) {
        if let Some(Batch {
            number: Some(number),
            count,
            ..
        }) = self.remove(id)
        {
            let last = number.base_sequence.plus(count - 1);
            // A batch whose first answer was lost is acknowledged after those behind it.
            if self
                .last_acked
                .is_none_or(|known| self.behind(last) < self.behind(known))
            {
                self.last_acked = Some(last);
            }
        }
    }

    /// How many sequences lie between this one and the next new one; sequences wrap.
    fn behind(&self, sequence: Sequence) -> i32 {
        self.next_sequence().get().wrapping_sub(sequence.get()) & i32::MAX
    }

    pub(super) fn retry(&mut self, id: BatchId) {
        let found = self.queue.iter_mut().find(|batch| batch.id == id);
        if let Some(number) = found.and_then(|batch| batch.number.as_mut()) {
            number.in_flight = false;
        }
    }

    /// The batch failed, or nobody waits for it any more.
    pub(super) fn give_up(&mut self, id: BatchId) {
        let given_up = self.remove(id);
        self.has_gap |= given_up.is_some_and(|batch| batch.number.is_some());
    }

    fn remove(&mut self, id: BatchId) -> Option<Batch> {
        let at = self.queue.iter().position(|batch| batch.id == id)?;
        Some(self.queue.remove(at))
    }

    /// Takes out the batches that were never sent.
    pub(super) fn take_unsent(&mut self) -> Vec<Batch> {
        let (unsent, rest) = std::mem::take(&mut self.queue)
            .into_iter()
            .partition(|batch| batch.number.is_none());
        self.queue = rest;
        unsent
    }

    /// Takes out every batch.
    pub(super) fn take_all(&mut self) -> Vec<Batch> {
        std::mem::take(&mut self.queue)
    }

    /// Goes on after the last acknowledged record: for a producer that keeps its epoch although a batch was refused.
    pub(super) fn rewind(&mut self) {
        self.next_sequence = self.last_acked.map(|last| last.plus(1));
        self.has_gap = false;
    }
}
