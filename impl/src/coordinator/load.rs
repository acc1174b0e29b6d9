//! Elections: reading the log of a partition, taking up what was decided before, and letting go.
//!
//! What it is: leadership changes, told by the broker's metadata. Source: KIP-98; KAFKA-9307 and KAFKA-15468 (an old
//! cache never outlives its epoch, and a notice of the same epoch reloads nothing).

use std::sync::Arc;

use im::OrdMap;

use super::effect::{Effect, Effects};
use super::input::{Leadership, LogRecord};
use super::led_partition::LedPartition;
use super::state_transitions::TransactionState;
use super::transaction_metadata::TransactionMetadata;
use super::{Coordinator, markers, txn_log};
use crate::records::RecordError;
use crate::records::transaction_log::TransactionLogKey;
use crate::types::{CoordinatorEpoch, Timestamp, TransactionVersion, TransactionalId};

/// A partition of the transaction log that this coordinator was elected for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ownership {
    /// Its log is being read; requests have to come again.
    Loading(LoadingPartition),
    /// It is served.
    Led(LedPartition),
}

impl Ownership {
    fn coordinator_epoch(&self) -> CoordinatorEpoch {
        match self {
            Self::Loading(loading) => loading.coordinator_epoch,
            Self::Led(led) => led.coordinator_epoch(),
        }
    }
}

/// A partition whose log is being read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoadingPartition {
    coordinator_epoch: CoordinatorEpoch,
    transactions: OrdMap<TransactionalId, Arc<TransactionMetadata>>,
    skipped_records: usize,
}

impl LoadingPartition {
    /// The last record of a key wins; a null value removes it; a record of an unknown version is skipped.
    fn replay(&mut self, record: &LogRecord) -> Result<(), RecordError> {
        let read = TransactionLogKey::decode(&record.key).and_then(|key| {
            let metadata = record.value.as_deref().map(txn_log::metadata).transpose()?;
            Ok((key.transactional_id, metadata))
        });
        match read {
            Ok((id, Some(metadata))) => {
                seed!(
                    FirstRecordCounts,
                    if self.transactions.contains_key(&id) {
                        return Ok(());
                    }
                );
                self.transactions.insert(id, Arc::new(metadata));
            }
            Ok((id, None)) => {
                self.transactions.remove(&id);
            }
            Err(RecordError::UnknownVersion(_)) => self.skipped_records += 1,
            Err(
                error @ (RecordError::UnexpectedEnd
                | RecordError::TrailingBytes(_)
                | RecordError::InvalidLength
                | RecordError::InvalidText
                | RecordError::InvalidField(_)
                | RecordError::TooLong),
            ) => return Err(error),
        }
        Ok(())
    }
}

impl Coordinator {
    /// Takes in a change of leadership.
    pub(super) fn leadership(
        &mut self,
        leadership: Leadership,
        now: Timestamp,
        effects: &mut Effects,
    ) {
        match leadership {
            Leadership::Elected {
                partition,
                coordinator_epoch,
            } => self.elected(partition, coordinator_epoch),
            Leadership::Replayed {
                partition,
                coordinator_epoch,
                records,
            } => {
                self.replayed(partition, coordinator_epoch, &records, effects);
            }
            Leadership::Loaded {
                partition,
                coordinator_epoch,
            } => {
                self.loaded(partition, coordinator_epoch, now, effects);
            }
            Leadership::Resigned {
                partition,
                coordinator_epoch,
            } => self.resigned(partition, coordinator_epoch),
        }
    }

    fn elected(&mut self, partition: i32, coordinator_epoch: CoordinatorEpoch) {
        let newer = self
            .partitions
            .get(&partition)
            .is_none_or(|known| known.coordinator_epoch() < coordinator_epoch);
        if newer {
            let loading = LoadingPartition {
                coordinator_epoch,
                transactions: OrdMap::new(),
                skipped_records: 0,
            };
            self.partitions
                .insert(partition, Ownership::Loading(loading));
        }
    }

    /// The partition that is being loaded for this epoch; a load for another one is over.
    fn loading(
        &mut self,
        partition: i32,
        coordinator_epoch: CoordinatorEpoch,
    ) -> Option<&mut LoadingPartition> {
        match self.partitions.get_mut(&partition)? {
            Ownership::Loading(loading) if loading.coordinator_epoch == coordinator_epoch => {
                Some(loading)
            }
            Ownership::Loading(_) | Ownership::Led(_) => None,
        }
    }

    fn replayed(
        &mut self,
        partition: i32,
        coordinator_epoch: CoordinatorEpoch,
        records: &[LogRecord],
        effects: &mut Effects,
    ) {
        let Some(loading) = self.loading(partition, coordinator_epoch) else {
            return;
        };
        if let Err(error) = records.iter().try_for_each(|record| loading.replay(record)) {
            // Damage never passes as state: the partition is given up rather than served in part.
            self.partitions.remove(&partition);
            effects.push(Effect::LoadFailed {
                partition,
                coordinator_epoch,
                error,
            });
        }
    }

    fn loaded(
        &mut self,
        partition: i32,
        coordinator_epoch: CoordinatorEpoch,
        now: Timestamp,
        effects: &mut Effects,
    ) {
        let level = self.transaction_version;
        let Some(loading) = self.loading(partition, coordinator_epoch) else {
            return;
        };
        let transactions = std::mem::take(&mut loading.transactions);
        effects.push(Effect::Loaded {
            partition,
            coordinator_epoch,
            transactional_ids: transactions.len(),
            skipped_records: loading.skipped_records,
        });
        let mut led = LedPartition::new(partition, coordinator_epoch);
        for (id, metadata) in transactions {
            take_up(&mut led, &id, metadata, level, now, effects);
        }
        self.partitions.insert(partition, Ownership::Led(led));
    }

    fn resigned(&mut self, partition: i32, coordinator_epoch: CoordinatorEpoch) {
        let older = self
            .partitions
            .get(&partition)
            .is_some_and(|known| known.coordinator_epoch() <= coordinator_epoch);
        if older {
            self.partitions.remove(&partition);
        }
    }
}

/// An open transaction is left alone, its clock runs on; a decided one gets all its markers again, because which of
/// them were written is not in the log.
fn take_up(
    led: &mut LedPartition,
    id: &TransactionalId,
    metadata: Arc<TransactionMetadata>,
    level: TransactionVersion,
    now: Timestamp,
    effects: &mut Effects,
) {
    match metadata.state {
        TransactionState::PrepareCommit | TransactionState::PrepareAbort => {
            seed!(PreparedNotResumed, return led.settle(id, metadata));
            markers::begin_completion(led, id, metadata, level, now, effects);
        }
        TransactionState::Empty
        | TransactionState::Ongoing
        | TransactionState::CompleteCommit
        | TransactionState::CompleteAbort
        | TransactionState::Dead
        | TransactionState::PrepareEpochFence => led.settle(id, metadata),
    }
}
