//! What events say in the broker's numbers, compared with what the model says in its own.

use fencepost_spec::coordinator::{TransactionMetadata, TransactionState};
use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::partition::{Record, RecordKind};
use fencepost_spec::types::*;
use fencepost_spec::world::State;

use super::search::{Did, Goal, Step};
use crate::observed::event::{Logged, LoggedState, Pair};

/// The broker's producer ids of an id, in the order of the model's, from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a>(pub(super) &'a [i64]);

impl Known<'_> {
    /// Whether the broker's producer id may be the model's: bound to it, or both are new.
    fn is_id(self, model: ProducerId, real: i64) -> bool {
        let Some(at) = usize::from(model.0).checked_sub(1) else {
            return false;
        };
        match self.0.get(at) {
            Some(bound) => *bound == real,
            None => at == self.0.len() && !self.0.contains(&real),
        }
    }

    /// Whether an identity may be the model's.
    pub(super) fn is(self, model: Identity, real: Pair) -> bool {
        model.producer_epoch.0 == real.1 && self.is_id(model.producer_id, real.0)
    }

    /// Whether both are none, or may be the same.
    pub(super) fn is_maybe(self, model: Option<Identity>, real: Option<Pair>) -> bool {
        match (model, real) {
            (Some(model), Some(real)) => self.is(model, real),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

/// A record of the transaction log becomes durable.
pub(super) struct LogGoal<'a> {
    pub(super) known: Known<'a>,
    pub(super) record: Option<&'a Logged>,
    pub(super) partitions: PartitionSet,
    /// What the model writes instead.
    pub(super) instead: Option<String>,
}

impl LogGoal<'_> {
    /// Whether the model's record says what the broker's says.
    pub(super) fn is(&self, model: Option<&TransactionMetadata>) -> bool {
        let (Some(model), Some(real)) = (model, self.record) else {
            return model.is_none() && self.record.is_none();
        };
        // A producer id that comes to be known with this record is new for its other fields too.
        let mut ids = self.known.0.to_vec();
        if !ids.contains(&real.producer.0) {
            ids.push(real.producer.0);
        }
        model.state == state(real.state)
            && model.partitions == self.partitions
            && self.known.is(model.identity(), real.producer)
            && Known(&ids).is_id(model.prev_producer_id, real.previous)
            && Known(&ids).is_maybe(model.next, real.next)
    }

    /// Whether the broker's record adds more partitions at once than the model's.
    fn is_part(&self, model: Option<&TransactionMetadata>) -> bool {
        let (Some(model), Some(real)) = (model, self.record) else {
            return false;
        };
        real.state == LoggedState::Ongoing
            && model.state == TransactionState::Ongoing
            && self.known.is(model.identity(), real.producer)
            && model
                .partitions
                .iter()
                .all(|it| self.partitions.contains(it))
    }
}

impl Goal for LogGoal<'_> {
    fn step(&mut self, did: Did, _before: &State, after: &State) -> Step {
        if did != Did::Log {
            return Step::Unseen;
        }
        let model = after.log.committed.first().and_then(Option::as_ref);
        if self.is(model) {
            Step::Seen
        } else if self.is_part(model) {
            Step::Part
        } else {
            self.instead = Some(model.map_or_else(|| "a tombstone".to_owned(), record_text));
            Step::Unseen
        }
    }
}

/// A partition appends.
pub(super) struct AppendGoal {
    pub(super) at: usize,
    pub(super) kind: RecordKind,
    pub(super) identity: Identity,
    /// The model's sequence, where the kind of record has one.
    pub(super) sequence: Option<i32>,
    /// What the model appends instead.
    pub(super) instead: Option<String>,
}

impl AppendGoal {
    fn is(&self, record: &Record) -> bool {
        record.kind == self.kind
            && record.identity == self.identity
            && self.sequence.is_none_or(|it| record.sequence.0 == it)
    }
}

impl Goal for AppendGoal {
    fn step(&mut self, did: Did, _before: &State, after: &State) -> Step {
        if did != Did::Append(self.at) {
            return Step::Unseen;
        }
        match after.partitions[self.at].log.last() {
            Some(record) if self.is(record) => Step::Seen,
            Some(record) => {
                self.instead = Some(format!("{:?} of {}", record.kind, record.identity));
                Step::Unseen
            }
            None => Step::Unseen,
        }
    }
}

const fn state(logged: LoggedState) -> TransactionState {
    match logged {
        LoggedState::Empty => TransactionState::Empty,
        LoggedState::Ongoing => TransactionState::Ongoing,
        LoggedState::PrepareCommit => TransactionState::PrepareCommit,
        LoggedState::PrepareAbort => TransactionState::PrepareAbort,
        LoggedState::CompleteCommit => TransactionState::CompleteCommit,
        LoggedState::CompleteAbort => TransactionState::CompleteAbort,
    }
}

fn record_text(record: &TransactionMetadata) -> String {
    let next = record
        .next
        .map_or_else(String::new, |it| format!(", then {it}"));
    format!(
        "{:?} {}{next} with {} partitions",
        record.state,
        record.identity(),
        record.partitions.iter().count()
    )
}

/// Older versions have other words for two refusals.
pub(super) fn same_error(model: ErrorCode, real: i16) -> bool {
    model.number() == real
        || match model {
            ErrorCode::ProducerFenced => real == ErrorCode::InvalidProducerEpoch.number(),
            ErrorCode::TransactionAbortable => real == ErrorCode::InvalidTxnState.number(),
            _ => false,
        }
}

/// COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, NOT_LEADER_OR_FOLLOWER,
/// UNKNOWN_TOPIC_OR_PARTITION, and whatever the model has no word for: they speak of the broker,
/// not of the transaction.
pub(super) fn is_transient(error: i16) -> bool {
    matches!(error, 14 | 15 | 16 | 6 | 3) || !ErrorCode::ALL.iter().any(|it| it.number() == error)
}

/// INVALID_TRANSACTION_TIMEOUT and TRANSACTIONAL_ID_AUTHORIZATION_FAILED: the broker's settings,
/// which no recording shows, refuse before the transaction is looked at.
pub(super) const fn is_of_settings(error: i16) -> bool {
    matches!(error, 50 | 53)
}

/// ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID: who is a member is not followed.
pub(super) fn is_of_membership(error: i16) -> bool {
    matches!(error, 22 | 25 | 82)
}
