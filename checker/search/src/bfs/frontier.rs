//! The states that wait to be expanded, in order.

use std::collections::VecDeque;

/// Consecutive states of one level: segments, as workers found them, so that no state is moved to join them.
pub(super) struct Frontier<S> {
    /// The number of the first waiting state.
    first: u32,
    segments: VecDeque<Vec<S>>,
    /// States of the first segment that no longer wait.
    skipped: usize,
    len: usize,
}

impl<S> Frontier<S> {
    /// An empty frontier, whose first state will have this number.
    pub(super) fn starting_at(first: u32) -> Self {
        Self {
            first,
            segments: VecDeque::new(),
            skipped: 0,
            len: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn push(&mut self, segment: Vec<S>) {
        if !segment.is_empty() {
            self.len += segment.len();
            self.segments.push_back(segment);
        }
    }

    /// The waiting states with their numbers, without the first `skip`.
    pub(super) fn iter_from(&self, skip: usize) -> impl Iterator<Item = (u32, &S)> {
        // Numbers fit: the search stops before it runs out of them.
        let numbers = self.first + skip as u32..;
        let mut skip = self.skipped + skip;
        let mut segments = self.segments.iter();
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

    /// The first `count` states no longer wait.
    pub(super) fn consume(&mut self, count: usize) {
        self.first += count as u32;
        self.len -= count;
        self.skipped += count;
        while let Some(segment) = self.segments.front()
            && segment.len() <= self.skipped
        {
            self.skipped -= segment.len();
            self.segments.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_states_through_segments() {
        let mut frontier = Frontier::starting_at(10);
        frontier.push(vec![10, 11, 12]);
        frontier.push(vec![]);
        frontier.push(vec![13]);
        frontier.push(vec![14, 15]);
        for consumed in 0..=6 {
            assert_eq!(frontier.len(), 6 - consumed);
            for skip in 0..=frontier.len() {
                let seen: Vec<_> = frontier.iter_from(skip).collect();
                assert_eq!(seen.len(), frontier.len() - skip);
                assert!(seen.iter().all(|(number, state)| number == *state));
            }
            if consumed < 6 {
                frontier.consume(1);
            }
        }
        assert!(frontier.is_empty() && frontier.segments.is_empty());
    }
}
