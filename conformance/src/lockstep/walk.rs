//! Long walks through a scenario that is too large to search, both sides compared at each step.
//!
//! A walk is a list of numbers: each chooses one of the actions that are enabled where it stands. A walk on which the
//! sides differ is shortened action by action, and becomes a trace like any other.

use super::divergence::Place;
use super::{Divergence, Edge, Exclusions, Lockstep, Mismatch, Tally};
use crate::actors::Production;
use fencepost_spec::fault::Fault;
use fencepost_spec::message::Message;
use fencepost_spec::scenario::{self, Entry, RuleSet};
use fencepost_spec::trace::Line;
use fencepost_spec::world::{Action, State, World};
use stateright::Model;
use std::mem::{Discriminant, discriminant};

/// How many choices in turn may find nothing to do before a walk ends.
const PATIENCE: usize = 16;

/// The scenarios to walk through.
pub const CROWDS: [&str; 2] = ["crowd", "crowd-wide"];

/// Walks through every crowd under every rule set, `walks` times up to 6,000 steps, chosen by the seed; how many steps
/// were taken in all.
///
/// # Errors
/// The first divergence: as it was met, or `shortened`, which takes its time.
pub fn walk_crowds(walks: u64, seed: u64, shortened: bool) -> Result<u64, Box<Divergence>> {
    let mut steps = 0;
    for entry in CROWDS.into_iter().filter_map(scenario::find) {
        for rules in entry.runs.iter().map(|(rules, _)| *rules) {
            let world = World::new(entry.scenario(rules), entry.rules(rules));
            let lockstep = Lockstep::new(world);
            for walk in 0..walks {
                let mut walk = lockstep.walk(&choices(seed.wrapping_add(walk)));
                steps += walk.actions.len() as u64;
                if shortened && walk.mismatch.is_some() {
                    walk = lockstep.shorten(walk);
                }
                if let Some(found) = lockstep.divergence(&walk, entry, rules) {
                    return Err(Box::new(found));
                }
            }
        }
    }
    Ok(steps)
}

/// Numbers from a seed (SplitMix64).
fn choices(seed: u64) -> Vec<u32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed >> 32) as u32
    };
    (0..6_000).map(|_| next()).collect()
}

/// What a walk came to.
#[derive(Clone, Debug)]
pub struct Walk {
    /// The steps that both sides took; after a divergence, the step on which they differ is the last.
    pub actions: Vec<Action>,
    /// Requests that the model left waiting, and that production answered as predicted.
    pub refused: u64,
    /// Enabled actions that were passed over because they are left out of the comparison.
    pub excluded: u64,
    /// Crashes inside a durable write, each with a recovery that gave what the model's gives.
    pub crashes: u64,
    /// What was left out.
    pub exclusions: Exclusions,
    /// The model's state at the end.
    pub last: State,
    /// How the sides differ after the last step.
    pub mismatch: Option<Mismatch>,
    /// The request on which they differ, where it is one that the model leaves waiting.
    pub waiting: Option<Action>,
    /// Both sides after a step on which they differ, in the form of comparison, where production's can be said.
    pub sides: Option<Box<(State, State)>>,
}

impl Lockstep {
    /// Walks: each number chooses among the actions enabled at its step. The walk ends with the numbers, where nothing
    /// is enabled, or where the sides differ.
    pub fn walk(&self, choices: &[u32]) -> Walk {
        let mut choices = choices.iter();
        self.go(PATIENCE, |state| {
            choices
                .next()
                .map(|choice| in_order(&self.world, state, *choice))
        })
    }

    /// Takes these actions one after the other, and leaves out those that are not enabled where they come.
    pub fn follow(&self, actions: &[Action]) -> Walk {
        let mut actions = actions.iter();
        let mut candidates = Vec::new();
        self.go(usize::MAX, |state| {
            let action = actions.next()?;
            candidates.clear();
            match class(action) {
                Class::Stranger => self.world.actions(state, &mut candidates),
                Class::Progress | Class::Fault => {
                    self.world
                        .actions(&without_strangers(state), &mut candidates);
                }
            }
            // What the model would do if asked is not yet a step of it.
            candidates.retain(|candidate| candidate == action);
            Some(candidates.clone())
        })
    }

    /// Takes at each step the first of the actions that is enabled and compared. Stops where for so many times in turn
    /// there was none.
    fn go(&self, patience: usize, mut choose: impl FnMut(&State) -> Option<Vec<Action>>) -> Walk {
        let mut tally = Tally::default();
        let mut walk = Walk {
            actions: Vec::new(),
            refused: 0,
            excluded: 0,
            crashes: 0,
            exclusions: Exclusions::default(),
            last: self.world.initial(),
            mismatch: None,
            waiting: None,
            sides: None,
        };
        let mut production = match self.start(&mut tally) {
            Ok((_, after)) => after.production,
            Err(mismatch) => {
                walk.mismatch = Some(mismatch);
                return walk;
            }
        };
        let mut stays = 0;
        while let Some(candidates) = choose(&walk.last) {
            let mut candidates = candidates.into_iter();
            let moved = candidates
                .any(|action| self.stride(&mut walk, &mut production, &action, &mut tally));
            stays = if moved { 0 } else { stays + 1 };
            if walk.mismatch.is_some() || stays == patience {
                break;
            }
        }
        walk.crashes = tally.crash_points.iter().map(|(_, count)| count).sum();
        walk.exclusions = tally.exclusions;
        walk
    }

    /// One step, and every request that waits after it; false where the action is passed over.
    fn stride(
        &self,
        walk: &mut Walk,
        production: &mut Production,
        action: &Action,
        tally: &mut Tally,
    ) -> bool {
        let Some(after) = self.world.take(&walk.last, action) else {
            return false;
        };
        match self.step(&walk.last, action, &after, production, tally) {
            Ok(Edge::Excluded) => {
                walk.excluded += 1;
                return false;
            }
            Ok(Edge::Taken(next)) => *production = next.production,
            Err(mismatch) => {
                let sides = self.sides(&walk.last, action, production);
                walk.sides = sides.map(Box::new);
                walk.mismatch = Some(mismatch);
            }
        }
        walk.actions.push(*action);
        walk.last = after;
        if walk.mismatch.is_none() {
            match self.refusals(&walk.last, production, tally) {
                Ok(count) => walk.refused += count,
                Err((waiting, mismatch)) => {
                    walk.waiting = Some(waiting);
                    walk.mismatch = Some(mismatch);
                }
            }
        }
        true
    }

    /// A walk on which the sides differ, with as few of its actions as still lead to a difference: no single one can
    /// be left out.
    pub fn shorten(&self, walk: Walk) -> Walk {
        let mut best = walk;
        let mut chunk = best.actions.len();
        while chunk > 0 {
            let shorter = (0..best.actions.len())
                .step_by(chunk)
                .rev()
                .find_map(|from| {
                    let mut actions = best.actions.clone();
                    actions.drain(from..(from + chunk).min(actions.len()));
                    let found = self.follow(&actions);
                    let shorter = found.actions.len() < best.actions.len();
                    (found.mismatch.is_some() && shorter).then_some(found)
                });
            match shorter {
                Some(shorter) => best = shorter,
                None => chunk /= 2,
            }
            chunk = chunk.min(best.actions.len());
        }
        best
    }

    /// The divergence at a walk's end, if there is one, as a trace of this scenario.
    pub fn divergence(
        &self,
        walk: &Walk,
        entry: &'static Entry,
        rules: RuleSet,
    ) -> Option<Divergence> {
        let place = Place {
            entry,
            rules,
            mutant: None,
            lines: walk.actions.iter().map(Line::from).collect(),
            waiting: walk.waiting.as_ref().map(Line::from),
            after: &walk.last,
            sides: walk.sides.as_deref().cloned(),
        };
        let mismatch = walk.mismatch.as_ref()?;
        Some(Divergence::new(&self.world, place, mismatch))
    }
}

/// Every candidate, the chosen one first.
///
/// Twelve choices of sixteen go to what needs no fault, two to strangers, two to the other faults; inside, each kind of
/// action has the same chance, however many of it there are.
fn in_order(world: &World, state: &State, choice: u32) -> Vec<Action> {
    let wanted = match choice % 16 {
        0..12 => Class::Progress,
        12..14 => Class::Stranger,
        _faults => Class::Fault,
    };
    let mut candidates = Vec::new();
    if wanted == Class::Stranger {
        world.actions(state, &mut candidates);
    } else {
        world.actions(&without_strangers(state), &mut candidates);
    }
    let (mut first, rest): (Vec<_>, Vec<_>) =
        candidates.into_iter().partition(|it| class(it) == wanted);
    let mut kinds: Vec<Kind> = Vec::new();
    for action in &first {
        if !kinds.contains(&kind(action)) {
            kinds.push(kind(action));
        }
    }
    if !kinds.is_empty() {
        let chosen = kinds[(choice >> 4) as usize % kinds.len()];
        first.sort_by_key(|action| kind(action) != chosen);
        let of_kind = first.iter().take_while(|it| kind(it) == chosen).count();
        first[..of_kind].rotate_left((choice >> 12) as usize % of_kind);
    }
    first.extend(rest);
    first
}

/// The same state for whoever asks what is enabled beside strangers' requests, of which there are thousands.
pub(super) fn without_strangers(state: &State) -> State {
    State {
        budgets: state.budgets.with(Fault::Stranger, 0),
        ..state.clone()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Progress,
    Stranger,
    Fault,
}

fn class(action: &Action) -> Class {
    match action {
        Action::Stranger { .. } => Class::Stranger,
        Action::Deliver { .. }
        | Action::CommitRecord
        | Action::Start(_)
        | Action::End(..)
        | Action::Prepare(_)
        | Action::ManagerDecides(_)
        | Action::Decided(_)
        | Action::SendMarker(..)
        | Action::LearnElected(_)
        | Action::Load(_)
        | Action::Resign(_)
        | Action::Replicate(_)
        | Action::ApplyRecord(_)
        | Action::Recover(_)
        | Action::Materialise
        | Action::CompleteRebalance(_)
        | Action::TakeBound(_)
        | Action::TakeData(_)
        | Action::TakeAborted(_) => Class::Progress,
        Action::FailAppend(_)
        | Action::FailVerification(_)
        | Action::LoseMarker(_)
        | Action::LoseMarkerAnswer(_)
        | Action::FindNoLeader(_)
        | Action::SkipTest(_)
        | Action::ResendRequest(_)
        | Action::ResendBatch(..)
        | Action::GiveUp(..)
        | Action::CrashProducer(_)
        | Action::ResendMarker(..)
        | Action::Timeout(..)
        | Action::ExpireId(..)
        | Action::Elect(_)
        | Action::CrashCoordinator(_)
        | Action::StepClockBack(_)
        | Action::FailOver(_)
        | Action::Restart(_)
        | Action::TakeSnapshot(_)
        | Action::Evict(..)
        | Action::Compact(_)
        | Action::FollowerFetch(_)
        | Action::Promote(_)
        | Action::DeleteTopic(_)
        | Action::PrepareRebalance
        | Action::ExpireMember
        | Action::ReplaceStaticMember(_)
        | Action::ExpireOffsets
        | Action::Upgrade
        | Action::OperatorMarker(_) => Class::Fault,
    }
}

type Kind = (Discriminant<Action>, Option<Discriminant<Message>>);

fn kind(action: &Action) -> Kind {
    let message = match action {
        Action::Deliver { message, .. } | Action::Stranger { message, .. } => Some(message),
        _ => None,
    };
    (discriminant(action), message.map(discriminant))
}
