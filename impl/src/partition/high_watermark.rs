//! The high watermark, the last stable offset, and the answers that wait for them to move.

use super::{CompletedTxn, Effect, Partition};
use crate::types::Offset;

impl Partition {
    /// Below it, every record is replicated.
    #[must_use]
    pub fn high_watermark(&self) -> Offset {
        self.high_watermark
    }

    /// Below it, every record is replicated and every transaction decided: the smallest first offset of an open
    /// transaction, or of an ended one whose marker is not replicated, and never more than the high watermark.
    #[must_use]
    pub fn last_stable_offset(&self) -> Offset {
        seed!(StableIsReplicated, return self.high_watermark);
        let open = self
            .producers
            .latest()
            .ongoing()
            .next()
            .map(|(first, _)| first);
        let unreplicated = self.unreplicated.keys().next().copied();
        [open, unreplicated]
            .into_iter()
            .flatten()
            .fold(self.high_watermark, Offset::min)
    }

    /// Moves the high watermark forward, never past the log end and never back.
    pub(super) fn replicated(&mut self, up_to: Offset) -> Vec<Effect> {
        let reached = up_to.min(self.log.end_offset());
        if reached <= self.high_watermark {
            return Vec::new();
        }
        self.high_watermark = reached;
        self.producers.replicate(reached);
        self.keep_unreplicated(|completed| completed.last_offset >= reached);
        let mut effects = Vec::new();
        while let Some((key, answer)) = self.waiting.get_min()
            && key.0 <= reached
        {
            let (key, answer) = (*key, *answer);
            self.waiting.remove(&key);
            effects.push(Effect::Reply {
                request: key.1,
                answer,
            });
        }
        effects
    }

    /// Drops the ended transactions that are no longer in the way of the last stable offset.
    pub(super) fn keep_unreplicated(&mut self, keep: impl Fn(&CompletedTxn) -> bool) {
        let dropped: Vec<Offset> = self
            .unreplicated
            .values()
            .filter(|completed| !keep(completed))
            .map(|completed| completed.first_offset)
            .collect();
        for first_offset in dropped {
            self.unreplicated.remove(&first_offset);
        }
    }
}
