//! Depth-first search: the frontier is one path, so memory holds little more than the fingerprints.

use std::collections::HashMap;

use crate::checks::Checks;
use crate::fingerprint::{Digest, Fingerprint, FingerprintMap};
use crate::limits::Limits;
use crate::model::SearchModel;
use crate::options::{Options, Progress};
use crate::outcome::{Outcome, Reason, collision_probability};
use crate::path_hits::{Path, PathHits};
use crate::visited::Visited;

/// Visits every reachable state of `model`, depth first, on one thread (`options.threads` is not heeded).
///
/// Counts and digest are those of [`run_bfs`](crate::run_bfs), except that `depth` is the length of the longest path
/// walked and `levels` is empty. Counterexamples are not the shortest: see [`minimise`](crate::minimise). With
/// `max_depth`, a state that is found again nearer to the start is expanded again, so everything within the bound is
/// visited.
pub fn run_dfs<M: SearchModel>(
    model: &M,
    checks: &Checks<M>,
    options: &Options,
) -> Outcome<M::State, M::Action> {
    let mut search = Search {
        model,
        checks,
        options,
        limits: Limits::start(options),
        seen: match options.max_depth {
            None => Seen::Set(Visited::new()),
            Some(max) => Seen::Depths(max, HashMap::default()),
        },
        hits: PathHits::none(checks),
        path: Path::default(),
        stack: Vec::new(),
        distinct: 0,
        generated: 0,
        terminal: 0,
        deadlocks: 0,
        outside_boundary: 0,
        digest: Digest::default(),
        deepest: 0,
        too_many_actions: false,
    };
    let stopped = search.run();
    search.finish(stopped)
}

struct Search<'a, M: SearchModel> {
    model: &'a M,
    checks: &'a Checks<M>,
    options: &'a Options,
    limits: Limits<'a>,
    seen: Seen,
    hits: PathHits,
    /// The way to the last state of the stack.
    path: Path,
    stack: Vec<Frame<M>>,
    distinct: u64,
    generated: u64,
    terminal: u64,
    deadlocks: u64,
    outside_boundary: u64,
    digest: Digest,
    deepest: usize,
    too_many_actions: bool,
}

/// A state being expanded.
struct Frame<M: SearchModel> {
    state: M::State,
    actions: std::iter::Enumerate<std::vec::IntoIter<M::Action>>,
    has_successor: bool,
    /// False when the state was expanded before, from farther away: its steps are counted already.
    counts: bool,
}

/// What was visited.
enum Seen {
    Set(Visited),
    /// The least depth of each state, and the depth at which states are no longer expanded.
    Depths(u32, FingerprintMap<u32>),
}

/// What to do with a state just generated.
struct Arrival {
    is_new: bool,
    expand: bool,
    /// It is expanded for the first time.
    counts: bool,
}

impl Seen {
    fn arrive(&mut self, fingerprint: Fingerprint, depth: u32) -> Arrival {
        match self {
            Seen::Set(visited) => {
                let is_new = visited.insert(fingerprint);
                Arrival {
                    is_new,
                    expand: is_new,
                    counts: is_new,
                }
            }
            Seen::Depths(max, depths) => {
                let before = depths.get(&fingerprint.bits()).copied();
                let is_nearer = before.is_none_or(|before| depth < before);
                if is_nearer {
                    depths.insert(fingerprint.bits(), depth);
                }
                Arrival {
                    is_new: before.is_none(),
                    expand: is_nearer && depth < *max,
                    counts: before.is_none_or(|before| before >= *max),
                }
            }
        }
    }

    /// Whether some state was found only where states are no longer expanded.
    fn is_cut(&self) -> bool {
        match self {
            Seen::Set(_) => false,
            Seen::Depths(max, depths) => depths.values().any(|depth| depth >= max),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Seen::Set(visited) => visited.bytes(),
            // A slot and its control byte.
            Seen::Depths(_, depths) => depths.capacity() * (size_of::<(u128, u32)>() + 1),
        }
    }
}

impl<M: SearchModel> Search<'_, M> {
    fn run(&mut self) -> Option<Reason> {
        for (position, state) in self.model.init_states().into_iter().enumerate() {
            self.path.initial = position;
            self.generated += 1;
            self.arrive(state);
            while !self.stack.is_empty() {
                if let Some(reason) = self.step() {
                    return Some(reason);
                }
            }
        }
        None
    }

    /// Takes the next step of the last state of the stack, or leaves it.
    fn step(&mut self) -> Option<Reason> {
        let frame = self.stack.last_mut()?;
        let Some((position, action)) = frame.actions.next() else {
            if !frame.has_successor && frame.counts {
                self.terminal += 1;
                let before = self.stack.iter().rev().nth(1).map(|frame| &frame.state);
                let state = self.stack.last().map(|frame| &frame.state)?;
                let is_deadlock =
                    self.hits
                        .judge_terminal(self.model, self.checks, (before, state), &self.path);
                self.deadlocks += u64::from(is_deadlock);
            }
            self.stack.pop();
            self.path.actions.pop();
            return self.bound();
        };
        let Ok(position) = u16::try_from(position) else {
            self.too_many_actions = true;
            return None;
        };
        if let Some(next) = self.model.next_state(&frame.state, action) {
            frame.has_successor = true;
            self.generated += u64::from(frame.counts);
            self.path.actions.push(position);
            if !self.arrive(next) {
                self.path.actions.pop();
            }
        }
        None
    }

    /// Judges the state that the path leads to; true when it is now the last of the stack.
    fn arrive(&mut self, state: M::State) -> bool {
        if !self.model.within_boundary(&state) {
            let counts = self.stack.last().is_none_or(|frame| frame.counts);
            self.outside_boundary += u64::from(counts);
            return false;
        }
        let fingerprint = self.checks.fingerprint(self.model, &state);
        let depth = self.path.actions.len() + 1;
        let arrival = self.seen.arrive(fingerprint, depth as u32);
        if arrival.is_new {
            self.distinct += 1;
            self.digest.add(fingerprint);
            self.deepest = self.deepest.max(depth);
            let before = self.stack.last().map(|frame| &frame.state);
            self.hits
                .judge(self.model, self.checks, (before, &state), &self.path);
        }
        if arrival.expand {
            let mut actions = Vec::new();
            self.model.actions(&state, &mut actions);
            self.stack.push(Frame {
                state,
                actions: actions.into_iter().enumerate(),
                has_successor: false,
                counts: arrival.counts,
            });
        }
        arrival.expand
    }

    fn bound(&mut self) -> Option<Reason> {
        let violated = self.hits.violated();
        let wanted = self.options.stop_when;
        if (wanted != 0 && violated & wanted == wanted)
            || (self.options.stop_at_first && violated != 0)
        {
            return Some(Reason::Stopped);
        }
        let progress = Progress {
            depth: self.path.actions.len() as u32 + 1,
            distinct: self.distinct,
            generated: self.generated,
            frontier: self.stack.len() as u64,
            elapsed: self.limits.elapsed(),
            memory: self.seen.bytes() as u64,
        };
        let reason = self.limits.check(&progress, false);
        reason.filter(|_| !self.stack.is_empty())
    }

    fn finish(self, stopped: Option<Reason>) -> Outcome<M::State, M::Action> {
        let depth = self.seen.is_cut().then_some(Reason::MaxDepth);
        let actions = self.too_many_actions.then_some(Reason::TooManyActions);
        let boundary = (self.outside_boundary > 0).then_some(Reason::Boundary);
        let seconds = self.limits.elapsed().as_secs_f64();
        let replayed = self.hits.replay(self.model, self.checks);
        let unsure = replayed.is_none().then_some(Reason::NotReproducible);
        let found = replayed.unwrap_or_default();
        Outcome {
            distinct: self.distinct,
            generated: self.generated,
            depth: self.deepest as u32,
            levels: Vec::new(),
            digest: self.digest,
            terminal: self.terminal,
            deadlocks: self.deadlocks,
            outside_boundary: self.outside_boundary,
            seconds,
            peak_frontier: self.deepest as u64,
            bytes_per_state: self.seen.bytes() as f64 / self.distinct.max(1) as f64,
            collision_probability: collision_probability(self.distinct),
            incomplete: unsure.or(stopped).or(depth).or(actions).or(boundary),
            violations: found.violations,
            ways: found.ways,
            witnesses: found.witnesses,
        }
    }
}
