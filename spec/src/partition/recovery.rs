//! Fail-over and restart: the log is truncated to what is replicated, and the producer state is
//! rebuilt from the last snapshot and the log after it.
//!
//! SOURCE: `UnifiedLog.rebuildProducerState`; KAFKA-6683 (a snapshot past its offset).

use super::{Parked, ParkedRequest, Partition, ProducerEntry, produce};
use crate::error_code::ErrorCode;
use crate::message::Message;
use crate::rules::Rules;
use crate::step::{Out, Step};
use crate::types::*;
use crate::written_over::written_over;
use serde::{Deserialize, Serialize};

/// The producer state as of an offset.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Snapshot {
    /// It covers the log below this offset.
    pub offset: Offset,
    /// The entries, each with its last batch only.
    pub producers: List<ProducerEntry, 2>,
}

written_over!(Snapshot {
    values: [offset],
    lists: [],
    others: [producers],
});

impl Partition {
    /// Writes a snapshot of the producer state.
    pub fn take_snapshot(&mut self, rules: &Rules) -> Step {
        if self.recovering || self.log_end == Offset(0) {
            return Step::NotEnabled;
        }
        let mut producers = self.producers.clone();
        for entry in &mut producers {
            let older = entry.batches.len().saturating_sub(1);
            entry.batches.drain(..older);
        }
        if !rules.storage.snapshot_open_txns {
            producers.iter_mut().for_each(|e| e.open = None);
        }
        let offset = if rules.storage.snapshot_at_its_offset {
            self.log_end
        } else {
            self.high_watermark
        };
        self.snapshot = Some(Box::new(Snapshot { offset, producers }));
        Step::Handled
    }

    /// Another replica leads: it has what is replicated, and has yet to rebuild its state.
    pub fn fail_over(&mut self, out: &mut Out) -> Step {
        if self.recovering {
            return Step::NotEnabled;
        }
        let hw = self.high_watermark;
        self.log.retain(|r| r.offset < hw);
        self.log_end = hw;
        self.applied = self.applied.min(hw);
        self.stop(out);
        Step::Handled
    }

    /// The broker stops and starts again with its whole log.
    pub fn restart(&mut self, out: &mut Out) -> Step {
        if self.recovering {
            return Step::NotEnabled;
        }
        self.stop(out);
        Step::Handled
    }

    /// A replica that was away, and has fetched all that the leader still has, becomes the leader.
    pub fn promote_follower(&mut self, out: &mut Out) -> Step {
        let Some(follower) = self.follower.as_ref() else {
            return Step::NotEnabled;
        };
        let last = follower.last().map(|r| r.offset);
        let behind = self.log.iter().any(|r| last.is_none_or(|l| r.offset > l));
        if behind || self.recovering {
            return Step::NotEnabled;
        }
        let Some(log) = self.follower.take() else {
            return Step::NotEnabled;
        };
        self.log = *log;
        self.stop(out);
        Step::Handled
    }

    fn stop(&mut self, out: &mut Out) {
        self.recovering = true;
        self.producers.clear();
        self.verification.clear();
        self.aborted.clear();
        self.unreplicated.clear();
        if self
            .snapshot
            .as_ref()
            .is_some_and(|s| s.offset > self.log_end)
        {
            self.snapshot = None;
        }
        for parked in std::mem::take(&mut self.parked) {
            out.send(unavailable(&parked));
        }
        for waiting in std::mem::take(&mut self.waiting) {
            out.send(lost(waiting.answer));
        }
    }

    /// Rebuilds the producer state: the snapshot, then the log from its offset on.
    pub fn recover(&mut self, rules: &Rules) -> Step {
        if !self.recovering {
            return Step::NotEnabled;
        }
        self.recovering = false;
        let from = match &self.snapshot {
            Some(snapshot) => {
                self.producers = snapshot.producers.clone();
                snapshot.offset
            }
            None => Offset(0),
        };
        self.rebuild(rules, from);
        Step::Handled
    }

    fn rebuild(&mut self, rules: &Rules, from: Offset) {
        let index = Self::replayed(rules, self);
        let (records, aborted) = (self.log.clone(), index.aborted);
        for record in records.iter().filter(|r| r.offset >= from) {
            self.remember(rules, record);
        }
        self.aborted = aborted;
        self.unreplicated = index.unreplicated;
    }

    /// What the log alone says: a partition rebuilt from its first record. The aborted index is a
    /// file of its own and survives a restart; it is taken from here.
    pub fn replayed(rules: &Rules, partition: &Partition) -> Partition {
        let mut fresh = Partition::new(partition.index, partition.pace);
        fresh.high_watermark = partition.high_watermark;
        for record in &partition.log {
            fresh.remember(rules, record);
        }
        fresh
    }
}

fn unavailable(parked: &Parked) -> Message {
    let error = ErrorCode::NotLeaderOrFollower;
    match parked.request {
        ParkedRequest::Produce(m) => produce::answer_of(&m, error),
        ParkedRequest::TxnOffsetCommit(m) => Message::TxnOffsetCommitAnswer {
            correlation: m.correlation,
            error: ErrorCode::NotCoordinator,
        },
    }
}

/// An answer that waited for a replication that did not come.
fn lost(answer: Message) -> Message {
    match answer {
        Message::ProduceAnswer {
            correlation,
            identity,
            partition,
            sequence,
            ..
        } => Message::ProduceAnswer {
            correlation,
            identity,
            partition,
            sequence,
            error: ErrorCode::NotLeaderOrFollower,
        },
        Message::TxnOffsetCommitAnswer { correlation, .. } => Message::TxnOffsetCommitAnswer {
            correlation,
            error: ErrorCode::NotCoordinator,
        },
        Message::WriteTxnMarkersAnswer(mut m) => {
            m.error = ErrorCode::NotLeaderOrFollower;
            Message::WriteTxnMarkersAnswer(m)
        }
        other => other,
    }
}
