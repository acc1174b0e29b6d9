//! One transactional id: every state that its coordinator and its partitions may be in.
//!
//! A request is put into the network of each state; when its answer comes, everything that a broker
//! does by itself is tried in every order until the model gives that answer. What the cores wrote
//! down that they did must be the model's next such step. No answer is written down here: the rules
//! are the spec's.

mod fetches;
mod known;
mod messages;
mod past;
mod search;
mod stagings;

use std::collections::{HashMap, HashSet};

use fencepost_spec::coordinator::TransactionMetadata;
use fencepost_spec::message::{GroupMember, Message};
use fencepost_spec::partition::{ParkedRequest, Partition, RecordKind};
use fencepost_spec::types::*;
use fencepost_spec::world::{State, World};

use super::event::{Addition, Asked, Inside, Logged, MarkerAsked, Pair, Place, Stored};
use crate::cases::oracle::{ModelAnswer, take_answer};
pub use fetches::OffsetsAsked;
use known::{
    AppendGoal, Known, LogGoal, is_of_membership, is_of_settings, is_transient, same_error,
};
use messages::{Sequences, sequence_after};
use past::markers_of;
use search::{Did, Reached};
use stagings::Stagings;

/// Data partitions that are told apart; the others of an id are one.
pub const DATA_PARTITIONS: u8 = 4;
const OFFSETS: PartitionIndex = PartitionIndex(DATA_PARTITIONS);
const ID: TransactionalId = TransactionalId(0);
/// A producer id that the id was never given.
const UNKNOWN: ProducerId = ProducerId(250);
/// Who asks in the model: nobody of a scenario.
const CLIENT: ProducerIndex = ProducerIndex(3);
/// A member that no group has.
const NO_MEMBER: GroupMember = GroupMember {
    id: ProducerIndex(7),
    generation: Generation(0),
};

/// Why an event does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// No state of the model gives it.
    Refused(String),
    /// There are too many states to tell.
    GivenUp,
}

/// An answer, in the broker's numbers.
#[derive(Clone, Copy, Debug)]
pub struct Said {
    /// Refusal, 0 for none.
    pub error: i16,
    /// What the client goes on with, where the answer says.
    pub identity: Option<Pair>,
    /// KIP-939: the transaction that goes on.
    pub ongoing: Option<Pair>,
}

impl Said {
    /// An answer that says no more than this.
    pub const fn error(error: i16) -> Self {
        Self {
            error,
            identity: None,
            ongoing: None,
        }
    }
}

/// A transactional id.
#[derive(Debug)]
pub struct Track {
    states: Vec<State>,
    /// The broker's producer ids, in the order of the model's, from 1.
    producer_ids: Vec<i64>,
    places: Vec<Place>,
    offsets_places: Vec<Place>,
    sequences: HashMap<(usize, Pair), Sequences>,
    stagings: Stagings,
    markers: [usize; DATA_PARTITIONS as usize],
    trimmed: [usize; DATA_PARTITIONS as usize],
    first_epoch: i16,
    number: u8,
    /// What the run's cores write down.
    shown: Vec<Inside>,
}

impl Track {
    /// An id that nobody has asked for before.
    pub fn fresh(world: &World, shown: &[Inside]) -> Self {
        let mut state = world.initial();
        if let Some(group) = state.group.as_mut() {
            group.member = CLIENT;
        }
        Self {
            states: vec![state],
            producer_ids: Vec::new(),
            places: Vec::new(),
            offsets_places: Vec::new(),
            sequences: HashMap::new(),
            stagings: Stagings::default(),
            markers: [0; DATA_PARTITIONS as usize],
            trimmed: [0; DATA_PARTITIONS as usize],
            first_epoch: 0,
            number: 0,
            shown: shown.to_vec(),
        }
    }

    /// An id that was just given its identity.
    pub fn adopted(world: &World, shown: &[Inside], identity: Pair, two_phase: bool) -> Self {
        let mut track = Self::fresh(world, shown);
        let metadata = TransactionMetadata {
            producer_epoch: ProducerEpoch(identity.1),
            ..TransactionMetadata::created(ProducerId(1), two_phase)
        };
        for state in &mut track.states {
            state.log.committed[0] = Some(metadata);
            state.coordinators[0].slots[0].metadata = Some(metadata);
            state.coordinators[0].next_producer_id = ProducerId(2);
        }
        track.producer_ids.push(identity.0);
        track.first_epoch = identity.1;
        track
    }

    /// Whether the id has this producer id.
    pub fn has(&self, producer_id: i64) -> bool {
        self.producer_ids.contains(&producer_id)
    }

    fn shows(&self, did: Did) -> bool {
        match did {
            Did::Log => self.shown.contains(&Inside::TransactionLog),
            Did::Append(at) => self.shown.contains(&Inside::Partitions) && !self.is_crowded(at),
        }
    }

    /// A request is on its way: what it is in the model, one message for each thing it asks.
    pub fn ask(&mut self, asked: &Asked) -> Vec<Message> {
        if matches!(asked, Asked::EndTxn { .. } | Asked::InitProducerId { .. }) {
            self.stagings.end();
        }
        let messages = self.messages(asked);
        self.send(messages)
    }

    /// A broker's question is on its way.
    pub fn ask_additions(&mut self, asked: &Addition) -> Vec<Message> {
        let messages = self.verifications(asked);
        self.send(messages)
    }

    /// Markers are on their way that the id's coordinator did not send.
    pub fn ask_markers(&mut self, asked: &MarkerAsked) -> Vec<Message> {
        let messages = self.markers_asked(asked);
        self.send(messages)
    }

    fn send(&mut self, messages: Vec<Message>) -> Vec<Message> {
        for state in &mut self.states {
            state.network.extend(messages.iter().copied());
        }
        messages
    }

    /// One of several partitions that the model takes for one: nothing can be said of its log.
    fn is_crowded(&self, at: usize) -> bool {
        if at == usize::from(OFFSETS.0) {
            return self.offsets_places.len() > 1;
        }
        at + 1 == usize::from(DATA_PARTITIONS) && self.places.len() > usize::from(DATA_PARTITIONS)
    }

    /// The answer to one message has come.
    pub fn answered(&mut self, world: &World, message: &Message, said: Said) -> Result<(), Misfit> {
        let error = said.error;
        if let Message::TxnOffsetCommit(m) = message
            && error != 0
        {
            self.stagings.refuse(m.offset);
        }
        if is_transient(error) {
            // It says neither that the request was done nor that it was not.
            self.forget(message);
            return Ok(());
        }
        if is_of_settings(error) {
            self.never_arrived(message);
            return Ok(());
        }
        let crowded = match message {
            Message::Produce(m) => self.is_crowded(usize::from(m.partition.0)),
            Message::WriteTxnMarkers(m) => self.is_crowded(usize::from(m.partition.0)),
            _ => false,
        };
        if crowded {
            self.forget(message);
            return Ok(());
        }
        let mut message = *message;
        if let Message::TxnOffsetCommit(_) = message
            && is_of_membership(error)
        {
            message = self.by_no_member(&message);
        }
        let known = Known(&self.producer_ids);
        let fits = |answer: &ModelAnswer| {
            let identity = match (answer.identity, said.identity) {
                (Some(model), Some(real)) => known.is(model, real),
                (None, Some(real)) => real.0 < 0,
                (_, None) => true,
            };
            let membership = is_of_membership(error) && is_of_membership(answer.error.number());
            (same_error(answer.error, error) || membership)
                && identity
                && known.is_maybe(answer.ongoing, said.ongoing)
        };
        let mut allowed = HashSet::new();
        let mut goal = Reached(|state: &mut State| {
            let answer = take_answer(state, &message)?;
            allowed.insert(answer);
            Some(fits(&answer))
        });
        let found = self.advance(world, &mut goal)?;
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
        if let Some((producer_id, _)) = said.identity {
            self.learn(producer_id);
        }
        self.trim();
        Ok(())
    }

    /// A producer id that the id was given.
    fn learn(&mut self, producer_id: i64) {
        if producer_id >= 0 && !self.producer_ids.contains(&producer_id) {
            self.producer_ids.push(producer_id);
        }
    }

    /// A record of the id is durable in the transaction log.
    pub fn logged(&mut self, world: &World, record: Option<&Logged>) -> Result<(), Misfit> {
        let mut partitions = PartitionSet::EMPTY;
        for place in record.iter().flat_map(|it| &it.partitions) {
            partitions = partitions.with(PartitionIndex(self.place(place) as u8));
        }
        let crowded = (0..=usize::from(DATA_PARTITIONS)).any(|at| self.is_crowded(at));
        let mut goal = LogGoal {
            known: Known(&self.producer_ids),
            record,
            partitions,
            instead: None,
        };
        let mut found = match record {
            Some(_) => self.advance(world, &mut goal)?,
            None => self.advance_expired(world, &mut goal)?,
        };
        if found.is_empty() && crowded {
            // A partition more, of those that are one here, changes nothing in the model.
            let same = |it: &&State| goal.is(it.log.committed.first().and_then(Option::as_ref));
            found = self.states.iter().filter(same).cloned().collect();
        }
        if found.is_empty() {
            let instead = goal.instead;
            return Err(Misfit::Refused(format!(
                "the model writes {}",
                instead.unwrap_or_else(|| "no record here".to_owned())
            )));
        }
        self.states = found;
        if let Some(record) = record {
            self.learn(record.producer.0);
            self.learn(record.next.map_or(-1, |it| it.0));
        }
        self.trim();
        Ok(())
    }

    /// A partition has appended a batch of the id.
    pub fn appended(&mut self, world: &World, place: &Place, batch: &Stored) -> Result<(), Misfit> {
        let at = self.place(place);
        if self.is_crowded(at) || batch.producer.1 < self.first_epoch {
            return Ok(());
        }
        let sequence = match batch.marker {
            None if at < usize::from(DATA_PARTITIONS) => {
                let last = sequence_after(batch.sequence, batch.last - batch.offset);
                let sent = self.sequences.get(&(at, batch.producer));
                let model = sent.and_then(|it| it.seen(batch.sequence, last));
                Some(model.ok_or_else(|| Misfit::Refused("nobody sent it".to_owned()))?)
            }
            None | Some(_) => None,
        };
        let mut goal = AppendGoal {
            at,
            kind: match batch.marker {
                Some(commit) => RecordKind::Marker(result(commit)),
                None => RecordKind::Data,
            },
            identity: self.identity(batch.producer),
            sequence,
            instead: None,
        };
        let found = self.advance(world, &mut goal)?;
        if found.is_empty() {
            let instead = goal.instead;
            return Err(Misfit::Refused(format!(
                "the model appends {}",
                instead.unwrap_or_else(|| "nothing here".to_owned())
            )));
        }
        self.states = found;
        if batch.marker.is_some() && at < self.markers.len() {
            self.markers[at] += 1;
        }
        self.trim();
        Ok(())
    }

    /// A marker stands in a log: the coordinator must have decided so.
    pub fn marker(&mut self, world: &World, place: &Place, marker: &Stored) -> Result<(), Misfit> {
        let Some(at) = self.known_place(place) else {
            return Ok(());
        };
        let data = at < usize::from(DATA_PARTITIONS);
        if !data || self.is_crowded(at) || marker.producer.1 < self.first_epoch {
            return Ok(());
        }
        let identity = self.identity(marker.producer);
        let wanted = RecordKind::Marker(result(marker.marker == Some(true)));
        let skip = self.markers[at] - self.trimmed[at];
        let mut other = None;
        let mut goal = Reached(|state: &mut State| {
            let record = markers_of(&state.partitions[at].log).nth(skip)?;
            let same = record.kind == wanted && record.identity == identity;
            if !same {
                other = Some(format!("{:?} of {}", record.kind, record.identity));
            }
            Some(same)
        });
        let found = self.advance(world, &mut goal)?;
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

    /// The request was refused before it reached anything that the model has.
    fn never_arrived(&mut self, message: &Message) {
        let mut states = std::mem::take(&mut self.states);
        states.retain_mut(|state| {
            let at = state.network.iter().position(|it| it == message);
            at.map(|at| state.network.remove(at)).is_some()
        });
        self.states = unique(states);
    }

    /// The offsets were sent by somebody who is no member.
    fn by_no_member(&mut self, message: &Message) -> Message {
        let Message::TxnOffsetCommit(asked) = message else {
            return *message;
        };
        let told = fencepost_spec::message::TxnOffsetCommit {
            member: Some(NO_MEMBER),
            ..*asked
        };
        for state in &mut self.states {
            for sent in &mut state.network {
                if sent == message {
                    *sent = Message::TxnOffsetCommit(told);
                }
            }
            for parked in &mut state.partitions[usize::from(OFFSETS.0)].parked {
                if parked.request == ParkedRequest::TxnOffsetCommit(*asked) {
                    parked.request = ParkedRequest::TxnOffsetCommit(told);
                }
            }
        }
        Message::TxnOffsetCommit(told)
    }

    /// A topic was deleted, now or, where cores show nothing, at some time around.
    pub fn deleted(&mut self, topic: &str) {
        let exact = self.shown.contains(&Inside::Partitions);
        for at in 0..usize::from(DATA_PARTITIONS) {
            let gone = self.places.get(at).is_some_and(|it| it.0 == topic);
            if !gone || self.is_crowded(at) {
                continue;
            }
            let mut states = self.states.clone();
            for state in &mut states {
                let partition = &mut state.partitions[at];
                let fresh = Partition::new(partition.index, partition.pace);
                **partition = fresh;
                partition.deleted = true;
            }
            if !exact {
                states.append(&mut self.states);
            }
            self.states = unique(states);
        }
        for place in self.places.iter_mut().filter(|it| it.0 == topic) {
            // A topic that is created again under this name is another one.
            place.0.push_str(" (deleted)");
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

fn answer_text(answer: &ModelAnswer) -> String {
    match answer.identity {
        Some(identity) => format!("{} {identity}", answer.error),
        None => answer.error.to_string(),
    }
}
