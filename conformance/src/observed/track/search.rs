//! Everything that a broker may have done by itself since the last event, in every order.

use std::collections::HashSet;

use fencepost_spec::coordinator::Stage;
use fencepost_spec::fault::Fault;
use fencepost_spec::message::Message;
use fencepost_spec::types::BrokerId;
use fencepost_spec::world::{Action, State, World};

use super::{ID, Misfit, Track, unique};
use crate::cases::oracle::{OUR_ROUND, is_to_coordinator};

/// States that are looked at for one event: past it the id is given up, not the machine.
const MAX_STATES: usize = 50_000;

/// What a step did that a core writes down where it writes such things down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Did {
    /// A record of the transaction log became durable.
    Log,
    /// A partition appended to its log.
    Append(usize),
}

/// What an event says of a step that cores write down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It is the one that was written down.
    Seen,
    /// It is part of what was written down as one.
    Part,
    /// It would have been written down, and was not.
    Unseen,
}

/// What an event asks of the states that lead to it.
pub(super) trait Goal {
    /// Whether a state is what was seen (true), or already something else (false).
    fn reached(&mut self, _state: &mut State) -> Option<bool> {
        None
    }

    /// What a step is that this run's cores write down.
    fn step(&mut self, _did: Did, _before: &State, _after: &State) -> Step {
        Step::Unseen
    }
}

/// A goal of states alone.
pub(super) struct Reached<F>(pub(super) F);

impl<F: FnMut(&mut State) -> Option<bool>> Goal for Reached<F> {
    fn reached(&mut self, state: &mut State) -> Option<bool> {
        (self.0)(state)
    }
}

impl Track {
    /// The states that `goal` ends in. The timer, then a reload, are only thought of where nothing
    /// else explains what was seen.
    pub(super) fn advance(
        &self,
        world: &World,
        goal: &mut impl Goal,
    ) -> Result<Vec<State>, Misfit> {
        for unseen in [Unseen::Nothing, Unseen::Timer, Unseen::Reload] {
            let found = self.search(world, unseen, goal)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    /// As [`Self::advance`], after the id was found to be idle for long enough.
    pub(super) fn advance_expired(
        &self,
        world: &World,
        goal: &mut impl Goal,
    ) -> Result<Vec<State>, Misfit> {
        self.search(world, Unseen::Expiry, goal)
    }

    fn search(
        &self,
        world: &World,
        unseen: Unseen,
        goal: &mut impl Goal,
    ) -> Result<Vec<State>, Misfit> {
        let mut found = Vec::new();
        let mut seen: HashSet<(State, bool)> = HashSet::new();
        // What nobody saw happens once between two events, or the search would never end.
        let may = unseen != Unseen::Nothing;
        let mut open: Vec<(State, bool)> = self.states.iter().map(|it| (it.clone(), may)).collect();
        while let Some((mut state, may)) = open.pop() {
            match goal.reached(&mut state) {
                Some(true) => {
                    found.push(state);
                    continue;
                }
                Some(false) => continue,
                None => {}
            }
            if seen.len() >= MAX_STATES {
                return Err(Misfit::GivenUp);
            }
            if seen.contains(&(state.clone(), may)) {
                continue;
            }
            for next in moves(world, &state) {
                let shown = did(&state, &next).filter(|did| self.shows(*did));
                match shown.map(|did| goal.step(did, &state, &next)) {
                    None | Some(Step::Part) => open.push((next, may)),
                    Some(Step::Seen) => found.push(next),
                    Some(Step::Unseen) => {}
                }
            }
            if may {
                open.extend(unseen.after(world, &state).map(|it| (it, false)));
            }
            seen.insert((state, may));
        }
        Ok(unique(found))
    }
}

/// What a broker may have done that nobody saw.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unseen {
    Nothing,
    Timer,
    Expiry,
    Reload,
}

impl Unseen {
    fn after(self, world: &World, state: &State) -> Option<State> {
        let actions: &[Action] = match self {
            Self::Nothing => return None,
            Self::Timer => &[Action::Timeout(BrokerId(0), ID)],
            Self::Expiry => &[Action::ExpireId(BrokerId(0), ID)],
            Self::Reload => &[
                Action::CrashCoordinator(BrokerId(0)),
                Action::LearnElected(BrokerId(0)),
                Action::Load(BrokerId(0)),
            ],
        };
        if self == Self::Reload && state.log.epoch.0 > 200 {
            return None;
        }
        let mut due = state.clone();
        due.budgets = due
            .budgets
            .with(Fault::Timer, 1)
            .with(Fault::IdExpiry, 1)
            .with(Fault::CoordinatorCrash, 1);
        let after = actions
            .iter()
            .try_fold(due, |state, action| world.take(&state, action))?;
        Some(State {
            budgets: state.budgets,
            ..after
        })
    }
}

/// What a step did, where cores write such things down.
fn did(before: &State, after: &State) -> Option<Did> {
    if after.log.appended.len() < before.log.appended.len() {
        return Some(Did::Log);
    }
    let partitions = before.partitions.iter().zip(&after.partitions);
    partitions
        .enumerate()
        .find(|(_, (before, after))| after.log_end > before.log_end)
        .map(|(at, _)| Did::Append(at))
}

/// Every step that a broker may take by itself, requests on their way included.
fn moves(world: &World, state: &State) -> Vec<State> {
    let mut actions = Vec::new();
    if !state.log.appended.is_empty() {
        actions.push(Action::CommitRecord);
    }
    if state
        .group
        .as_ref()
        .is_some_and(|it| !it.unapplied.is_empty())
    {
        actions.push(Action::Materialise);
    }
    for message in &state.network {
        let asked = matches!(message, Message::WriteTxnMarkersAnswer(m) if m.round == OUR_ROUND);
        if !asked && !message.is_answer_to_producer() {
            actions.push(Action::Deliver {
                message: *message,
                broker: is_to_coordinator(message).then_some(BrokerId(0)),
            });
        }
    }
    let slot = &state.coordinators[0].slots[0];
    if let Some(Stage::WritingMarkers { queued, .. }) = slot.pending.map(|it| it.stage) {
        let queued = queued
            .iter()
            .map(|p| Action::SendMarker(BrokerId(0), ID, p));
        actions.extend(queued);
    }
    actions
        .iter()
        .filter_map(|action| world.take(state, action))
        .collect()
}
