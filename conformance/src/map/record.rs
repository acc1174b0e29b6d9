//! Records of the transaction-state log: the model's value as the implementation's bytes, and back.

use super::{
    Clock, Topics, Unmapped, client_version, producer_epoch, producer_id, spec_producer_epoch,
    spec_producer_id, spec_transactional_id, spec_version, transactional_id,
};
use fencepost::coordinator::{LogRecord, TransactionState as ImplState, TransactionTimeout};
use fencepost::records::transaction_log::{
    TransactionLogKey, TransactionLogValue, TransactionLogValueVersion,
};
use fencepost::types::TransactionVersion as ImplVersion;
use fencepost_spec::coordinator::{TransactionMetadata, TransactionState};
use fencepost_spec::types::{Ghost, Identity, ProducerEpoch, TransactionalId};

/// What the model's value does not say of a record's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordForm {
    /// The clock by which the transaction began.
    pub began: Clock,
    /// The clock by which it was last changed.
    pub changed: Clock,
    /// The next epoch is written even where it is 0: the transaction was kept (KIP-939).
    pub kept: bool,
}

impl RecordForm {
    /// All by one clock, and nothing kept.
    pub fn at(clock: Clock) -> Self {
        Self {
            began: clock,
            changed: clock,
            kept: false,
        }
    }
}

/// Every form that a record may have at a broker with this clock: a transaction may have begun before it stepped back.
pub fn record_forms(clock: Clock) -> impl Iterator<Item = RecordForm> {
    let clocks = [Clock::default(), clock];
    let clocks = clocks.into_iter().take(if clock.back { 2 } else { 1 });
    clocks.clone().flat_map(move |began| {
        let changed = clocks.clone();
        changed.flat_map(move |changed| {
            [false, true].map(|kept| RecordForm {
                began,
                changed,
                kept,
            })
        })
    })
}

/// The bytes that the implementation writes for this record.
///
/// # Errors
/// [`Unmapped`] for a value that it cannot hold.
pub fn log_record(
    topics: Topics,
    form: RecordForm,
    id: TransactionalId,
    value: Option<&TransactionMetadata>,
) -> Result<LogRecord, Unmapped> {
    let key = TransactionLogKey {
        transactional_id: transactional_id(id),
    };
    let value = value
        .map(|metadata| {
            log_value(topics, form, metadata)?
                .encode(TransactionLogValueVersion::of(ImplVersion::V1))
                .map_err(|error| Unmapped::new("log value", error))
        })
        .transpose()?;
    Ok(LogRecord {
        key: key
            .encode()
            .map_err(|error| Unmapped::new("log key", error))?,
        value,
    })
}

fn log_value(
    topics: Topics,
    form: RecordForm,
    m: &TransactionMetadata,
) -> Result<TransactionLogValue, Unmapped> {
    Ok(TransactionLogValue {
        producer_id: producer_id(m.producer_id),
        previous_producer_id: Some(producer_id(m.prev_producer_id)),
        next_producer_id: m.next.map(|next| producer_id(next.producer_id)),
        producer_epoch: Some(producer_epoch(m.producer_epoch)?),
        next_producer_epoch: m
            .next
            // A decision without a kept transaction promises epoch 0 without saying so.
            .filter(|next| {
                form.kept
                    || m.state == TransactionState::Ongoing
                    || next.producer_epoch != ProducerEpoch::FIRST
            })
            .map(|next| producer_epoch(next.producer_epoch))
            .transpose()?,
        transaction_timeout_ms: if m.two_phase {
            TransactionTimeout::Never.to_record()
        } else {
            Clock::TRANSACTION_TIMEOUT_MS
        },
        transaction_status: state(m.state).status(),
        transaction_partitions: match m.state {
            TransactionState::Empty => None,
            TransactionState::Ongoing
            | TransactionState::PrepareCommit
            | TransactionState::PrepareAbort
            | TransactionState::CompleteCommit
            | TransactionState::CompleteAbort => Some(topics.partitions(m.partitions)),
        },
        last_update_timestamp: form.changed.last_update(m),
        start_timestamp: form.began.start(m),
        client_transaction_version: client_version(m.client_version),
    })
}

/// What a record of the implementation says, as the model's record.
///
/// # Errors
/// [`Unmapped`] for bytes that are no record, or values out of the model's range.
pub fn read_log_record(
    topics: Topics,
    record: &LogRecord,
) -> Result<(TransactionalId, Option<TransactionMetadata>), Unmapped> {
    let key =
        TransactionLogKey::decode(&record.key).map_err(|error| Unmapped::new("log key", error))?;
    let id = spec_transactional_id(&key.transactional_id)?;
    let Some(bytes) = &record.value else {
        return Ok((id, None));
    };
    let value =
        TransactionLogValue::decode(bytes).map_err(|error| Unmapped::new("log value", error))?;
    let missing = || Unmapped::new("log value", &value);
    let epoch = value.producer_epoch.ok_or_else(missing)?;
    let state = TransactionState::ALL
        .into_iter()
        .find(|known| state(*known).status() == value.transaction_status)
        .ok_or_else(missing)?;
    let producer_id = spec_producer_id(value.producer_id)?;
    let next = value
        .next_producer_id
        .map(|next| {
            let epoch = value
                .next_producer_epoch
                .map_or(ProducerEpoch::FIRST, spec_producer_epoch);
            Ok(Identity::new(spec_producer_id(next)?, epoch))
        })
        .transpose()?;
    let metadata = TransactionMetadata {
        state,
        producer_id,
        producer_epoch: spec_producer_epoch(epoch),
        last_producer_epoch: None,
        prev_producer_id: value
            .previous_producer_id
            .map_or(Ok(producer_id), spec_producer_id)?,
        next,
        partitions: topics.spec_set(value.transaction_partitions.as_deref().unwrap_or_default())?,
        two_phase: value.transaction_timeout_ms == i32::MAX,
        client_version: spec_version(value.client_transaction_version),
        ghost: Ghost::NONE,
    };
    Ok((id, Some(metadata)))
}

fn state(state: TransactionState) -> ImplState {
    match state {
        TransactionState::Empty => ImplState::Empty,
        TransactionState::Ongoing => ImplState::Ongoing,
        TransactionState::PrepareCommit => ImplState::PrepareCommit,
        TransactionState::PrepareAbort => ImplState::PrepareAbort,
        TransactionState::CompleteCommit => ImplState::CompleteCommit,
        TransactionState::CompleteAbort => ImplState::CompleteAbort,
    }
}
