//! Taking the end of a log back, and building a replica from what was stored.

use thiserror::Error;

use super::timeline::Timeline;
use super::{AbortedIndex, Effect, Log, Partition, PartitionConfig, ProducerStates, Snapshot};
use crate::batch::RecordBatch;
use crate::error_code::ErrorCode;
use crate::types::Offset;

/// What a replica finds on its disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stored {
    /// The whole batches of the log, in order.
    pub batches: Vec<RecordBatch>,
    /// The latest snapshot at or below the high watermark, if there is one.
    pub snapshot: Option<Snapshot>,
    /// The transaction index.
    pub aborted: AbortedIndex,
    /// The high watermark that was last stored.
    pub high_watermark: Offset,
}

/// Why a log cannot be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum RecoveryError {
    /// A batch begins below the end of the one before it, or is a control batch with a malformed record.
    #[error("the batch at offset {0} cannot be followed")]
    Batch(Offset),
}

impl Partition {
    /// A replica as its stored parts say, following nobody yet.
    ///
    /// A snapshot above the high watermark or above the log end is not used. Above the log end it speaks of records
    /// that are gone (B35). Above the high watermark it no longer says which of its decisions were not replicated, and
    /// readers would pass them.
    ///
    /// # Errors
    /// [`RecoveryError`]: the log is damaged.
    pub fn recover(config: PartitionConfig, stored: Stored) -> Result<Self, RecoveryError> {
        let log_start = stored
            .batches
            .first()
            .map_or(Offset::ZERO, RecordBatch::base_offset);
        let log_end = stored
            .batches
            .last()
            .map_or(log_start, RecordBatch::next_offset);
        let high_watermark = stored.high_watermark.clamp(log_start, log_end);
        let mut partition = Self::new(config);
        partition.log = Log::starting_at(log_start);
        let mut replay_from = log_start;
        if let Some(snapshot) = stored
            .snapshot
            .filter(|snapshot| snapshot.offset <= high_watermark)
        {
            replay_from = snapshot.offset;
            partition.producers = Timeline::new(snapshot.producers);
            partition.aborted = stored.aborted;
            partition.aborted.truncate(replay_from);
        }
        for batch in stored.batches {
            let base = batch.base_offset();
            let followed = if batch.next_offset() <= replay_from {
                partition.log.append(batch)
            } else {
                partition.follow(batch).is_ok()
            };
            if !followed {
                return Err(RecoveryError::Batch(base));
            }
        }
        partition.replicated(high_watermark);
        partition.high_watermark = high_watermark;
        seed!(
            RecoveryForgetsAborted,
            partition.aborted = AbortedIndex::default()
        );
        Ok(partition)
    }

    /// Takes back a failed append and all that came after it. Below the high watermark nothing can be taken back: what
    /// is replicated was durable.
    pub(super) fn append_failed(&mut self, from: Offset) -> Vec<Effect> {
        let to = from.max(self.high_watermark);
        if to >= self.log.end_offset() {
            return Vec::new();
        }
        self.truncate(to);
        let log_end = self.log.end_offset();
        let mut effects = vec![Effect::Truncate { to: log_end }];
        let failed: Vec<_> = self
            .waiting
            .iter()
            .filter(|((reached, _), _)| *reached > log_end)
            .map(|(key, answer)| (*key, *answer))
            .collect();
        for (key, answer) in failed {
            self.waiting.remove(&key);
            effects.push(Effect::Reply {
                request: key.1,
                answer: answer.refused(ErrorCode::KafkaStorageError),
            });
        }
        effects
    }

    pub(super) fn truncate_follower(&mut self, to: Offset) -> Vec<Effect> {
        if self.leading().is_ok() || to >= self.log.end_offset() {
            return Vec::new();
        }
        self.truncate(to);
        vec![Effect::Truncate {
            to: self.log.end_offset(),
        }]
    }

    /// Cuts the log, and brings everything that follows it back to the new end.
    pub(crate) fn truncate(&mut self, to: Offset) {
        self.log.truncate(to);
        let log_end = self.log.end_offset();
        if log_end < self.high_watermark {
            // Only after an unclean election. The versions begin at the high watermark, so the log is read again.
            self.high_watermark = log_end;
            self.producers = Timeline::new(replayed(&self.log));
            self.unreplicated.clear();
        }
        self.producers.truncate(log_end);
        // A transaction whose marker is gone is open again, and `producers` says so.
        self.keep_unreplicated(|completed| completed.last_offset < log_end);
        self.aborted.truncate(log_end);
    }
}

fn replayed(log: &Log) -> ProducerStates {
    let mut states = ProducerStates::default();
    for batch in log.batches_from(log.start_offset()) {
        // Every batch was applied once when it was appended, so none is malformed.
        let _completed = states.apply(batch);
    }
    states
}
