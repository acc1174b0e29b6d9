//! The whole epoch range, one InitProducerId at a time.

use fencepost_conformance::wire::{ErrorCode, InitProducerId};

use super::harness::Facts;

/// Every epoch from 0 to 32766 is handed out once, in order, then a fresh producer id at 0.
pub fn every_epoch(facts: &mut Facts) {
    let mut story = facts.story("exhaustion");
    let id = story.id.clone();
    let mut first = None;
    for epoch in 0..=i16::MAX - 1 {
        let answer = story
            .wire()
            .init_producer_id(5, InitProducerId::plain(&id))
            .expect("InitProducerId");
        assert_eq!(answer.error, ErrorCode::NONE, "at epoch {epoch}");
        assert_eq!(answer.producer.epoch, epoch);
        let first = *first.get_or_insert(answer.producer.id);
        assert_eq!(answer.producer.id, first);
    }
    let answer = story
        .wire()
        .init_producer_id(5, InitProducerId::plain(&id))
        .expect("InitProducerId");
    assert_eq!(answer.error, ErrorCode::NONE);
    assert_eq!(answer.producer.epoch, 0);
    assert_ne!(Some(answer.producer.id), first);
}
