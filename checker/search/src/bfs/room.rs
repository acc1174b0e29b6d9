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

    /// The state at `to` and that at `from`, not before it, change places.
    #[inline]
    pub(super) fn move_up(&mut self, from: usize, to: usize) {
        if from != to {
            self.slots.swap(from, to);
        }
    }

    /// Nobody needs any more than the first `states`.
    pub(super) fn truncate(&mut self, states: usize) {
        self.used = self.used.min(states);
    }

    /// Nobody needs any of the states any more.
    pub(super) fn clear(&mut self) {
        self.used = 0;
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

/// States in a row, in rooms.
pub(super) struct Rooms<S> {
    rooms: Vec<Room<S>>,
}

impl<S> Rooms<S> {
    pub(super) fn new() -> Self {
        Self { rooms: Vec::new() }
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Room<S>> {
        self.rooms.iter_mut()
    }

    /// Gives rooms without a state to the `spare` ones.
    pub(super) fn give_empty(&mut self, spare: &mut Vec<Room<S>>) {
        spare.extend(self.rooms.extract_if(.., |room| room.len() == 0));
    }
}

impl<S: Clone> Rooms<S> {
    /// Adds a state, and leaves something older in its place. Takes a spare room where one is needed.
    #[inline]
    pub(super) fn swap_in(&mut self, state: &mut S, spare: &mut Vec<Room<S>>) {
        let room = match self.rooms.last_mut() {
            Some(room) if room.len() < ROOM => room,
            _ => {
                let room = spare.pop();
                self.rooms
                    .push_mut(room.unwrap_or_else(|| Room::with_capacity(ROOM)))
            }
        };
        room.swap_in(state);
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
        let mut room = Room::from(vec![1, 2, 3]);
        room.clear();
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
    fn states_close_up_and_keep_what_is_older_behind_them() {
        let mut room = Room::from(vec![1, 2, 3, 4]);
        room.move_up(1, 0);
        room.move_up(3, 1);
        room.truncate(2);
        assert_eq!(room.states(), [2, 4]);
        assert_eq!(*room.slot(&9), 3);
    }

    #[test]
    fn only_empty_rooms_are_given_away() {
        let mut spare = Vec::new();
        let mut rooms = Rooms::new();
        for mut state in 0..=ROOM {
            rooms.swap_in(&mut state, &mut spare);
        }
        rooms.iter_mut().take(1).for_each(Room::clear);
        rooms.give_empty(&mut spare);
        assert_eq!(spare.len(), 1);
        let left: Vec<usize> = rooms
            .iter_mut()
            .flat_map(|room| room.states().to_vec())
            .collect();
        assert_eq!(left, [ROOM]);
    }
}
