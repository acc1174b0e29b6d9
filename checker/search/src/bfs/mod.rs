//! Level-synchronous breadth-first search.
//!
//! A round takes some parents from the frontier and goes through three phases: *expand* (each worker takes the steps
//! of its share of the parents, and leaves out what is visited already), *claim* (each shard of the visited set gets its
//! fingerprints, in search order, and the new ones are marked), *admit* (each worker numbers and judges what it found
//! new). No state is locked: in each phase, what is written belongs to one worker or one shard. A worker that is alone
//! claims while it expands; several threads have more workers than they are, and each takes the next that waits.
//!
//! States are written over older ones wherever they go, and never made anew once there is room for all of a level: to
//! make, clone and drop them would take most of the time.
//!
//! States are numbered in the order in which a sequential search finds them, whatever the number of workers and the
//! size of a round: shares are consecutive, and the first of equal candidates in search order is the one marked.

mod batch;
mod crew;
mod finish;
mod frontier;
mod hits;
mod recent;
mod resume;
mod room;
mod round;
mod ways;
mod worker;

pub(crate) use ways::Ways;

use crew::Crew;
use frontier::Frontier;
use worker::{Task, Worker};

use crate::checks::Checks;
use crate::limits::Limits;
use crate::links::Links;
use crate::model::SearchModel;
use crate::observer::Observer;
use crate::options::{Options, Progress};
use crate::outcome::{Outcome, Reason};
use crate::storage::{Journal, Spool, Storage, StorageError};
use crate::visited::{Sharing, Visited};

/// Visits every reachable state of `model`, level by level, and judges it.
///
/// Goes on at violating states: each property gets its first hit, which is a shortest counterexample. Counts, digest
/// and traces do not depend on the number of threads, unless a bound stops the run within a level.
pub fn run_bfs<M: SearchModel>(
    model: &M,
    checks: &Checks<M>,
    options: &Options,
) -> Outcome<M::State, M::Action> {
    run_bfs_observed(model, checks, options, ()).0
}

/// [`run_bfs`] with an observer that sees every state and every edge; it is given back with what it saw.
pub fn run_bfs_observed<M: SearchModel, O: Observer<M>>(
    model: &M,
    checks: &Checks<M>,
    options: &Options,
    observer: O,
) -> (Outcome<M::State, M::Action>, O) {
    let spools = [None, None];
    let mut search = Search::new(Task { model, checks }, options, observer, spools);
    search
        .admit_initial_states()
        .and_then(|()| search.run(None))
        .map(|incomplete| search.finish(incomplete))
        .expect("nothing is stored, so storing cannot fail")
}

/// [`run_bfs`] with checkpoints, and a frontier that can spill to disk.
///
/// Each level is appended to a file in `storage.directory` before it is expanded. A search that was killed, or that
/// met a bound, goes on from its last complete level with `storage.resume`, and ends with the counts, digest and
/// traces of a search that was not interrupted; its `seconds` are those since it was resumed.
///
/// # Errors
/// [`StorageError`] when a file cannot be made, read or written, or the checkpoint is not of this model.
pub fn run_bfs_stored<M: SearchModel>(
    model: &M,
    checks: &Checks<M>,
    options: &Options,
    storage: &Storage<M::State>,
) -> Result<Outcome<M::State, M::Action>, StorageError> {
    let spool = |name| {
        let spill = storage.spill.clone();
        spill
            .map(|spill| Spool::create(&storage.directory, name, spill))
            .transpose()
    };
    let spools = [spool("frontier-a.spool")?, spool("frontier-b.spool")?];
    let mut search = Search::new(Task { model, checks }, options, (), spools);
    let mut journal = if storage.resume {
        let (journal, records) = Journal::resume(&storage.directory, &storage.label)?;
        search.restore(records)?;
        journal
    } else {
        search.admit_initial_states()?;
        Journal::begin(&storage.directory, &storage.label)?
    };
    let incomplete = search.run(Some(&mut journal))?;
    Ok(search.finish(incomplete).0)
}

/// Pieces of a phase for each of several threads. They take unequal time: whoever is done takes the next.
const PIECES: usize = 4;

struct Search<'a, M: SearchModel, O> {
    task: Task<'a, M>,
    options: &'a Options,
    limits: Limits<'a>,
    crew: Crew,
    workers: Vec<Worker<M, O>>,
    /// How the visited set is shared out between the workers.
    sharing: Sharing,
    visited: Visited,
    links: Links,
    /// The level being expanded.
    frontier: Frontier<M::State>,
    /// The level after it.
    next: Frontier<M::State>,
    levels: Vec<u64>,
    peak_frontier: u64,
}

impl<'a, M: SearchModel, O: Observer<M>> Search<'a, M, O> {
    fn new(
        task: Task<'a, M>,
        options: &'a Options,
        observer: O,
        [spool, other]: [Option<Spool<M::State>>; 2],
    ) -> Self {
        let threads = options.threads.max(1);
        let pieces = if threads > 1 { threads * PIECES } else { 1 };
        let sharing = Sharing::between(pieces);
        let mut workers: Vec<_> = (1..pieces)
            .map(|_| Worker::new(observer.fork(), sharing))
            .collect();
        workers.insert(0, Worker::new(observer, sharing));
        Self {
            task,
            options,
            limits: Limits::start(options),
            crew: Crew::of(options.threads),
            workers,
            sharing,
            visited: Visited::new(),
            links: Links::new(),
            frontier: Frontier::new(spool),
            next: Frontier::new(other),
            levels: Vec::new(),
            peak_frontier: 0,
        }
    }

    /// Searches until the end or a bound; says which bound. The level after the last complete one lies in `next`.
    fn run(&mut self, mut journal: Option<&mut Journal>) -> Result<Option<Reason>, StorageError> {
        loop {
            self.go_to_next_level()?;
            if let Some(journal) = &mut journal
                && journal.levels() <= self.levels.len()
            {
                journal.append(&self.record_level())?;
            }
            if self.frontier.is_empty() {
                return Ok(None);
            }
            self.levels.push(self.frontier.len() as u64);
            if let Some(reason) = self.stop_before_level() {
                return Ok(Some(reason));
            }
            while !self.frontier.is_empty() {
                if let Some(reason) = self.round()? {
                    return Ok(self.anything_waits().then_some(reason));
                }
            }
            if let Some(reason) = self.limits.check(&self.progress(), true) {
                return Ok(self.anything_waits().then_some(reason));
            }
        }
    }

    /// What was found last is now to be expanded.
    fn go_to_next_level(&mut self) -> Result<(), StorageError> {
        std::mem::swap(&mut self.frontier, &mut self.next);
        self.next.restart(self.links.len() as u32)
    }

    /// False when a bound was met by the very last state, so that nothing was cut.
    fn anything_waits(&self) -> bool {
        !(self.frontier.is_empty() && self.next.is_empty())
    }

    fn admit_initial_states(&mut self) -> Result<(), StorageError> {
        let mut states = Vec::new();
        let worker = &mut self.workers[0];
        for (position, state) in (0..).zip(self.task.model.init_states()) {
            worker.generated += 1;
            if !self.task.model.within_boundary(&state) {
                worker.outside_boundary += 1;
            } else if self.visited.insert(self.task.fingerprint(&state)) {
                worker.judge(&self.task, self.links.len() as u32, &state);
                self.links.push_root(position);
                states.push(state);
            }
        }
        self.next.push(states.into())
    }

    /// Why the level that is complete but not yet expanded is the last, if it is.
    fn stop_before_level(&self) -> Option<Reason> {
        let hit = self
            .workers
            .iter()
            .fold(0, |bits, worker| bits | worker.violated.bits());
        let wanted = self.options.stop_when;
        if (wanted != 0 && hit & wanted == wanted) || (self.options.stop_at_first && hit != 0) {
            return Some(Reason::Stopped);
        }
        let depth = self.levels.len() as u64;
        self.options
            .max_depth
            .is_some_and(|max| depth >= u64::from(max))
            .then_some(Reason::MaxDepth)
    }

    fn progress(&self) -> Progress {
        Progress {
            depth: self.levels.len() as u32,
            distinct: self.links.len() as u64,
            generated: self.workers.iter().map(|worker| worker.generated).sum(),
            frontier: (self.frontier.len() + self.next.len()) as u64,
            elapsed: self.limits.elapsed(),
            memory: self.memory(),
        }
    }

    /// Bytes of the visited set and the links.
    fn memory(&self) -> u64 {
        (self.visited.bytes() + self.links.bytes()) as u64
    }
}
