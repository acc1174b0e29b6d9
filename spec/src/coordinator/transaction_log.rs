//! The transaction-state partition: a replicated log with an appended and a committed part.
//!
//! The committed part is kept compacted (the last record of each id), which loses nothing: load
//! reads no more than that. An election truncates what is not replicated.

use super::TransactionMetadata;
use crate::error_code::ErrorCode;
use crate::message::{AppendTxnRecord, AppendTxnRecordAnswer, Message};
use crate::step::{Out, Step};
use crate::types::{BrokerId, CoordinatorEpoch, List};
use crate::written_over::written_over;
use serde::{Deserialize, Serialize};

/// The log of `__transaction_state`, for the ids of the scenario.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TransactionLog {
    /// Who leads.
    pub leader: BrokerId,
    /// The leader epoch: what coordinators call their epoch.
    pub epoch: CoordinatorEpoch,
    /// Replicated: the last record by transactional id; `None` where there is none or a tombstone.
    pub committed: List<Option<TransactionMetadata>, 2>,
    /// Appended by the leader, not replicated yet.
    pub appended: List<AppendTxnRecord, 2>,
}

written_over!(TransactionLog {
    values: [leader, epoch],
    lists: [committed, appended],
    others: [],
});

impl TransactionLog {
    /// An empty log that broker 0 leads.
    pub fn new(ids: usize) -> Self {
        Self {
            leader: BrokerId(0),
            epoch: CoordinatorEpoch(0),
            committed: (0..ids).map(|_| None).collect(),
            appended: List::new(),
        }
    }

    /// Takes a record from a coordinator: only the leader's is appended. `fails` is the fault of
    /// too few replicas.
    pub fn append(&mut self, record: &AppendTxnRecord, fails: bool, out: &mut Out) {
        if record.coordinator_epoch != self.epoch {
            self.answer(record, ErrorCode::NotLeaderOrFollower, out);
        } else if fails {
            self.answer(record, ErrorCode::NotEnoughReplicas, out);
        } else {
            self.appended.push(*record);
        }
    }

    /// The oldest appended record reaches every replica.
    pub fn commit(&mut self, out: &mut Out) -> Step {
        if self.appended.is_empty() {
            return Step::NotEnabled;
        }
        let record = self.appended.remove(0);
        self.committed[usize::from(record.transactional_id.0)] = record.value;
        self.answer(&record, ErrorCode::None, out);
        Step::Handled
    }

    /// A new leader: what was not replicated is gone.
    pub fn elect(&mut self, leader: BrokerId) {
        self.leader = leader;
        self.epoch = CoordinatorEpoch(self.epoch.0 + 1);
        self.appended.clear();
    }

    fn answer(&self, record: &AppendTxnRecord, error: ErrorCode, out: &mut Out) {
        out.send(Message::AppendTxnRecordAnswer(AppendTxnRecordAnswer {
            broker: record.broker,
            coordinator_epoch: record.coordinator_epoch,
            transactional_id: record.transactional_id,
            value: record.value,
            error,
        }));
    }
}
