//! One replica of one data partition: the log, the producers' states, the high watermark, the last stable offset and
//! the index of aborted transactions.
//!
//! A leader checks what it appends; a follower takes what the leader sends; both follow the log with the same function
//! ([`ProducerStates::apply`]), which is also what recovery replays.

mod aborted_index;
mod append;
mod effect;
mod expiry;
mod fetch;
mod high_watermark;
mod input;
mod log;
mod produce;
mod producer_state;
mod snapshot;
pub(crate) mod timeline;
mod truncation;
mod verification;
mod write_txn_markers;

#[cfg(test)]
mod tests;

use im::OrdMap;

pub use aborted_index::{AbortedIndex, AbortedTxn, ENTRY_LEN, IndexError};
pub(crate) use append::CoordinatorAppend;
pub use effect::{Answer, Effect, Produced};
pub use fetch::{FetchData, Fetched};
pub use input::{Acks, Input, Produce, TransactionSupport, WriteTxnMarker};
pub use log::Log;
pub use produce::Parked;
pub(crate) use produce::verification_answer;
pub use producer_state::{BatchMetadata, CompletedTxn, ProducerState, ProducerStates, WINDOW};
pub use snapshot::{Snapshot, SnapshotError};
pub use truncation::{RecoveryError, Stored};
pub use verification::{VerificationEntry, VerificationGuard, Verifications};

use crate::batch::RecordBatch;
use crate::error_code::ErrorCode;
use crate::types::{LeaderEpoch, Offset, RequestId, Timestamp, TransactionResult};
use timeline::Timeline;

/// The settings of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionConfig {
    /// Whether a transaction's first batch waits for the coordinator's word:
    /// `transaction.partition.verification.enable`.
    pub verification: bool,
    /// Milliseconds without a batch or marker after which a producer without an open transaction is forgotten:
    /// `producer.id.expiration.ms`.
    pub producer_id_expiration_ms: i64,
}

impl Default for PartitionConfig {
    fn default() -> Self {
        Self {
            verification: true,
            producer_id_expiration_ms: 86_400_000,
        }
    }
}

/// What the replica is at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// It leads.
    Leader(LeaderEpoch),
    /// It follows; `None` before it has heard of any leadership.
    Follower(Option<LeaderEpoch>),
}

/// One replica of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Partition {
    config: PartitionConfig,
    role: Role,
    log: Log,
    high_watermark: Offset,
    producers: Timeline<ProducerStates>,
    /// Transactions that a marker at or above the high watermark has ended, by first offset.
    unreplicated: OrdMap<Offset, CompletedTxn>,
    aborted: AbortedIndex,
    verifications: Verifications,
    parked: OrdMap<RequestId, Parked>,
    /// Answers that wait for the high watermark to reach an offset.
    waiting: OrdMap<(Offset, RequestId), Answer>,
}

impl Partition {
    /// An empty replica that follows nobody yet.
    #[must_use]
    pub fn new(config: PartitionConfig) -> Self {
        Self {
            config,
            role: Role::Follower(None),
            log: Log::default(),
            high_watermark: Offset::ZERO,
            producers: Timeline::new(ProducerStates::default()),
            unreplicated: OrdMap::new(),
            aborted: AbortedIndex::default(),
            verifications: Verifications::default(),
            parked: OrdMap::new(),
            waiting: OrdMap::new(),
        }
    }

    /// Takes one input. `now` is the caller's clock; nothing here assumes that it moves forward.
    pub fn step(&mut self, input: Input, now: Timestamp) -> Vec<Effect> {
        match input {
            Input::Produce(produce) => self.produce(produce, now),
            Input::CoordinatorAnswered { request, answer } => {
                self.coordinator_answered(request, answer)
            }
            Input::WriteTxnMarker(marker) => self.write_txn_marker(&marker, now),
            Input::Replicated { up_to } => self.replicated(up_to),
            Input::AppendFailed { from } => self.append_failed(from),
            Input::BecomeLeader { leader_epoch } => self.become_leader(leader_epoch),
            Input::BecomeFollower { leader_epoch } => self.become_follower(leader_epoch),
            Input::Truncate { to } => self.truncate_follower(to),
            Input::Replicate {
                batches,
                high_watermark,
            } => self.replicate(batches, high_watermark),
            Input::Tick => {
                self.expire(now);
                Vec::new()
            }
        }
    }

    /// What the replica is.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// The log.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// The producers' states at the log end.
    #[must_use]
    pub fn producers(&self) -> &ProducerStates {
        self.producers.latest()
    }

    /// Every aborted transaction whose marker is in the log.
    #[must_use]
    pub fn aborted(&self) -> &AbortedIndex {
        &self.aborted
    }

    /// The ended transactions whose marker is not replicated, by first offset.
    pub fn unreplicated(&self) -> impl Iterator<Item = &CompletedTxn> {
        self.unreplicated.values()
    }

    /// The questions to the coordinator that are open.
    #[must_use]
    pub fn verifications(&self) -> &Verifications {
        &self.verifications
    }

    /// The writes that wait for the coordinator's answer.
    pub fn parked(&self) -> impl Iterator<Item = (RequestId, &Parked)> {
        self.parked.iter().map(|(request, it)| (*request, it))
    }

    /// The answers that wait for the high watermark, with the offset that it must reach.
    pub fn waiting(&self) -> impl Iterator<Item = (Offset, RequestId, &Answer)> {
        self.waiting
            .iter()
            .map(|((at, request), it)| (*at, *request, it))
    }

    /// The leadership under which this replica leads.
    pub(crate) fn leading(&self) -> Result<LeaderEpoch, ErrorCode> {
        match self.role {
            Role::Leader(epoch) => Ok(epoch),
            Role::Follower(_) => Err(ErrorCode::NotLeaderOrFollower),
        }
    }

    fn become_leader(&mut self, leader_epoch: LeaderEpoch) -> Vec<Effect> {
        if self.known_leadership() < Some(leader_epoch) {
            self.role = Role::Leader(leader_epoch);
        }
        Vec::new()
    }

    fn become_follower(&mut self, leader_epoch: LeaderEpoch) -> Vec<Effect> {
        if self.known_leadership() >= Some(leader_epoch) {
            return Vec::new();
        }
        self.role = Role::Follower(Some(leader_epoch));
        self.resign()
    }

    fn known_leadership(&self) -> Option<LeaderEpoch> {
        match self.role {
            Role::Leader(epoch) => Some(epoch),
            Role::Follower(epoch) => epoch,
        }
    }

    /// Refuses all that waits, and forgets what only a leader may know.
    fn resign(&mut self) -> Vec<Effect> {
        let code = ErrorCode::NotLeaderOrFollower;
        self.verifications.clear();
        let mut effects = Vec::new();
        for (request, parked) in std::mem::take(&mut self.parked) {
            effects.extend(parked.refused(request, code));
        }
        for ((_, request), answer) in std::mem::take(&mut self.waiting) {
            let answer = answer.refused(code);
            effects.push(Effect::Reply { request, answer });
        }
        effects
    }

    fn replicate(&mut self, batches: Vec<RecordBatch>, high_watermark: Offset) -> Vec<Effect> {
        if self.leading().is_ok() {
            return Vec::new();
        }
        let mut effects = Vec::new();
        for batch in batches {
            if batch.base_offset() < self.log.end_offset() {
                // A batch that is here already: the leader's answer was slow.
                continue;
            }
            if self.follow(batch.clone()).is_err() {
                break;
            }
            effects.push(Effect::Append(batch));
        }
        effects.extend(self.replicated(high_watermark));
        effects
    }

    /// Adds a batch that has been checked, or that a leader has checked, to the log and to everything that follows it.
    ///
    /// # Errors
    /// A control batch whose record is malformed, or a batch below the log end: nothing is changed.
    pub(crate) fn follow(&mut self, batch: RecordBatch) -> Result<(), ErrorCode> {
        let mut states = self.producers.latest().clone();
        let completed = states.apply(&batch).map_err(|error| error.code())?;
        let log_end = batch.next_offset();
        if !self.log.append(batch) {
            return Err(ErrorCode::CorruptMessage);
        }
        if let Some(completed) = completed {
            self.complete(completed, &states);
        }
        self.producers.push(log_end, states);
        Ok(())
    }

    /// Keeps an ended transaction in sight of the last stable offset until its marker is replicated, and indexes an
    /// aborted one.
    fn complete(&mut self, completed: CompletedTxn, states: &ProducerStates) {
        self.unreplicated.insert(completed.first_offset, completed);
        match completed.result {
            TransactionResult::Commit => {}
            TransactionResult::Abort => {
                let after_marker = Offset::new(completed.last_offset.get() + 1);
                let next_open = states.ongoing().next().map(|(first, _)| first);
                self.aborted.append(AbortedTxn {
                    producer_id: completed.producer_id,
                    first_offset: completed.first_offset,
                    last_offset: completed.last_offset,
                    last_stable_offset: next_open.unwrap_or(after_marker),
                });
            }
        }
    }

    fn reply_at(
        &mut self,
        reached: Offset,
        request: RequestId,
        answer: Answer,
        effects: &mut Vec<Effect>,
    ) {
        let is_replicated = self.high_watermark >= reached;
        if seeded!(AnsweredBeforeReplicated, is_replicated, true) {
            effects.push(Effect::Reply { request, answer });
        } else {
            self.waiting.insert((reached, request), answer);
        }
    }
}
