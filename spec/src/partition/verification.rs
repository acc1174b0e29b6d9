//! The verification guard: the answer of the coordinator is only good for the transaction it was
//! asked about.
//!
//! SOURCE: KIP-890 part 1; KAFKA-14884 (the guard); KAFKA-14904 (the lowest sequence seen). A
//! guard is a unique object in Kafka; here a parked batch knows whether its guard still stands,
//! which is the same without a counter.

use super::{Partition, Record, RecordKind};
use crate::message::{Produce, TxnOffsetCommit, VerifyPartition};
use crate::rules::Rules;
use crate::types::*;
use serde::{Deserialize, Serialize};

/// What is parked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ParkedRequest {
    /// A batch.
    Produce(Produce),
    /// A staged offset.
    TxnOffsetCommit(TxnOffsetCommit),
}

/// A request that waits for the coordinator's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Parked {
    /// What waits.
    pub request: ParkedRequest,
    /// Whether its guard still stands: data or a marker of the producer wipes it.
    pub guard_stands: bool,
}

/// A transaction that was asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct VerificationEntry {
    /// Whose.
    pub producer_id: ProducerId,
    /// At which epoch.
    pub epoch: ProducerEpoch,
    /// The lowest sequence that has asked.
    pub lowest_sequence: Sequence,
    /// The version of the request that asked first: Kafka never changes it.
    pub version: TransactionVersion,
}

impl ParkedRequest {
    /// The identity on the request.
    pub fn identity(&self) -> Identity {
        match self {
            Self::Produce(m) => m.identity,
            Self::TxnOffsetCommit(m) => m.identity,
        }
    }

    /// What tells parked requests of one producer apart: the sequence, or for offsets, which have
    /// none, the number of the request.
    pub fn sequence(&self) -> Sequence {
        match self {
            Self::Produce(m) => m.sequence,
            Self::TxnOffsetCommit(m) => Sequence(i32::from(m.correlation.number)),
        }
    }
}

impl Partition {
    /// Parks a request and says what to ask.
    pub(crate) fn park(
        &mut self,
        request: ParkedRequest,
        transactional_id: TransactionalId,
        version: TransactionVersion,
        ghost: Ghost,
    ) -> VerifyPartition {
        let (identity, sequence) = (request.identity(), request.sequence());
        self.note_verification(identity, sequence, version);
        self.parked.push(Parked {
            request,
            guard_stands: true,
        });
        self.parked.sort();
        VerifyPartition {
            partition: self.index,
            transactional_id,
            identity,
            sequence,
            verify_only: version == TransactionVersion::Tv1,
            ghost,
        }
    }

    /// Takes the parked request that an answer belongs to.
    pub(crate) fn unpark(&mut self, identity: Identity, sequence: Sequence) -> Option<Parked> {
        let at = self
            .parked
            .iter()
            .position(|p| p.request.identity() == identity && p.request.sequence() == sequence)?;
        Some(self.parked.remove(at))
    }

    /// Data and markers wipe the guards of their producer. A TV2 marker leaves a guard of its own
    /// epoch: that one was made for the next transaction.
    pub(super) fn wipe_guards(&mut self, rules: &Rules, record: &Record) {
        let id = record.identity.producer_id;
        let is_next = self.verification.iter().any(|v| {
            v.producer_id == id
                && v.version == TransactionVersion::Tv2
                && v.epoch == record.identity.producer_epoch
        });
        let marker = matches!(record.kind, RecordKind::Marker(_));
        if is_next && marker && rules.produce.marker_keeps_next_guard {
            return;
        }
        self.verification.retain(|v| v.producer_id != id);
        for parked in &mut self.parked {
            if parked.request.identity().producer_id == id {
                parked.guard_stands = false;
            }
        }
    }

    fn note_verification(
        &mut self,
        identity: Identity,
        sequence: Sequence,
        version: TransactionVersion,
    ) {
        let found = self
            .verification
            .iter_mut()
            .find(|v| v.producer_id == identity.producer_id);
        match found {
            Some(entry) if entry.epoch == identity.producer_epoch => {
                entry.lowest_sequence = entry.lowest_sequence.min(sequence);
            }
            Some(entry) if entry.epoch < identity.producer_epoch => {
                entry.epoch = identity.producer_epoch;
                entry.lowest_sequence = sequence;
            }
            Some(_) => {}
            None => {
                self.verification.push(VerificationEntry {
                    producer_id: identity.producer_id,
                    epoch: identity.producer_epoch,
                    lowest_sequence: sequence,
                    version,
                });
                self.verification.sort();
            }
        }
    }
}
