//! States that take hours to reach, written into `__transaction_state` and loaded by a restart:
//! epoch exhaustion (semantics 2 and 3), and what a reload does with each stored state.

use fencepost_conformance::wire::Producer;

use super::harness::Facts;
use super::init;
use super::produce;
use super::seed::{
    COMPLETE_ABORT, COMPLETE_COMMIT, EMPTY, ONGOING, PREPARE_ABORT, PREPARE_COMMIT, Seed,
    older_open, seed,
};
use super::story::{Abort, Commit, Story};

const EXH: i16 = 32_766;
const MAX: i16 = 32_767;

fn read_stored(story: &mut Story<'_>) {
    let stored = story.stored();
    story.row_after("read __transaction_state", "?", &stored, "");
}

fn read_log(story: &mut Story<'_>, semantics: &str) {
    let log = story.log();
    story.row_after("read log", semantics, &log, "");
}

pub fn all(facts: &mut Facts) {
    let tv2 = facts.transaction_version == 2;
    let client = if tv2 { 2 } else { 0 };
    let minute = 60_000;
    let empties: Vec<Seed> = (0..8)
        .map(|_| seed(facts, EMPTY, EXH, minute, &[]))
        .collect();
    let below = seed(facts, EMPTY, EXH - 1, minute, &[]);
    let at_max: Vec<Seed> = [EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT]
        .iter()
        .flat_map(|status| (0..4).map(|_| *status))
        .map(|status| seed(facts, status, MAX, minute, &[]))
        .collect();
    let ongoing: Vec<Seed> = (0..6)
        .map(|_| seed(facts, ONGOING, EXH, minute, &[(2, client)]))
        .collect();
    let expiring = seed(facts, ONGOING, EXH, 100, &[(2, client)]);
    let ongoing_at_max: Vec<Seed> = (0..3)
        .map(|_| seed(facts, ONGOING, MAX, minute, &[(2, client)]))
        .collect();
    let prepared: Vec<Seed> = [(PREPARE_COMMIT, 2), (PREPARE_ABORT, 2), (PREPARE_COMMIT, 0)]
        .iter()
        .map(|(status, version)| seed(facts, *status, 5, minute, &[(2, *version)]))
        .collect();
    let rotating = seed(facts, PREPARE_COMMIT, MAX, minute, &[(1, 888_888), (2, 2)]);
    let older_open = older_open(facts);
    let held = held(facts);
    let retries = init::before_restart(facts);
    facts.restart();

    init::after_restart(facts, &retries);
    empty_at_exh(facts, &empties);
    below_exh(facts, &below);
    stranded_at_max(facts, &at_max);
    ongoing_at_exh(facts, &ongoing, &expiring);
    ongoing_above_exh(facts, &ongoing_at_max);
    reloaded(facts, &prepared, &rotating);
    produce_over_older_open(facts, &older_open);
    still_held(facts, &held);

    // Once more over the log: what of a rotation is remembered.
    let again = facts.rows.len();
    facts.restart();
    retries_after_reload(facts, &empties, &ongoing);
    assert!(facts.rows.len() > again);
}

fn empty_at_exh(facts: &mut Facts, seeds: &[Seed]) {
    let mut story = seeds[0].go_on(facts);
    let old = story.producer;
    story.init(Producer::NONE, "NONE (Q,0)");
    read_stored(&mut story);
    story.init(old, "PRODUCER_FENCED");

    let mut story = seeds[1].go_on(facts);
    let old = story.producer;
    let answer = story.init(old, "NONE (Q,0)");
    read_stored(&mut story);
    story.init(old, "NONE (Q,0)");
    story.init(old.at(EXH - 1), "PRODUCER_FENCED");
    story.init(answer.producer, "NONE (Q,1)");
    story.init(old, "PRODUCER_FENCED");

    let mut story = seeds[2].go_on(facts);
    let old = story.producer;
    story.init(old.at(EXH - 1), "PRODUCER_FENCED");
    story.init(old.at(MAX), "PRODUCER_FENCED");

    // Left for the second restart: rotated with the expected pair.
    let mut story = seeds[3].go_on(facts);
    let old = story.producer;
    story.init(old, "NONE (Q,0)");

    if facts.transaction_version == 2 {
        for (seed, verb) in seeds[4..6].iter().zip([Abort, Commit]) {
            let mut story = seed.go_on(facts);
            let old = story.producer;
            let semantics = match verb {
                Abort => "NONE (Q,0)",
                Commit => "INVALID_TXN_STATE",
            };
            story.end(5, old, verb, semantics);
            read_stored(&mut story);
            if verb == Abort {
                story.end(5, old, Abort, "NONE (Q,0)");
            }
        }
    }
    let mut story = seeds[6].go_on(facts);
    let old = story.producer;
    story.add(3, old, "NONE");
    produce::send(&mut story, 11, old, 0, "NONE at 0");
    story.end(4, old, Commit, "NONE");
    read_log(&mut story, "[d32766 C32766] hw 2 lso 2 aborted 0");
    story.init(Producer::NONE, "NONE (Q,0)");
}

fn below_exh(facts: &mut Facts, seed: &Seed) {
    let mut story = seed.go_on(facts);
    let old = story.producer;
    story.init(old, "NONE (P,32766)");
    story.init(old, "NONE (P,32766)");
    story.init(Producer::NONE, "NONE (Q,0)");
}

/// Empty, CompleteCommit and CompleteAbort at 32767, four of each.
fn stranded_at_max(facts: &mut Facts, seeds: &[Seed]) {
    for of_state in seeds.chunks(4) {
        let mut story = of_state[0].go_on(facts);
        story.init(Producer::NONE, "NONE (Q,0)");
        let mut story = of_state[1].go_on(facts);
        let old = story.producer;
        story.init(old, "NONE (Q,0)");
        let mut story = of_state[2].go_on(facts);
        let old = story.producer;
        story.add(3, old, "NONE");
        let mut story = of_state[3].go_on(facts);
        let old = story.producer;
        story.end(5, old, Abort, "?");
        read_stored(&mut story);
    }
}

fn ongoing_at_exh(facts: &mut Facts, seeds: &[Seed], expiring: &Seed) {
    for (seed, verb) in seeds[0..2].iter().zip([Commit, Abort]) {
        let mut story = seed.go_on(facts);
        let old = story.producer;
        produce::send(&mut story, 11, old, 0, "NONE at 0");
        let answer = story.end(5, old, verb, "NONE (Q,0)");
        let semantics = match verb {
            Commit => "[d32766 C32767] hw 2 lso 2 aborted 0",
            Abort => "[d32766 A32767] hw 2 lso 2 aborted 1",
        };
        read_log(&mut story, semantics);
        read_stored(&mut story);
        let producers = story.producers();
        story.row_after("DescribeProducers", "?", &producers, "");
        story.end(5, old, verb, "NONE (Q,0)");
        let other = match verb {
            Commit => Abort,
            Abort => Commit,
        };
        let opposite = match other {
            Abort => "INVALID_TXN_STATE",
            Commit => "PRODUCER_FENCED (KAFKA-20785)",
        };
        story.end(5, old, other, opposite);
        story.end(5, old.at(MAX), verb, "INVALID_PRODUCER_ID_MAPPING");
        story.end(5, old.at(EXH - 1), verb, "INVALID_PRODUCER_ID_MAPPING");
        story.init(old, "NONE (Q,0)");
        story.add(3, answer.producer, "NONE");
        story.end(5, old, verb, "INVALID_PRODUCER_ID_MAPPING");
        story.end(5, answer.producer, verb, "NONE (Q,1)");
        story.end(5, old, verb, "INVALID_PRODUCER_ID_MAPPING");
        read_stored(&mut story);
    }
    let tv2 = facts.transaction_version == 2;
    for (seed, expected) in seeds[2..4].iter().zip([false, true]) {
        let mut story = seed.go_on(facts);
        let old = story.producer;
        produce::send(&mut story, 11, old, 0, "NONE at 0");
        let with = if expected { old } else { Producer::NONE };
        story.init(with, "CONCURRENT_TRANSACTIONS");
        read_log(&mut story, "[d32766 A32767] hw 2 lso 2 aborted 1");
        read_stored(&mut story);
        let semantics = match (tv2, expected) {
            (true, true) => "NONE (Q,0)",
            (true, false) => "NONE (Q,1)",
            (false, false) => "NONE (Q,0)",
            (false, true) => "PRODUCER_FENCED",
        };
        story.init(with, semantics);
    }
    // Held in PrepareCommit with the rotation pending.
    let mut story = seeds[4].go_on(facts);
    let old = story.producer;
    produce::send(&mut story, 11, old, 0, "NONE at 0");
    story.hold_markers();
    let answer = story.end(5, old, Commit, "NONE (Q,0)");
    read_stored(&mut story);
    story.end(5, old, Commit, "CONCURRENT_TRANSACTIONS");
    story.end(5, answer.producer, Commit, "CONCURRENT_TRANSACTIONS");
    story.add(3, answer.producer, "CONCURRENT_TRANSACTIONS");
    story.init(Producer::NONE, "CONCURRENT_TRANSACTIONS");
    story.init(answer.producer, "CONCURRENT_TRANSACTIONS");
    // Left for the second restart.
    let mut story = seeds[5].go_on(facts);
    let old = story.producer;
    story.end(5, old, Commit, "NONE (Q,0)");
    // The sweep.
    let mut story = expiring.go_on(facts);
    let old = story.producer;
    for _ in 0..300 {
        if story.describe().state == "CompleteAbort" {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let state = story.state();
    let semantics = if tv2 {
        "CompleteAbort (Q,0)"
    } else {
        "CompleteAbort (P,32767)"
    };
    story.row("time-out, sweep", semantics, &state);
    read_log(&mut story, "[A32767] hw 1 lso 1 aborted 0");
    read_stored(&mut story);
    if tv2 {
        story.end(5, old, Abort, "NONE (Q,0)");
    } else {
        story.end(4, old, Abort, "PRODUCER_FENCED");
    }
    story.init(
        Producer::NONE,
        if tv2 { "NONE (Q,1)" } else { "NONE (Q,0)" },
    );
}

fn ongoing_above_exh(facts: &mut Facts, seeds: &[Seed]) {
    let mut story = seeds[0].go_on(facts);
    story.init(Producer::NONE, "CONCURRENT_TRANSACTIONS");
    read_log(&mut story, "[A32767] hw 1 lso 1 aborted 0");
    read_stored(&mut story);
    for (seed, verb) in seeds[1..3].iter().zip([Commit, Abort]) {
        let mut story = seed.go_on(facts);
        let old = story.producer;
        story.end(5, old, verb, "?");
        read_stored(&mut story);
    }
}

/// A reload sends the markers again and writes Complete*.
fn reloaded(facts: &mut Facts, prepared: &[Seed], rotating: &Seed) {
    for (seed, semantics) in prepared.iter().zip([
        "CompleteCommit (P,5)",
        "CompleteAbort (P,5)",
        "CompleteCommit (P,5)",
    ]) {
        let mut story = seed.go_on(facts);
        story.settle();
        let state = story.state();
        story.row("reload", semantics, &state);
        let log = story.log();
        story.row_after("read log", "?", &log, "");
        read_stored(&mut story);
    }
    let mut story = rotating.go_on(facts);
    let old = story.producer;
    story.settle();
    let state = story.state();
    story.row(
        "reload with next producer id Q",
        "CompleteCommit (Q,0)",
        &state,
    );
    read_log(&mut story, "[C32767] hw 1 lso 1 aborted 0");
    read_stored(&mut story);
    story.end(5, old.at(EXH), Commit, "NONE (Q,0)");
    story.init(old.at(EXH), "?");
}

fn retries_after_reload(facts: &mut Facts, empties: &[Seed], ongoing: &[Seed]) {
    let mut story = empties[3]
        .go_on(facts)
        .named("Init expecting (P,32766) rotated, then restart");
    let old = story.producer;
    story.init(old, "?");
    let mut story = ongoing[5]
        .go_on(facts)
        .named("EndTxn v5 Commit (P,32766) rotated, then restart");
    let old = story.producer;
    story.end(5, old, Abort, "INVALID_TXN_STATE");
    story.end(5, old, Commit, "NONE (Q,0)");
    story.init(old, "?");
}

/// PrepareCommit whose markers the partition refuses.
fn held(facts: &mut Facts) -> Seed {
    let end = if facts.transaction_version == 2 { 5 } else { 4 };
    let story = facts.story("seed").stuck_from(1, Commit, end);
    Seed {
        id: story.id.clone(),
        partition: story.partition.clone(),
        producer: story.producer,
        start: format!("{}, then restart", story.start),
    }
}

/// A reload in Prepare* asks for the markers again, is refused again, and stays pending.
fn still_held(facts: &mut Facts, seed: &Seed) {
    let end = if facts.transaction_version == 2 { 5 } else { 4 };
    let mut story = seed.go_on(facts);
    story.hold();
    let stored = story.producer;
    let current = if end == 5 { stored.at(1) } else { stored };
    for verb in [Commit, Abort] {
        story.end(end, current, verb, "CONCURRENT_TRANSACTIONS");
    }
    story.init(Producer::NONE, "CONCURRENT_TRANSACTIONS");
    story.add(3, stored, "CONCURRENT_TRANSACTIONS");
}

fn produce_over_older_open(facts: &mut Facts, seed: &Seed) {
    let mut story = seed.go_on(facts);
    let current = story.producer;
    produce::send(&mut story, 12, current.at(1), 1, "NONE at 1");
    produce::send(&mut story, 12, current, 1, "OUT_OF_ORDER_SEQUENCE_NUMBER");
    produce::send(&mut story, 12, current, 0, "?");
    let producers = story.producers();
    story.row_after("DescribeProducers", "?", &producers, "");
    story.end(5, current, Commit, "NONE (P,4)");
    read_log(&mut story, "?");
    let producers = story.producers();
    story.row_after("DescribeProducers", "?", &producers, "");
}
