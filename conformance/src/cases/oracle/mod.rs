//! The model as an oracle: every state that the broker may be in, as far as its answers tell.
//!
//! A request is put to the spec's actors in each of those states, and everything that a broker does
//! by itself (append, replicate, send and write markers, apply offsets) is tried in every order.
//! What comes out is the set of allowed answers; the broker's own answer then leaves the states that
//! could have given it. No answer is written down here: the rules are the spec's.

mod overtaken;

use std::collections::{BTreeMap, HashSet};

use fencepost_spec::coordinator::{Role, Stage, TransactionState};
use fencepost_spec::coverage::Cell;
use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::fault::Fault;
use fencepost_spec::message::{Correlation, Message};
use fencepost_spec::partition::Partition;
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

/// An answer in the model's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelAnswer {
    /// The verdict.
    pub error: ErrorCode,
    /// InitProducerId and EndTxn v5: the identity to go on with.
    pub identity: Option<Identity>,
    /// KIP-939: the identity of the transaction that goes on.
    pub ongoing: Option<Identity>,
    /// Produce: where the batch is.
    pub offset: Option<u8>,
}

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

/// How much time passes at once: more than a transaction may take, than a producer is remembered, than an id is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elapsed {
    /// A minute and some.
    Minute,
    /// A day and some.
    Day,
    /// A week and some.
    Week,
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

    /// The broker starts again: the coordinator loads its log, the partitions their producer state.
    pub fn restart(&mut self) {
        let partitions = self
            .states
            .first()
            .map_or(0, |it| it.partitions.len() as u8);
        let mut actions = vec![
            Action::CrashCoordinator(BrokerId(0)),
            Action::LearnElected(BrokerId(0)),
            Action::Load(BrokerId(0)),
        ];
        for index in (0..partitions).map(PartitionIndex) {
            actions.extend([Action::Restart(index), Action::Recover(index)]);
        }
        let world = &self.world;
        let restarted = self.reachable().into_iter().filter_map(|mut state| {
            state.budgets = state
                .budgets
                .with(Fault::CoordinatorCrash, 1)
                .with(Fault::Restart, partitions);
            actions
                .iter()
                .try_fold(state, |state, action| world.take(&state, action))
        });
        self.states = restarted.collect();
    }

    /// Every id is at this epoch, in the log and in memory, as if so many sessions had come and gone.
    pub fn raise_epochs(&mut self, epoch: i16) {
        let epoch = ProducerEpoch(epoch);
        for state in &mut self.states {
            let logged = state.log.committed.iter_mut().flatten();
            logged.for_each(|metadata| metadata.producer_epoch = epoch);
            for slot in state.coordinators[0].slots.iter_mut() {
                if let Some(metadata) = &mut slot.metadata {
                    metadata.producer_epoch = epoch;
                }
            }
        }
        self.restart();
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

    /// The sweep aborts what `id` has open.
    pub fn time_out(&mut self, id: TransactionalId) {
        let action = Action::Timeout(BrokerId(0), id);
        self.states = self
            .reachable()
            .iter()
            .filter_map(|state| {
                let mut due = state.clone();
                due.budgets = due.budgets.with(Fault::Timer, 1);
                self.world.take(&due, &action)
            })
            .collect();
    }

    /// So much time passes: whatever has a time limit meets it, in each state.
    pub fn pass(&mut self, elapsed: Elapsed) {
        let world = &self.world;
        let passed = self.reachable().into_iter().map(|state| {
            let due = overdue(&state, elapsed);
            due.into_iter().fold(state, |mut state, (fault, action)| {
                state.budgets = state.budgets.with(fault, 1);
                let after = world.take(&state, &action).unwrap_or(state);
                State {
                    budgets: after.budgets.with(fault, 0),
                    ..after
                }
            })
        });
        self.states = passed.collect();
        self.settle();
    }

    /// The topic is deleted.
    pub fn delete_topic(&mut self) {
        for state in &mut self.states {
            for partition in state
                .partitions
                .iter_mut()
                .take(usize::from(DATA_PARTITIONS))
            {
                let fresh = Partition::new(partition.index, partition.pace);
                **partition = fresh;
                partition.deleted = true;
            }
        }
    }

    /// A second member joins, and the group waits for the first one.
    pub fn begin_rebalance(&mut self) {
        for state in &mut self.states {
            if let Some(group) = state.group.as_mut() {
                group.prepare_rebalance();
            }
        }
    }

    /// A plain OffsetCommit of the group, which the model has no message for.
    pub fn commit_plainly(&mut self, offset: u8) {
        for state in &mut self.states {
            if let Some(group) = state.group.as_mut() {
                group.committed = Payload(offset);
            }
        }
    }

    /// The group's generation, as its member was told.
    pub fn set_generation(&mut self, generation: u8) {
        for state in &mut self.states {
            if let Some(group) = state.group.as_mut() {
                group.generation = Generation(generation);
            }
        }
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

/// What ends by itself in `state`: transactions after a minute, producers after a day, ids and offsets after a week.
fn overdue(state: &State, elapsed: Elapsed) -> Vec<(Fault, Action)> {
    let mut due = Vec::new();
    let slots = (0..).zip(&state.coordinators[0].slots);
    for (index, metadata) in slots.filter_map(|(index, slot)| Some((index, slot.metadata?))) {
        let id = TransactionalId(index);
        if metadata.state == TransactionState::Ongoing {
            due.push((Fault::Timer, Action::Timeout(BrokerId(0), id)));
        } else if elapsed == Elapsed::Week {
            due.push((Fault::IdExpiry, Action::ExpireId(BrokerId(0), id)));
        }
    }
    if elapsed != Elapsed::Minute {
        for partition in &state.partitions {
            let producers = partition.producers.iter().map(|entry| entry.producer_id);
            due.extend(producers.map(|id| (Fault::Eviction, Action::Evict(partition.index, id))));
        }
    }
    if elapsed == Elapsed::Week {
        due.push((Fault::OffsetExpiry, Action::ExpireOffsets));
    }
    due
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

/// Takes the answer to `request` out of the network, if it is there.
pub fn take_answer(state: &mut State, request: &Message) -> Option<ModelAnswer> {
    let at = state.network.iter().position(|m| answers(m, request))?;
    let answer = state.network.remove(at);
    let plain = |error| ModelAnswer {
        error,
        identity: None,
        ongoing: None,
        offset: None,
    };
    match answer {
        Message::CoordinatorAnswer(m) => Some(ModelAnswer {
            identity: m.identity,
            ongoing: m.ongoing,
            ..plain(m.error)
        }),
        Message::ProduceAnswer {
            identity,
            partition,
            sequence,
            error,
            ..
        } => {
            let at_leader = &state.partitions[usize::from(partition.0)];
            let batch = at_leader
                .producer(identity.producer_id)
                .and_then(|entry| entry.batches.iter().find(|b| b.sequence == sequence));
            Some(ModelAnswer {
                offset: batch
                    .filter(|_| error == ErrorCode::None)
                    .map(|b| b.offset.0),
                ..plain(error)
            })
        }
        Message::TxnOffsetCommitAnswer { error, .. } | Message::VerifyAnswer { error, .. } => {
            Some(plain(error))
        }
        Message::WriteTxnMarkersAnswer(m) => Some(plain(m.error)),
        _ => None,
    }
}

/// Whether `answer` belongs to `request`.
fn answers(answer: &Message, request: &Message) -> bool {
    let asked = match request {
        Message::InitProducerId(m) => m.correlation,
        Message::AddPartitionsToTxn(m) | Message::AddOffsetsToTxn(m) => m.correlation,
        Message::EndTxn(m) => m.correlation,
        Message::Produce(m) => m.correlation,
        Message::TxnOffsetCommit(m) => m.correlation,
        Message::VerifyPartition(m) => {
            return matches!(answer, Message::VerifyAnswer { partition, identity, sequence, .. }
                if (*partition, *identity, *sequence) == (m.partition, m.identity, m.sequence));
        }
        Message::WriteTxnMarkers(_) => {
            return matches!(answer, Message::WriteTxnMarkersAnswer(m) if m.round == OUR_ROUND);
        }
        _ => return false,
    };
    match answer {
        Message::CoordinatorAnswer(m) => m.correlation == asked,
        Message::ProduceAnswer { correlation, .. }
        | Message::TxnOffsetCommitAnswer { correlation, .. } => *correlation == asked,
        _ => false,
    }
}
