//! What a partition remembers of each producer id: epoch, coordinator epoch, the last five
//! batches, and the first offset of an open transaction.
//!
//! SOURCE: KIP-98 (idempotence); KIP-360; KIP-890 (an epoch change clears the batches).

use super::{Partition, Record, RecordKind};
use crate::rules::{OpenRule, Rules};
use crate::types::*;
use crate::written_over::written_over;
use serde::{Deserialize, Serialize};

/// A remembered batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Batch {
    /// Its sequence.
    pub sequence: Sequence,
    /// Where it was written.
    pub offset: Offset,
}

/// One producer id at one partition.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProducerEntry {
    /// The producer id.
    pub producer_id: ProducerId,
    /// The epoch of its last batch or marker.
    pub epoch: ProducerEpoch,
    /// The epoch of the coordinator that wrote the last marker.
    pub coordinator_epoch: Option<CoordinatorEpoch>,
    /// The last batches of this epoch, oldest first.
    pub batches: List<Batch, 2>,
    /// The first offset of the open transaction.
    pub open: Option<Offset>,
}

written_over!(ProducerEntry {
    values: [producer_id, epoch, coordinator_epoch, open],
    lists: [batches],
    others: [],
});

impl Partition {
    /// What is known of a producer id.
    pub fn producer(&self, id: ProducerId) -> Option<&ProducerEntry> {
        self.producers.iter().find(|e| e.producer_id == id)
    }

    pub(super) fn producer_mut(
        &mut self,
        id: ProducerId,
        epoch: ProducerEpoch,
    ) -> &mut ProducerEntry {
        let at = match self.producers.iter().position(|e| e.producer_id >= id) {
            Some(i) if self.producers[i].producer_id == id => i,
            found => {
                let i = found.unwrap_or(self.producers.len());
                self.producers.insert(
                    i,
                    ProducerEntry {
                        producer_id: id,
                        epoch,
                        coordinator_epoch: None,
                        batches: List::new(),
                        open: None,
                    },
                );
                i
            }
        };
        &mut self.producers[at]
    }

    /// Whether `identity` has an open transaction here.
    pub fn has_open(&self, rules: &Rules, identity: Identity) -> bool {
        self.producer(identity.producer_id).is_some_and(|e| {
            e.open.is_some()
                && match rules.produce.open_rule {
                    OpenRule::SameEpoch => e.epoch == identity.producer_epoch,
                    OpenRule::AnyEpoch => true,
                }
        })
    }

    /// Takes a record of the log into the producer state: at append, and again at recovery.
    pub(super) fn remember(&mut self, rules: &Rules, record: &Record) {
        let window = usize::from(rules.produce.window);
        let entry = self.producer_mut(record.identity.producer_id, record.identity.producer_epoch);
        if entry.epoch != record.identity.producer_epoch {
            entry.epoch = record.identity.producer_epoch;
            entry.batches.clear();
        }
        match record.kind {
            RecordKind::Data | RecordKind::Emptied => {
                entry.batches.push(Batch {
                    sequence: record.sequence,
                    offset: record.offset,
                });
                if entry.batches.len() > window {
                    entry.batches.remove(0);
                }
                if record.kind == RecordKind::Data && record.transactional && entry.open.is_none() {
                    entry.open = Some(record.offset);
                }
            }
            RecordKind::Marker(result) => {
                entry.coordinator_epoch = record.coordinator_epoch;
                let open = entry.open;
                if result == TransactionResult::Commit || rules.produce.abort_clears_all {
                    entry.open = None;
                }
                if let Some(first) = open {
                    self.decide(first, record, result);
                }
            }
        }
    }
}
