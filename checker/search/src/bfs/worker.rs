//! What is done with one share of a round: expand its parents, then admit what turned out to be new.

use stateright::Model;

use super::Ways;
use super::batch::Batch;
use super::frontier::Frontier;
use super::hits::FirstHits;
use super::recent::Recent;
use super::room::{Room, Rooms};
use crate::checks::Checks;
use crate::fingerprint::Fingerprint;
use crate::links::Link;
use crate::model::SearchModel;
use crate::observer::Observer;
use crate::outcome::HitPlace;
use crate::visited::{Shard, Sharing, Visited};

/// What every worker reads.
pub(super) struct Task<'a, M: Model> {
    pub(super) model: &'a M,
    pub(super) checks: &'a Checks<M>,
}

impl<M: SearchModel> Task<'_, M> {
    #[inline]
    pub(super) fn fingerprint(&self, state: &M::State) -> Fingerprint {
        self.checks.fingerprint(self.model, state)
    }
}

/// What works on one share of each round, on one thread at a time. Two workers never share a cache line (of which
/// processors fetch two at a time), or each would wait for the other's counters.
#[repr(align(128))]
pub(super) struct Worker<M: Model, O> {
    pub(super) observer: O,
    pub(super) generated: u64,
    pub(super) terminal: u64,
    pub(super) deadlocks: u64,
    pub(super) outside_boundary: u64,
    pub(super) too_many_actions: bool,
    pub(super) violated: FirstHits,
    pub(super) reached: FirstHits,
    pub(super) ways: Ways,
    /// Room for states that are found new.
    pub(super) spare: Vec<Room<M::State>>,
    recent: Recent,
    batch: Batch<M>,
    found: Candidates<M>,
    /// The candidates that are new, where that is known at once.
    marks: Marks,
    /// The fingerprints of the candidates, by shard.
    lists: Vec<ShardList>,
    sharing: Sharing,
    /// Room for the actions of one state.
    enabled: Vec<M::Action>,
}

/// Steps that may lead to new states, in the order of the search: lists of one length.
struct Candidates<M: Model> {
    links: Vec<Link>,
    states: Rooms<M::State>,
    /// Empty unless there is an observer.
    actions: Vec<M::Action>,
}

/// Candidates whose fingerprints belong to one shard of the visited set, in the order of the search. Aligned for the
/// same reason as [`Worker`].
#[derive(Default)]
#[repr(align(128))]
pub(super) struct ShardList {
    fingerprints: Vec<Fingerprint>,
    /// Which candidates they are.
    positions: Vec<u32>,
}

/// A bit for each candidate.
pub(super) type Marks = Vec<u64>;

/// What a worker found new in a round, in the order of the search.
pub(super) struct Admitted<S> {
    pub(super) states: Rooms<S>,
    pub(super) links: Vec<Link>,
}

/// The visited set, as one worker may use it while it expands.
pub(super) enum Table<'a> {
    /// It is this worker's alone: what is new is known at once.
    Own(Shard<'a>),
    /// Others read it too. What is there already is left out; what is not is claimed later.
    Shared(&'a Visited),
}

impl<M: SearchModel, O: Observer<M>> Worker<M, O> {
    pub(super) fn new(observer: O, sharing: Sharing) -> Self {
        Self {
            observer,
            generated: 0,
            terminal: 0,
            deadlocks: 0,
            outside_boundary: 0,
            too_many_actions: false,
            violated: FirstHits::new(),
            reached: FirstHits::new(),
            ways: Ways::default(),
            spare: Vec::new(),
            recent: Recent::new(),
            batch: Batch::new(),
            found: Candidates {
                links: Vec::new(),
                states: Rooms::new(),
                actions: Vec::new(),
            },
            marks: Marks::new(),
            lists: (0..sharing.count()).map(|_| ShardList::default()).collect(),
            sharing,
            enabled: Vec::new(),
        }
    }

    /// How many candidates there are.
    pub(super) fn candidates(&self) -> usize {
        self.found.links.len()
    }

    /// The candidates of one shard.
    pub(super) fn list(&self, shard: usize) -> &ShardList {
        &self.lists[shard]
    }

    /// Which candidates are new, where that was known at once. Gives them away.
    pub(super) fn own_marks(&mut self) -> Marks {
        std::mem::take(&mut self.marks)
    }

    /// Takes every step of these parents.
    pub(super) fn expand<'s>(
        &mut self,
        task: &Task<'_, M>,
        parents: impl Iterator<Item = (u32, &'s M::State)>,
        mut table: Table<'_>,
    ) where
        M::State: 's,
    {
        for (number, from) in parents {
            if !self.take_steps(task, number, from, &mut table) {
                self.terminal += 1;
                let bits = task.checks.terminal(task.model, from);
                self.violated.record(bits, number, HitPlace::Terminal);
                if bits != 0 {
                    self.deadlocks += 1;
                    if task.checks.tells_ways() {
                        self.ways.record_terminal(bits, number);
                    }
                }
                if O::ACTIVE {
                    self.observer.terminal(task.model, from);
                }
            }
        }
        self.look_up(task, &mut table);
    }

    /// Takes every step of one state; false when there is none.
    #[inline]
    fn take_steps(
        &mut self,
        task: &Task<'_, M>,
        number: u32,
        from: &M::State,
        table: &mut Table<'_>,
    ) -> bool {
        let mut any = false;
        let mut enabled = std::mem::take(&mut self.enabled);
        task.model.actions(from, &mut enabled);
        self.too_many_actions |= enabled.len() > usize::from(u16::MAX) + 1;
        for (position, action) in (0..=u16::MAX).zip(enabled.drain(..)) {
            let kept = O::ACTIVE.then(|| action.clone());
            let to = self.batch.states.slot(from);
            if !task.checks.step(task.model, from, action, to) {
                continue;
            }
            any = true;
            self.generated += 1;
            if !task.model.within_boundary(to) {
                self.outside_boundary += 1;
                continue;
            }
            if Self::HASHES_AT_ONCE {
                let fingerprint = task.fingerprint(to);
                // An observer sees every step.
                if !O::ACTIVE && self.recent.knows(fingerprint) {
                    continue;
                }
                self.batch.ask(fingerprint);
            }
            self.batch.states.keep();
            self.batch.links.push(Link {
                parent: number,
                action: position,
            });
            self.batch.actions.extend(kept);
            if self.batch.is_full() {
                self.look_up(task, table);
            }
        }
        self.enabled = enabled;
        any
    }

    /// A state on the heap is hashed while it is in the cache, and the next successor written over it if it is known:
    /// the two have most in common. Flat states are hashed a batch at a time: to read back at once what was just
    /// written in smaller pieces makes the processor wait.
    const HASHES_AT_ONCE: bool = std::mem::needs_drop::<M::State>();

    /// Makes candidates of the batch's successors, apart from those that are known; an observer sees them all.
    fn look_up(&mut self, task: &Task<'_, M>, table: &mut Table<'_>) {
        if !Self::HASHES_AT_ONCE {
            let fingerprint = |state: &M::State| task.fingerprint(state);
            self.batch.ask_all(&mut self.recent, O::ACTIVE, fingerprint);
        }
        let asked = self.batch.asked();
        let new = match table {
            Table::Own(shard) => shard.claim(asked),
            Table::Shared(visited) => visited.absent(asked),
        };
        let mut keep = if O::ACTIVE { self.batch.all() } else { new };
        while keep != 0 {
            let number = keep.trailing_zeros() as usize;
            keep &= keep - 1;
            let position = self.found.links.len();
            match table {
                Table::Own(_) => {
                    if position.is_multiple_of(64) {
                        self.marks.push(0);
                    }
                    self.marks[position / 64] |= (new >> number & 1) << (position % 64);
                }
                Table::Shared(_) => {
                    let fingerprint = self.batch.asked()[number];
                    let list = &mut self.lists[self.sharing.shard_of(fingerprint)];
                    list.fingerprints.push(fingerprint);
                    // A round has far fewer candidates than numbers: `round` looks ahead.
                    list.positions.push(position as u32);
                }
            }
            let bit = self.batch.position(number);
            self.found.links.push(self.batch.links[bit]);
            let state = &mut self.batch.states.states_mut()[bit];
            self.found.states.swap_in(state, &mut self.spare);
        }
        self.found.actions.append(&mut self.batch.actions);
        self.batch.clear();
    }

    /// Numbers the candidates that are marked, from `first` on, judges them, and forgets the others. The parents
    /// are in the frontier after the first `skip`.
    pub(super) fn admit(
        &mut self,
        task: &Task<'_, M>,
        frontier: &Frontier<M::State>,
        skip: usize,
        marks: &Marks,
        first: u32,
    ) -> Admitted<M::State> {
        let mut admitted = Admitted {
            states: Rooms::new(),
            links: Vec::new(),
        };
        let mut parents = frontier.iter_from(skip);
        let mut parent = parents.next();
        let mut actions = std::mem::take(&mut self.found.actions).into_iter();
        let mut states = std::mem::replace(&mut self.found.states, Rooms::new());
        let mut number = first;
        let mut position = 0;
        for room in states.iter_mut() {
            // States stay in their rooms, and close up to the first.
            let mut kept = 0;
            for slot in 0..room.len() {
                let state = &room.states()[slot];
                let link = self.found.links[position];
                let is_new = is_marked(marks, position);
                position += 1;
                if O::ACTIVE {
                    while parent.is_some_and(|(number, _)| number < link.parent) {
                        parent = parents.next();
                    }
                    if let (Some((_, from)), Some(action)) = (parent, actions.next()) {
                        self.observer.edge(task.model, from, &action, state, is_new);
                    }
                }
                if is_new {
                    let violated = self.judge(task, number, state);
                    if violated != 0 && task.checks.tells_ways() {
                        while parent.is_some_and(|(number, _)| number < link.parent) {
                            parent = parents.next();
                        }
                        if let Some((_, from)) = parent {
                            self.tell_way(task, from, link.action, violated, number);
                        }
                    }
                    number += 1;
                    admitted.links.push(link);
                    room.move_up(slot, kept);
                    kept += 1;
                }
            }
            room.truncate(kept);
        }
        states.give_empty(&mut self.spare);
        admitted.states = states;
        self.found.links.clear();
        for list in &mut self.lists {
            list.fingerprints.clear();
            list.positions.clear();
        }
        admitted
    }

    /// The action at `position` of `from` led to state number `number`, which violates these bits.
    #[cold]
    fn tell_way(
        &mut self,
        task: &Task<'_, M>,
        from: &M::State,
        position: u16,
        violated: u64,
        number: u32,
    ) {
        let broken = violated & !task.checks.violated(task.model, from);
        if broken != 0
            && let Some(way) = task.checks.way(task.model, from, position)
        {
            self.ways.record(broken, way, number);
        }
    }

    /// A state was visited for the first time. Gives the bits that it violates.
    #[inline]
    pub(super) fn judge(&mut self, task: &Task<'_, M>, number: u32, state: &M::State) -> u64 {
        let violated = task.checks.violated(task.model, state);
        self.violated.record(violated, number, HitPlace::State);
        let reached = task.checks.reached(task.model, state);
        self.reached.record(reached, number, HitPlace::State);
        if O::ACTIVE {
            self.observer.state(task.model, state);
        }
        violated
    }
}

/// Adds the fingerprints of one worker that belong to this shard, in order, and marks those that were not there
/// among the worker's `candidates`.
pub(super) fn claim(shard: &mut Shard<'_>, list: &ShardList, candidates: usize) -> Marks {
    let mut marks = vec![0; candidates.div_ceil(64)];
    let chunks = list.fingerprints.chunks(64).zip(list.positions.chunks(64));
    for (fingerprints, positions) in chunks {
        let mut new = shard.claim(fingerprints);
        while new != 0 {
            let position = positions[new.trailing_zeros() as usize] as usize;
            marks[position / 64] |= 1 << (position % 64);
            new &= new - 1;
        }
    }
    marks
}

/// How many candidates are marked.
pub(super) fn count(marks: &Marks) -> usize {
    marks.iter().map(|marks| marks.count_ones() as usize).sum()
}

/// Marks what either of two has marked.
pub(super) fn unite(marks: &mut Marks, more: &Marks) {
    marks
        .iter_mut()
        .zip(more)
        .for_each(|(to, from)| *to |= from);
}

fn is_marked(marks: &Marks, position: usize) -> bool {
    marks[position / 64] >> (position % 64) & 1 == 1
}
