//! One round: expand, claim, admit.

use std::ops::Range;

use super::Search;
use super::room::ROOM;
use super::worker::{Admitted, Marks, Table, claim, count, unite};
use crate::model::SearchModel;
use crate::observer::Observer;
use crate::outcome::Reason;
use crate::storage::StorageError;
use crate::visited::Sharing;

/// Parents in a round of one worker: few, so that what a round touches stays in the cache.
const ROUND_PARENTS_ALONE: usize = 512;
/// Parents in a round for each of several workers: many, so that starting threads costs little.
const ROUND_PARENTS_EACH: usize = 2048;
/// Room for so many states is kept for each thread when their levels are done with.
const SPARE_STATES: usize = 1 << 14;

impl<M: SearchModel, O: Observer<M>> Search<'_, M, O> {
    /// Takes some states from the frontier and adds their new successors to the next level. Says which bound is met.
    pub(super) fn round(&mut self) -> Result<Option<Reason>, StorageError> {
        let shares = self.shares();
        let parents = shares.last().map_or(0, |share| share.end);
        let most = parents as u64 * (u64::from(u16::MAX) + 1);
        if self.links.len() as u64 + most > u64::from(u32::MAX) {
            return Ok(Some(Reason::TooManyStates));
        }
        self.frontier.load(parents)?;
        self.expand(&shares);
        let marks = self.claim(shares.len());
        for admitted in self.admit(&shares, &marks) {
            for link in admitted.links {
                self.links.push(link);
            }
            for states in admitted.states {
                self.next.push(states)?;
            }
        }
        let waiting = (self.frontier.len() + self.next.len()) as u64;
        self.peak_frontier = self.peak_frontier.max(waiting);
        let spare_rooms = SPARE_STATES / ROOM * self.options.threads.max(1) / self.workers.len();
        for room in self.frontier.consume(parents) {
            let fewest = self
                .workers
                .iter_mut()
                .min_by_key(|worker| worker.spare.len());
            if let Some(worker) = fewest
                && worker.spare.len() < spare_rooms
            {
                worker.spare.push(room);
            }
        }
        Ok(self.limits.check(&self.progress(), false))
    }

    /// The round's parents, as positions in the frontier: a consecutive share for each worker that is used.
    fn shares(&self) -> Vec<Range<usize>> {
        let waiting = self.frontier.len();
        let workers = self
            .workers
            .len()
            .min(waiting / self.options.share.max(1))
            .max(1);
        let most = if workers == 1 {
            ROUND_PARENTS_ALONE
        } else {
            ROUND_PARENTS_EACH * workers
        };
        let parents = waiting.min(most);
        (0..workers)
            .map(|worker| parents * worker / workers..parents * (worker + 1) / workers)
            .collect()
    }

    fn expand(&mut self, shares: &[Range<usize>]) {
        let (task, frontier) = (&self.task, &self.frontier);
        let parents = |share: &Range<usize>| frontier.iter_from(share.start).take(share.len());
        if let ([worker, ..], [share]) = (&mut self.workers[..], shares) {
            for shard in self.visited.shards(Sharing::between(1)) {
                worker.expand(task, parents(share), Table::Own(shard));
            }
            return;
        }
        let visited = &self.visited;
        let jobs = self.workers.iter_mut().zip(shares).map(|(worker, share)| {
            move || worker.expand(task, parents(share), Table::Shared(visited))
        });
        self.crew.run(jobs.collect());
    }

    /// The marks of each worker's candidates.
    fn claim(&mut self, used: usize) -> Vec<Marks> {
        if used == 1 {
            return vec![self.workers[0].own_marks()];
        }
        let shards = self.visited.shards(self.sharing);
        let workers = &self.workers[..used];
        let mut jobs = Vec::new();
        for (number, mut shard) in shards.into_iter().enumerate() {
            let lists: Vec<_> = workers
                .iter()
                .map(|worker| (worker.list(number), worker.candidates()))
                .collect();
            jobs.push(move || {
                lists
                    .into_iter()
                    .map(|(list, candidates)| claim(&mut shard, list, candidates))
                    .collect::<Vec<Marks>>()
            });
        }
        let by_shard = self.crew.run(jobs).into_iter();
        let all = by_shard.reduce(|mut all, more| {
            all.iter_mut()
                .zip(&more)
                .for_each(|(to, from)| unite(to, from));
            all
        });
        all.unwrap_or_default()
    }

    fn admit(&mut self, shares: &[Range<usize>], marks: &[Marks]) -> Vec<Admitted<M::State>> {
        let (task, frontier) = (&self.task, &self.frontier);
        let mut first = self.links.len();
        let mut jobs = Vec::new();
        for ((worker, share), marks) in self.workers.iter_mut().zip(shares).zip(marks) {
            // Fits: `round` looked ahead.
            let number = first as u32;
            first += count(marks);
            let skip = share.start;
            jobs.push(move || worker.admit(task, frontier, skip, marks, number));
        }
        self.crew.run(jobs)
    }
}
