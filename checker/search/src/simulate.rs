//! Random simulation: many random walks, each told by the seed and its number.

use crate::checks::Checks;
use crate::limits::Limits;
use crate::model::SearchModel;
use crate::options::{Options, Progress};
use crate::outcome::{Outcome, Reason, collision_probability};
use crate::path_hits::{Path, PathHits};
use crate::visited::Visited;

/// How to walk at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simulation {
    /// Two simulations with one seed take the same walks.
    pub seed: u64,
    /// How many walks.
    pub walks: u64,
    /// Steps of a walk, at most; it ends earlier in a state without a successor.
    pub steps: u32,
}

/// Walks at random from random initial states, on one thread, and judges every state on the way.
///
/// The verdict is never "holds": a simulation that finds nothing is [`Reason::Sampled`]. Of `options`, the bounds of
/// states, memory and time and the two stops are heeded. `distinct` counts the states seen, `generated` those walked
/// to, `depth` the longest walk, `terminal` the walks that ended without a successor. Of several counterexamples of
/// one property the shortest is kept; see also [`minimise`](crate::minimise).
pub fn run_simulation<M: SearchModel>(
    model: &M,
    checks: &Checks<M>,
    options: &Options,
    simulation: Simulation,
) -> Outcome<M::State, M::Action> {
    let mut walker = Walker {
        model,
        checks,
        hits: PathHits::none(checks),
        visited: Visited::new(),
        distinct: 0,
        generated: 0,
        terminal: 0,
        deadlocks: 0,
        outside_boundary: 0,
        longest: 0,
    };
    let mut limits = Limits::start(options);
    let mut incomplete = Reason::Sampled;
    for walk in 0..simulation.walks {
        let random = Random::new(simulation.seed, walk);
        walker.walk(random, simulation.steps);
        let violated = walker.hits.violated();
        let wanted = options.stop_when;
        if (wanted != 0 && violated & wanted == wanted) || (options.stop_at_first && violated != 0)
        {
            incomplete = Reason::Stopped;
            break;
        }
        if let Some(reason) = limits.check(&walker.progress(&limits), false) {
            incomplete = reason;
            break;
        }
    }
    walker.finish(&limits, incomplete)
}

struct Walker<'a, M: SearchModel> {
    model: &'a M,
    checks: &'a Checks<M>,
    hits: PathHits,
    visited: Visited,
    distinct: u64,
    generated: u64,
    terminal: u64,
    deadlocks: u64,
    outside_boundary: u64,
    longest: usize,
}

impl<M: SearchModel> Walker<'_, M> {
    fn walk(&mut self, mut random: Random, steps: u32) {
        let mut initial = self.model.init_states();
        let Some(position) = random.below(initial.len()) else {
            return;
        };
        let mut state = initial.swap_remove(position);
        let mut path = Path {
            initial: position,
            actions: Vec::new(),
        };
        self.generated += 1;
        if !self.model.within_boundary(&state) {
            self.outside_boundary += 1;
            return;
        }
        self.arrive((None, &state), &path);
        let mut before = None;
        for _ in 0..steps {
            let Some((position, next)) = self.random_step(&mut random, &state) else {
                self.terminal += 1;
                let ends = (before.as_ref(), &state);
                let is_deadlock = self
                    .hits
                    .judge_terminal(self.model, self.checks, ends, &path);
                self.deadlocks += u64::from(is_deadlock);
                break;
            };
            self.generated += 1;
            if !self.model.within_boundary(&next) {
                self.outside_boundary += 1;
                break;
            }
            path.actions.push(position);
            let last = std::mem::replace(&mut state, next);
            self.arrive((Some(&last), &state), &path);
            before = Some(last);
        }
        self.longest = self.longest.max(path.actions.len() + 1);
    }

    /// Judges the last state of `path`, with the one before it.
    fn arrive(&mut self, ends: (Option<&M::State>, &M::State), path: &Path) {
        let fingerprint = self.checks.fingerprint(self.model, ends.1);
        self.distinct += u64::from(self.visited.insert(fingerprint));
        self.hits.judge(self.model, self.checks, ends, path);
    }

    /// A random one of the steps that lead somewhere, with its action's position in the model's list.
    fn random_step(&self, random: &mut Random, state: &M::State) -> Option<(u16, M::State)> {
        let mut listed = Vec::new();
        self.model.actions(state, &mut listed);
        let mut listed: Vec<_> = (0..=u16::MAX).zip(listed).collect();
        while let Some(choice) = random.below(listed.len()) {
            let (position, action) = listed.swap_remove(choice);
            if let Some(next) = self.model.next_state(state, action) {
                return Some((position, next));
            }
        }
        None
    }

    fn progress(&self, limits: &Limits<'_>) -> Progress {
        Progress {
            depth: self.longest as u32,
            distinct: self.distinct,
            generated: self.generated,
            frontier: 0,
            elapsed: limits.elapsed(),
            memory: self.visited.bytes() as u64,
        }
    }

    fn finish(self, limits: &Limits<'_>, incomplete: Reason) -> Outcome<M::State, M::Action> {
        let seconds = limits.elapsed().as_secs_f64();
        let replayed = self.hits.replay(self.model, self.checks);
        let unsure = replayed.is_none().then_some(Reason::NotReproducible);
        let found = replayed.unwrap_or_default();
        Outcome {
            distinct: self.distinct,
            generated: self.generated,
            depth: self.longest as u32,
            levels: Vec::new(),
            digest: self.visited.digest(),
            terminal: self.terminal,
            deadlocks: self.deadlocks,
            outside_boundary: self.outside_boundary,
            seconds,
            peak_frontier: 0,
            bytes_per_state: self.visited.bytes() as f64 / self.distinct.max(1) as f64,
            collision_probability: collision_probability(self.distinct),
            incomplete: Some(unsure.unwrap_or(incomplete)),
            violations: found.violations,
            ways: found.ways,
            witnesses: found.witnesses,
        }
    }
}

/// The SplitMix64 generator (Steele, Lea and Flood 2014): a walk must be the same in every run and on every machine.
struct Random(u64);

impl Random {
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

    /// A stream of its own for each walk.
    fn new(seed: u64, walk: u64) -> Self {
        let mut random = Self(seed);
        let start = random.next() ^ walk.wrapping_mul(0xD1B5_4A32_D192_ED03);
        Self(start)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(Self::STEP);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; `None` when there is none.
    fn below(&mut self, bound: usize) -> Option<usize> {
        // The product's high half: below the bound, and even enough for lists this short.
        let high = (u128::from(self.next()) * bound as u128) >> 64;
        (bound > 0).then_some(high as usize)
    }
}
