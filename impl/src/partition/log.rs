//! The log in memory: raw batches by offset.

use im::OrdMap;

use crate::batch::RecordBatch;
use crate::types::Offset;

/// Batches in offset order. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Log {
    batches: OrdMap<Offset, RecordBatch>,
    start: Offset,
    end: Offset,
}

impl Default for Log {
    fn default() -> Self {
        Self::starting_at(Offset::ZERO)
    }
}

impl Log {
    /// An empty log whose first batch will have this offset.
    #[must_use]
    pub fn starting_at(start: Offset) -> Self {
        Self {
            batches: OrdMap::new(),
            start,
            end: start,
        }
    }

    /// The first offset that the log can have.
    #[must_use]
    pub fn start_offset(&self) -> Offset {
        self.start
    }

    /// The offset of the next record.
    #[must_use]
    pub fn end_offset(&self) -> Offset {
        self.end
    }

    /// Adds a batch. One that begins below the log end is not taken, and the answer is `false`.
    pub(super) fn append(&mut self, batch: RecordBatch) -> bool {
        if batch.base_offset() < self.end {
            return false;
        }
        self.end = batch.next_offset();
        self.batches.insert(batch.base_offset(), batch);
        true
    }

    /// Drops every batch that holds `to` or a later offset.
    pub(super) fn truncate(&mut self, to: Offset) {
        while let Some((base, last)) = self.batches.get_max()
            && last.next_offset() > to
        {
            let base = *base;
            self.batches.remove(&base);
        }
        let kept = self.batches.get_max().map(|(_, last)| last.next_offset());
        self.end = kept.unwrap_or(self.start);
    }

    /// The batches from the one that holds `offset` on, or from the next one where that offset is in no batch.
    pub fn batches_from(&self, offset: Offset) -> impl Iterator<Item = &RecordBatch> {
        let holding = self
            .batches
            .get_prev(&offset)
            .filter(|(_, batch)| batch.last_offset() >= offset)
            .map_or(offset, |(base, _)| *base);
        self.batches.range(holding..).map(|(_, batch)| batch)
    }
}
