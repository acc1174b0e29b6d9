//! The states that wait to be expanded, in order.

use std::collections::VecDeque;

use super::room::Room;
use crate::storage::{Place, Spool, StorageError};

/// Consecutive states of one level: segments, as workers found them, so that no state is moved to join them. With a
/// spool, segments beyond its limit wait on disk.
pub(super) struct Frontier<S> {
    /// The number of the first waiting state.
    first: u32,
    segments: VecDeque<Segment<S>>,
    /// States of the first segment that no longer wait.
    skipped: usize,
    len: usize,
    /// States in memory.
    resident: usize,
    spool: Option<Spool<S>>,
}

enum Segment<S> {
    Resident(Room<S>),
    Spooled(Place),
}

impl<S> Segment<S> {
    fn len(&self) -> usize {
        match self {
            Segment::Resident(states) => states.len(),
            Segment::Spooled(place) => place.states,
        }
    }
}

impl<S> Frontier<S> {
    /// An empty frontier, whose first state will be number 0.
    pub(super) fn new(spool: Option<Spool<S>>) -> Self {
        Self {
            first: 0,
            segments: VecDeque::new(),
            skipped: 0,
            len: 0,
            resident: 0,
            spool,
        }
    }

    /// Empties the frontier; its first state will have this number.
    pub(super) fn restart(&mut self, first: u32) -> Result<(), StorageError> {
        self.first = first;
        self.segments.clear();
        self.skipped = 0;
        self.len = 0;
        self.resident = 0;
        self.spool.as_mut().map_or(Ok(()), Spool::clear)
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn push(&mut self, segment: Room<S>) -> Result<(), StorageError> {
        if segment.len() == 0 {
            return Ok(());
        }
        self.len += segment.len();
        let segment = match &mut self.spool {
            Some(spool) if self.resident + segment.len() > spool.keep() => {
                Segment::Spooled(spool.append(segment.states())?)
            }
            _ => {
                self.resident += segment.len();
                Segment::Resident(segment)
            }
        };
        self.segments.push_back(segment);
        Ok(())
    }

    /// Sees to it that the first `count` waiting states are in memory.
    pub(super) fn load(&mut self, count: usize) -> Result<(), StorageError> {
        let Some(spool) = &mut self.spool else {
            return Ok(());
        };
        let mut seen = 0;
        for segment in &mut self.segments {
            if seen >= self.skipped + count {
                break;
            }
            if let Segment::Spooled(place) = segment {
                let states = spool.read(*place)?;
                self.resident += states.len();
                *segment = Segment::Resident(states.into());
            }
            seen += segment.len();
        }
        Ok(())
    }

    /// The waiting states with their numbers, without the first `skip`, as far as they are in memory.
    pub(super) fn iter_from(&self, skip: usize) -> impl Iterator<Item = (u32, &S)> {
        // Numbers fit: the search stops before it runs out of them.
        let numbers = self.first + skip as u32..;
        let mut skip = self.skipped + skip;
        let mut segments = self.segments.iter().map_while(|segment| match segment {
            Segment::Resident(states) => Some(states.states()),
            Segment::Spooled(_) => None,
        });
        let mut rest: &[S] = &[];
        for segment in segments.by_ref() {
            if skip < segment.len() {
                rest = &segment[skip..];
                break;
            }
            skip -= segment.len();
        }
        numbers.zip(rest.iter().chain(segments.flatten()))
    }

    /// The first `count` states no longer wait, and the one after them is in memory.
    pub(super) fn skip_to(&mut self, count: usize) -> Result<(), StorageError> {
        self.load(count + 1)?;
        drop(self.consume(count));
        Ok(())
    }

    /// The first `count` states, which are in memory, no longer wait. Gives the room that they took.
    pub(super) fn consume(&mut self, count: usize) -> Vec<Room<S>> {
        self.first += count as u32;
        self.len -= count;
        self.skipped += count;
        let mut rooms = Vec::new();
        while let Some(segment) = self.segments.front()
            && segment.len() <= self.skipped
        {
            self.skipped -= segment.len();
            self.resident -= segment.len();
            if let Some(Segment::Resident(mut room)) = self.segments.pop_front() {
                room.clear();
                rooms.push(room);
            }
        }
        rooms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Spill;

    fn numbers_follow_the_states(spool: Option<Spool<u32>>) {
        let mut frontier = Frontier::new(spool);
        for round in [10, 20] {
            frontier.restart(round).unwrap();
            let of = |states: &[u32]| -> Vec<_> { states.iter().map(|s| s + round).collect() };
            for segment in [&[0, 1, 2][..], &[], &[3], &[4, 5]] {
                frontier.push(of(segment).into()).unwrap();
            }
            for consumed in 0..=6 {
                assert_eq!(frontier.len(), 6 - consumed);
                for skip in 0..=frontier.len() {
                    frontier.load(frontier.len()).unwrap();
                    let seen: Vec<_> = frontier.iter_from(skip).collect();
                    assert_eq!(seen.len(), frontier.len() - skip);
                    assert!(seen.iter().all(|(number, state)| number == *state));
                }
                if consumed < 6 {
                    drop(frontier.consume(1));
                }
            }
            assert!(frontier.is_empty() && frontier.segments.is_empty());
            assert_eq!(frontier.resident, 0);
        }
    }

    #[test]
    fn in_memory() {
        numbers_follow_the_states(None);
    }

    #[test]
    fn on_disk() {
        let directory = tempfile::tempdir().unwrap();
        for keep in [0, 2, 3, 4, 100] {
            let spill = Spill {
                keep,
                encode: |state: &u32, bytes| bytes.extend_from_slice(&state.to_le_bytes()),
                decode: |bytes| Some(u32::from_le_bytes(bytes.try_into().ok()?)),
            };
            let spool = Spool::create(directory.path(), "spool", spill).unwrap();
            numbers_follow_the_states(Some(spool));
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
