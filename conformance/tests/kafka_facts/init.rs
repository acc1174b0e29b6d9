//! InitProducerId (semantics 3.1, v0 to v5).

use fencepost_conformance::wire::{ErrorCode, InitProducerId, Producer, TransactionResult};

use super::harness::Facts;
use super::seed::Seed;
use super::story::{Abort, Commit, Story};

const PF: &str = "PRODUCER_FENCED";
const CT: &str = "CONCURRENT_TRANSACTIONS";

pub fn all(facts: &mut Facts) {
    requests_without_state(facts);
    empty(facts);
    ongoing(facts);
    complete(facts);
    prepare(facts);
}

fn other(producer: Producer) -> Producer {
    Producer {
        id: producer.id + 5000,
        epoch: producer.epoch,
    }
}

fn requests_without_state(facts: &mut Facts) {
    let plain = |id, timeout_ms| InitProducerId {
        transactional_id: id,
        timeout_ms,
        expected: Producer::NONE,
        enable_2pc: false,
        keep_prepared: false,
    };
    for (start, id, timeout, semantics) in [
        ("null id", None, 60_000, "NONE (P,0)"),
        ("null id, timeout 0", None, 0, "NONE (P,0)"),
        ("id \"\"", Some(""), 60_000, "INVALID_REQUEST"),
        ("id \"\", timeout 0", Some(""), 0, "INVALID_REQUEST"),
        ("timeout 0", Some("t"), 0, "INVALID_TRANSACTION_TIMEOUT"),
        ("timeout -1", Some("t"), -1, "INVALID_TRANSACTION_TIMEOUT"),
        (
            "timeout 900001 ms",
            Some("t"),
            900_001,
            "INVALID_TRANSACTION_TIMEOUT",
        ),
        ("timeout 900000 ms", Some("limit"), 900_000, "NONE (P,0)"),
    ] {
        let mut story = facts.story("init").named(start);
        let answer = story
            .wire()
            .init_producer_id(5, plain(id, timeout))
            .expect("InitProducerId");
        let shown = story.init_text(&answer);
        story.row_after("Init v5", semantics, &shown, "");
    }
    for (expected, semantics) in [
        (Producer { id: 5, epoch: -1 }, "INVALID_REQUEST"),
        (Producer { id: -1, epoch: 5 }, "INVALID_REQUEST"),
        (Producer::NONE, "NONE (P,0)"),
        (
            Producer {
                id: 99_999,
                epoch: 5,
            },
            "NONE (Q,0)",
        ),
    ] {
        let mut story = facts.story("init").named("no mapping");
        story.init(expected, semantics);
    }
}

fn empty(facts: &mut Facts) {
    let mut story = facts.story("init").empty_at(1);
    let current = story.producer;
    story.init(current.at(0), PF);
    story.init(current.at(2), PF);
    story.init(other(current), PF);
    story.init_version(3, other(current), "INVALID_PRODUCER_EPOCH");
    story.init(Producer::NONE, "NONE (P,2)");
    story.init(current.at(1), PF);

    let mut story = facts.story("init").empty_at(1);
    let current = story.producer;
    story.init(current, "NONE (P,2)");
    stored(&mut story);
    story.init(current, "NONE (P,2)");
    stored(&mut story);
    story.init(current, "NONE (P,2)");
    story.init(current.at(0), PF);
    story.init(current.at(3), PF);
    story.init(current.at(2), "NONE (P,3)");
    story.init(current.at(1), PF);
    story.init(current.at(2), "NONE (P,3)");
}

fn stored(story: &mut Story<'_>) {
    let stored = story.stored();
    story.row_after("read __transaction_state", "?", &stored, "");
}

fn ongoing(facts: &mut Facts) {
    let mut story = facts.story("init").ongoing_at(1);
    let current = story.producer;
    story.init(other(current), PF);
    story.init(Producer::NONE, CT);
    let log = story.log();
    story.row_after("read log", "[d1 A2] hw 2 lso 2 aborted 1", &log, "");
    stored(&mut story);
    let producers = story.producers();
    story.row_after("DescribeProducers", "?", &producers, "");
    story.init(Producer::NONE, "NONE (P,3)");

    // The fence keeps the old epoch as lastProducerEpoch under TV2 only.
    let retry = if facts.transaction_version == 2 {
        "NONE (P,2)"
    } else {
        PF
    };
    for (epoch, after) in [(1, retry), (0, PF), (2, "NONE (P,3)"), (9, PF)] {
        let mut story = facts.story("init").ongoing_at(1);
        let current = story.producer;
        story.init(current.at(epoch), CT);
        story.init(current.at(epoch), after);
    }
}

fn complete(facts: &mut Facts) {
    for done in [Commit, Abort] {
        let mut story = facts.story("init").complete_from(1, done, 4);
        let current = story.producer;
        story.init(current.at(0), PF);
        story.init(current.at(2), PF);
        story.init(other(current), PF);
        story.init(current, "NONE (P,2)");
        let mut story = facts.story("init").complete_from(1, done, 4);
        story.init(Producer::NONE, "NONE (P,2)");
        if facts.transaction_version == 2 {
            complete_at_tv2(facts, done);
        }
    }
}

/// Ended from (P,1) by EndTxn v5: stored (P,2) with last epoch 1.
fn complete_at_tv2(facts: &mut Facts, done: TransactionResult) {
    let mut story = facts.story("init").complete_from(1, done, 5);
    let current = story.producer;
    story.init(current.at(0), PF);
    story.init(current.at(3), PF);
    story.init(current, "NONE (P,3)");
    story.init(current, "NONE (P,3)");
    let mut story = facts.story("init").complete_from(1, done, 5);
    let current = story.producer;
    story.init(current.at(1), "NONE (P,2)");
    story.init(current, "NONE (P,3)");
    let mut story = facts.story("init").complete_from(1, done, 5);
    story.init(Producer::NONE, "NONE (P,3)");
}

fn prepare(facts: &mut Facts) {
    let version = if facts.transaction_version == 2 { 5 } else { 4 };
    for done in [Commit, Abort] {
        let mut story = facts.story("init").stuck_from(1, done, version);
        let current = story.producer;
        story.init(Producer::NONE, CT);
        story.init(current, CT);
        story.init(current.at(0), CT);
        story.init(other(current), CT);
    }
}

/// Ids whose last request a client may send again after a restart.
pub fn before_restart(facts: &mut Facts) -> [Seed; 2] {
    let mut story = facts.story("seed").empty_at(1);
    assert_eq!(story.init_raw(5, story.producer).error, ErrorCode::NONE);
    let init = seed_of(&story, "Init with (P,1), then restart");
    let mut story = facts.story("seed").ongoing_at(1);
    assert_eq!(
        story.end_raw(5, story.producer, Commit).error,
        ErrorCode::NONE
    );
    story.settle();
    [init, seed_of(&story, "EndTxn v5 with (P,1), then restart")]
}

fn seed_of(story: &Story<'_>, start: &str) -> Seed {
    Seed {
        id: story.id.clone(),
        partition: story.partition.clone(),
        producer: story.producer,
        start: start.to_owned(),
    }
}

/// What of a retry's memory survives a reload of the coordinator (lastProducerEpoch does not).
pub fn after_restart(facts: &mut Facts, [init, end]: &[Seed; 2]) {
    let mut story = end.go_on(facts);
    story.end(5, end.producer, Commit, "NONE (P,2)");
    for seed in [init, end] {
        let mut story = seed.go_on(facts);
        story.init(seed.producer, PF);
        story.init(seed.producer.at(2), "NONE (P,3)");
    }
}
