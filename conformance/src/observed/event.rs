//! A recorded run: one event a line, as JSON.

use serde::{Deserialize, Serialize};

pub use super::answered::*;
pub use super::asked::*;

/// Producer id and epoch, -1 for none.
pub type Pair = (i64, i16);
/// Topic and partition.
pub type Place = (String, i32);

/// Something that passed a proxy, or that a core did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A request, before the broker has it.
    Asked {
        /// Which exchange.
        exchange: u64,
        /// What was asked.
        request: Asked,
    },
    /// Its answer, before the client has it.
    Answered {
        /// Which exchange.
        exchange: u64,
        /// What was answered.
        answer: Answered,
    },
    /// The connection ended without an answer, or none is owed.
    Lost {
        /// Which exchange.
        exchange: u64,
    },
    /// The cores themselves write here, from an empty broker on: whatever is of these kinds is
    /// written down, and nothing of them happens unseen.
    Shows {
        /// The kinds.
        inside: Vec<Inside>,
    },
    /// A record of the transaction log is durable.
    Logged {
        /// Its key.
        id: String,
        /// Its value, none for a tombstone.
        record: Option<Logged>,
    },
    /// A partition has appended data or a marker to its log.
    Appended {
        /// Which.
        at: Place,
        /// The batch.
        batch: Stored,
    },
}

/// What a core does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inside {
    /// [`Event::Logged`].
    TransactionLog,
    /// [`Event::Appended`].
    Partitions,
}

/// The value of a transactional id's record, as far as it says what the id has come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logged {
    /// The state.
    pub state: LoggedState,
    /// Producer id and epoch.
    pub producer: Pair,
    /// The producer id that the client used for the last decision.
    pub previous: i64,
    /// The identity after completion, where it is another one.
    pub next: Option<Pair>,
    /// The partitions.
    pub partitions: Vec<Place>,
}

/// A transaction's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoggedState {
    /// Nothing yet.
    Empty,
    /// Open.
    Ongoing,
    /// Decided: commit.
    PrepareCommit,
    /// Decided: abort.
    PrepareAbort,
    /// Committed.
    CompleteCommit,
    /// Aborted.
    CompleteAbort,
}
