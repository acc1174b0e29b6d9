//! The producer client: one instance (incarnation) of a transactional id and its application.
//!
//! Pure, like the other actors. The application's script is a [`Workload`]; where it has a choice
//! (commit or abort, give up, crash), the choice is an action of its own.

mod answers;
mod consumer;
mod end;
mod errors;
mod sending;

pub use consumer::{Reader, ReaderStage};
pub use errors::{ErrorClass, classify};

use crate::message::{Correlation, RequestKind};
use crate::rules::Rules;
use crate::types::*;
use crate::written_over::written_over;
use serde::{Deserialize, Serialize};

/// One step of a transaction's script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Item {
    /// Send one record to a partition.
    Send(PartitionIndex),
    /// Ask where to read from; the answer decides whether there is work at all.
    FetchOffset,
    /// Stage the offset after the input record just read.
    CommitOffset,
}

/// What a producer and its application do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Workload {
    /// The id, or `None` for a producer that is only idempotent.
    pub transactional_id: Option<TransactionalId>,
    /// KIP-939: prepared, then decided by the external manager.
    pub two_phase: bool,
    /// KIP-939: takes over what this earlier instance has prepared.
    pub takes_over: Option<ProducerIndex>,
    /// How many batches may be in flight.
    pub max_in_flight: u8,
    /// How many transactions.
    pub transactions: u8,
    /// The script of each transaction.
    pub items: Vec<Item>,
    /// Starts only after another instance has crashed.
    pub starts_after_crash_of: Option<ProducerIndex>,
    /// How many input records there are (consume-process-produce only).
    pub inputs: u8,
}

/// Where the client stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// Not started.
    Unstarted,
    /// Waiting for its first identity.
    Initializing,
    /// In a transaction (or, without an id, sending).
    InTransaction,
    /// A send failed: only an abort may follow.
    AbortableError,
    /// KIP-939: flushed and recorded, waiting for the manager's decision.
    Prepared,
    /// EndTxn is out.
    Ending(TransactionResult),
    /// KIP-360: waiting for a bumped identity.
    Bumping,
    /// Finished its script.
    Done,
    /// Told that it may not go on.
    Fatal,
    /// Stopped for good.
    Crashed,
}

/// What the application knows of one transaction.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Outcome {
    /// Not begun, or begun and nothing asked.
    #[default]
    Open,
    /// Commit was asked.
    CommitAsked,
    /// Abort was asked.
    AbortAsked,
    /// Commit was confirmed.
    CommitTold,
    /// Abort was confirmed.
    AbortTold,
    /// A definite refusal: "it is not committed".
    ErrorTold,
    /// An error that leaves the outcome open.
    Unknown,
}

/// A batch in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct InFlight {
    /// Where to.
    pub partition: PartitionIndex,
    /// Its sequence.
    pub sequence: Sequence,
    /// Its epoch and producer id.
    pub identity: Identity,
    /// What it says.
    pub payload: Payload,
    /// Which try (0 at E0).
    pub attempt: u8,
    /// How many copies were sent unasked.
    pub copies: u8,
    /// It was answered once and sent again: it keeps no place in the order any more.
    pub answered: bool,
    /// Whether it carries the transactional flag.
    pub transactional: bool,
}

/// The epochs of one producer id that an instance has held: every one from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Held {
    /// The producer id.
    pub producer_id: ProducerId,
    /// The first epoch.
    pub first: ProducerEpoch,
    /// The last epoch.
    pub last: ProducerEpoch,
}

impl Held {
    /// Whether an identity is among these.
    pub fn contains(&self, identity: Identity) -> bool {
        self.producer_id == identity.producer_id
            && self.first <= identity.producer_epoch
            && identity.producer_epoch <= self.last
    }

    /// Whether one identity is among both.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.producer_id == other.producer_id
            && self.first <= other.last
            && other.first <= self.last
    }
}

/// A producer instance.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Producer {
    /// Which instance.
    pub index: ProducerIndex,
    /// Where it stands.
    pub phase: Phase,
    /// The identity that it holds.
    pub identity: Option<Identity>,
    /// The first identity that it was given.
    pub first_identity: Option<Identity>,
    /// The identities that it held before its producer id was rotated.
    pub ghost_former: List<Held, 1>,
    /// An identity was given that is not after the ones before.
    pub ghost_went_back: bool,
    /// The current transaction.
    pub txn: u8,
    /// The version of the current transaction.
    pub version: TransactionVersion,
    /// The next item of the script.
    pub item: u8,
    /// Partitions registered in the current transaction (TV1).
    pub registered: PartitionSet,
    /// The request that waits for an answer.
    pub request: Option<RequestKind>,
    /// How many requests it has asked.
    pub number: u8,
    /// Which try of the request (0 at E0).
    pub attempt: u8,
    /// The newest coordinator that has answered: it asks no older one again.
    pub known_coordinator: CoordinatorEpoch,
    /// It was sent more than once.
    pub resent: bool,
    /// Batches in flight, oldest first.
    pub in_flight: List<InFlight, 2>,
    /// The next sequence by partition.
    pub next_sequence: [Sequence; 3],
    /// The epoch must be bumped before the next transaction (KIP-360).
    pub needs_bump: bool,
    /// A send was given up in this life.
    pub ghost_gave_up: bool,
    /// Its first InitProducerId was sent twice: the late copy fences it.
    pub ghost_resent_init: bool,
    /// The transactions in which an answer refused a send, as a set of bits.
    pub ghost_refused: u8,
    /// Acknowledged payloads of a producer without transactions.
    pub acked: u8,
    /// The input position and generation (consume-process-produce).
    pub position: Payload,
    /// The generation that the member joined.
    pub generation: Option<Generation>,
    /// What the application knows of each transaction.
    pub outcome: [Outcome; 3],
    /// KIP-939: the verdict that was asked for the transaction taken over.
    pub takeover: Outcome,
}

written_over!(Producer {
    values: [
        index,
        phase,
        identity,
        first_identity,
        ghost_went_back,
        txn,
        version,
        item,
        registered,
        request,
        number,
        attempt,
        known_coordinator,
        resent,
        next_sequence,
        needs_bump,
        ghost_gave_up,
        ghost_resent_init,
        ghost_refused,
        acked,
        position,
        generation,
        outcome,
        takeover
    ],
    lists: [ghost_former, in_flight],
    others: [],
});

/// What a client step reads.
#[derive(Clone, Copy, Debug)]
pub struct ClientContext<'a> {
    /// The rules.
    pub rules: &'a Rules,
    /// The finalized `transaction.version` now.
    pub version: TransactionVersion,
    /// The script.
    pub workload: &'a Workload,
    /// The offsets partition, where the scenario has one.
    pub offsets: PartitionIndex,
    /// Whether requests carry the number of the try (E2).
    pub tagged: bool,
    /// The ghost numbering.
    pub ghost_key: u8,
    /// KIP-939: what the external manager has recorded: the prepared identity, and its decision.
    pub prepared: Option<(Identity, Option<TransactionResult>)>,
}

impl Producer {
    /// A producer that has not started.
    pub fn new(index: ProducerIndex, version: TransactionVersion) -> Self {
        Self {
            index,
            phase: Phase::Unstarted,
            identity: None,
            first_identity: None,
            ghost_former: List::new(),
            ghost_went_back: false,
            txn: 0,
            version,
            item: 0,
            registered: PartitionSet::EMPTY,
            request: None,
            number: 0,
            attempt: 0,
            known_coordinator: CoordinatorEpoch(0),
            resent: false,
            in_flight: List::new(),
            next_sequence: [Sequence::FIRST; 3],
            needs_bump: false,
            ghost_gave_up: false,
            ghost_resent_init: false,
            ghost_refused: 0,
            acked: 0,
            position: Payload(0),
            generation: None,
            outcome: [Outcome::Open; 3],
            takeover: Outcome::Open,
        }
    }

    /// Whether the instance has nothing more to do.
    pub fn is_finished(&self) -> bool {
        matches!(self.phase, Phase::Done | Phase::Fatal | Phase::Crashed)
    }

    /// Whether the instance was started.
    pub fn is_started(&self) -> bool {
        self.phase != Phase::Unstarted
    }

    fn correlation(&self, number: u8, attempt: u8) -> Correlation {
        Correlation {
            producer: self.index,
            number,
            attempt,
        }
    }

    fn ghost(&self, ctx: &ClientContext<'_>) -> Ghost {
        if ctx.workload.transactional_id.is_none() {
            Ghost::NONE
        } else {
            Ghost::of(self.index, self.txn, ctx.ghost_key)
        }
    }

    /// What it has held of its current producer id: every epoch from its first one on.
    pub fn ghost_held(&self) -> Option<Held> {
        let (first, last) = (self.first_identity?, self.identity?);
        let own = first.producer_id == last.producer_id;
        Some(Held {
            producer_id: last.producer_id,
            first: if own {
                first.producer_epoch
            } else {
                ProducerEpoch::FIRST
            },
            last: last.producer_epoch,
        })
    }

    /// Takes an identity from an answer; a new one restarts every sequence.
    fn adopt(&mut self, identity: Identity) {
        if let (Some(old), Some(held)) = (self.identity, self.ghost_held()) {
            let rotated = identity.producer_id != old.producer_id;
            let back = !rotated && identity.producer_epoch < old.producer_epoch;
            self.ghost_went_back |= back || self.ghost_former.iter().any(|f| f.contains(identity));
            if rotated {
                self.ghost_former.push(held);
            }
        }
        if self.identity != Some(identity) {
            self.next_sequence = [Sequence::FIRST; 3];
        }
        self.first_identity = self.first_identity.or(Some(identity));
        self.identity = Some(identity);
    }
}
