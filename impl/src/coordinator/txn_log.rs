//! The transaction log: records from metadata and back, and what follows when an append ends.

use super::effect::{Answer, AppendTicket, Effect, Effects, Then};
use super::input::{AppendOutcome, LogRecord};
use super::partition_set::PartitionSet;
use super::state_transitions::TransactionState;
use super::transaction_metadata::{Slot, Stage, TransactionMetadata, TransactionTimeout};
use super::{Coordinator, led_partition::LedPartition, markers};
use crate::error_code::ErrorCode;
use crate::records::RecordError;
use crate::records::transaction_log::{
    TransactionLogKey, TransactionLogValue, TransactionLogValueVersion,
};
use crate::types::{Timestamp, TransactionVersion, TransactionalId};

/// The record of an id, as a cluster at this level writes it.
///
/// # Panics
/// If a name is too long for its field: requests and loading have refused such names.
pub(super) fn record(
    id: &TransactionalId,
    metadata: &TransactionMetadata,
    level: TransactionVersion,
) -> LogRecord {
    assert!(
        metadata.state.is_persisted(),
        "{:?} is never a record",
        metadata.state
    );
    let value = TransactionLogValue {
        producer_id: metadata.producer_id,
        previous_producer_id: metadata.previous_producer_id,
        next_producer_id: metadata.next_producer_id,
        producer_epoch: metadata.producer_epoch,
        next_producer_epoch: metadata.next_producer_epoch,
        transaction_timeout_ms: metadata.timeout.to_record(),
        transaction_status: metadata.state.status(),
        transaction_partitions: match metadata.state {
            TransactionState::Empty => None,
            TransactionState::Ongoing
            | TransactionState::PrepareCommit
            | TransactionState::PrepareAbort
            | TransactionState::CompleteCommit
            | TransactionState::CompleteAbort
            | TransactionState::Dead
            | TransactionState::PrepareEpochFence => Some(metadata.partitions.as_slice()),
        },
        last_update_timestamp: metadata.last_update_timestamp,
        start_timestamp: metadata.start_timestamp,
        client_transaction_version: metadata.client_transaction_version,
    };
    let value = value
        .encode(TransactionLogValueVersion::of(level))
        .expect("topics' names were checked");
    LogRecord {
        value: Some(value),
        ..tombstone(id)
    }
}

/// The record that removes an id.
///
/// # Panics
/// If the id is too long for its field: requests have refused such ids.
pub(super) fn tombstone(id: &TransactionalId) -> LogRecord {
    let key = TransactionLogKey {
        transactional_id: id.clone(),
    };
    LogRecord {
        key: key.encode().expect("the id's length was checked"),
        value: None,
    }
}

/// What a record says of an id.
///
/// # Errors
/// When the record is damaged, or says what no coordinator writes.
pub(super) fn metadata(value: &[u8]) -> Result<TransactionMetadata, RecordError> {
    let value = TransactionLogValue::decode(value)?;
    let state = TransactionState::from_record(value.transaction_status)
        .ok_or(RecordError::InvalidField("transaction status"))?;
    let partitions: PartitionSet = match (state, value.transaction_partitions) {
        (TransactionState::Empty, _) => PartitionSet::default(),
        (_, Some(partitions)) => partitions.into_iter().collect(),
        (_, None) => return Err(RecordError::InvalidField("transaction partitions")),
    };
    if partitions
        .as_slice()
        .iter()
        .any(|partition| i16::try_from(partition.topic.as_str().len()).is_err())
    {
        return Err(RecordError::TooLong);
    }
    Ok(TransactionMetadata {
        producer_id: value.producer_id,
        previous_producer_id: value.previous_producer_id,
        next_producer_id: value.next_producer_id,
        producer_epoch: Some(
            value
                .producer_epoch
                .ok_or(RecordError::InvalidField("producer epoch"))?,
        ),
        // Not in the record: after an election a retried InitProducerId is fenced, as in Kafka 4.4.
        last_producer_epoch: None,
        next_producer_epoch: value.next_producer_epoch,
        timeout: TransactionTimeout::from_record(value.transaction_timeout_ms),
        state,
        partitions,
        start_timestamp: value.start_timestamp,
        last_update_timestamp: value.last_update_timestamp,
        client_transaction_version: value.client_transaction_version,
        has_failed_epoch_fence: false,
    })
}

/// What a client is told when the log answers this error.
pub(super) fn append_error(error: ErrorCode) -> ErrorCode {
    match error {
        ErrorCode::UnknownTopicOrPartition
        | ErrorCode::NotEnoughReplicas
        | ErrorCode::NotEnoughReplicasAfterAppend
        | ErrorCode::RequestTimedOut => ErrorCode::CoordinatorNotAvailable,
        ErrorCode::NotLeaderOrFollower | ErrorCode::KafkaStorageError => ErrorCode::NotCoordinator,
        // No error is no failure: a log that says both has told nothing.
        ErrorCode::MessageTooLarge | ErrorCode::RecordListTooLarge | ErrorCode::None => {
            ErrorCode::UnknownServerError
        }
        other => other,
    }
}

impl Coordinator {
    /// Applies the change whose record is durable, or takes it back; then answers whoever waits.
    pub(super) fn append_finished(
        &mut self,
        ticket: AppendTicket,
        outcome: AppendOutcome,
        now: Timestamp,
        effects: &mut Effects,
    ) {
        let (partition, coordinator_epoch, id, then) = match ticket {
            AppendTicket::Tombstones {
                partition,
                coordinator_epoch,
                transactional_ids,
            } => {
                let Ok(led) = self.led_at(partition, coordinator_epoch) else {
                    return;
                };
                return led.tombstones_finished(&transactional_ids, outcome);
            }
            AppendTicket::Transition {
                partition,
                coordinator_epoch,
                transactional_id,
                then,
            } => (partition, coordinator_epoch, transactional_id, then),
        };
        let level = self.transaction_version;
        let led = self.led_at(partition, coordinator_epoch);
        match (outcome, led) {
            (AppendOutcome::Written, Ok(led)) => led.written(&id, &then, level, now, effects),
            // The record is in a log that is another's by now: whoever loads it decides.
            (AppendOutcome::Written, Err(error)) => answer(&then, Err(error), effects),
            (AppendOutcome::Failed(error), led) => {
                let error = append_error(error);
                if let Ok(led) = led {
                    led.not_written(&id, &then, error);
                }
                answer(&then, Err(error), effects);
            }
        }
    }
}

impl LedPartition {
    fn written(
        &mut self,
        id: &TransactionalId,
        then: &Then,
        level: TransactionVersion,
        now: Timestamp,
        effects: &mut Effects,
    ) {
        let Some(to) = self.appending(id).map(|(_, to)| to) else {
            return answer(then, Err(ErrorCode::NotCoordinator), effects);
        };
        // The answer does not wait for the markers: the decision is durable.
        answer(then, Ok(()), effects);
        match to.state {
            TransactionState::PrepareCommit | TransactionState::PrepareAbort => {
                markers::begin_completion(self, id, to, level, now, effects);
            }
            TransactionState::Empty
            | TransactionState::Ongoing
            | TransactionState::CompleteCommit
            | TransactionState::CompleteAbort
            | TransactionState::Dead
            | TransactionState::PrepareEpochFence => self.settle(id, to),
        }
    }

    /// The id is as it was, but for two things: a completion is tried again where that can help, and a TV1 fence keeps
    /// the raised epoch, which no client was told (KAFKA-9666).
    fn not_written(&mut self, id: &TransactionalId, then: &Then, error: ErrorCode) {
        let Some((mut from, to)) = self.appending(id) else {
            return;
        };
        match then {
            Then::Complete if error == ErrorCode::CoordinatorNotAvailable => {
                self.retry_later(id);
                if let Some(pending) = self.pending_mut(id) {
                    pending.stage = Stage::CompletionQueued;
                }
                return;
            }
            Then::AnswerFencedInitProducerId(..) | Then::AbortTimedOut
                if !to.client_transaction_version.supports_epoch_bump() =>
            {
                std::sync::Arc::make_mut(&mut from).has_failed_epoch_fence = true;
            }
            Then::AnswerInitProducerId(..)
            | Then::AnswerFencedInitProducerId(..)
            | Then::AnswerAddPartitionsToTxn(..)
            | Then::AnswerAddOffsetsToTxn(..)
            | Then::AnswerEndTxn(..)
            | Then::AbortTimedOut
            | Then::Complete => {}
        }
        seed!(PendingSurvivesFailure, return);
        self.settle(id, from);
    }

    /// The two sides of the change whose append is under way.
    fn appending(&self, id: &TransactionalId) -> Option<(Metadata, Metadata)> {
        let pending = self.get(id).and_then(Slot::pending)?;
        match pending.stage {
            Stage::Appending | Stage::AppendingCompletion => {
                Some((pending.from.clone(), pending.to.clone()))
            }
            Stage::WritingMarkers { .. } | Stage::CompletionQueued | Stage::Abandoned => None,
        }
    }
}

type Metadata = std::sync::Arc<TransactionMetadata>;

/// Answers whoever waits for a change, now that it is done or has failed.
fn answer(then: &Then, done: Result<(), ErrorCode>, effects: &mut Effects) {
    let (to, answer) = match then {
        Then::AnswerInitProducerId(to, form, producer) => (
            to,
            Answer::InitProducerId(done.map(|()| *producer).map_err(|error| form.tell(error))),
        ),
        // KIP-98: the client comes again, and gets an epoch of its own then.
        Then::AnswerFencedInitProducerId(to, form) => {
            let error = done.err().unwrap_or(ErrorCode::ConcurrentTransactions);
            (to, Answer::InitProducerId(Err(form.tell(error))))
        }
        Then::AnswerAddPartitionsToTxn(to, form, partitions) => {
            let error = done.map_or_else(|error| form.tell(error), |()| ErrorCode::None);
            let outcomes = partitions
                .iter()
                .map(|partition| (partition.clone(), error))
                .collect();
            (to, Answer::AddPartitionsToTxn(Ok(outcomes)))
        }
        Then::AnswerAddOffsetsToTxn(to, form) => (
            to,
            Answer::AddOffsetsToTxn(done.map_err(|error| form.tell(error))),
        ),
        Then::AnswerEndTxn(to, form, producer) => (
            to,
            Answer::EndTxn(done.map(|()| *producer).map_err(|error| form.tell(error))),
        ),
        Then::AbortTimedOut | Then::Complete => return,
    };
    effects.push(Effect::Reply(*to, answer));
}
