//! What must hold, as rows: id, name, sentence, source, and how it is judged.
//!
//! Safety is judged in every state; the liveness rows are judged in terminal states here (a state
//! that nothing can leave) and on fair cycles by the liveness search.

pub mod fair;
mod safety;
mod terminal;
pub mod witness;

use crate::world::{State, World};
use stateright::Property;

/// Safety or liveness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Nothing bad ever happens.
    Safety,
    /// Something good happens in the end.
    Liveness,
}

macro_rules! properties {
    ($($id:ident $kind:ident $name:literal $says:literal $source:literal),+ $(,)?) => {
        /// A property's id.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Id { $(#[doc = $says] $id),+ }

        impl Id {
            /// The id as it is written.
            pub fn name(self) -> &'static str {
                match self { $(Self::$id => stringify!($id)),+ }
            }
        }

        /// Every property, in the order of its bit.
        pub const PROPERTIES: &[Row] = &[$(Row {
            id: Id::$id,
            kind: Kind::$kind,
            name: $name,
            says: $says,
            source: $source,
        }),+];

        /// The names of all properties, in the order of their bits.
        pub const NAMES: &[&str] = &[$(stringify!($id)),+];
    };
}

/// A property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its id.
    pub id: Id,
    /// Safety or liveness.
    pub kind: Kind,
    /// A short name.
    pub name: &'static str,
    /// What it says.
    pub says: &'static str,
    /// Where that comes from.
    pub source: &'static str,
}

properties! {
    S1 Safety "no lost commit"
        "When the application is told that its transaction is committed, every record and offset that it sent in it is and stays committed, and read_committed readers get it."
        "KIP-98, Guarantees",
    S2 Safety "no aborted read"
        "A record of a transaction that the application did not ask to commit is never returned to a read_committed reader."
        "KIP-98, Guarantees",
    S3 Safety "atomicity"
        "A transaction has one outcome over all its partitions and offsets."
        "KIP-98, Guarantees",
    S4 Safety "a marker decides its own transaction"
        "A marker decides only records of the transaction that the coordinator decided."
        "KIP-890, Motivation",
    S5 Safety "fencing"
        "Once a newer instance of an id has its identity, nothing of an older instance is appended or staged."
        "KIP-98, Zombie fencing",
    S6 Safety "exactly once and in order"
        "In each partition every committed record stands once, and in the order in which it was sent."
        "KIP-98, Idempotent producer guarantees; KIP-447",
    S7 Safety "honest answers"
        "A definite error means that the transaction is not committed, and a producer that nobody fenced is never refused for good."
        "KIP-98; KIP-360; KIP-588",
    S8 Safety "identities are issued once"
        "A producer id and epoch are never given to two instances, never go back, and never overflow."
        "KIP-98; KIP-360",
    S9 Safety "the log is the truth"
        "The state in memory is what a replay of the log gives."
        "KIP-98, Transaction log; KAFKA-20310",
    S10 Safety "the last stable offset never goes back"
        "A last stable offset that was served never goes back, not over a fail-over either, and nothing that a reader has passed is taken away."
        "KIP-98, Last stable offset; KIP-207",
    S11 Safety "the last stable offset is stable"
        "The last stable offset is never above the high watermark and never past an undecided record."
        "KIP-98, Last stable offset",
    S12 Safety "a decision is durable"
        "Each record of an id follows from the one before; a decision, once replicated, is never changed."
        "KIP-98, Transaction coordinator; TransactionState",
    S13 Safety "two-phase transactions are not timed out"
        "A transaction with two-phase commit is never ended by the timer."
        "KIP-939, Timeout",
    S14 Safety "the last epoch is reserved"
        "No client is handed epoch 32767."
        "KIP-98; KIP-360",
    L1 Liveness "no hanging transaction"
        "An open transaction on a partition is known to the coordinator, so that it will be decided and the last stable offset moves on."
        "KIP-890, Motivation; KIP-664",
    L2 Liveness "a decision is carried out"
        "Prepare* leads to Complete*, and a pending transition ends."
        "KIP-98, Transaction coordinator",
    L3 Liveness "staged offsets are resolved"
        "Staged offsets are published or dropped, so that OffsetFetch does not answer UNSTABLE_OFFSET_COMMIT for ever."
        "KIP-447",
    L4 Liveness "a live producer goes on"
        "A live producer finishes what it began and can begin again."
        "KIP-98; KIP-890",
}

impl Id {
    /// Its bit in a mask.
    pub fn bit(self) -> u32 {
        1 << self as u32
    }

    /// The id of this name.
    pub fn parse(name: &str) -> Option<Self> {
        PROPERTIES
            .iter()
            .find(|r| r.id.name() == name)
            .map(|r| r.id)
    }

    /// Its row.
    pub fn row(self) -> &'static Row {
        &PROPERTIES[self as usize]
    }

    /// The ids in a mask, in order.
    pub fn in_mask(mask: u32) -> impl Iterator<Item = Self> {
        PROPERTIES
            .iter()
            .map(|r| r.id)
            .filter(move |id| mask & id.bit() != 0)
    }
}

/// The safety properties that `state` violates, as a mask of bits.
pub fn violated(world: &World, state: &State) -> u32 {
    state.ghost_broken | safety::violated(world, state)
}

/// The properties that `state` violates by being one that nothing can leave.
pub fn violated_terminally(world: &World, state: &State) -> u32 {
    terminal::violated(world, state)
}

/// The safety properties as stateright's own, for its Explorer and its search.
pub fn as_stateright() -> Vec<Property<World>> {
    vec![
        Property::always("S1", |w, s| violated(w, s) & Id::S1.bit() == 0),
        Property::always("S2", |w, s| violated(w, s) & Id::S2.bit() == 0),
        Property::always("S3", |w, s| violated(w, s) & Id::S3.bit() == 0),
        Property::always("S4", |w, s| violated(w, s) & Id::S4.bit() == 0),
        Property::always("S5", |w, s| violated(w, s) & Id::S5.bit() == 0),
        Property::always("S6", |w, s| violated(w, s) & Id::S6.bit() == 0),
        Property::always("S7", |w, s| violated(w, s) & Id::S7.bit() == 0),
        Property::always("S8", |w, s| violated(w, s) & Id::S8.bit() == 0),
        Property::always("S9", |w, s| violated(w, s) & Id::S9.bit() == 0),
        Property::always("S10", |w, s| violated(w, s) & Id::S10.bit() == 0),
        Property::always("S11", |w, s| violated(w, s) & Id::S11.bit() == 0),
        Property::always("S12", |w, s| violated(w, s) & Id::S12.bit() == 0),
        Property::always("S13", |w, s| violated(w, s) & Id::S13.bit() == 0),
        Property::always("S14", |w, s| violated(w, s) & Id::S14.bit() == 0),
    ]
}

pub use safety::excused;
