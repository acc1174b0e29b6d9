//! The product of model and production, breadth first.

use super::compare::{applied, takes_snapshots};
use super::divergence::Place;
use super::hidden;
use super::judge::{self, Disagree, Judged};
use super::report::{Properties, crash_rows, rows};
use super::{After, Case, Divergence, Edge, Lockstep, Mismatch, Report, Run, Tally, Tamper};
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
    /// Whether nothing is compared, and only the properties judge production.
    pub only_properties: bool,
}

/// Runs these cases, several at a time; the report has them in their order. A case whose scenario does not exist is left
/// out.
pub fn run(cases: &[Case], options: Options) -> Report {
    let found: Vec<(&'static Entry, RuleSet)> = cases
        .iter()
        .filter_map(|case| Some((scenario::find(case.scenario)?, case.rules)))
        .collect();
    run_all(&found, options, &|_| {})
}

/// The same for runs of the catalogue; `done` is told of each as it ends.
pub fn run_all(
    found: &[(&'static Entry, RuleSet)],
    options: Options,
    done: &(dyn Fn(&Run) + Sync),
) -> Report {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut runs: Vec<(usize, Run)> = std::thread::scope(|scope| {
        let work = || {
            let mut ended = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some((entry, rules)) = found.get(at) else {
                    return ended;
                };
                let run = run_case(entry, *rules, options);
                done(&run);
                ended.push((at, run));
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(|worker| match worker.join() {
            Ok(ended) => ended,
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
    if options.only_properties {
        lockstep = lockstep.only_properties();
    }
    let mut product = Product::new(&lockstep);
    let outcome = product.explore(options.max_pairs);
    let expected = entry.runs.iter().find(|(it, _)| *it == rules);
    let expected = expected.map_or(&[][..], |(_, expected)| expected);
    let complete = outcome.as_ref().is_ok_and(|complete| *complete);
    let seconds = began.elapsed().as_secs_f64();
    let divergence = outcome.err().map(|found| {
        let found = *found;
        let place = Place {
            entry,
            rules,
            mutant: None,
            lines: product.lines(found.at, found.action.as_ref()),
            waiting: found.waiting.as_ref().map(Line::from),
            after: &found.after,
            sides: found.sides,
        };
        Divergence::new(&lockstep.world, place, &found.mismatch)
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
        complete,
        // What only happens past a step that production lacks cannot be met.
        properties: Properties::new(&product.judged, expected, complete && !product.is_cut()),
        crash_points: crash_rows(&product.tally.crash_points),
        exclusions: rows(&product.tally.exclusions),
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
    /// Both sides' states as the properties are judged on them.
    judged: Box<(State, State)>,
}

struct Found {
    at: u32,
    action: Option<Action>,
    /// The request that waits, where it is the one on which the sides differ.
    waiting: Option<Action>,
    after: Box<State>,
    sides: Option<(State, State)>,
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
    tally: Tally,
    judged: Judged,
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
            tally: Tally::default(),
            judged: Judged::default(),
        }
    }

    /// True once every pair was explored, false where the bound was met.
    fn explore(&mut self, max_pairs: Option<usize>) -> Result<bool, Box<Found>> {
        let world = &self.lockstep.world;
        let nowhere = |mismatch| {
            Box::new(Found {
                at: 0,
                action: None,
                waiting: None,
                after: Box::new(world.initial()),
                sides: None,
                mismatch,
            })
        };
        let started = self.lockstep.start(&mut self.tally);
        let (state, After { production, found }) = started.map_err(nowhere)?;
        let judged = self.states_to_judge(&state, found);
        let root = Link {
            parent: 0,
            candidate: 0,
        };
        let first = self.meet(state, production, judged, root);
        let first = first.map_err(|disagree| nowhere(disagree.into()))?;
        let mut level: Vec<Pair> = first.into_iter().collect();
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

    fn expand(&mut self, pair: &Pair, next: &mut Vec<Pair>) -> Result<(), Box<Found>> {
        let world = &self.lockstep.world;
        let state = &pair.state;
        let found = |waiting, mismatch| {
            Box::new(Found {
                at: pair.index,
                action: None,
                waiting,
                after: Box::new(state.clone()),
                sides: None,
                mismatch,
            })
        };
        let refused = self
            .lockstep
            .refusals(state, &pair.production, &mut self.tally);
        self.refused += refused.map_err(|(action, mismatch)| found(Some(action), mismatch))?;
        let mut is_terminal = true;
        let mut candidates = Vec::new();
        world.actions(state, &mut candidates);
        for (candidate, action) in (0..).zip(&candidates) {
            let Some(after) = world.take(state, action) else {
                continue;
            };
            is_terminal = false;
            let link = Link {
                parent: pair.index,
                candidate,
            };
            let met = self.take(pair, action, after.clone(), link);
            next.extend(met.map_err(|mismatch| {
                Box::new(Found {
                    at: pair.index,
                    action: Some(*action),
                    waiting: None,
                    after: Box::new(after),
                    sides: self.lockstep.sides(state, action, &pair.production),
                    mismatch,
                })
            })?);
        }
        if is_terminal {
            let (model, production) = &*pair.judged;
            let judged = self.judged.terminal(world, model, production);
            judged.map_err(|disagree| found(None, disagree.into()))?;
        }
        Ok(())
    }

    /// One edge: the pair that it leads to, if that was not met before.
    fn take(
        &mut self,
        pair: &Pair,
        action: &Action,
        after: State,
        link: Link,
    ) -> Result<Option<Pair>, Mismatch> {
        let lockstep = self.lockstep;
        let (state, production) = (&pair.state, &pair.production);
        let edge = lockstep.step(state, action, &after, production, &mut self.tally)?;
        let After { production, found } = match edge {
            Edge::Excluded => return Ok(None),
            Edge::Taken(after) => *after,
        };
        self.edges += 1;
        let judged = self.states_to_judge(&after, found);
        let (model, abstracted) = &*pair.judged;
        self.judged.step(
            &lockstep.world,
            (model, abstracted),
            action,
            (&judged.0, &judged.1),
        )?;
        Ok(self.meet(after, production, judged, link)?)
    }

    /// The model's state once every marker in its log is applied, and production's.
    fn states_to_judge(&self, model: &State, found: State) -> Box<(State, State)> {
        let frame = self.lockstep.frame(model);
        let model = applied(&frame, model);
        let found = judge::with_ghosts(&model, found, takes_snapshots(&frame));
        Box::new((model, found))
    }

    /// The pair, if it was not met before.
    fn meet(
        &mut self,
        state: State,
        production: Production,
        judged: Box<(State, State)>,
        link: Link,
    ) -> Result<Option<Pair>, Disagree> {
        let of_model = Fingerprint::of(&state).bits();
        let of_production = Fingerprint::of(&production).bits();
        let met = self.seen.entry(of_model).or_default();
        if met.iter().any(|it| it.production == of_production) {
            return Ok(None);
        }
        let index = self.links.len() as u32;
        met.push(Met {
            production: of_production,
            index,
        });
        self.impl_states.insert(of_production);
        self.links.push(link);
        self.judged
            .state(&self.lockstep.world, &judged.0, &judged.1)?;
        Ok(Some(Pair {
            index,
            state,
            production,
            judged,
        }))
    }

    /// Whether the run stopped short of some steps.
    fn is_cut(&self) -> bool {
        let mut met = self.tally.exclusions.iter();
        met.any(|(exclusion, _)| exclusion.cuts())
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
