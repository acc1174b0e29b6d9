//! The group coordinator: generations, staged offsets and published ones, beside the offsets
//! partition whose log holds them.

mod expiry;
mod generation;
mod load;
mod markers;
mod membership;
mod offset_fetch;
mod txn_offset_commit;

pub use membership::MemberSet;

use crate::message::WriteTxnMarkers;
use crate::rules::GroupRules;
use crate::types::*;
use crate::written_over::written_over;
use serde::{Deserialize, Serialize};

/// Whether the group serves its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum GroupState {
    /// Members own the input.
    Stable,
    /// Between two generations.
    PreparingRebalance,
}

/// A staged offset: invisible until the marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Staged {
    /// Who staged it.
    pub identity: Identity,
    /// The offset.
    pub offset: Payload,
    /// A marker for it is in the log, and not applied yet.
    pub decided: bool,
    /// The transaction that it belongs to.
    pub ghost: Ghost,
}

impl Staged {
    /// Whether a marker of this identity decides it.
    fn is_decided_by(&self, rules: &GroupRules, marker: Identity) -> bool {
        let not_newer = self.identity.producer_epoch <= marker.producer_epoch;
        let same_id = self.identity.producer_id == marker.producer_id;
        same_id && (rules.staged_by_producer_id || not_newer)
    }
}

/// The group of a scenario.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Group {
    /// Stable or between generations.
    pub state: GroupState,
    /// The current generation.
    pub generation: Generation,
    /// The member that owns the input.
    pub member: ProducerIndex,
    /// Who is a member.
    pub members: MemberSet,
    /// Whose instance id another member has taken over.
    pub replaced: MemberSet,
    /// The published offset; 0 where there is none.
    pub committed: Payload,
    /// Staged offsets: of each producer id one, and those whose marker is not applied yet.
    pub staged: List<Staged, 2>,
    /// Markers in the log that are not applied yet.
    pub unapplied: List<WriteTxnMarkers, 1>,
    /// The transactions whose offsets were published.
    pub ghost_published: List<Ghost, 2>,
}

written_over!(Group {
    values: [state, generation, member, members, replaced, committed],
    lists: [staged, unapplied, ghost_published],
    others: [],
});

impl Default for Group {
    fn default() -> Self {
        Self {
            state: GroupState::Stable,
            generation: Generation(1),
            member: ProducerIndex(0),
            members: MemberSet::default().with(ProducerIndex(0)),
            replaced: MemberSet::default(),
            committed: Payload(0),
            staged: List::new(),
            unapplied: List::new(),
            ghost_published: List::new(),
        }
    }
}
