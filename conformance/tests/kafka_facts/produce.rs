//! Produce: sequences, verification, implicit adds (semantics 3.2 and 6).

use fencepost_conformance::wire::{Batch, Producer};

use super::harness::Facts;
use super::story::{Abort, Commit, Story};

const SEQUENCE: &str = "OUT_OF_ORDER_SEQUENCE_NUMBER";
const STALE: &str = "INVALID_PRODUCER_EPOCH";
const STATE: &str = "INVALID_TXN_STATE";

pub fn all(facts: &mut Facts) {
    first_sequence(facts);
    sequences(facts);
    after_a_marker(facts);
    verification(facts);
    identity(facts);
    refused_attempt_leaves_a_trace(facts);
    not_transactional(facts);
}

/// Sends one record and notes the answer with its offset.
pub fn send(
    story: &mut Story<'_>,
    version: i16,
    producer: Producer,
    sequence: i32,
    semantics: &str,
) {
    let batch = Batch::transactional(producer, sequence, "v");
    send_batch(story, version, &batch, semantics);
}

fn send_batch(story: &mut Story<'_>, version: i16, batch: &Batch, semantics: &str) {
    let (id, partition) = (story.id.clone(), story.partition.clone());
    let answer = story
        .wire()
        .produce(version, Some(&id), &partition, batch)
        .expect("Produce");
    let shown = match answer.base_offset {
        -1 => answer.error.to_string(),
        offset => format!("{} at {offset}", answer.error),
    };
    let pair = story.pair(batch.producer);
    let plain = if batch.transactional {
        ""
    } else {
        " not transactional"
    };
    let after = format!("{}, {}", story.state(), story.log());
    story.row_after(
        &format!(
            "Produce v{version} {pair} seq {}{plain}",
            batch.base_sequence
        ),
        semantics,
        &shown,
        &after,
    );
}

fn tv2(facts: &Facts) -> bool {
    facts.transaction_version == 2
}

fn first_sequence(facts: &mut Facts) {
    for version in [11, 12] {
        let nonzero = if version == 12 { SEQUENCE } else { "NONE at 0" };
        for (sequence, semantics) in [(0, "NONE at 0"), (5, nonzero)] {
            let mut story = facts.story("produce").empty_at(0);
            let current = story.producer;
            story.add_insisting();
            let mut story = story.named("Ongoing (P,0), partition added, no record");
            send(&mut story, version, current, sequence, semantics);
            if sequence == 5 {
                send(&mut story, version, current, 0, "?");
                send(&mut story, version, current, 6, "?");
            }
        }
    }
}

fn sequences(facts: &mut Facts) {
    let mut story = facts.story("produce").ongoing_at(1);
    let current = story.producer;
    send(&mut story, 11, current, 2, SEQUENCE);
    send(&mut story, 11, current, 0, "NONE at 0");
    for sequence in 1..=5 {
        send(
            &mut story,
            11,
            current,
            sequence,
            &format!("NONE at {sequence}"),
        );
    }
    send(&mut story, 11, current, 1, "NONE at 1");
    send(&mut story, 11, current, 0, SEQUENCE);
}

fn after_a_marker(facts: &mut Facts) {
    for done in [Commit, Abort] {
        // EndTxn v4: the marker carries the same epoch, sequences go on.
        for (sequence, semantics) in [(1, "NONE at 2"), (0, "?"), (2, SEQUENCE)] {
            let mut story = facts.story("produce").complete_from(1, done, 4);
            let current = story.producer;
            story.add_insisting();
            send(&mut story, 11, current, sequence, semantics);
        }
        if !tv2(facts) {
            continue;
        }
        // EndTxn v5: the marker carries the next epoch, sequences begin again.
        for (sequence, semantics) in [(0, "NONE at 2"), (1, SEQUENCE)] {
            for version in [11, 12] {
                let mut story = facts.story("produce").complete_from(1, done, 5);
                let current = story.producer;
                if version == 11 {
                    story.add_insisting();
                }
                send(&mut story, version, current.at(1), sequence, STALE);
                send(&mut story, version, current, sequence, semantics);
            }
        }
    }
}

fn verification(facts: &mut Facts) {
    for (version, semantics) in [
        (9, STATE),
        (10, STATE),
        (11, "TRANSACTION_ABORTABLE"),
        (12, "NONE at 0"),
    ] {
        let mut story = facts.story("produce").empty_at(1);
        let current = story.producer;
        send(&mut story, version, current, 0, semantics);
        let stored = story.stored();
        story.row_after("read __transaction_state", "?", &stored, "");
    }
    let end = if tv2(facts) { 5 } else { 4 };
    for version in [11, 12] {
        let mut story = facts.story("produce").complete_from(1, Commit, end);
        let current = story.producer;
        let sequence = if end == 5 { 0 } else { 1 };
        let semantics = if version == 12 {
            "NONE at 2"
        } else {
            "TRANSACTION_ABORTABLE"
        };
        send(&mut story, version, current, sequence, semantics);

        let mut story = facts.story("produce").stuck_from(1, Commit, end);
        let current = story.producer;
        let semantics = if version == 12 {
            "CONCURRENT_TRANSACTIONS"
        } else {
            "NOT_ENOUGH_REPLICAS"
        };
        send(&mut story, version, current, 1, semantics);
        send(&mut story, version, current.at(0), 1, "?");
    }
}

fn identity(facts: &mut Facts) {
    for version in [11, 12] {
        let mut story = facts.story("produce").empty_at(1);
        let current = story.producer;
        story.add_insisting();
        let mut story = story.named("Ongoing (P,1), partition added, no record");
        send(&mut story, version, current.at(0), 0, STALE);
        send(&mut story, version, current.at(2), 0, STALE);
        let other = Producer {
            id: current.id + 5000,
            epoch: 1,
        };
        send(&mut story, version, other, 0, "INVALID_PRODUCER_ID_MAPPING");
        send(&mut story, version, current, 0, "NONE at 0");
        send(&mut story, version, current, 1, "NONE at 1");
    }
}

/// A refused Produce of a higher epoch is remembered as the lowest sequence seen (the guard's
/// entry), and the owner's next batch, above it, is then out of order. A lower epoch is refused
/// before that.
fn refused_attempt_leaves_a_trace(facts: &mut Facts) {
    for version in [11, 12] {
        for (epoch, then) in [(0, "NONE at 1"), (2, SEQUENCE)] {
            let mut story = facts.story("produce").ongoing_at(1);
            let current = story.producer;
            send(&mut story, version, current.at(epoch), 0, STALE);
            send(&mut story, version, current, 1, then);
            send(&mut story, version, current, 1, then);
        }
        // The marker clears it.
        let mut story = facts.story("produce").ongoing_at(1);
        let current = story.producer;
        send(&mut story, version, current.at(2), 0, STALE);
        story.end(4, current, Abort, "NONE");
        story.add_insisting();
        send(&mut story, version, current, 1, "NONE at 2");
        send(&mut story, version, current, 2, "NONE at 3");
    }
}

fn not_transactional(facts: &mut Facts) {
    for version in [11, 12] {
        let mut story = facts.story("produce").ongoing_at(1);
        let current = story.producer;
        let mut batch = Batch::transactional(current, 1, "v");
        batch.transactional = false;
        send_batch(&mut story, version, &batch, STATE);

        let mut story = facts.story("produce").empty_at(1);
        let current = story.producer;
        let mut batch = Batch::transactional(current, 0, "v");
        batch.transactional = false;
        send_batch(&mut story, version, &batch, "?");
        send(&mut story, 12, current, 1, "?");
    }
    let mut story = facts
        .story("produce")
        .empty_at(1)
        .named("transactional batch, null transactional id");
    let batch = Batch::transactional(story.producer, 0, "v");
    let partition = story.partition.clone();
    let shown = match story.wire().produce(11, None, &partition, &batch) {
        Ok(answer) => answer.error.to_string(),
        Err(error) => error.to_string(),
    };
    story.row("Produce v11", "?", &shown);
}
