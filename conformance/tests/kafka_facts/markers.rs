//! WriteTxnMarkers at a data partition: epochs, coordinator epochs, v1 and v2 (semantics 3.6, 6).

use fencepost_conformance::wire::{Batch, ErrorCode, Marker, Producer, TopicPartition};

use super::harness::Facts;
use super::story::{Abort, Commit, Story};

const STALE: &str = "INVALID_PRODUCER_EPOCH";
const FENCED: &str = "TRANSACTION_COORDINATOR_FENCED";

/// v1, or v2 with the transaction version that it carries.
const FORMS: [(i16, i8); 4] = [(1, 0), (2, 0), (2, 1), (2, 2)];

pub fn all(facts: &mut Facts) {
    for form in FORMS {
        open_transaction(facts, form);
        no_open_transaction(facts, form);
        unknown_producer(facts, form);
    }
    coordinator_epoch(facts);
    at_max(facts);
    late_produce(facts);
    elsewhere(facts);
}

fn write(
    story: &mut Story<'_>,
    (version, transaction_version): (i16, i8),
    producer: Producer,
    coordinator_epoch: i32,
    semantics: &str,
) {
    let marker = Marker {
        producer,
        result: Abort,
        coordinator_epoch,
        transaction_version,
        partition: story.partition.clone(),
    };
    let error = story
        .wire()
        .write_txn_markers(version, &marker)
        .expect("WriteTxnMarkers");
    let pair = story.pair(producer);
    let carried = if version >= 2 {
        format!("v2 tv{transaction_version}")
    } else {
        "v1".to_owned()
    };
    let producers = story.producers();
    let log = story.log();
    story.row_after(
        &format!("WriteTxnMarkers {carried} ABORT {pair} coord {coordinator_epoch}"),
        semantics,
        &error.to_string(),
        &format!("{producers} {log}"),
    );
}

fn open_transaction(facts: &mut Facts, form: (i16, i8)) {
    let equal = if form == (2, 2) { STALE } else { "NONE" };
    for (epoch, semantics) in [(2, STALE), (3, equal), (4, "NONE"), (9, "NONE")] {
        let mut story = facts.story("markers").ongoing_at(3).named("open (P,3)");
        let producer = story.producer.at(epoch);
        write(&mut story, form, producer, 5, semantics);
    }
}

fn no_open_transaction(facts: &mut Facts, form: (i16, i8)) {
    let mut story = facts.story("markers").ongoing_at(3);
    let current = story.producer;
    write(&mut story, (1, 0), current, 5, "NONE");
    let mut story = story.named("closed (P,3) coord 5");
    write(&mut story, form, current.at(2), 5, STALE);
    write(&mut story, form, current, 5, "NONE");
    write(&mut story, form, current.at(4), 5, "NONE");
    write(&mut story, form, current.at(4), 5, "NONE");
    write(&mut story, form, current.at(3), 5, STALE);
}

fn unknown_producer(facts: &mut Facts, form: (i16, i8)) {
    let mut story = facts.story("markers").named("producer unknown here");
    write(
        &mut story,
        form,
        Producer {
            id: 77_777,
            epoch: 0,
        },
        5,
        "NONE",
    );
}

fn coordinator_epoch(facts: &mut Facts) {
    for form in [(1, 0), (2, 2)] {
        let mut story = facts.story("markers").ongoing_at(3);
        let current = story.producer;
        write(&mut story, (1, 0), current, 5, "NONE");
        let mut story = story.named("closed (P,3) coord 5");
        write(&mut story, form, current.at(4), 4, FENCED);
        write(&mut story, form, current.at(4), 5, "NONE");
        write(&mut story, form, current.at(5), 6, "NONE");
        write(&mut story, form, current.at(6), 5, FENCED);
        write(&mut story, form, current.at(2), 1, STALE);
    }
}

fn at_max(facts: &mut Facts) {
    for form in [(1, 0), (2, 2)] {
        let mut story = facts.story("markers").ongoing_at(3).named("open (P,3)");
        let max = story.producer.at(i16::MAX);
        write(&mut story, form, max, 5, "NONE");
        write(&mut story, form, max, 5, "NONE");
        write(&mut story, form, max.at(32_766), 5, STALE);
    }
}

/// The marker alone fences: the coordinator still holds (P,3) Ongoing.
fn late_produce(facts: &mut Facts) {
    let mut story = facts.story("markers").ongoing_at(3);
    let current = story.producer;
    write(&mut story, (1, 0), current.at(4), 5, "NONE");
    produce(&mut story, current, 1, STALE);
    let mut story = facts.story("markers").ongoing_at(3);
    let current = story.producer;
    write(&mut story, (1, 0), current, 5, "NONE");
    produce(&mut story, current, 1, "NONE");
}

fn produce(story: &mut Story<'_>, producer: Producer, sequence: i32, semantics: &str) {
    let (id, partition) = (story.id.clone(), story.partition.clone());
    let batch = Batch::transactional(producer, sequence, "late");
    let answer = story
        .wire()
        .produce(11, Some(&id), &partition, &batch)
        .expect("Produce");
    let (pair, log) = (story.pair(producer), story.log());
    story.row_after(
        &format!("Produce v11 {pair} seq {sequence}"),
        semantics,
        &answer.error.to_string(),
        &log,
    );
}

fn elsewhere(facts: &mut Facts) {
    let mut story = facts.story("markers").named("unknown partition");
    let marker = Marker {
        producer: Producer { id: 1, epoch: 0 },
        result: Commit,
        coordinator_epoch: 5,
        transaction_version: 2,
        partition: TopicPartition::new("no-such-topic", 0),
    };
    for version in [1, 2] {
        let error = story
            .wire()
            .write_txn_markers(version, &marker)
            .expect("WriteTxnMarkers");
        assert_ne!(error, ErrorCode::NONE);
        story.row_after(
            &format!("WriteTxnMarkers v{version} COMMIT"),
            "UNKNOWN_TOPIC_OR_PARTITION",
            &error.to_string(),
            "",
        );
    }
}
