//! The model while it is searched: it notes which actions were tried and taken, and which cells of the decision
//! tables decided.

use fencepost_spec::coverage::Cell;
use fencepost_spec::trace::vocabulary::VERBS;
use fencepost_spec::world::{Action, State, World};
use stateright::Model;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Words of 64 bits for so many numbers.
const fn words(numbers: usize) -> usize {
    numbers.div_ceil(64)
}

/// A world that notes what is done in it. The notes cost a read of memory that the threads share, unless there is
/// something new.
pub struct Watched {
    /// The world.
    pub world: World,
    tried: [AtomicU64; words(VERBS.len())],
    taken: [AtomicU64; words(VERBS.len())],
    known: Vec<AtomicU64>,
    cells: Mutex<BTreeSet<Cell>>,
}

/// What was done in a world.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The verbs that were tried, as positions in [`VERBS`].
    pub tried: BTreeSet<usize>,
    /// Those that were taken.
    pub taken: BTreeSet<usize>,
    /// The cells that decided.
    pub cells: BTreeSet<Cell>,
}

impl Seen {
    /// Adds what another run has seen.
    pub fn join(&mut self, other: &Self) {
        self.tried.extend(&other.tried);
        self.taken.extend(&other.taken);
        self.cells.extend(&other.cells);
    }
}

impl Watched {
    /// A world in which nothing was done yet.
    pub fn new(world: World) -> Self {
        Self {
            world,
            tried: Default::default(),
            taken: Default::default(),
            known: (0..words(Cell::NUMBERS))
                .map(|_| AtomicU64::new(0))
                .collect(),
            cells: Mutex::default(),
        }
    }

    /// What was done so far.
    pub fn seen(&self) -> Seen {
        let cells = self
            .cells
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        Seen {
            tried: numbers(&self.tried),
            taken: numbers(&self.taken),
            cells: cells.clone(),
        }
    }

    /// Takes a step like [`World::take_into`], and notes it.
    pub fn step(&self, state: &State, action: &Action, next: &mut State) -> bool {
        let verb = action.verb_number();
        set(&self.tried, verb);
        let taken = self
            .world
            .take_into(state, action, next, |cell| self.note(cell));
        if taken {
            set(&self.taken, verb);
        }
        taken
    }

    fn note(&self, cell: Cell) {
        if set(&self.known, cell.number()) {
            let mut cells = self
                .cells
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            cells.insert(cell);
        }
    }
}

/// Sets a bit; true when it was not set. Reads first: a write would take the cache line from other threads.
fn set(bits: &[AtomicU64], number: usize) -> bool {
    let (word, bit) = (&bits[number / 64], 1 << (number % 64));
    word.load(Ordering::Relaxed) & bit == 0 && word.fetch_or(bit, Ordering::Relaxed) & bit == 0
}

fn numbers(bits: &[AtomicU64]) -> BTreeSet<usize> {
    let is_set =
        |number: &usize| bits[number / 64].load(Ordering::Relaxed) >> (number % 64) & 1 == 1;
    (0..bits.len() * 64).filter(is_set).collect()
}

impl Model for Watched {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        self.world.init_states()
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.world.actions(state, actions);
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        self.step(state, &action, &mut next).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_spec::scenario::{RuleSet, find};

    #[test]
    fn what_is_done_is_noted_once() {
        let entry = find("smoke").expect("a scenario of the catalogue");
        let rules = RuleSet::Tv2;
        let watched = Watched::new(World::new(entry.scenario(rules), entry.rules(rules)));
        let mut state = watched.init_states().remove(0);
        assert!(watched.seen().taken.is_empty());
        for _ in 0..10 {
            let mut actions = Vec::new();
            watched.actions(&state, &mut actions);
            let next = actions
                .into_iter()
                .find_map(|action| watched.next_state(&state, action));
            state = next.expect("smoke goes on for more than ten steps");
        }
        let seen = watched.seen();
        assert!(seen.taken.is_subset(&seen.tried) && !seen.taken.is_empty());
        assert!(!seen.cells.is_empty());
        let numbers: BTreeSet<_> = seen.cells.iter().map(Cell::number).collect();
        assert_eq!(numbers.len(), seen.cells.len());
    }
}
