//! The controller, as far as a broker sees it: it gives producer ids in blocks.

use fencepost::coordinator::{self, ProducerIdBlock};
use fencepost::types::ProducerId;

use super::broker::{Broker, Work};

/// How it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Blocks {
    /// Each request gets the next block.
    #[default]
    Next,
    /// Each request is refused.
    Refused,
    /// A request waits until what was held goes on, and gets the next block then.
    Late,
    /// One request gets the block before the next one, which was given already; the others get the next one.
    GivenBefore,
    /// One request gets a block without ids; the others get the next one.
    Empty,
    /// One request gets a block that runs past the largest producer id; the others get the next one.
    PastTheEnd,
}

impl Broker {
    /// A request for a block.
    pub(super) fn allocate_producer_ids(&mut self) {
        let len = self.settings.block;
        let unusable =
            |first: Option<ProducerId>, len| first.map(|first| ProducerIdBlock { first, len });
        let block = match self.held.blocks {
            Blocks::Next => self.next_block(),
            Blocks::Refused => None,
            Blocks::Late => {
                self.held.late_blocks += 1;
                return;
            }
            Blocks::GivenBefore => {
                let before = self.next_producer_id.saturating_sub(i64::from(len));
                unusable(ProducerId::from_wire(before), len)
            }
            Blocks::Empty => unusable(ProducerId::from_wire(self.next_producer_id), 0),
            Blocks::PastTheEnd => unusable(ProducerId::from_wire(i64::MAX), len),
        };
        match self.held.blocks {
            Blocks::GivenBefore | Blocks::Empty | Blocks::PastTheEnd => {
                self.held.blocks = Blocks::Next;
            }
            Blocks::Next | Blocks::Refused | Blocks::Late => {}
        }
        self.give(block);
    }

    /// Answers so many requests that waited.
    pub(super) fn give_late_blocks(&mut self, count: usize) {
        for _ in 0..count {
            let block = self.next_block();
            self.give(block);
        }
    }

    fn next_block(&mut self) -> Option<ProducerIdBlock> {
        let len = self.settings.block;
        let first = ProducerId::from_wire(self.next_producer_id)?;
        self.next_producer_id = self.next_producer_id.saturating_add(i64::from(len));
        Some(ProducerIdBlock { first, len })
    }

    fn give(&mut self, block: Option<ProducerIdBlock>) {
        let input = coordinator::Input::ProducerIdBlockArrived(block);
        self.queue(Work::Coordinator(input));
    }
}
