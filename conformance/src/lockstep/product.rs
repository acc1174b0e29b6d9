//! The product of model and production, breadth first.

use super::hidden;
use super::report::rows;
use super::{Case, Divergence, Edge, Exclusions, Lockstep, Mismatch, Report, Run, Tamper};
use crate::actors::Production;
use fencepost_search::Fingerprint;
use fencepost_spec::scenario::{self, Entry, RuleSet};
use fencepost_spec::trace::Line;
use fencepost_spec::world::{Action, State, World};
use stateright::Model;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Bounds and faults of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The most pairs that are explored; none for all.
    pub max_pairs: Option<usize>,
    /// A fault of a test's.
    pub tamper: Option<Tamper>,
}

/// Runs these cases, several at a time; the report has them in their order. A case whose scenario does not exist is left
/// out.
pub fn run(cases: &[Case], options: Options) -> Report {
    let found: Vec<(&'static Entry, RuleSet)> = cases
        .iter()
        .filter_map(|case| Some((scenario::find(case.scenario)?, case.rules)))
        .collect();
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut runs: Vec<(usize, Run)> = std::thread::scope(|scope| {
        let work = || {
            let mut done = Vec::new();
            while let Some((at, (entry, rules))) = {
                let at = next.fetch_add(1, Ordering::Relaxed);
                found.get(at).map(|case| (at, *case))
            } {
                done.push((at, run_case(entry, rules, options)));
            }
            done
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(|worker| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.flatten().collect()
    });
    runs.sort_by_key(|(at, _)| *at);
    Report::of(runs.into_iter().map(|(_, run)| run).collect())
}

/// Runs one scenario under one rule set.
pub fn run_case(entry: &'static Entry, rules: RuleSet, options: Options) -> Run {
    let began = Instant::now();
    let world = World::new(entry.scenario(rules), entry.rules(rules));
    let mut lockstep = Lockstep::new(world);
    if let Some(tamper) = options.tamper {
        lockstep = lockstep.tampered(tamper);
    }
    let mut product = Product::new(&lockstep);
    let outcome = product.explore(options.max_pairs);
    let seconds = began.elapsed().as_secs_f64();
    let divergence = outcome.as_ref().err().map(|found| {
        let lines = product.lines(found.at, found.action.as_ref());
        Divergence::new(entry, rules, lines, &found.after, &found.mismatch)
    });
    Run {
        scenario: entry.name.to_owned(),
        rules: rules.name().to_owned(),
        model_states: product.seen.len() as u64,
        edges: product.edges,
        refused_actions: product.refused,
        impl_states: product.impl_states.len() as u64,
        hidden_states: product.hidden().count() as u64,
        hidden_reasons: hidden::reasons(&product),
        complete: outcome.is_ok_and(|complete| complete),
        exclusions: rows(&product.exclusions),
        seconds,
        divergence,
    }
}

/// A pair that was reached: by which action of which pair.
#[derive(Clone, Copy)]
struct Link {
    parent: u32,
    candidate: u32,
}

/// A production state that a model state was met with, and the first pair of the two.
struct Met {
    production: u128,
    index: u32,
}

struct Pair {
    index: u32,
    state: State,
    production: Production,
}

struct Found {
    at: u32,
    action: Option<Action>,
    after: Box<State>,
    mismatch: Mismatch,
}

pub(super) struct Product<'a> {
    pub(super) lockstep: &'a Lockstep,
    /// Of each model state, the production states that it was met with.
    seen: HashMap<u128, Vec<Met>>,
    impl_states: HashSet<u128>,
    links: Vec<Link>,
    edges: u64,
    refused: u64,
    exclusions: Exclusions,
}

impl<'a> Product<'a> {
    fn new(lockstep: &'a Lockstep) -> Self {
        Self {
            lockstep,
            seen: HashMap::new(),
            impl_states: HashSet::new(),
            links: Vec::new(),
            edges: 0,
            refused: 0,
            exclusions: Exclusions::default(),
        }
    }

    /// True once every pair was explored, false where the bound was met.
    fn explore(&mut self, max_pairs: Option<usize>) -> Result<bool, Found> {
        let world = &self.lockstep.world;
        let (state, production) =
            self.lockstep
                .start(&mut self.exclusions)
                .map_err(|mismatch| Found {
                    at: 0,
                    action: None,
                    after: Box::new(world.initial()),
                    mismatch,
                })?;
        let root = Link {
            parent: 0,
            candidate: 0,
        };
        let mut level: Vec<Pair> = self.meet(state, production, root).into_iter().collect();
        while !level.is_empty() {
            let mut next = Vec::new();
            for pair in level {
                self.expand(&pair, &mut next)?;
                if max_pairs.is_some_and(|most| self.links.len() > most) {
                    return Ok(false);
                }
            }
            level = next;
        }
        Ok(true)
    }

    fn expand(&mut self, pair: &Pair, next: &mut Vec<Pair>) -> Result<(), Found> {
        let Pair {
            index,
            state,
            production,
        } = pair;
        let world = &self.lockstep.world;
        let mut candidates = Vec::new();
        world.actions(state, &mut candidates);
        for (candidate, action) in (0..).zip(&candidates) {
            let Some(after) = world.take(state, action) else {
                continue;
            };
            let edge = self
                .lockstep
                .step(state, action, &after, production, &mut self.exclusions);
            match edge {
                Err(mismatch) => {
                    return Err(Found {
                        at: *index,
                        action: Some(*action),
                        after: Box::new(after),
                        mismatch,
                    });
                }
                Ok(Edge::Excluded) => {}
                Ok(Edge::Taken(production)) => {
                    self.edges += 1;
                    let link = Link {
                        parent: *index,
                        candidate,
                    };
                    next.extend(self.meet(after, production, link));
                }
            }
        }
        let refused = self
            .lockstep
            .refusals(state, production, &mut self.exclusions);
        self.refused += refused.map_err(|(action, mismatch)| Found {
            at: *index,
            action: Some(action),
            after: Box::new(state.clone()),
            mismatch,
        })?;
        Ok(())
    }

    /// The pair, if it was not met before.
    fn meet(&mut self, state: State, production: Production, link: Link) -> Option<Pair> {
        let of_model = Fingerprint::of(&state).bits();
        let of_production = Fingerprint::of(&production).bits();
        let met = self.seen.entry(of_model).or_default();
        if met.iter().any(|it| it.production == of_production) {
            return None;
        }
        let index = self.links.len() as u32;
        met.push(Met {
            production: of_production,
            index,
        });
        self.impl_states.insert(of_production);
        self.links.push(link);
        Some(Pair {
            index,
            state,
            production,
        })
    }

    /// The first two pairs of each model state that was met with more than one production state.
    pub(super) fn hidden(&self) -> impl Iterator<Item = (u32, u32)> {
        self.seen.values().filter_map(|met| match met.as_slice() {
            [first, second, ..] => Some((first.index, second.index)),
            [_] | [] => None,
        })
    }

    /// The actions that lead to a pair.
    pub(super) fn path(&self, at: u32) -> Vec<Action> {
        let mut steps = Vec::new();
        let mut index = at as usize;
        while index != 0 {
            let link = self.links[index];
            steps.push(link.candidate);
            index = link.parent as usize;
        }
        let world = &self.lockstep.world;
        let mut state = world.initial();
        let mut actions = Vec::new();
        for candidate in steps.into_iter().rev() {
            let mut candidates = Vec::new();
            world.actions(&state, &mut candidates);
            let action = candidates[candidate as usize];
            if let Some(after) = world.take(&state, &action) {
                state = after;
            }
            actions.push(action);
        }
        actions
    }

    /// The trace to a pair, and one more action.
    fn lines(&self, at: u32, last: Option<&Action>) -> Vec<Line> {
        let path = self.path(at);
        path.iter().chain(last).map(Line::from).collect()
    }
}
