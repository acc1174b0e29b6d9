//! One transactional id: every state that its coordinator and its partitions may be in.
//!
//! A request is put into the network of each state; when its answer comes, everything that a broker
//! does by itself is tried in every order until the model gives that answer. No answer is written
//! down here: the rules are the spec's.

use std::collections::{HashMap, HashSet};

use fencepost_spec::coordinator::{Stage, TransactionMetadata};
use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::fault::Fault;
use fencepost_spec::message::{self, Correlation, Message};
use fencepost_spec::partition::{Record, RecordKind};
use fencepost_spec::types::*;
use fencepost_spec::world::{Action, State, World};

use super::event::{Asked, Pair, Place, Sent, Stored};
use crate::cases::oracle::{ModelAnswer, is_to_coordinator, take_answer};

/// Data partitions that are told apart; the others of an id are one.
pub const DATA_PARTITIONS: u8 = 4;
const OFFSETS: PartitionIndex = PartitionIndex(DATA_PARTITIONS);
/// States that are looked at for one event: past it the id is given up, not the machine.
const MAX_STATES: usize = 4_000;
/// Records of a partition in a state before its past is dropped.
const MAX_RECORDS: usize = 40;
const ID: TransactionalId = TransactionalId(0);
/// A producer id that the id was never given.
const UNKNOWN: ProducerId = ProducerId(250);

/// Why an event does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// No state of the model gives it.
    Refused(String),
    /// There are too many states to tell.
    GivenUp,
}

/// A transactional id.
#[derive(Debug)]
pub struct Track {
    states: Vec<State>,
    /// The broker's producer ids, in the order of the model's, from 1.
    producer_ids: Vec<i64>,
    places: Vec<Place>,
    sequences: HashMap<(usize, Pair), Sequences>,
    markers: [usize; DATA_PARTITIONS as usize],
    trimmed: [usize; DATA_PARTITIONS as usize],
    first_epoch: i16,
    number: u8,
}

/// Batches have one record in the model and many in life: the model's sequences count batches.
#[derive(Debug, Default)]
struct Sequences {
    next: i32,
    next_model: i32,
    seen: Vec<(i32, i32, i32)>,
}

impl Sequences {
    fn model(&mut self, batch: &Sent) -> i32 {
        let last = batch.sequence + batch.count - 1;
        let seen = self
            .seen
            .iter()
            .find(|it| (it.0, it.1) == (batch.sequence, last));
        if let Some((_, _, model)) = seen {
            return *model;
        }
        if batch.sequence != self.next {
            // A gap, or a first sequence that is not 0: wrong in the model too.
            return self.next_model + 5;
        }
        let model = self.next_model;
        self.next = last + 1;
        self.next_model += 1;
        self.seen.push((batch.sequence, last, model));
        if self.seen.len() > 20 {
            self.seen.remove(0);
        }
        model
    }
}

impl Track {
    /// An id that was just given its identity.
    pub fn adopted(world: &World, identity: Pair) -> Self {
        let mut state = world.initial();
        let created = TransactionMetadata::created(ProducerId(1), false);
        let metadata = TransactionMetadata {
            producer_epoch: ProducerEpoch(identity.1),
            ..created
        };
        state.log.committed[0] = Some(metadata);
        state.coordinators[0].slots[0].metadata = Some(metadata);
        state.coordinators[0].next_producer_id = ProducerId(2);
        Self {
            states: vec![state],
            producer_ids: vec![identity.0],
            places: Vec::new(),
            sequences: HashMap::new(),
            markers: [0; DATA_PARTITIONS as usize],
            trimmed: [0; DATA_PARTITIONS as usize],
            first_epoch: identity.1,
            number: 0,
        }
    }

    /// Whether the id has this producer id.
    pub fn has(&self, producer_id: i64) -> bool {
        self.producer_ids.contains(&producer_id)
    }

    /// A request is on its way: what it is in the model, one message for each thing it asks.
    pub fn ask(&mut self, asked: &Asked) -> Vec<Message> {
        let messages = self.messages(asked);
        for state in &mut self.states {
            state.network.extend(messages.iter().copied());
        }
        messages
    }

    fn messages(&mut self, asked: &Asked) -> Vec<Message> {
        let version = |on_wire: i16, tv2: i16| {
            if on_wire >= tv2 {
                TransactionVersion::Tv2
            } else {
                TransactionVersion::Tv1
            }
        };
        let ghost = Ghost::NONE;
        match asked {
            Asked::InitProducerId { expected, .. } => {
                vec![Message::InitProducerId(message::InitProducerId {
                    correlation: self.correlation(),
                    transactional_id: Some(ID),
                    expected: expected.map(|it| self.identity(it)),
                    enable_2pc: false,
                    keep_prepared_txn: false,
                    timeout_in_range: true,
                    authorized: true,
                })]
            }
            Asked::AddPartitions {
                producer,
                partitions,
                ..
            } => partitions
                .iter()
                .map(|place| {
                    let partition = PartitionIndex(self.place(place) as u8);
                    Message::AddPartitionsToTxn(self.addition(*producer, partition))
                })
                .collect(),
            Asked::AddOffsets { producer, .. } => {
                vec![Message::AddOffsetsToTxn(self.addition(*producer, OFFSETS))]
            }
            Asked::EndTxn {
                version: on_wire,
                producer,
                commit,
                ..
            } => vec![Message::EndTxn(message::EndTxn {
                correlation: self.correlation(),
                transactional_id: ID,
                identity: self.identity(*producer),
                result: result(*commit),
                version: version(*on_wire, 5),
                ghost,
            })],
            Asked::Produce {
                version: on_wire,
                batches,
                ..
            } => batches
                .iter()
                .map(|batch| {
                    let place = self.place(&batch.at);
                    let key = (place, batch.producer);
                    let sequence = self.sequences.entry(key).or_default().model(batch);
                    Message::Produce(message::Produce {
                        correlation: self.correlation(),
                        transactional_id: Some(ID),
                        identity: self.identity(batch.producer),
                        partition: PartitionIndex(place as u8),
                        sequence: Sequence(sequence),
                        transactional: batch.transactional,
                        version: version(*on_wire, 12),
                        payload: Payload(1),
                        ghost,
                    })
                })
                .collect(),
            Asked::TxnOffsetCommit {
                version: on_wire,
                producer,
                ..
            } => vec![Message::TxnOffsetCommit(message::TxnOffsetCommit {
                correlation: self.correlation(),
                transactional_id: ID,
                identity: self.identity(*producer),
                member: None,
                offset: Payload(1),
                version: version(*on_wire, 5),
                ghost,
            })],
            Asked::Fetch { .. } => Vec::new(),
        }
    }

    fn addition(
        &mut self,
        producer: Pair,
        partition: PartitionIndex,
    ) -> message::AddPartitionsToTxn {
        message::AddPartitionsToTxn {
            correlation: self.correlation(),
            transactional_id: ID,
            identity: self.identity(producer),
            partition,
            ghost: Ghost::NONE,
        }
    }

    fn correlation(&mut self) -> Correlation {
        self.number = self.number.wrapping_add(1);
        Correlation {
            producer: ProducerIndex(3),
            number: self.number,
            attempt: 0,
        }
    }

    fn identity(&self, (producer_id, epoch): Pair) -> Identity {
        let at = self.producer_ids.iter().position(|it| *it == producer_id);
        let model = at.map_or(UNKNOWN, |at| ProducerId(at as u8 + 1));
        Identity::new(model, ProducerEpoch(epoch))
    }

    fn place(&mut self, place: &Place) -> usize {
        let last = usize::from(DATA_PARTITIONS) - 1;
        match self.places.iter().position(|it| it == place) {
            Some(at) => at.min(last),
            None => {
                self.places.push(place.clone());
                (self.places.len() - 1).min(last)
            }
        }
    }

    /// One of several partitions that the model takes for one: nothing can be said of its log.
    fn is_crowded(&self, at: usize) -> bool {
        at + 1 == usize::from(DATA_PARTITIONS) && self.places.len() > usize::from(DATA_PARTITIONS)
    }

    /// The answer to one message has come.
    pub fn answered(
        &mut self,
        world: &World,
        message: &Message,
        error: i16,
        identity: Option<Pair>,
    ) -> Result<(), Misfit> {
        if !ErrorCode::ALL.iter().any(|it| it.number() == error) || is_transient(error) {
            // Nothing of the protocol: it says neither that the request was done nor that it was not.
            self.forget(message);
            return Ok(());
        }
        let crowded = match message {
            Message::Produce(m) => self.is_crowded(usize::from(m.partition.0)),
            _ => false,
        };
        if crowded {
            self.forget(message);
            return Ok(());
        }
        let known = self.producer_ids.clone();
        let fits = |answer: &ModelAnswer| {
            same_error(answer.error, error)
                && match (answer.identity, identity) {
                    (Some(model), Some(real)) => {
                        let at = usize::from(model.producer_id.0) - 1;
                        let same = match known.get(at) {
                            Some(bound) => *bound == real.0,
                            None => at == known.len() && !known.contains(&real.0),
                        };
                        same && model.producer_epoch.0 == real.1
                    }
                    (None, Some(real)) => real.0 < 0,
                    (_, None) => true,
                }
        };
        let mut allowed = HashSet::new();
        let found = self.advance(world, |state| {
            let answer = take_answer(state, message)?;
            allowed.insert(answer);
            Some(fits(&answer))
        })?;
        if found.is_empty() {
            let mut allowed: Vec<String> = allowed.iter().map(answer_text).collect();
            allowed.sort();
            return Err(Misfit::Refused(format!(
                "the model allows {}",
                if allowed.is_empty() {
                    "no answer yet".to_owned()
                } else {
                    allowed.join(" or ")
                }
            )));
        }
        self.states = found;
        if let Some((producer_id, _)) = identity.filter(|it| it.0 >= 0)
            && !self.producer_ids.contains(&producer_id)
        {
            self.producer_ids.push(producer_id);
        }
        self.trim();
        Ok(())
    }

    /// A marker stands in a log: the coordinator must have decided so.
    pub fn marker(&mut self, world: &World, place: &Place, marker: &Stored) -> Result<(), Misfit> {
        let Some(at) = self.places.iter().position(|it| it == place) else {
            return Ok(());
        };
        let last = usize::from(DATA_PARTITIONS) - 1;
        if at > last || self.is_crowded(at) || marker.producer.1 < self.first_epoch {
            return Ok(());
        }
        let identity = self.identity(marker.producer);
        let wanted = RecordKind::Marker(result(marker.marker == Some(true)));
        let skip = self.markers[at] - self.trimmed[at];
        let mut other = None;
        let found = self.advance(world, |state| {
            let record = markers_of(&state.partitions[at].log).nth(skip)?;
            let same = record.kind == wanted && record.identity == identity;
            if !same {
                other = Some(format!("{:?} of {}", record.kind, record.identity));
            }
            Some(same)
        })?;
        if found.is_empty() {
            return Err(Misfit::Refused(format!(
                "the model writes {}",
                other.unwrap_or_else(|| "no marker here".to_owned())
            )));
        }
        self.states = found;
        self.markers[at] += 1;
        self.trim();
        Ok(())
    }

    /// No answer will come: the request may have been done, or may still be, or not.
    pub fn forget(&mut self, message: &Message) {
        let mut states = Vec::new();
        for state in &self.states {
            let mut without = state.clone();
            if let Some(at) = without.network.iter().position(|it| it == message) {
                without.network.remove(at);
                states.push(without);
            }
            states.push(state.clone());
        }
        self.states = unique(states);
    }

    /// Tries what a broker does by itself until `goal` says of a state that it is what was seen
    /// (true) or that it is something else (false). The timer, then a reload, are only thought of
    /// where nothing else explains what was seen.
    fn advance(
        &self,
        world: &World,
        mut goal: impl FnMut(&mut State) -> Option<bool>,
    ) -> Result<Vec<State>, Misfit> {
        for unseen in [Unseen::Nothing, Unseen::Timer, Unseen::Reload] {
            let found = self.search(world, unseen, &mut goal)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    fn search(
        &self,
        world: &World,
        unseen: Unseen,
        goal: &mut impl FnMut(&mut State) -> Option<bool>,
    ) -> Result<Vec<State>, Misfit> {
        let mut found = Vec::new();
        let mut seen: HashSet<(State, bool)> = HashSet::new();
        // What nobody saw happens once between two events, or the search would never end.
        let may = unseen != Unseen::Nothing;
        let mut open: Vec<(State, bool)> = self.states.iter().map(|it| (it.clone(), may)).collect();
        while let Some((mut state, may)) = open.pop() {
            match goal(&mut state) {
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
            open.extend(moves(world, &state).into_iter().map(|it| (it, may)));
            if may {
                open.extend(unseen.after(world, &state).map(|it| (it, false)));
            }
            seen.insert((state, may));
        }
        Ok(unique(found))
    }

    /// Drops what is long past, so that a state stays small.
    fn trim(&mut self) {
        for at in 0..usize::from(DATA_PARTITIONS) + 1 {
            let long = |it: &State| it.partitions[at].log.len() > MAX_RECORDS;
            if !self.states.iter().all(long) {
                continue;
            }
            let needed = self.states.iter().map(|it| oldest_needed(it, at)).min();
            let Some(base) = needed.filter(|base| *base > 0) else {
                continue;
            };
            let dropped = self.states.first().map_or(0, |it| {
                let log = &it.partitions[at].log;
                markers_of(log)
                    .filter(|record| record.offset.0 < base)
                    .count()
            });
            if at < self.trimmed.len() {
                if self.markers[at] < self.trimmed[at] + dropped {
                    // Not every marker has been seen yet: they are still to be compared.
                    continue;
                }
                self.trimmed[at] += dropped;
            }
            for state in &mut self.states {
                rebase(state, at, base);
            }
        }
        for state in &mut self.states {
            let slot = &mut state.coordinators[0].slots[0];
            if slot.pending.is_none() && slot.round > 0 && state.network.is_empty() {
                state.coordinators[0].slots[0].round = 0;
            }
            if let Some(group) = state.group.as_mut()
                && !group.ghost_published.is_empty()
            {
                group.ghost_published.clear();
            }
        }
        let states = std::mem::take(&mut self.states);
        self.states = unique(states);
    }
}

/// What a broker may have done that nobody saw.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unseen {
    Nothing,
    Timer,
    Reload,
}

impl Unseen {
    fn after(self, world: &World, state: &State) -> Option<State> {
        let actions: &[Action] = match self {
            Self::Nothing => return None,
            Self::Timer => &[Action::Timeout(BrokerId(0), ID)],
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
        if !message.is_answer_to_producer() {
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

fn markers_of(log: &[Record]) -> impl Iterator<Item = &Record> {
    log.iter()
        .filter(|it| matches!(it.kind, RecordKind::Marker(_)))
}

/// The first offset that the producer state of a partition still names.
fn oldest_needed(state: &State, at: usize) -> u8 {
    let partition = &state.partitions[at];
    let batches = partition
        .producers
        .iter()
        .flat_map(|it| it.batches.iter().map(|batch| batch.offset).chain(it.open));
    batches
        .chain([partition.log_end])
        .map(|it| it.0)
        .min()
        .unwrap_or(0)
}

fn rebase(state: &mut State, at: usize, base: u8) {
    let down = |offset: &mut Offset| offset.0 = offset.0.saturating_sub(base);
    let partition = &mut state.partitions[at];
    partition.log.retain(|record| record.offset.0 >= base);
    partition.log.iter_mut().for_each(|it| down(&mut it.offset));
    down(&mut partition.log_end);
    down(&mut partition.high_watermark);
    down(&mut partition.applied);
    partition.aborted.clear();
    partition.unreplicated.clear();
    for entry in &mut partition.producers {
        entry.batches.iter_mut().for_each(|it| down(&mut it.offset));
        if let Some(open) = entry.open.as_mut() {
            down(open);
        }
    }
}

fn unique(states: Vec<State>) -> Vec<State> {
    if states.len() < 2 {
        return states;
    }
    let mut seen = HashSet::new();
    states
        .into_iter()
        .filter(|state| seen.insert(state.clone()))
        .collect()
}

const fn result(commit: bool) -> TransactionResult {
    if commit {
        TransactionResult::Commit
    } else {
        TransactionResult::Abort
    }
}

/// COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, NOT_LEADER_OR_FOLLOWER,
/// UNKNOWN_TOPIC_OR_PARTITION: they speak of the broker, not of the transaction.
const fn is_transient(error: i16) -> bool {
    matches!(error, 14 | 15 | 16 | 6 | 3)
}

/// Older versions have other words for two refusals.
fn same_error(model: ErrorCode, real: i16) -> bool {
    model.number() == real
        || match model {
            ErrorCode::ProducerFenced => real == ErrorCode::InvalidProducerEpoch.number(),
            ErrorCode::TransactionAbortable => real == ErrorCode::InvalidTxnState.number(),
            _ => false,
        }
}

fn answer_text(answer: &ModelAnswer) -> String {
    match answer.identity {
        Some(identity) => format!("{} {identity}", answer.error),
        None => answer.error.to_string(),
    }
}
