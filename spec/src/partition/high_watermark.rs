//! Replication and application: the high watermark, what waits for it, and the last stable offset.
//!
//! SOURCE: KIP-98; `UnifiedLog.fetchLastStableOffsetMetadata`.

use super::Partition;
use crate::step::{Out, Step};
use crate::types::Offset;

impl Partition {
    /// One more record is on every replica.
    pub fn replicate(&mut self, out: &mut Out) -> Step {
        if self.recovering || self.high_watermark >= self.log_end {
            return Step::NotEnabled;
        }
        self.high_watermark = Offset(self.high_watermark.0 + 1);
        let hw = self.high_watermark;
        self.unreplicated.retain(|(_, marker)| *marker >= hw);
        let (done, left): (Vec<_>, Vec<_>) = self.waiting.iter().partition(|w| w.offset < hw);
        self.waiting = left.into_iter().collect();
        out.messages.extend(done.into_iter().map(|w| w.answer));
        Step::Handled
    }

    /// One more record is applied to the state that readers ask.
    pub fn apply(&mut self) -> Step {
        if self.recovering || self.applied >= self.log_end {
            return Step::NotEnabled;
        }
        self.applied = Offset(self.applied.0 + 1);
        Step::Handled
    }

    /// The first offset that is not decided and replicated, or the high watermark.
    pub fn last_stable_offset(&self) -> Offset {
        let open = self.producers.iter().filter_map(|e| e.open);
        let unreplicated = self.unreplicated.iter().map(|(first, _)| *first);
        open.chain(unreplicated)
            .min()
            .map_or(self.high_watermark, |first| first.min(self.high_watermark))
    }
}
