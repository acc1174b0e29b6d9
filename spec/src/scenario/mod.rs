//! Scenarios: small, named, overlapping configurations with stated bounds.

mod build;
mod catalogue;

pub use catalogue::{CATALOGUE, Entry, Profile, RuleSet, find};

use crate::client::Workload;
use crate::fault::Budgets;
use crate::message::RequestKind;
use crate::partition::Pace;
use crate::types::*;
use crate::world::Seed;

/// Which deliveries are steps of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Granularity {
    /// Every one.
    E0,
    /// Answers to producers and marker acknowledgements are delivered at once; requests carry the
    /// number of the try, and only the answer to the latest counts.
    E2,
}

/// A configuration of the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scenario {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is about, in a sentence.
    pub says: &'static str,
    /// Who takes part.
    pub workloads: Vec<Workload>,
    /// How many transactional ids.
    pub ids: usize,
    /// How many brokers can lead the transaction-state partition.
    pub brokers: u8,
    /// How many data partitions.
    pub partitions: u8,
    /// Whether there is an offsets partition with a group.
    pub offsets: bool,
    /// Stepwise readers.
    pub readers: Vec<(PartitionIndex, IsolationLevel)>,
    /// The faults, each with its total.
    pub budgets: Budgets,
    /// Which requests may be sent again; `None` for all.
    pub resend_only: Option<RequestKind>,
    /// Which deliveries are steps.
    pub granularity: Granularity,
    /// Retriable answers are "not enabled yet".
    pub blocking: bool,
    /// Messages that nobody waits for are dropped.
    pub prune: bool,
    /// Which steps of a partition are apart.
    pub pace: Pace,
    /// Each partition has a replica that may be out of sync.
    pub follower: bool,
    /// What it starts from.
    pub seed: Seed,
    /// `transaction.partition.verification.enable`.
    pub verification: bool,
    /// Clients and leaders may ask a deposed coordinator although they have exchanged messages
    /// with someone who knows the new one.
    pub stale_routing: bool,
    /// The ghost numbering: 0 but in the test that renames.
    pub ghost_key: u8,
}

impl Scenario {
    /// Whether a request of this kind may be sent again unasked.
    pub fn resends(&self, kind: RequestKind) -> bool {
        self.resend_only.is_none_or(|only| only == kind)
    }
}
