//! The sweep's abort, and what its owner is told afterwards (semantics 3.7).

use std::time::Duration;

use fencepost_conformance::wire::{ErrorCode, InitProducerId, TransactionResult};

use super::harness::Facts;
use super::produce;
use super::story::{Abort, Commit, Story};

pub fn all(facts: &mut Facts) {
    for verb in [Abort, Commit] {
        for version in [4, 5] {
            ending(facts, version, verb);
        }
    }
    let retry = if facts.transaction_version == 2 {
        "NONE (P,1)"
    } else {
        "PRODUCER_FENCED"
    };
    let mut story = timed_out(facts);
    let producer = story.producer;
    story.init(producer, retry);
    let mut story = timed_out(facts);
    let producer = story.producer;
    story.add(3, producer, "PRODUCER_FENCED");
    produce::send(&mut story, 11, producer, 1, "INVALID_PRODUCER_EPOCH");
    produce::send(&mut story, 12, producer, 1, "INVALID_PRODUCER_EPOCH");
    let producers = story.producers();
    story.row_after("DescribeProducers", "?", &producers, "");
    let stored = story.stored();
    story.row_after("read __transaction_state", "?", &stored, "");
}

fn ending(facts: &mut Facts, version: i16, verb: TransactionResult) {
    let tv2 = facts.transaction_version == 2;
    let semantics = match (tv2, version, verb) {
        (_, 4, _) => "PRODUCER_FENCED",
        (true, _, Abort) => "NONE (P,1)",
        (true, _, Commit) => "PRODUCER_FENCED (KAFKA-20785)",
        // The page says "PF" for TV1 and means the TV1 client's v4; v5 there is open.
        (false, _, _) => "?",
    };
    let mut story = timed_out(facts);
    let producer = story.producer;
    story.end(version, producer, verb, semantics);
}

/// Begun with (P,0) and a timeout of 300 ms, and aborted by the sweep.
fn timed_out(facts: &mut Facts) -> Story<'_> {
    let mut story = facts.story("timeout");
    let id = story.id.clone();
    let request = InitProducerId {
        timeout_ms: 300,
        ..InitProducerId::plain(&id)
    };
    let answer = story.wire().init_producer_id(5, request).expect("Init");
    assert_eq!(answer.error, ErrorCode::NONE);
    story.producer = answer.producer;
    story.name(answer.producer.id);
    story.begin();
    for _ in 0..400 {
        if story.describe().state == "CompleteAbort" {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let start = format!(
        "Ongoing (P,0) timed out: {}, {}",
        story.state(),
        story.log()
    );
    story.named(&start)
}
