//! What a partition knows of each producer: epoch, the last five batches, the open transaction.

use std::sync::Arc;

use im::OrdMap;

use crate::batch::{BatchError, ControlRecord, EndTxnMarker, RecordBatch};
use crate::types::{
    CoordinatorEpoch, Offset, ProducerEpoch, ProducerId, Sequence, Timestamp, TransactionResult,
};

/// How many batches of a producer are remembered: as many as a client may have in flight.
pub const WINDOW: usize = 5;

/// One remembered batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchMetadata {
    /// The sequence of its last record.
    pub last_sequence: Sequence,
    /// The offset of its last record.
    pub last_offset: Offset,
    /// Offsets from its first record to its last one.
    pub offset_delta: i32,
    /// Its latest record timestamp.
    pub timestamp: Timestamp,
}

impl BatchMetadata {
    /// The sequence of its first record.
    #[must_use]
    pub fn first_sequence(&self) -> Sequence {
        Sequence::new(self.last_sequence.get().wrapping_sub(self.offset_delta) & i32::MAX)
    }

    /// The offset of its first record.
    #[must_use]
    pub fn first_offset(&self) -> Offset {
        Offset::new((self.last_offset.get() - i64::from(self.offset_delta)).max(0))
    }
}

/// What a partition knows of one producer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProducerState {
    /// The epoch of its last batch or marker.
    pub epoch: ProducerEpoch,
    /// The leadership of the coordinator that wrote its last marker.
    pub coordinator_epoch: Option<CoordinatorEpoch>,
    /// The time of its last batch or marker: expiry counts from here.
    pub last_timestamp: Timestamp,
    /// Where its open transaction begins.
    pub current_txn_first_offset: Option<Offset>,
    /// Its last batches at this epoch, oldest first, at most [`WINDOW`].
    pub batches: Vec<BatchMetadata>,
}

impl ProducerState {
    fn new(epoch: ProducerEpoch, last_timestamp: Timestamp) -> Self {
        Self {
            epoch,
            coordinator_epoch: None,
            last_timestamp,
            current_txn_first_offset: None,
            batches: Vec::new(),
        }
    }

    /// The sequence of the last remembered record.
    #[must_use]
    pub fn last_sequence(&self) -> Option<Sequence> {
        self.batches.last().map(|batch| batch.last_sequence)
    }

    /// The remembered batch with exactly these sequences at this epoch.
    #[must_use]
    pub fn duplicate_of(
        &self,
        epoch: ProducerEpoch,
        first: Sequence,
        last: Sequence,
    ) -> Option<&BatchMetadata> {
        self.batches.iter().find(|batch| {
            self.epoch == epoch && batch.first_sequence() == first && batch.last_sequence == last
        })
    }

    fn set_epoch(&mut self, epoch: ProducerEpoch) {
        if self.epoch != epoch {
            self.epoch = epoch;
            self.batches.clear();
        }
    }

    fn remember(&mut self, batch: BatchMetadata) {
        if self.batches.len() == seeded!(WindowOfOne, WINDOW, 1) {
            self.batches.remove(0);
        }
        self.batches.push(batch);
    }
}

/// A transaction that a marker has ended in this partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CompletedTxn {
    /// Whose it was.
    pub producer_id: ProducerId,
    /// Its first offset.
    pub first_offset: Offset,
    /// The marker's offset.
    pub last_offset: Offset,
    /// How it ended.
    pub result: TransactionResult,
}

/// All producers of a partition, as the log up to some offset says. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProducerStates {
    states: OrdMap<ProducerId, Arc<ProducerState>>,
    /// First offset of each open transaction: the smallest bounds the last stable offset.
    ongoing: OrdMap<Offset, ProducerId>,
}

impl ProducerStates {
    /// The state of one producer.
    #[must_use]
    pub fn get(&self, producer_id: ProducerId) -> Option<&ProducerState> {
        self.states.get(&producer_id).map(Arc::as_ref)
    }

    /// Every producer, by id.
    pub fn iter(&self) -> impl Iterator<Item = (ProducerId, &ProducerState)> {
        self.states.iter().map(|(id, state)| (*id, state.as_ref()))
    }

    /// The open transactions, by first offset.
    pub fn ongoing(&self) -> impl Iterator<Item = (Offset, ProducerId)> {
        self.ongoing.iter().map(|(first, id)| (*first, *id))
    }

    /// Whether the producer has a transaction open at exactly this epoch (B04: an older epoch's open transaction is not
    /// this one's).
    #[must_use]
    pub fn has_ongoing(&self, producer_id: ProducerId, epoch: ProducerEpoch) -> bool {
        self.get(producer_id)
            .filter(|state| seeded!(OpenByIdOnly, state.epoch == epoch, state.epoch <= epoch))
            .is_some_and(|state| state.current_txn_first_offset.is_some())
    }

    /// Follows one batch of the log, without any check: leaders check before they append, and followers and recovery
    /// take the log as it is. Answers with the transaction that the batch ended.
    ///
    /// # Errors
    /// A control batch whose record is malformed.
    pub fn apply(&mut self, batch: &RecordBatch) -> Result<Option<CompletedTxn>, BatchError> {
        let Some(producer) = batch.producer() else {
            return Ok(None);
        };
        if !batch.header().is_control {
            self.apply_data(batch, producer.producer_id, producer.producer_epoch);
            return Ok(None);
        }
        Ok(match batch.control_record()? {
            Some(ControlRecord::EndTxn(marker)) => {
                self.apply_marker(batch, producer.producer_id, producer.producer_epoch, marker)
            }
            Some(ControlRecord::Other(_)) | None => None,
        })
    }

    fn apply_data(&mut self, batch: &RecordBatch, id: ProducerId, epoch: ProducerEpoch) {
        let timestamp = batch.header().max_timestamp;
        let mut state = self
            .get(id)
            .cloned()
            .unwrap_or_else(|| ProducerState::new(epoch, timestamp));
        state.set_epoch(epoch);
        state.last_timestamp = timestamp;
        if let Some(last_sequence) = batch.last_sequence() {
            state.remember(BatchMetadata {
                last_sequence,
                last_offset: batch.last_offset(),
                offset_delta: batch.header().last_offset_delta,
                timestamp,
            });
        }
        if batch.header().is_transactional && state.current_txn_first_offset.is_none() {
            state.current_txn_first_offset = Some(batch.base_offset());
            self.ongoing.insert(batch.base_offset(), id);
        }
        self.states.insert(id, Arc::new(state));
    }

    fn apply_marker(
        &mut self,
        batch: &RecordBatch,
        id: ProducerId,
        epoch: ProducerEpoch,
        marker: EndTxnMarker,
    ) -> Option<CompletedTxn> {
        let timestamp = batch.header().max_timestamp;
        let mut state = self
            .get(id)
            .cloned()
            .unwrap_or_else(|| ProducerState::new(epoch, timestamp));
        // The epoch rises even without an open transaction: that is what stops a late TV2 produce.
        state.set_epoch(epoch);
        state.coordinator_epoch = Some(marker.coordinator_epoch);
        // B52: the marker's time counts for expiry.
        state.last_timestamp = timestamp;
        let first_offset = state.current_txn_first_offset.take();
        seed!(
            MarkerLeavesOpen,
            state.current_txn_first_offset = first_offset
        );
        self.states.insert(id, Arc::new(state));
        let first_offset = first_offset?;
        self.ongoing.remove(&first_offset);
        Some(CompletedTxn {
            producer_id: id,
            first_offset,
            last_offset: batch.last_offset(),
            result: marker.result,
        })
    }

    /// Puts back a producer that a snapshot holds.
    pub(super) fn restore(&mut self, id: ProducerId, state: ProducerState) {
        if let Some(first) = state.current_txn_first_offset {
            self.ongoing.insert(first, id);
        }
        self.states.insert(id, Arc::new(state));
    }

    /// Forgets a producer without an open transaction.
    pub(super) fn remove(&mut self, id: ProducerId) {
        self.states.remove(&id);
    }
}
