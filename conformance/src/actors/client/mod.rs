//! A producer of the model as the production client: its transaction manager, with the shell that carries its requests
//! and the application that calls it.
//!
//! The application is the model's script, walked by calls; the shell has the little that a connection would know (which
//! request an answer belongs to, which copy of a batch). Nothing here decides what the transaction manager decides.

mod abstraction;
mod answers;
mod application;
mod gap;
mod outgoing;
mod resend;
mod shell;

pub use gap::Gap;

use super::{Difference, Frame};
use crate::map::Topics;
use fencepost::client::{Input, ProducerConfig, TransactionManager};
use fencepost_spec::client::{Outcome, Phase, Producer, Workload};
use fencepost_spec::message::Message;
use fencepost_spec::scenario::Granularity;
use fencepost_spec::types::*;
use shell::Sent;

/// A producer instance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// It has not started.
    Unstarted,
    /// It runs.
    Running(Box<Running>),
    /// Its application has closed it, or it has crashed.
    Closed(Closed),
    /// It is not compared, from here on.
    LeftOut(Gap),
}

/// What is left of a client that is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Closed {
    phase: Phase,
    identity: Option<Identity>,
    txn: u8,
    outcome: [Outcome; 3],
}

/// A client that runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Running {
    core: TransactionManager,
    /// The application's place in its script: the transaction, and the next item.
    txn: u8,
    item: u8,
    /// What it has read, and as a member of which generation.
    position: Payload,
    generation: Option<Generation>,
    /// Whether it has asked for the transaction's end.
    ending: bool,
    /// What it knows of each transaction.
    outcome: [Outcome; 3],
    /// Whether its consumer waits for the offset to start from.
    fetching: bool,
    /// The number of the request that waits, which try of it that is, and whether there was another.
    number: u8,
    attempt: u8,
    resent: bool,
    /// The batches in flight, in the order in which they were first sent.
    sent: Vec<Sent>,
}

/// Where a client takes a step.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    index: ProducerIndex,
    workload: &'a Workload,
    topics: Topics,
    /// What the cluster has finalized.
    version: TransactionVersion,
    /// Whether requests carry the number of the try.
    tagged: bool,
}

impl<'a> Place<'a> {
    fn new(frame: &Frame<'a>, index: ProducerIndex) -> Self {
        Self {
            index,
            workload: &frame.scenario.workloads[usize::from(index.0)],
            topics: Topics {
                data: frame.scenario.partitions,
            },
            version: frame.before.version,
            tagged: frame.scenario.granularity == Granularity::E2,
        }
    }
}

/// What a client's step sends, and where the model's is coarser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The messages, without ghosts.
    pub messages: Vec<Message>,
    /// Where the model's client is coarser, once for each time.
    pub gaps: Vec<Gap>,
}

/// What the model's client is told or does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// It starts.
    Start,
    /// Its application ends the transaction.
    End(TransactionResult),
    /// It prepares, or hears of the decision: KIP-939.
    TwoPhase,
    /// Its request is sent again.
    ResendRequest,
    /// A batch is sent again: its place among those in flight.
    ResendBatch(u8),
    /// A batch is given up, or after the last of them the staging of an offset.
    GiveUp(u8),
    /// It crashes.
    Crash,
    /// An answer reaches it.
    Answer(Message),
}

impl Client {
    /// The client of a producer of the model at the scenario's start.
    pub fn new(producer: &Producer, workload: &Workload) -> Self {
        if workload.two_phase {
            Self::LeftOut(Gap::TwoPhase)
        } else if workload.transactional_id.is_none() {
            Self::LeftOut(Gap::Idempotent)
        } else if producer.is_started() {
            Self::Closed(Closed {
                phase: producer.phase,
                identity: producer.identity,
                txn: producer.txn,
                outcome: producer.outcome,
            })
        } else {
            Self::Unstarted
        }
    }

    /// Takes a step.
    ///
    /// # Errors
    /// [`Difference`] where the production client does something that the model's has no word for.
    pub fn take(
        &mut self,
        frame: &Frame<'_>,
        index: ProducerIndex,
        told: &Told,
    ) -> Result<Said, Difference> {
        let place = Place::new(frame, index);
        let mut said = Said::default();
        let ended = match (&mut *self, told) {
            (Self::LeftOut(gap), _) => {
                said.gaps.push(*gap);
                return Ok(said);
            }
            (Self::Unstarted, Told::Start) => {
                let mut client = Running::new(place.version);
                let ended = client.start(place, &mut said)?;
                *self = Self::Running(Box::new(client));
                ended
            }
            (Self::Running(client), told) => client.take(place, told, &mut said)?,
            // Nobody is there to hear.
            (Self::Closed(_) | Self::Unstarted, Told::Answer(_)) => None,
            (Self::Closed(_) | Self::Unstarted, _) => {
                return Err(Difference::Missing(format!("producer {}", index.0)));
            }
        };
        if let Some(ended) = ended {
            self.end(ended, &mut said);
        }
        Ok(said)
    }

    /// The cluster has finalized another version: every client hears of it at once.
    ///
    /// # Errors
    /// [`Difference`] where the client does more than to remember it.
    pub fn upgraded(
        &mut self,
        workload: &Workload,
        to: TransactionVersion,
    ) -> Result<(), Difference> {
        let Self::Running(client) = self else {
            return Ok(());
        };
        if client.has_chosen_next_version(workload) {
            *self = Self::LeftOut(Gap::LateUpgrade);
            return Ok(());
        }
        let features = Input::Features(crate::map::cluster_version(to));
        let effects = client.core.step(features);
        if effects.is_empty() {
            Ok(())
        } else {
            Err(Difference::effect("client", effects))
        }
    }

    fn end(&mut self, ended: Ended, said: &mut Said) {
        *self = match (&*self, ended) {
            (Self::Running(client), Ended::Closed(phase)) => Self::Closed(Closed {
                phase,
                identity: client.identity().ok().flatten(),
                txn: client.txn,
                outcome: client.outcome,
            }),
            (_, Ended::LeftOut(gap)) => {
                said.messages.clear();
                said.gaps.push(gap);
                Self::LeftOut(gap)
            }
            (Self::Unstarted | Self::Closed(_) | Self::LeftOut(_), Ended::Closed(_)) => return,
        };
    }
}

/// How a client comes to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Closed(Phase),
    LeftOut(Gap),
}

impl Running {
    fn new(version: TransactionVersion) -> Self {
        Self {
            core: TransactionManager::new(ProducerConfig {
                features: crate::map::cluster_version(version),
                coordinator_can_bump: true,
            }),
            txn: 0,
            item: 0,
            position: Payload(0),
            generation: None,
            ending: false,
            outcome: [Outcome::Open; 3],
            fetching: false,
            number: 0,
            attempt: 0,
            resent: false,
            sent: Vec::new(),
        }
    }
}
