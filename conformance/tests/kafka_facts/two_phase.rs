//! KIP-939: InitProducerId v6, where this Kafka has it (semantics 3.1 and 4).

use fencepost_conformance::wire::{InitProducerId, InitProducerIdAnswer, Producer};

use super::harness::Facts;
use super::story::{Abort, Commit, Story};

pub fn all(facts: &mut Facts) {
    flags(facts);
    keeping(facts);
}

fn ask(
    story: &mut Story<'_>,
    (enable_2pc, keep_prepared): (bool, bool),
    expected: Producer,
    semantics: &str,
) -> InitProducerIdAnswer {
    let id = story.id.clone();
    let request = InitProducerId {
        enable_2pc,
        keep_prepared,
        ..InitProducerId::plain(&id).expecting(expected)
    };
    let answer = story
        .wire()
        .init_producer_id(6, request)
        .expect("InitProducerId v6");
    let shown = story.init_text(&answer);
    let flags = match (enable_2pc, keep_prepared) {
        (false, false) => "",
        (true, false) => " enable2Pc",
        (false, true) => " keepPreparedTxn",
        (true, true) => " enable2Pc keepPreparedTxn",
    };
    let expecting = if expected == Producer::NONE {
        String::new()
    } else {
        format!(" expecting {}", story.pair(expected))
    };
    story.settle_unless_stuck();
    let described = story.describe();
    let after = format!(
        "{}, timeout {}",
        story.state_of(&described),
        described.timeout_ms
    );
    story.row_after(
        &format!("Init v6{flags}{expecting}"),
        semantics,
        &shown,
        &after,
    );
    answer
}

fn flags(facts: &mut Facts) {
    for flags in [(false, false), (true, false), (false, true), (true, true)] {
        let mut story = facts.story("2pc").named("no mapping");
        ask(
            &mut story,
            flags,
            Producer::NONE,
            kip(flags.1, "NONE (P,0)"),
        );
        let mut story = facts.story("2pc").empty_at(1);
        let current = story.producer;
        let semantics = if flags.1 {
            "KIP-939: INVALID_REQUEST"
        } else {
            "NONE (P,2)"
        };
        ask(&mut story, flags, current, semantics);
        let mut story = facts.story("2pc").empty_at(1);
        ask(
            &mut story,
            flags,
            Producer::NONE,
            kip(flags.1, "NONE (P,2)"),
        );
    }
}

/// What the page takes from the KIP: a broker without keepPreparedTxn is not judged by it.
fn kip(keep_prepared: bool, semantics: &'static str) -> &'static str {
    match (keep_prepared, semantics) {
        (true, "NONE (P,0)") => "KIP-939: NONE (P,0)",
        (true, "NONE (P,2)") => "KIP-939: NONE (P,2)",
        (true, "NONE (P,3)") => "KIP-939: NONE (P,3)",
        (true, "CONCURRENT_TRANSACTIONS") => "KIP-939: CONCURRENT_TRANSACTIONS",
        (_, semantics) => semantics,
    }
}

fn keeping(facts: &mut Facts) {
    let end = if facts.transaction_version == 2 { 5 } else { 4 };
    let after_end = if end == 5 { "NONE (P,3)" } else { "NONE (P,2)" };
    for flags in [(false, true), (true, true), (true, false), (false, false)] {
        let mut story = facts.story("2pc").ongoing_at(1);
        let current = story.producer;
        let semantics = if flags.1 {
            "KIP-939: NONE (P,2) ongoing (P,1)"
        } else {
            "CONCURRENT_TRANSACTIONS"
        };
        let answer = ask(&mut story, flags, Producer::NONE, semantics);
        let stored = story.stored();
        story.row_after("read __transaction_state", "?", &stored, "");
        if answer.ongoing != Producer::NONE {
            story.add(3, current, "NONE");
            story.add(3, current.at(2), "INVALID_TXN_STATE");
            story.end(5, current, Abort, "PRODUCER_FENCED");
            story.end(5, current.at(2), Commit, "NONE (P,3)");
        }
        let mut story = facts.story("2pc").complete_from(1, Commit, end);
        ask(&mut story, flags, Producer::NONE, kip(flags.1, after_end));
        let mut story = facts.story("2pc").stuck_from(1, Commit, end);
        ask(
            &mut story,
            flags,
            Producer::NONE,
            kip(flags.1, "CONCURRENT_TRANSACTIONS"),
        );
    }
}
