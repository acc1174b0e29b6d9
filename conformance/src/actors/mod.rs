//! The production cores behind the model's messages.
//!
//! Each core is wrapped with the little that its shell would keep for it (tickets of appends under way, markers not
//! sent yet, what is on its disk; for a client its script). The network, the budgets, the readers' positions and the
//! transaction-state log are the model's own.

mod abstraction;
mod broker;
mod broker_leadership;
mod client;
mod limits;
mod membership;
mod offsets;
mod outbox;
mod production;
mod reads;
mod recovery;
mod replica;

pub use broker::{Broker, Sending};
pub use client::{Client, Gap, Said, Told};
pub use limits::THIRD_COPY;
pub use offsets::Offsets;
pub use outbox::{Outbox, Write};
pub use production::{Excluded, Frame, Production, Took};
pub use reads::{Read, read_step};
pub use recovery::{Moment, RecoveredPartition};
pub use replica::{Replica, Stopped};

use crate::map::Unmapped;
use thiserror::Error;

/// Why a step of the production side cannot be compared with the model's: itself a difference.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Difference {
    /// A value that the model has no word for.
    #[error(transparent)]
    Unmapped(#[from] Unmapped),
    /// An effect where none was expected.
    #[error("unexpected effect of {core}: {effect}")]
    Effect {
        /// Which core.
        core: &'static str,
        /// The effect, as its debug text.
        effect: String,
    },
    /// The record of an append does not come back as the same bytes.
    #[error("the record of an append is not the one that its meaning is written as: {0}")]
    Record(String),
    /// A third copy of a request: the harness's tokens tell two apart.
    #[error("a third copy of a request is outstanding")]
    ThirdCopy,
    /// Production does not have what the model's step takes.
    #[error("production has no {0}")]
    Missing(String),
}

impl Difference {
    fn effect(core: &'static str, effect: impl std::fmt::Debug) -> Self {
        Self::Effect {
            core,
            effect: format!("{effect:?}"),
        }
    }
}
