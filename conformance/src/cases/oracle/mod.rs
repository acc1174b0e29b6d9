//! The model as an oracle: every state that the broker may be in, as far as its answers tell.
//!
//! A request is put to the spec's actors in each of those states, and everything that a broker does
//! by itself (append, replicate, send and write markers, apply offsets) is tried in every order.
//! What comes out is the set of allowed answers; the broker's own answer then leaves the states that
//! could have given it. No answer is written down here: the rules are the spec's.

mod answer;
mod events;
mod overtaken;

pub use answer::{ModelAnswer, take_answer};
pub use events::Elapsed;

use std::collections::{BTreeMap, HashSet};

use fencepost_spec::coordinator::{Role, Stage};
use fencepost_spec::coverage::Cell;
use fencepost_spec::message::{Correlation, Message};
use fencepost_spec::rules::Rules;
use fencepost_spec::scenario::Scenario;
use fencepost_spec::types::*;
use fencepost_spec::world::{Action, State, World};

/// Data partitions of a case.
pub const DATA_PARTITIONS: u8 = 2;
/// The offsets partition of a case.
pub const OFFSETS: PartitionIndex = PartitionIndex(DATA_PARTITIONS);
/// Transactional ids of a case.
const IDS: usize = 2;
/// A request of the case itself, never of the model's own coordinator.
pub const OUR_ROUND: u8 = u8::MAX;
/// More states than any case comes near: past it the oracle gives up rather than the machine.
const MAX_STATES: usize = 20_000;

/// An answer that the model allows, and the state that it leaves.
#[derive(Clone, Debug)]
pub struct Allowed {
    /// The answer.
    pub answer: ModelAnswer,
    /// The decision-table cell behind it.
    pub cell: Option<Cell>,
    after: State,
}

/// What a broker cannot do although it is its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Everything goes on.
    Nothing,
    /// No record of the transaction-state log is replicated.
    Log,
    /// No marker arrives.
    Markers,
}

/// The states that a broker may be in.
#[derive(Clone, Debug)]
pub struct Oracle {
    world: World,
    states: Vec<State>,
    bound: BTreeMap<ProducerId, i64>,
    number: u8,
    held: Held,
}

impl Oracle {
    /// A fresh broker under `rules`.
    pub fn new(rules: Rules) -> Self {
        let scenario = Scenario {
            ids: IDS,
            offsets: true,
            prune: false,
            ..Scenario::plain(Vec::new(), DATA_PARTITIONS)
        };
        let world = World::new(scenario.answering().stale_routing(), rules);
        let states = vec![world.initial()];
        Self {
            world,
            states,
            bound: BTreeMap::new(),
            number: 0,
            held: Held::Nothing,
        }
    }

    /// The next request's correlation.
    pub fn correlation(&mut self) -> Correlation {
        self.number = self.number.wrapping_add(1);
        Correlation {
            producer: ProducerIndex(3),
            number: self.number,
            attempt: 0,
        }
    }

    /// The producer id that the broker knows `id` by, if it has been seen or named.
    pub fn real(&self, id: ProducerId) -> Option<i64> {
        self.bound.get(&id).copied()
    }

    /// The model's name of a broker's producer id.
    pub fn named(&self, real: i64) -> Option<ProducerId> {
        let found = self.bound.iter().find(|(_, bound)| **bound == real)?;
        Some(*found.0)
    }

    /// Names a producer id that no coordinator has given.
    pub fn name(&mut self, id: ProducerId, real: i64) {
        self.bound.insert(id, real);
    }

    /// Whether the broker's producer id may be the model's: bound to it, or both are new.
    pub fn agrees(&self, id: ProducerId, real: i64) -> bool {
        match self.bound.get(&id) {
            Some(bound) => *bound == real,
            None => self.named(real).is_none(),
        }
    }

    /// Every answer that the model allows to `request`, with the state after it.
    pub fn ask(&self, request: &Message) -> Vec<Allowed> {
        let mut allowed: Vec<Allowed> = Vec::new();
        let mut seen = HashSet::new();
        let mut open = self.delivered(request);
        while let Some((mut state, cell)) = open.pop() {
            if let Some(answer) = take_answer(&mut state, request) {
                allowed.push(Allowed {
                    answer,
                    cell,
                    after: state,
                });
                continue;
            }
            if seen.len() > MAX_STATES || !seen.insert(state.clone()) {
                continue;
            }
            for (next, further) in self.background(&state) {
                open.push((next, further.or(cell)));
            }
        }
        allowed.extend(self.overtaken(request));
        allowed
    }

    /// Every answer to `request` of a broker that does not coordinate; it changes nothing.
    pub fn ask_elsewhere(&self, request: &Message) -> Vec<Allowed> {
        let mut follower = self.clone();
        for state in &mut follower.states {
            state.coordinators[0].role = Role::Follower;
        }
        let mut allowed = follower.ask(request);
        for one in &mut allowed {
            one.after.coordinators[0].role = Role::Leader;
        }
        allowed
    }

    /// The broker has taken `request` and owes the answer, which nobody waits for.
    pub fn leave_unanswered(&mut self, request: &Message) {
        let mut seen = HashSet::new();
        self.states = self
            .delivered(request)
            .into_iter()
            .map(|(state, _)| state)
            .filter(|state| seen.insert(state.clone()))
            .collect();
    }

    /// What the broker cannot do from here on.
    pub fn hold(&mut self, held: Held) {
        self.held = held;
    }

    /// Whether the broker has nothing left to do by itself, whichever state it is in.
    pub fn is_settled(&self) -> bool {
        self.states
            .iter()
            .all(|state| self.background(state).is_empty())
    }

    /// One of the states.
    pub fn any_state(&self) -> Option<&State> {
        self.states.first()
    }

    /// The states right after `request` has reached its actor.
    fn delivered(&self, request: &Message) -> Vec<(State, Option<Cell>)> {
        let to_coordinator = is_to_coordinator(request);
        let deliver = Action::Deliver {
            message: *request,
            broker: to_coordinator.then_some(BrokerId(0)),
        };
        let asked = self.reachable().into_iter().filter_map(|mut state| {
            state.network.push(*request);
            self.world.take_with_cell(&state, &deliver)
        });
        asked.collect()
    }

    /// Keeps the states that could have given an answer.
    pub fn observe<'a>(&mut self, matching: impl Iterator<Item = &'a Allowed>) {
        let mut seen = HashSet::new();
        self.states = matching
            .map(|allowed| allowed.after.clone())
            .filter(|state| seen.insert(state.clone()))
            .collect();
    }

    /// Every state that the broker may have come to by itself.
    pub fn reachable(&self) -> Vec<State> {
        let mut seen: HashSet<State> = HashSet::new();
        let mut open = self.states.clone();
        while let Some(state) = open.pop() {
            if seen.len() > MAX_STATES || !seen.insert(state.clone()) {
                continue;
            }
            open.extend(self.background(&state).into_iter().map(|(next, _)| next));
        }
        seen.into_iter().collect()
    }

    /// Keeps only the states for which `fits` holds; false, and no change, where there is none.
    pub fn keep(&mut self, fits: impl Fn(&State) -> bool) -> bool {
        let kept: Vec<State> = self.reachable().into_iter().filter(fits).collect();
        if kept.is_empty() {
            return false;
        }
        self.states = kept;
        true
    }

    /// Keeps the states in which the broker has nothing left to do by itself.
    pub fn settle(&mut self) {
        self.states = self
            .reachable()
            .into_iter()
            .filter(|state| self.background(state).is_empty())
            .collect();
    }

    /// The steps that a broker takes by itself in `state`.
    fn background(&self, state: &State) -> Vec<(State, Option<Cell>)> {
        let mut actions = vec![Action::Materialise];
        if self.held != Held::Log {
            actions.push(Action::CommitRecord);
        }
        for message in &state.network {
            let own = !matches!(message, Message::WriteTxnMarkersAnswer(m) if m.round == OUR_ROUND);
            let held = self.held == Held::Markers && matches!(message, Message::WriteTxnMarkers(_));
            if own && !held && !message.is_answer_to_producer() {
                let asks = matches!(message, Message::VerifyPartition(_));
                actions.push(Action::Deliver {
                    message: *message,
                    broker: asks.then_some(BrokerId(0)),
                });
            }
        }
        for (index, slot) in (0..).zip(&state.coordinators[0].slots) {
            if let Some(Stage::WritingMarkers { queued, .. }) = slot.pending.map(|p| p.stage) {
                actions.extend(
                    queued
                        .iter()
                        .map(|p| Action::SendMarker(BrokerId(0), TransactionalId(index), p)),
                );
            }
        }
        actions
            .iter()
            .filter_map(|action| self.world.take_with_cell(state, action))
            .collect()
    }
}

/// Whether the coordinator is asked.
pub fn is_to_coordinator(request: &Message) -> bool {
    matches!(
        request,
        Message::InitProducerId(_)
            | Message::AddPartitionsToTxn(_)
            | Message::AddOffsetsToTxn(_)
            | Message::EndTxn(_)
            | Message::VerifyPartition(_)
    )
}
