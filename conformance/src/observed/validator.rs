//! Reads a run event by event and says where it first departs from the model.

use std::collections::HashMap;
use std::fmt;

use fencepost_spec::message::Message;
use fencepost_spec::rules::Rules;
use fencepost_spec::scenario::Scenario;
use fencepost_spec::world::World;
use serde::Serialize;

use super::event::{Answered, Asked, Event, Fetched, Pair, Place, Sent, Stored, Written};
use super::log::Log;
use super::track::{DATA_PARTITIONS, Misfit, Track};
use crate::wire::ErrorCode;

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
    /// Answers that the model was asked about.
    pub judged: u64,
    /// Answers of ids whose beginning was not seen.
    pub unseen: u64,
    /// Transactional ids.
    pub ids: usize,
    /// Ids that were given up: too many things at once to tell them apart.
    pub given_up: u64,
    /// Partitions.
    pub partitions: usize,
}

/// A run so far.
#[derive(Debug)]
pub struct Validator {
    world: World,
    ids: HashMap<String, Track>,
    owners: HashMap<i64, String>,
    logs: HashMap<Place, Log>,
    open: HashMap<u64, Open>,
    summary: Summary,
}

/// An exchange without its answer yet.
#[derive(Debug)]
struct Open {
    asked: Asked,
    messages: Vec<Message>,
    /// For a Fetch: the last stable offset that was told before, of each partition.
    floors: Vec<i64>,
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
            ids: HashMap::new(),
            owners: HashMap::new(),
            logs: HashMap::new(),
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
                if let Some(open) = self.open.remove(exchange)
                    && let Some(track) = id_of(&open.asked).and_then(|id| self.ids.get_mut(id))
                {
                    open.messages.iter().for_each(|it| track.forget(it));
                }
                Ok(())
            }
        };
        taken.map_err(|why| Refusal {
            event: self.summary.events,
            why,
        })
    }

    fn asked(&mut self, exchange: u64, request: &Asked) {
        let messages = match id_of(request).and_then(|id| self.ids.get_mut(id)) {
            Some(track) => track.ask(request),
            None => Vec::new(),
        };
        let floors = match request {
            Asked::Fetch { partitions, .. } => partitions
                .iter()
                .map(|(place, _)| self.logs.get(place).map_or(-1, Log::stable_floor))
                .collect(),
            _ => Vec::new(),
        };
        self.open.insert(
            exchange,
            Open {
                asked: request.clone(),
                messages,
                floors,
            },
        );
    }

    fn answered(&mut self, open: &Open, answer: &Answered) -> Result<(), String> {
        match (&open.asked, answer) {
            (Asked::InitProducerId { id, .. }, Answered::Identity { error, producer }) => {
                self.identity(open, id.as_deref(), *error, *producer)
            }
            (Asked::EndTxn { id, version, .. }, Answered::Identity { error, producer }) => {
                let identity = (*version >= 5).then_some(*producer);
                self.given(id, *error, *producer)?;
                self.judge(id, open, &[*error], identity)
            }
            (
                Asked::AddPartitions { id, .. }
                | Asked::AddOffsets { id, .. }
                | Asked::TxnOffsetCommit { id, .. },
                Answered::Plain { error },
            ) => self.judge(id, open, &[*error], None),
            (Asked::Produce { id, batches, .. }, Answered::Produce { written }) => {
                self.produced(open, id.as_deref(), batches, written)
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
            (asked, _) => Err(format!("an answer of another kind than {asked:?}")),
        }
    }

    fn identity(
        &mut self,
        open: &Open,
        id: Option<&str>,
        error: i16,
        producer: Pair,
    ) -> Result<(), String> {
        let Some(id) = id else {
            let owner = format!("an idempotent producer ({})", producer.0);
            return self.given(&owner, error, producer);
        };
        self.given(id, error, producer)?;
        if self.ids.contains_key(id) && !open.messages.is_empty() {
            return self.judge(id, open, &[error], Some(producer));
        }
        if error == 0 {
            let track = Track::adopted(&self.world, producer);
            self.ids.insert(id.to_owned(), track);
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

    /// Puts an answer to the model; `errors` are one for all messages, or one for each.
    fn judge(
        &mut self,
        id: &str,
        open: &Open,
        errors: &[i16],
        identity: Option<Pair>,
    ) -> Result<(), String> {
        let Some(track) = self.ids.get_mut(id).filter(|_| !open.messages.is_empty()) else {
            self.summary.unseen += 1;
            return Ok(());
        };
        self.summary.judged += 1;
        for (at, message) in open.messages.iter().enumerate() {
            let error = errors.get(at).or(errors.first()).copied().unwrap_or(0);
            match track.answered(&self.world, message, error, identity) {
                Ok(()) => {}
                Err(Misfit::GivenUp) => {
                    self.summary.given_up += 1;
                    self.ids.remove(id);
                    return Ok(());
                }
                Err(Misfit::Refused(why)) => {
                    return Err(format!(
                        "{} of {id} is answered {}: {why}",
                        name(&open.asked),
                        answer_text(error, identity)
                    ));
                }
            }
        }
        Ok(())
    }

    fn produced(
        &mut self,
        open: &Open,
        id: Option<&str>,
        batches: &[Sent],
        written: &[Written],
    ) -> Result<(), String> {
        let mut errors = Vec::new();
        for batch in batches {
            let Some(written) = written.iter().find(|it| it.at == batch.at) else {
                return Err(format!("no answer for {}-{}", batch.at.0, batch.at.1));
            };
            errors.push(written.error);
            if written.error != 0 || written.offset < 0 {
                continue;
            }
            let stored = Stored {
                offset: written.offset,
                last: written.offset + i64::from(batch.count) - 1,
                producer: batch.producer,
                sequence: batch.sequence,
                transactional: batch.transactional,
                marker: None,
            };
            let log = self.logs.entry(batch.at.clone()).or_default();
            let markers = log.insert(&stored)?;
            self.markers(&batch.at, &markers)?;
        }
        match id {
            Some(id) => self.judge(id, open, &errors, None),
            None => Ok(()),
        }
    }

    fn fetched(
        &mut self,
        committed: bool,
        asked: &[(Place, i64)],
        floors: &[i64],
        answers: &[Fetched],
    ) -> Result<(), String> {
        for answer in answers.iter().filter(|it| it.error == 0) {
            let at = asked.iter().position(|(place, _)| *place == answer.at);
            let from = at.map_or(0, |at| asked[at].1);
            let floor = at.and_then(|at| floors.get(at)).copied().unwrap_or(-1);
            let log = self.logs.entry(answer.at.clone()).or_default();
            let markers = log
                .fetched(committed, from, floor, answer)
                .map_err(|why| format!("Fetch of {}-{}: {why}", answer.at.0, answer.at.1))?;
            self.markers(&answer.at, &markers)?;
        }
        Ok(())
    }

    fn markers(&mut self, place: &Place, markers: &[Stored]) -> Result<(), String> {
        for marker in markers {
            let Some(id) = self.owners.get(&marker.producer.0) else {
                continue;
            };
            let Some(track) = self.ids.get_mut(id).filter(|it| it.has(marker.producer.0)) else {
                continue;
            };
            match track.marker(&self.world, place, marker) {
                Ok(()) => self.summary.judged += 1,
                Err(Misfit::GivenUp) => self.summary.given_up += 1,
                Err(Misfit::Refused(why)) => {
                    let kind = if marker.marker == Some(true) {
                        "commit"
                    } else {
                        "abort"
                    };
                    return Err(format!(
                        "{}-{} has a {kind} marker of {:?} at {}: {why}",
                        place.0, place.1, marker.producer, marker.offset
                    ));
                }
            }
        }
        Ok(())
    }
}

fn id_of(asked: &Asked) -> Option<&str> {
    match asked {
        Asked::InitProducerId { id, .. } | Asked::Produce { id, .. } => id.as_deref(),
        Asked::AddPartitions { id, .. }
        | Asked::AddOffsets { id, .. }
        | Asked::EndTxn { id, .. }
        | Asked::TxnOffsetCommit { id, .. } => Some(id),
        Asked::Fetch { .. } => None,
    }
}

const fn name(asked: &Asked) -> &'static str {
    match asked {
        Asked::InitProducerId { .. } => "InitProducerId",
        Asked::AddPartitions { .. } => "AddPartitionsToTxn",
        Asked::AddOffsets { .. } => "AddOffsetsToTxn",
        Asked::EndTxn { .. } => "EndTxn",
        Asked::Produce { .. } => "Produce",
        Asked::TxnOffsetCommit { .. } => "TxnOffsetCommit",
        Asked::Fetch { .. } => "Fetch",
    }
}

fn answer_text(error: i16, identity: Option<Pair>) -> String {
    let error = ErrorCode(error);
    match identity.filter(|it| it.0 >= 0) {
        Some((producer, epoch)) => format!("{error} ({producer},{epoch})"),
        None => error.to_string(),
    }
}
