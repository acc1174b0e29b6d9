//! Where a case plays: a broker on one side, the oracle on the other, and the record of what was
//! asked, answered and allowed.
//!
//! A case speaks in the model's terms (identities, epochs, partitions 0 and 1); the stage puts each
//! request on the wire and to the oracle, and stops the case at the first answer that is not
//! allowed.

mod clear;
mod coordinator;
mod judge;
mod lost;
mod offsets;
mod ours;
mod partition;
mod party;
mod reads;
mod setup;
mod undone;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use fencepost_spec::coverage::Cell;
use fencepost_spec::error_code::ErrorCode as ModelError;
use fencepost_spec::message::Message;
use fencepost_spec::rules::Rules;
use fencepost_spec::types::*;
use serde::Serialize;

use super::case::spoken;
use super::judge::Judge;
use super::oracle::{Allowed, ModelAnswer, Oracle};
use super::route::{Route, waited};
use crate::wire::{ErrorCode, GroupMember, Producer, TopicPartition, VersionRange, WireError};

pub use fencepost_spec::types::TransactionResult::{Abort, Commit};
pub use judge::Restarted;
pub use ours::{Damage, Refused};
pub use partition::{FAR_EPOCH, MarkerForm};
pub use party::Seat;
pub use setup::Setting;

/// COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, NOT_LEADER_OR_FOLLOWER:
/// an honest broker may answer so at any moment, and the client asks again.
const TRANSIENT: [i16; 4] = [14, 15, 16, 6];
const AGAIN: Duration = Duration::from_millis(5);
/// How long a request that cannot be answered is waited for: it has arrived by then.
const UNANSWERED: Duration = Duration::from_millis(250);

/// How a case ends before its last step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// An answer that the oracle does not allow.
    Wrong(String),
    /// The broker lacks what the case needs.
    Skip(String),
    /// Nothing can be said: a time ran out, or the model has no answer.
    Unclear(String),
}

impl From<WireError> for Stop {
    fn from(error: WireError) -> Self {
        use std::io::ErrorKind::{ConnectionRefused, TimedOut, WouldBlock};
        match error {
            WireError::Io(error)
                if matches!(error.kind(), TimedOut | WouldBlock | ConnectionRefused) =>
            {
                Self::Unclear(format!("no answer: {error}"))
            }
            WireError::Io(error) => Self::Wrong(format!("the connection ended: {error}")),
            WireError::Malformed(what) => Self::Wrong(format!("malformed answer: {what}")),
            WireError::Unencodable(what) => Self::Unclear(format!("cannot be sent: {what}")),
        }
    }
}

/// What a step of a case gives.
pub type Outcome = Result<(), Stop>;

/// A request, its answer, and what was allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exchange {
    /// The request, decoded.
    pub request: String,
    /// The broker's answer, decoded.
    pub answer: String,
    /// Every answer that was allowed.
    pub allowed: Vec<String>,
    /// The decision-table cells of the model behind them, or the observation.
    pub rule: String,
}

/// What came back, in the wire's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Real {
    error: ErrorCode,
    producer: Producer,
    offset: i64,
}

impl Real {
    const fn error(error: ErrorCode) -> Self {
        Self {
            error,
            producer: Producer::NONE,
            offset: -1,
        }
    }
}

/// The stage of one case.
#[derive(Debug)]
pub struct Stage {
    route: Route,
    oracle: Oracle,
    apis: BTreeMap<i16, VersionRange>,
    transaction_version: i16,
    ids: [String; 2],
    identities: [Option<Identity>; 2],
    active: usize,
    /// The data partition that requests name, 0 or 1.
    pub partition: u8,
    topic: String,
    group: String,
    member: Option<GroupMember>,
    /// The names of members, by their ids.
    party: BTreeMap<String, &'static str>,
    /// Who asked to join beside the member.
    second: Option<GroupMember>,
    payload: u8,
    held: bool,
    /// A marker of a later coordinator or of the last epoch was sent: the real coordinator's may be refused from there on.
    outbid: bool,
    exchanges: Vec<Exchange>,
    cells: BTreeSet<Cell>,
    manner: Manner,
    judge: Option<Judge>,
    /// The judge's second broker is halted.
    halted: bool,
    /// Connections whose last request is answered once what is held goes on.
    unanswered: Vec<Route>,
    /// Connections that stay open for their own sake.
    aside: Vec<Route>,
}

/// How the next requests are put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// To whoever is responsible, again while the answer is "ask again" and another is possible.
    Insisting,
    /// Once: whatever is allowed is an answer.
    Once,
    /// To a broker that does not coordinate the id.
    Elsewhere,
    /// On a connection of its own, and the answer is not waited for: the broker cannot give it.
    Unanswered,
}

impl Stage {
    /// A stage with names of its own; nothing is created yet.
    pub fn new(setting: &Setting, case: &str) -> Self {
        let name = setting.name(case);
        let deadline = Instant::now() + setting.case_limit;
        Self {
            route: Route::new(setting.bootstrap, setting.timeout, deadline),
            oracle: Oracle::new(setting.rules.clone()),
            apis: setting.apis.clone(),
            transaction_version: setting.transaction_version,
            ids: [format!("{name}-p"), format!("{name}-q")],
            identities: [None; 2],
            active: 0,
            partition: 0,
            topic: name.clone(),
            group: format!("{name}-group"),
            member: None,
            party: BTreeMap::new(),
            second: None,
            payload: 0,
            held: false,
            outbid: false,
            exchanges: Vec::new(),
            cells: BTreeSet::new(),
            manner: Manner::Insisting,
            judge: setting.judge.clone(),
            halted: false,
            unanswered: Vec::new(),
            aside: Vec::new(),
        }
    }

    /// How requests are put from here on.
    pub fn put(&mut self, manner: Manner) {
        self.manner = manner;
        self.route.elsewhere = manner == Manner::Elsewhere;
    }

    /// The cells that the last request of the model may have taken.
    #[must_use]
    pub const fn cells(&self) -> &BTreeSet<Cell> {
        &self.cells
    }

    /// The model's side, for whoever chooses the next request by it.
    #[must_use]
    pub const fn oracle(&self) -> &Oracle {
        &self.oracle
    }

    /// What has been asked and answered so far.
    pub fn into_exchanges(self) -> Vec<Exchange> {
        self.exchanges
    }

    /// True on a cluster whose finalized `transaction.version` is 2.
    #[must_use]
    pub const fn is_tv2(&self) -> bool {
        self.transaction_version >= 2
    }

    /// The EndTxn version that a client of this cluster sends.
    #[must_use]
    pub const fn end_version(&self) -> i16 {
        if self.is_tv2() { 5 } else { 4 }
    }

    /// The identity that the active id's client holds.
    #[must_use]
    pub fn me(&self) -> Identity {
        self.identities[self.active].unwrap_or(Identity::new(STRANGER, ProducerEpoch::FIRST))
    }

    /// The identity that the active id's coordinator holds, as far as the model knows.
    #[must_use]
    pub fn stored(&self) -> Identity {
        let stored = self
            .oracle
            .any_state()
            .and_then(|state| state.coordinators[0].slots[self.active].metadata);
        stored.map_or_else(|| self.me(), |metadata| metadata.identity())
    }

    /// Whether the cluster takes the requests of TV2.
    #[must_use]
    pub const fn takes_tv2(&self) -> bool {
        self.transaction_version >= 1
    }

    /// The client's producer id at another epoch.
    #[must_use]
    pub fn at(&self, epoch: i16) -> Identity {
        Identity::new(self.me().producer_id, ProducerEpoch(epoch))
    }

    /// A producer id that nobody was given, at the client's epoch.
    #[must_use]
    pub fn stranger(&self) -> Identity {
        Identity::new(STRANGER, self.me().producer_epoch)
    }

    /// Goes on with the other transactional id.
    pub fn switch(&mut self) {
        self.active = 1 - self.active;
    }

    fn id(&self) -> String {
        self.ids[self.active].clone()
    }

    fn model_id(&self) -> TransactionalId {
        TransactionalId(self.active as u8)
    }

    fn topic_partition(&self) -> TopicPartition {
        TopicPartition::new(&self.topic, i32::from(self.partition))
    }

    /// The version to send; stops the case where the broker speaks none with the same rules.
    fn require(&self, key: i16, name: &str, version: i16) -> Result<i16, Stop> {
        let Some(range) = self.apis.get(&key) else {
            return Err(Stop::Skip(format!("the broker does not speak {name}")));
        };
        spoken(key, version, *range).ok_or_else(|| {
            Stop::Skip(format!(
                "{name} v{version} is needed, the broker speaks {} to {}",
                range.min, range.max
            ))
        })
    }

    /// An identity as it goes on the wire.
    fn wire(&self, identity: Identity) -> Producer {
        Producer {
            id: self
                .oracle
                .real(identity.producer_id)
                .unwrap_or(STRANGER_ON_THE_WIRE),
            epoch: identity.producer_epoch.0,
        }
    }

    /// Puts `message` to the oracle and, by `send`, to the broker, until the answer is no mere
    /// "ask again". `seen` says how an error of the model reads on the wire in this version.
    fn ask(
        &mut self,
        request: &str,
        message: &Message,
        seen: impl Fn(ModelError) -> ModelError,
        mut send: impl FnMut(&mut Route) -> Result<Real, WireError>,
    ) -> Result<Real, Stop> {
        if self.manner == Manner::Unanswered {
            return self.leave_unanswered(request, message, send);
        }
        loop {
            let allowed = match self.manner {
                Manner::Elsewhere => self.oracle.ask_elsewhere(message),
                Manner::Insisting | Manner::Once | Manner::Unanswered => self.oracle.ask(message),
            };
            if allowed.is_empty() {
                return Err(Stop::Unclear(format!(
                    "the model does not answer {request}"
                )));
            }
            let real = send(&mut self.route)?;
            let matching: Vec<&Allowed> = allowed
                .iter()
                .filter(|it| self.fits(&it.answer, &seen, &real))
                .collect();
            let other = allowed
                .iter()
                .any(|it| seen(it.answer.error).number() != real.error.0);
            let again = if matching.is_empty() {
                TRANSIENT.contains(&real.error.0)
            } else {
                let insists = self.manner == Manner::Insisting;
                insists && other && matching.iter().any(|it| it.answer.error.is_retriable())
            };
            let first = matching.first().map(|it| it.answer);
            let cells = matching.iter().filter_map(|it| it.cell);
            self.cells = cells.collect();
            if let Some(identity) = first.and_then(|answer| answer.identity) {
                self.oracle.name(identity.producer_id, real.producer.id);
            }
            if first.is_some() {
                self.oracle.observe(matching.into_iter());
            }
            if again {
                if TRANSIENT.contains(&real.error.0) {
                    self.route.forget();
                }
                if !self.route.pause(AGAIN) {
                    let error =
                        waited(&format!("an answer to {request} other than {}", real.error));
                    return Err(error.into());
                }
                continue;
            }
            self.note(request, &real, &allowed, &seen);
            return match first {
                Some(_) => Ok(real),
                None => Err(Stop::Wrong(format!("{request}: {}", self.shown(&real)))),
            };
        }
    }

    /// Sends a request that the broker cannot answer now, on a connection of its own.
    fn leave_unanswered(
        &mut self,
        request: &str,
        message: &Message,
        mut send: impl FnMut(&mut Route) -> Result<Real, WireError>,
    ) -> Result<Real, Stop> {
        use std::io::ErrorKind::{TimedOut, WouldBlock};
        let mut aside = self.route.aside(UNANSWERED);
        match send(&mut aside) {
            Err(WireError::Io(error)) if matches!(error.kind(), TimedOut | WouldBlock) => {}
            Err(error) => return Err(error.into()),
            Ok(real) => {
                let answer = self.shown(&real);
                return Err(Stop::Unclear(format!("{request} is answered: {answer}")));
            }
        }
        self.unanswered.push(aside);
        self.oracle.leave_unanswered(message);
        self.exchanges.push(Exchange {
            request: request.to_owned(),
            answer: "none yet".to_owned(),
            allowed: vec!["none yet".to_owned()],
            rule: "the log is held".to_owned(),
        });
        Ok(Real::error(ErrorCode::NONE))
    }

    fn fits(
        &self,
        answer: &ModelAnswer,
        seen: &impl Fn(ModelError) -> ModelError,
        real: &Real,
    ) -> bool {
        let identity = match answer.identity {
            Some(identity) => {
                identity.producer_epoch.0 == real.producer.epoch
                    && self.oracle.agrees(identity.producer_id, real.producer.id)
            }
            // Beside a refusal stands whatever the schema's defaults are: nobody reads it.
            None => real.error != ErrorCode::NONE || real.producer == Producer::NONE,
        };
        let offset = answer
            .offset
            .is_none_or(|offset| i64::from(offset) == real.offset);
        seen(answer.error).number() == real.error.0 && identity && offset
    }

    /// A step that the model has no cell for: the answer is one of those written in the case.
    pub fn expect(
        &mut self,
        request: &str,
        answer: &str,
        allowed: &[&str],
        source: &'static str,
    ) -> Outcome {
        self.exchanges.push(Exchange {
            request: request.to_owned(),
            answer: answer.to_owned(),
            allowed: allowed.iter().map(|it| (*it).to_owned()).collect(),
            rule: source.to_owned(),
        });
        if allowed.contains(&answer) {
            Ok(())
        } else {
            Err(Stop::Wrong(format!("{request}: {answer}")))
        }
    }
}

/// A producer id of the model that no coordinator gives.
const STRANGER: ProducerId = ProducerId(200);
/// As it stands on the wire: far above any block of producer ids.
const STRANGER_ON_THE_WIRE: i64 = i64::MAX / 2;

/// What the runner fixes for every case.
pub(super) fn rules_of(transaction_version: i16) -> Rules {
    Rules::kafka(if transaction_version >= 2 {
        TransactionVersion::Tv2
    } else {
        TransactionVersion::Tv1
    })
}

/// Where a broker is.
pub(super) type Address = SocketAddr;
