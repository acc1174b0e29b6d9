//! Reads a run event by event and says where it first departs from the model.

mod groups;
mod logs;
mod words;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;

use fencepost_spec::message::Message;
use fencepost_spec::rules::Rules;
use fencepost_spec::scenario::Scenario;
use fencepost_spec::world::World;
use serde::Serialize;

use super::event::{Answered, Asked, Event, Inside, Logged, Pair, Place};
use super::log::Log;
use super::offsets::Groups;
use super::track::{DATA_PARTITIONS, Misfit, OffsetsAsked, Said, Track};
use words::{answer_text, is_malformed, name, verdict_of};

/// The first event that is no behaviour of the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Which event, from 1.
    pub event: u64,
    /// Why.
    pub why: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {}: {}", self.event, self.why)
    }
}

impl std::error::Error for Refusal {}

/// What was judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Events.
    pub events: u64,
    /// Answers, markers and steps of cores that the model was asked about.
    pub judged: u64,
    /// Answers of ids whose beginning was not seen.
    pub unseen: u64,
    /// Transactional ids.
    pub ids: usize,
    /// Ids that were given up: too many things at once to tell them apart, or an operator's marker
    /// in a run that does not show what the cores do.
    pub given_up: u64,
    /// Partitions.
    pub partitions: usize,
    /// Requests of KIP-848 groups, which the model does not have.
    pub consumer_groups: u64,
}

/// A run so far.
#[derive(Debug)]
pub struct Validator {
    world: World,
    shown: Vec<Inside>,
    ids: HashMap<String, Track>,
    lost: HashSet<String>,
    owners: HashMap<i64, String>,
    writers: HashMap<String, BTreeSet<String>>,
    logs: HashMap<Place, Log>,
    groups: Groups,
    open: HashMap<u64, Open>,
    summary: Summary,
}

/// An exchange without its answer yet.
#[derive(Debug)]
struct Open {
    asked: Asked,
    /// What was asked of which id; for a request that names several, with what the answer calls it.
    messages: Vec<Part>,
    /// For a Fetch: the last stable offset that was told before, of each partition.
    floors: Vec<i64>,
    /// For an OffsetFetch: the questions to the ids, by group.
    offsets: Vec<(String, String, OffsetsAsked)>,
}

#[derive(Debug)]
struct Part {
    id: String,
    /// Whose, and where, as the answer says it.
    of: Option<(String, Place)>,
    message: Message,
}

impl Validator {
    /// Nothing has happened yet on a cluster with these rules.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        let scenario = Scenario {
            ids: 1,
            offsets: true,
            prune: false,
            ..Scenario::plain(Vec::new(), DATA_PARTITIONS)
        };
        Self {
            world: World::new(scenario.answering().stale_routing(), rules),
            shown: Vec::new(),
            ids: HashMap::new(),
            lost: HashSet::new(),
            owners: HashMap::new(),
            writers: HashMap::new(),
            logs: HashMap::new(),
            groups: Groups::default(),
            open: HashMap::new(),
            summary: Summary::default(),
        }
    }

    /// What was judged so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary {
            ids: self.ids.len(),
            partitions: self.logs.len(),
            ..self.summary
        }
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// [`Refusal`] where no state of the model gives it.
    pub fn event(&mut self, event: &Event) -> Result<(), Refusal> {
        self.summary.events += 1;
        let taken = match event {
            Event::Asked { exchange, request } => {
                self.asked(*exchange, request);
                Ok(())
            }
            Event::Answered { exchange, answer } => match self.open.remove(exchange) {
                Some(open) => self.answered(&open, answer),
                None => Err(format!("exchange {exchange} was never asked")),
            },
            Event::Lost { exchange } => {
                if let Some(open) = self.open.remove(exchange) {
                    self.unanswered(&open);
                }
                Ok(())
            }
            Event::Shows { inside } if self.summary.events == 1 => {
                self.shown.clone_from(inside);
                self.groups.begin_empty();
                Ok(())
            }
            Event::Shows { .. } => Err("what is shown must be said first".to_owned()),
            Event::Logged { id, record } => self.logged(id, record.as_ref()),
            Event::Appended { at, batch } => self.appended(at, batch),
        };
        taken.map_err(|why| Refusal {
            event: self.summary.events,
            why,
        })
    }

    /// The track of an id; where the run began empty, one that nobody asked for before is new.
    fn track(&mut self, id: &str) -> Option<&mut Track> {
        let fresh = self.shows(Inside::TransactionLog) && !self.lost.contains(id);
        if fresh && !self.ids.contains_key(id) {
            let track = Track::fresh(&self.world, &self.shown);
            self.ids.insert(id.to_owned(), track);
        }
        self.ids.get_mut(id)
    }

    fn shows(&self, inside: Inside) -> bool {
        self.shown.contains(&inside)
    }

    fn asked(&mut self, exchange: u64, request: &Asked) {
        let mut open = Open {
            asked: request.clone(),
            messages: Vec::new(),
            floors: Vec::new(),
            offsets: Vec::new(),
        };
        match request {
            Asked::InitProducerId { .. }
            | Asked::AddPartitions { .. }
            | Asked::AddOffsets { .. }
            | Asked::EndTxn { .. }
            | Asked::Produce { .. }
            | Asked::TxnOffsetCommit { .. } => self.asked_of_an_id(request, &mut open),
            Asked::BrokerAdditions { transactions } => {
                for asked in transactions {
                    let messages = self.track(&asked.id).map(|it| it.ask_additions(asked));
                    let parts = messages.into_iter().flatten().zip(&asked.partitions);
                    open.messages.extend(parts.map(|(message, place)| Part {
                        id: asked.id.clone(),
                        of: Some((asked.id.clone(), place.clone())),
                        message,
                    }));
                }
            }
            Asked::WriteTxnMarkers { markers } => self.asked_markers(markers, &mut open),
            Asked::Fetch { partitions, .. } => {
                let floors = partitions.iter();
                open.floors = floors
                    .map(|(place, _)| self.logs.get(place).map_or(-1, Log::stable_floor))
                    .collect();
            }
            Asked::OffsetCommit { group, offsets } => self.groups.commit(group, None, offsets),
            Asked::OffsetFetch {
                require_stable,
                groups,
            } => {
                if *require_stable {
                    self.asked_offsets(groups, &mut open);
                }
            }
            Asked::ForgetOffsets { groups } => groups.iter().for_each(|it| self.groups.forget(it)),
            Asked::ConsumerGroup { .. } => self.summary.consumer_groups += 1,
            Asked::DeleteTopics { .. } => {}
        }
        self.open.insert(exchange, open);
    }

    fn asked_of_an_id(&mut self, request: &Asked, open: &mut Open) {
        let Some(id) = self.id_of(request).filter(|_| !is_malformed(request)) else {
            return;
        };
        if let Asked::TxnOffsetCommit { group, offsets, .. } = request {
            self.groups.commit(group, Some(&id), offsets);
        }
        let messages = self.track(&id).map(|it| it.ask(request));
        let parts = messages.into_iter().flatten().map(|message| Part {
            id: id.clone(),
            of: None,
            message,
        });
        open.messages.extend(parts);
        let places: Vec<&Place> = match request {
            Asked::Produce { batches, .. } => batches.iter().map(|it| &it.at).collect(),
            Asked::AddPartitions { partitions, .. } => partitions.iter().collect(),
            _ => Vec::new(),
        };
        for place in places {
            let writers = self.writers.entry(place.0.clone()).or_default();
            writers.insert(id.clone());
        }
    }

    /// Whose request it is: what it names, or for a batch without an id whoever has its producer id.
    fn id_of(&self, asked: &Asked) -> Option<String> {
        match asked {
            Asked::InitProducerId { id, .. } => id.clone(),
            Asked::Produce { id: Some(id), .. } => Some(id.clone()),
            Asked::Produce {
                id: None, batches, ..
            } => {
                let owner = batches
                    .iter()
                    .find_map(|it| self.owners.get(&it.producer.0));
                owner.filter(|it| self.ids.contains_key(*it)).cloned()
            }
            Asked::AddPartitions { id, .. }
            | Asked::AddOffsets { id, .. }
            | Asked::EndTxn { id, .. }
            | Asked::TxnOffsetCommit { id, .. } => Some(id.clone()),
            Asked::Fetch { .. }
            | Asked::BrokerAdditions { .. }
            | Asked::OffsetCommit { .. }
            | Asked::OffsetFetch { .. }
            | Asked::ForgetOffsets { .. }
            | Asked::ConsumerGroup { .. }
            | Asked::WriteTxnMarkers { .. }
            | Asked::DeleteTopics { .. } => None,
        }
    }

    fn unanswered(&mut self, open: &Open) {
        for part in &open.messages {
            if let Some(track) = self.ids.get_mut(&part.id) {
                track.forget(&part.message);
            }
        }
        for (id, _, asked) in &open.offsets {
            if let Some(track) = self.ids.get_mut(id) {
                track.offsets_unanswered(asked);
            }
        }
    }

    fn answered(&mut self, open: &Open, answer: &Answered) -> Result<(), String> {
        match (&open.asked, answer) {
            (
                Asked::InitProducerId { id, two_phase, .. },
                Answered::Identity {
                    error,
                    producer,
                    ongoing,
                },
            ) => {
                let said = Said {
                    error: *error,
                    identity: Some(*producer),
                    ongoing: *ongoing,
                };
                self.identity(open, id.as_deref(), *two_phase, said)
            }
            (
                Asked::EndTxn { id, version, .. },
                Answered::Identity {
                    error, producer, ..
                },
            ) => {
                self.given(id, *error, *producer)?;
                let said = Said {
                    identity: (*version >= 5).then_some(*producer),
                    ..Said::error(*error)
                };
                self.judge(open, |_, _| said)
            }
            (
                Asked::AddPartitions { .. }
                | Asked::AddOffsets { .. }
                | Asked::TxnOffsetCommit { .. },
                Answered::Plain { error },
            ) => self.judge(open, |_, _| Said::error(*error)),
            (
                Asked::BrokerAdditions { .. } | Asked::WriteTxnMarkers { .. },
                Answered::Each { verdicts },
            ) => self.judge(open, |_, part| Said::error(verdict_of(verdicts, part))),
            (Asked::Produce { batches, .. }, Answered::Produce { written }) => {
                self.produced(open, batches, written)
            }
            (
                Asked::Fetch {
                    committed,
                    partitions,
                },
                Answered::Fetch {
                    partitions: fetched,
                },
            ) => self.fetched(*committed, partitions, &open.floors, fetched),
            (
                Asked::OffsetFetch {
                    require_stable,
                    groups,
                },
                Answered::Offsets { groups: answers },
            ) => self.offsets_given(open, *require_stable, groups, answers),
            (Asked::DeleteTopics { topics }, Answered::Plain { error }) => {
                if *error == 0 {
                    topics.iter().for_each(|it| self.deleted(it));
                }
                Ok(())
            }
            (Asked::OffsetCommit { .. }, Answered::Each { .. })
            | (Asked::ForgetOffsets { .. } | Asked::ConsumerGroup { .. }, Answered::Plain { .. }) => {
                Ok(())
            }
            (asked, _) => Err(format!("an answer of another kind than {asked:?}")),
        }
    }

    fn identity(
        &mut self,
        open: &Open,
        id: Option<&str>,
        two_phase: bool,
        said: Said,
    ) -> Result<(), String> {
        let producer = said.identity.unwrap_or((-1, -1));
        let Some(id) = id else {
            let owner = format!("an idempotent producer ({})", producer.0);
            return self.given(&owner, said.error, producer);
        };
        if is_malformed(&open.asked) {
            return if said.error == 0 {
                Err(format!("{:?} is answered NONE", open.asked))
            } else {
                Ok(())
            };
        }
        self.given(id, said.error, producer)?;
        if self.ids.contains_key(id) && !open.messages.is_empty() {
            return self.judge(open, |_, _| said);
        }
        if said.error == 0 && said.ongoing.is_none() {
            let track = Track::adopted(&self.world, &self.shown, producer, two_phase);
            self.ids.insert(id.to_owned(), track);
            self.lost.remove(id);
        }
        self.summary.unseen += 1;
        Ok(())
    }

    /// A producer id belongs to one id for ever.
    fn given(&mut self, id: &str, error: i16, producer: Pair) -> Result<(), String> {
        if error != 0 || producer.0 < 0 {
            return Ok(());
        }
        let owner = self
            .owners
            .entry(producer.0)
            .or_insert_with(|| id.to_owned());
        if owner == id {
            Ok(())
        } else {
            Err(format!(
                "producer id {} is given to {id} and was given to {owner} (S8)",
                producer.0
            ))
        }
    }

    /// Puts an answer to the model, message by message.
    fn judge(&mut self, open: &Open, said: impl Fn(usize, &Part) -> Said) -> Result<(), String> {
        let mut judged = false;
        for (at, part) in open.messages.iter().enumerate() {
            let Some(track) = self.ids.get_mut(&part.id) else {
                continue;
            };
            judged = true;
            let said = said(at, part);
            let taken = track.answered(&self.world, &part.message, said);
            self.misfit(&part.id, taken, || {
                let what = name(&open.asked);
                format!("{what} of {} is answered {}", part.id, answer_text(said))
            })?;
        }
        if judged {
            self.summary.judged += 1;
        } else {
            self.summary.unseen += 1;
        }
        Ok(())
    }

    /// What follows from a misfit: the id is given up, or the run is refused for what happened.
    fn misfit(
        &mut self,
        id: &str,
        taken: Result<(), Misfit>,
        what: impl FnOnce() -> String,
    ) -> Result<(), String> {
        match taken {
            Ok(()) => Ok(()),
            Err(Misfit::GivenUp) => {
                self.give_up(id);
                Ok(())
            }
            Err(Misfit::Refused(why)) => Err(format!("{}: {why}", what())),
        }
    }

    fn give_up(&mut self, id: &str) {
        self.summary.given_up += 1;
        self.ids.remove(id);
        self.lost.insert(id.to_owned());
    }

    /// A record of the transaction log is durable.
    fn logged(&mut self, id: &str, record: Option<&Logged>) -> Result<(), String> {
        if let Some(record) = record {
            self.given(id, 0, record.producer)?;
            self.given(id, 0, record.next.unwrap_or((-1, -1)))?;
        }
        if self.track(id).is_none() {
            return Ok(());
        }
        self.summary.judged += 1;
        let Some(track) = self.ids.get_mut(id) else {
            return Ok(());
        };
        let taken = track.logged(&self.world, record);
        self.misfit(id, taken, || match record {
            Some(it) => format!(
                "{id} is logged as {:?} ({},{}) with {} partitions",
                it.state,
                it.producer.0,
                it.producer.1,
                it.partitions.len()
            ),
            None => format!("{id} is removed from the log"),
        })
    }
}
