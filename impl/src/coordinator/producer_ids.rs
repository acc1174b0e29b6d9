//! Producer ids: taken one by one from blocks that the controller hands out.
//!
//! Source: KIP-730. A block has 1000 ids; the next one is asked for when 90 % of the current one is taken. Ids that are
//! left when a broker stops are skipped, never reused.

use super::effect::{Effect, Effects};
use crate::error_code::ErrorCode;
use crate::types::{ProducerId, Timestamp};

/// How long to wait after a refused request before asking again.
const RETRY_BACKOFF_MS: i64 = 50;

/// A block of producer ids as the controller answered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProducerIdBlock {
    /// The first id.
    pub first: ProducerId,
    /// How many ids there are.
    pub len: i32,
}

impl ProducerIdBlock {
    /// The id after the last one; `None` when the block is empty, negative or runs past the largest id.
    fn end(self) -> Option<i64> {
        if self.len <= 0 {
            None
        } else {
            self.first.get().checked_add(i64::from(self.len))
        }
    }
}

/// The block in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Current {
    next: i64,
    end: i64,
    /// Taking this id asks for the next block.
    prefetch_at: i64,
}

/// The ids at hand, and whether more are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ProducerIds {
    current: Option<Current>,
    next: Option<ProducerIdBlock>,
    request_in_flight: bool,
    backoff_until: Option<Timestamp>,
}

impl ProducerIds {
    /// Takes an id.
    ///
    /// # Errors
    /// [`ErrorCode::CoordinatorLoadInProgress`] when none is at hand; the client tries again.
    pub(super) fn generate(
        &mut self,
        now: Timestamp,
        effects: &mut Effects,
    ) -> Result<ProducerId, ErrorCode> {
        if self
            .current
            .is_none_or(|current| current.next == current.end)
        {
            self.current = match self.next.take() {
                Some(block) => current(block),
                None => self.current,
            };
        }
        match &mut self.current {
            Some(current) if current.next < current.end => {
                let taken = current.next;
                current.next += 1;
                if taken == current.prefetch_at {
                    self.request_next_block(now, effects);
                }
                Ok(ProducerId::new(taken))
            }
            Some(_) | None => {
                self.request_next_block(now, effects);
                Err(ErrorCode::CoordinatorLoadInProgress)
            }
        }
    }

    fn request_next_block(&mut self, now: Timestamp, effects: &mut Effects) {
        let backing_off = self.backoff_until.is_some_and(|until| now < until);
        if self.next.is_none() && !self.request_in_flight && !backing_off {
            self.request_in_flight = true;
            effects.push(Effect::AllocateProducerIds);
        }
    }

    /// Takes in the controller's answer: a block, or `None` when it could not be had. A block that is empty, out of
    /// range or not above the current one counts as none.
    pub(super) fn block_arrived(&mut self, block: Option<ProducerIdBlock>, now: Timestamp) {
        self.request_in_flight = false;
        let above = |block: &ProducerIdBlock| {
            block.end().is_some()
                && self
                    .current
                    .is_none_or(|current| block.first.get() >= current.end)
        };
        match block.filter(above) {
            Some(block) => {
                self.next = Some(block);
                self.backoff_until = None;
            }
            None => self.backoff_until = Some(now.plus_millis(RETRY_BACKOFF_MS)),
        }
    }
}

fn current(block: ProducerIdBlock) -> Option<Current> {
    let next = block.first.get();
    let end = block.end()?;
    Some(Current {
        next,
        end,
        prefetch_at: next + i64::from(block.len) * 9 / 10,
    })
}

#[cfg(test)]
mod tests {
    use super::{ProducerIdBlock, ProducerIds};
    use crate::coordinator::effect::{Effect, Effects};
    use crate::error_code::ErrorCode;
    use crate::types::{ProducerId, Timestamp};

    const NOW: Timestamp = Timestamp::from_millis(100);

    fn block(first: i64) -> Option<ProducerIdBlock> {
        Some(ProducerIdBlock {
            first: ProducerId::new(first),
            len: 1000,
        })
    }

    #[test]
    fn a_block_is_asked_for_when_there_is_none_and_once_only() {
        let mut ids = ProducerIds::default();
        let mut effects = Effects::new();
        assert_eq!(
            ids.generate(NOW, &mut effects),
            Err(ErrorCode::CoordinatorLoadInProgress)
        );
        assert_eq!(
            ids.generate(NOW, &mut effects),
            Err(ErrorCode::CoordinatorLoadInProgress)
        );
        assert_eq!(effects, [Effect::AllocateProducerIds]);
        ids.block_arrived(block(5000), NOW);
        assert_eq!(ids.generate(NOW, &mut effects), Ok(ProducerId::new(5000)));
        assert_eq!(effects.len(), 1);
    }

    #[test]
    fn the_next_block_is_asked_for_at_90_percent_and_used_when_the_first_is_empty() {
        let mut ids = ProducerIds::default();
        let mut effects = Effects::new();
        ids.block_arrived(block(0), NOW);
        for id in 0..900 {
            assert_eq!(ids.generate(NOW, &mut effects), Ok(ProducerId::new(id)));
        }
        assert_eq!(effects, []);
        assert_eq!(ids.generate(NOW, &mut effects), Ok(ProducerId::new(900)));
        assert_eq!(effects, [Effect::AllocateProducerIds]);
        ids.block_arrived(block(7000), NOW);
        for id in (901..1000).chain(7000..7900) {
            assert_eq!(ids.generate(NOW, &mut effects), Ok(ProducerId::new(id)));
        }
        assert_eq!(effects.len(), 1);
    }

    #[test]
    fn a_refusal_is_not_repeated_for_50_ms() {
        let mut ids = ProducerIds::default();
        let mut effects = Effects::new();
        ids.block_arrived(None, NOW);
        assert!(ids.generate(NOW.plus_millis(49), &mut effects).is_err());
        assert_eq!(effects, []);
        assert!(ids.generate(NOW.plus_millis(50), &mut effects).is_err());
        assert_eq!(effects, [Effect::AllocateProducerIds]);
    }

    #[test]
    fn a_block_that_is_not_above_the_current_one_or_out_of_range_is_dropped() {
        let mut ids = ProducerIds::default();
        let mut effects = Effects::new();
        ids.block_arrived(block(1000), NOW);
        assert_eq!(ids.generate(NOW, &mut effects), Ok(ProducerId::new(1000)));
        let bad = [
            block(1999),
            Some(ProducerIdBlock {
                first: ProducerId::new(9000),
                len: 0,
            }),
            Some(ProducerIdBlock {
                first: ProducerId::new(i64::MAX - 10),
                len: 1000,
            }),
        ];
        for block in bad {
            ids.block_arrived(block, NOW);
        }
        for _ in 1001..2000 {
            assert!(ids.generate(NOW, &mut effects).is_ok());
        }
        assert_eq!(
            ids.generate(NOW, &mut effects),
            Err(ErrorCode::CoordinatorLoadInProgress)
        );
    }
}
