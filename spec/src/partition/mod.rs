//! A partition leader: its log, high watermark, producer state, last stable offset and aborted
//! index. The offsets partition is one of them, with a [`crate::group::Group`] beside it.

mod aborted_index;
mod append;
mod compaction;
mod expiry;
mod fetch;
mod high_watermark;
mod produce;
mod producer_state;
mod recovery;
mod verification;
mod write_txn_markers;

pub use aborted_index::AbortedTxn;
pub use fetch::{Bound, decided, read_committed_view};
pub(crate) use produce::passed_error;
pub use producer_state::{Batch, ProducerEntry};
pub use recovery::Snapshot;
pub use verification::{Parked, ParkedRequest, VerificationEntry};
pub(crate) use write_txn_markers::marker_answer;

use crate::message::Message;
use crate::step::{Context, Step};
use crate::types::*;
use crate::written_over::written_over;
use serde::{Deserialize, Serialize};

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RecordKind {
    /// A data record, or on the offsets partition a staged offset.
    Data,
    /// A batch that compaction emptied: it keeps the producer's sequence.
    Emptied,
    /// A control record.
    Marker(TransactionResult),
}

/// One record: the model's batches hold one record each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Record {
    /// Its offset: compaction leaves gaps.
    pub offset: Offset,
    /// Data or marker.
    pub kind: RecordKind,
    /// Producer id and epoch.
    pub identity: Identity,
    /// The sequence; 0 for markers.
    pub sequence: Sequence,
    /// Whether it belongs to a transaction.
    pub transactional: bool,
    /// A marker's coordinator epoch.
    pub coordinator_epoch: Option<CoordinatorEpoch>,
    /// What it says.
    pub payload: Payload,
    /// The transaction that wrote it, or that the marker was meant for.
    pub ghost: Ghost,
}

/// An answer that waits for the high watermark to pass `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Waiting {
    /// The record that must be replicated.
    pub offset: Offset,
    /// The answer.
    pub answer: Message,
}

/// A partition at its leader.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Partition {
    /// Which one.
    pub index: PartitionIndex,
    /// The log.
    pub log: List<Record, 6>,
    /// The offset after the last record.
    pub log_end: Offset,
    /// Everything below is replicated.
    pub high_watermark: Offset,
    /// Everything below is applied to the producer state that readers ask.
    pub applied: Offset,
    /// Producer state, by producer id.
    pub producers: List<ProducerEntry, 2>,
    /// Batches that wait for the coordinator.
    pub parked: List<Parked, 1>,
    /// Guards of transactions that were asked about, not written yet.
    pub verification: List<VerificationEntry, 1>,
    /// Aborted transactions.
    pub aborted: List<AbortedTxn, 2>,
    /// First offset and marker of decided transactions whose marker is not replicated.
    pub unreplicated: List<(Offset, Offset), 1>,
    /// Answers that wait for the high watermark.
    pub waiting: List<Waiting, 1>,
    /// The topic was deleted.
    pub deleted: bool,
    /// A new leader that has not rebuilt its producer state.
    pub recovering: bool,
    /// The last snapshot of the producer state.
    pub snapshot: Option<Box<Snapshot>>,
    /// A replica that may be out of sync (compaction scenarios only).
    pub follower: Option<Box<List<Record, 6>>>,
    /// The newest coordinator that has answered this leader: it asks no older one again.
    pub known_coordinator: CoordinatorEpoch,
    /// How replication and application go in this scenario.
    pub pace: Pace,
}

written_over!(Partition {
    values: [
        index,
        log_end,
        high_watermark,
        applied,
        deleted,
        recovering,
        known_coordinator,
        pace
    ],
    lists: [log, parked, verification, aborted, unreplicated, waiting],
    others: [producers, snapshot, follower],
});

/// Which steps of a partition are apart in a scenario.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Pace {
    /// The high watermark moves in steps of its own.
    pub replica_behind: bool,
    /// Application moves in steps of its own.
    pub apply_lag: bool,
}

impl Partition {
    /// An empty partition.
    pub fn new(index: PartitionIndex, pace: Pace) -> Self {
        Self {
            index,
            log: List::new(),
            log_end: Offset(0),
            high_watermark: Offset(0),
            applied: Offset(0),
            producers: List::new(),
            parked: List::new(),
            verification: List::new(),
            aborted: List::new(),
            unreplicated: List::new(),
            waiting: List::new(),
            deleted: false,
            recovering: false,
            snapshot: None,
            follower: None,
            known_coordinator: CoordinatorEpoch(0),
            pace,
        }
    }

    /// Puts a record into the log of a seeded start.
    pub(crate) fn seed_record(
        &mut self,
        rules: &crate::rules::Rules,
        identity: Identity,
        sequence: Sequence,
        transactional: bool,
        (payload, ghost): (Payload, Ghost),
    ) {
        let offset = self.append(
            rules,
            Record {
                offset: self.log_end,
                kind: RecordKind::Data,
                identity,
                sequence,
                transactional,
                coordinator_epoch: None,
                payload,
                ghost,
            },
        );
        self.high_watermark = Offset(offset.0 + 1);
        self.applied = self.high_watermark;
    }

    /// KIP-664: an operator writes an abort marker for the first open transaction, at the
    /// producer's current epoch and past the coordinator.
    pub fn operator_marker(&mut self, ctx: &Context<'_>) -> Step {
        let open = self.producers.iter().find(|e| e.open.is_some());
        let Some((identity, first, coordinator_epoch)) = open.and_then(|e| {
            let identity = Identity::new(e.producer_id, e.epoch);
            e.open.map(|first| (identity, first, e.coordinator_epoch))
        }) else {
            return Step::NotEnabled;
        };
        let ghost = self.record_at(first).map_or(Ghost::NONE, |r| r.ghost);
        self.append(
            ctx.rules,
            Record {
                offset: self.log_end,
                kind: RecordKind::Marker(TransactionResult::Abort),
                identity,
                sequence: Sequence::FIRST,
                transactional: true,
                coordinator_epoch,
                payload: Payload(0),
                ghost,
            },
        );
        Step::Handled
    }

    /// The record at `offset`, if compaction left it.
    pub fn record_at(&self, offset: Offset) -> Option<&Record> {
        self.log.iter().find(|r| r.offset == offset)
    }
}
