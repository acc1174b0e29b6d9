//! Room for states that is used again and again, so that a state is written over an older one instead of being made
//! and thrown away.

/// States in a row, and behind them older ones that nobody needs any more.
#[derive(Debug)]
pub(super) struct Room<S> {
    slots: Vec<S>,
    used: usize,
}

impl<S> Room<S> {
    pub(super) fn with_capacity(states: usize) -> Self {
        Self {
            slots: Vec::with_capacity(states),
            used: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.used
    }

    pub(super) fn states(&self) -> &[S] {
        &self.slots[..self.used]
    }

    pub(super) fn states_mut(&mut self) -> &mut [S] {
        &mut self.slots[..self.used]
    }

    /// Nobody needs any of the states any more.
    pub(super) fn cleared(mut self) -> Self {
        self.used = 0;
        self
    }
}

impl<S: Clone> Room<S> {
    /// The slot after the states, with something older in it, or a copy of `like`. It is one of the states only when
    /// it is [kept](Room::keep).
    #[inline]
    pub(super) fn slot(&mut self, like: &S) -> &mut S {
        if self.used == self.slots.len() {
            self.slots.push(like.clone());
        }
        &mut self.slots[self.used]
    }

    /// Takes the slot among the states.
    #[inline]
    pub(super) fn keep(&mut self) {
        self.used += 1;
    }

    /// Adds a state, and leaves something older in its place.
    #[inline]
    pub(super) fn swap_in(&mut self, state: &mut S) {
        match self.slots.get_mut(self.used) {
            Some(slot) => std::mem::swap(slot, state),
            None => self.slots.push(state.clone()),
        }
        self.used += 1;
    }
}

impl<S> From<Vec<S>> for Room<S> {
    fn from(slots: Vec<S>) -> Self {
        Self {
            used: slots.len(),
            slots,
        }
    }
}

impl<S> Default for Room<S> {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

/// States in one room.
pub(super) const ROOM: usize = 64;

/// States in a row, in rooms, of which all but the last are full.
pub(super) struct Rooms<S> {
    rooms: Vec<Room<S>>,
}

impl<S> Rooms<S> {
    pub(super) fn new() -> Self {
        Self { rooms: Vec::new() }
    }

    fn len(&self) -> usize {
        let last = self.rooms.last().map_or(0, Room::len);
        self.rooms.len().saturating_sub(1) * ROOM + last
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut S> {
        self.rooms.iter_mut().flat_map(Room::states_mut)
    }

    /// The last `count` states.
    pub(super) fn last(&self, count: usize) -> impl Iterator<Item = &S> {
        let first = self.len() - count;
        let rooms = self.rooms.iter().skip(first / ROOM);
        rooms.flat_map(Room::states).skip(first % ROOM)
    }

    /// Of the last `count` states, at most 64, only those that `kept` has a bit for are needed.
    #[inline]
    pub(super) fn retain_of_last(&mut self, count: usize, kept: u64, spare: &mut Vec<Room<S>>) {
        let first = self.len() - count;
        let mut end = first;
        let mut bits = kept;
        while bits != 0 {
            let from = first + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            if from != end {
                self.swap(end, from);
            }
            end += 1;
        }
        self.truncate(end, spare);
    }

    fn swap(&mut self, one: usize, other: usize) {
        let (low, high) = (one.min(other), one.max(other));
        let (before, after) = self.rooms.split_at_mut(high / ROOM);
        match before.get_mut(low / ROOM) {
            Some(room) => std::mem::swap(
                &mut room.slots[low % ROOM],
                &mut after[0].slots[high % ROOM],
            ),
            None => after[0].slots.swap(low % ROOM, high % ROOM),
        }
    }

    fn truncate(&mut self, len: usize, spare: &mut Vec<Room<S>>) {
        while let Some(last) = self.rooms.len().checked_sub(1) {
            if last * ROOM < len {
                self.rooms[last].used = len - last * ROOM;
                return;
            }
            spare.extend(self.rooms.pop().map(Room::cleared));
        }
    }

    /// Nobody needs any of the states any more: their rooms go among the `spare` ones.
    pub(super) fn clear_into(&mut self, spare: &mut Vec<Room<S>>) {
        spare.extend(self.rooms.drain(..).map(Room::cleared));
    }
}

impl<S: Clone> Rooms<S> {
    /// The slot after the states, as [`Room::slot`] gives it. Takes a spare room where one is needed.
    #[inline]
    pub(super) fn slot(&mut self, like: &S, spare: &mut Vec<Room<S>>) -> &mut S {
        self.unfilled(spare).slot(like)
    }

    /// Takes the slot that was given last among the states.
    #[inline]
    pub(super) fn keep(&mut self) {
        if let Some(room) = self.rooms.last_mut() {
            room.keep();
        }
    }

    /// Adds a state, and leaves something older in its place. Takes a spare room where one is needed.
    #[inline]
    pub(super) fn swap_in(&mut self, state: &mut S, spare: &mut Vec<Room<S>>) {
        self.unfilled(spare).swap_in(state);
    }

    #[inline]
    fn unfilled(&mut self, spare: &mut Vec<Room<S>>) -> &mut Room<S> {
        if self.rooms.last().is_none_or(|room| room.len() == ROOM) {
            let room = spare.pop();
            self.rooms
                .push(room.unwrap_or_else(|| Room::with_capacity(ROOM)));
        }
        let last = self.rooms.len() - 1;
        &mut self.rooms[last]
    }
}

impl<S> IntoIterator for Rooms<S> {
    type Item = Room<S>;
    type IntoIter = std::vec::IntoIter<Room<S>>;

    fn into_iter(self) -> Self::IntoIter {
        self.rooms.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_used_again() {
        let mut room = Room::from(vec![1, 2, 3]).cleared();
        assert_eq!(*room.slot(&9), 1);
        room.keep();
        let mut state = 7;
        room.swap_in(&mut state);
        assert_eq!((room.states(), state), (&[1, 7][..], 2));
        room.swap_in(&mut 5);
        room.swap_in(&mut 6);
        assert_eq!(room.states(), [1, 7, 5, 6]);
        assert_eq!(*room.slot(&9), 9);
        assert_eq!(room.len(), 4);
    }

    #[test]
    fn of_the_last_states_any_may_be_kept() {
        for count in 0..=10 {
            for kept in 0..1u64 << count {
                for before in [0, 1, ROOM - 5, ROOM - 1, ROOM, 2 * ROOM - 3] {
                    let (mut rooms, mut spare) = (Rooms::new(), Vec::new());
                    for number in 0..before + count {
                        *rooms.slot(&0, &mut spare) = number;
                        rooms.keep();
                    }
                    *rooms.slot(&0, &mut spare) = 99;
                    assert!(rooms.last(count).copied().eq(before..before + count));
                    rooms.retain_of_last(count, kept, &mut spare);
                    let left = (before..)
                        .zip(0..count)
                        .filter(|(_, bit)| kept >> bit & 1 == 1);
                    let expected: Vec<_> = (0..before).chain(left.map(|(it, _)| it)).collect();
                    assert_eq!(rooms.len(), expected.len());
                    assert!(rooms.iter_mut().map(|state| *state).eq(expected));
                    assert!(spare.iter().all(|room| room.len() == 0));
                }
            }
        }
    }
}
