//! EndTxn: every state, verb and epoch (semantics 3.3 and 3.4).

use super::harness::Facts;
use super::story::{Abort, Commit, Story};
use fencepost_conformance::wire::{ErrorCode, Producer, TransactionResult};

const VERBS: [TransactionResult; 2] = [Commit, Abort];

/// EndTxn v0 to v4: the answer has no pair.
pub fn classic(facts: &mut Facts) {
    let story = facts.story("end v4").named("no mapping");
    refused(
        story,
        4,
        Producer { id: 7, epoch: 0 },
        Commit,
        "INVALID_PRODUCER_ID_MAPPING",
    );
    for verb in VERBS {
        let story = facts.story("end v4").empty_at(1);
        let current = story.producer;
        refused(story, 4, current, verb, "INVALID_TXN_STATE");

        let mut story = facts.story("end v4").ongoing_at(1);
        let current = story.producer;
        story.end(
            4,
            Producer {
                id: current.id + 5000,
                epoch: 1,
            },
            verb,
            "INVALID_PRODUCER_ID_MAPPING",
        );
        story.end(4, current.at(0), verb, "PRODUCER_FENCED");
        story.end(1, current.at(0), verb, "INVALID_PRODUCER_EPOCH");
        story.end(4, current.at(2), verb, "PRODUCER_FENCED");
        story.end(4, current, verb, "NONE");

        for done in VERBS {
            let mut story = facts.story("end v4").complete_from(1, done, 4);
            let current = story.producer;
            let repeated = if done == verb {
                "NONE"
            } else {
                "INVALID_TXN_STATE"
            };
            story.end(4, current, verb, repeated);
            story.end(4, current.at(0), verb, "PRODUCER_FENCED");
            story.end(4, current.at(2), verb, "PRODUCER_FENCED");

            let mut story = facts.story("end v4").stuck_from(1, done, 4);
            let current = story.producer;
            story.end(4, current, verb, "CONCURRENT_TRANSACTIONS");
            story.end(
                4,
                Producer {
                    id: current.id + 5000,
                    epoch: 1,
                },
                verb,
                "INVALID_PRODUCER_ID_MAPPING",
            );
            story.end(4, current.at(0), verb, "PRODUCER_FENCED");
        }
    }
}

fn refused(
    mut story: Story<'_>,
    version: i16,
    producer: Producer,
    verb: TransactionResult,
    semantics: &str,
) {
    story.end(version, producer, verb, semantics);
}

/// EndTxn v5 on a cluster at TV2.
pub fn bumping(facts: &mut Facts) {
    let story = facts.story("end v5").named("no mapping");
    refused(
        story,
        5,
        Producer { id: 7, epoch: 0 },
        Abort,
        "INVALID_PRODUCER_ID_MAPPING",
    );
    empty_and_ongoing(facts);
    complete(facts);
    prepare(facts);
}

fn empty_and_ongoing(facts: &mut Facts) {
    for verb in VERBS {
        let mut story = facts.story("end v5").empty_at(2);
        let current = story.producer;
        let other = Producer {
            id: current.id + 5000,
            epoch: 2,
        };
        story.end(5, other, verb, "INVALID_PRODUCER_ID_MAPPING");
        story.end(5, current.at(1), verb, "PRODUCER_FENCED");
        story.end(5, current.at(0), verb, "PRODUCER_FENCED");
        story.end(5, current.at(3), verb, "PRODUCER_FENCED");
        let semantics = match verb {
            Commit => "INVALID_TXN_STATE",
            Abort => "NONE (P,3)",
        };
        story.end(5, current, verb, semantics);
        if verb == Abort {
            let stored = story.stored();
            story.row_after("read __transaction_state", "?", &stored, "");
            story.end(5, current, Abort, "NONE (P,3)");
            story.end(5, current, Commit, "PRODUCER_FENCED (KAFKA-20785)");
        }

        let mut story = facts.story("end v5").ongoing_at(2);
        let current = story.producer;
        let other = Producer {
            id: current.id + 5000,
            epoch: 2,
        };
        story.end(5, other, verb, "INVALID_PRODUCER_ID_MAPPING");
        story.end(5, current.at(1), verb, "PRODUCER_FENCED");
        story.end(5, current.at(0), verb, "PRODUCER_FENCED");
        story.end(5, current.at(3), verb, "PRODUCER_FENCED");
        story.end(5, current, verb, "NONE (P,3)");
        let log = story.log();
        story.row_after("read log", "?", &log, "");
        let stored = story.stored();
        story.row_after("read __transaction_state", "?", &stored, "");
    }
}

fn complete(facts: &mut Facts) {
    for done in VERBS {
        for verb in VERBS {
            // Ended from (P,2), so stored at (P,3): a retry carries epoch 2.
            let mut story = facts.story("end v5").complete_from(2, done, 5);
            let current = story.producer;
            let other = Producer {
                id: current.id + 5000,
                epoch: 3,
            };
            story.end(5, other, verb, "INVALID_PRODUCER_ID_MAPPING");
            story.end(5, current.at(1), verb, "PRODUCER_FENCED");
            story.end(5, current.at(4), verb, "PRODUCER_FENCED");
            let retry = match (done, verb) {
                (Commit, Commit) | (Abort, Abort) => "NONE (P,3)",
                (Commit, Abort) => "INVALID_TXN_STATE",
                (Abort, Commit) => "PRODUCER_FENCED (KAFKA-20785)",
            };
            story.end(5, current.at(2), verb, retry);
            let fresh = match verb {
                Commit => "INVALID_TXN_STATE",
                Abort => "NONE (P,4)",
            };
            story.end(5, current, verb, fresh);
        }
    }
}

fn prepare(facts: &mut Facts) {
    for done in VERBS {
        for verb in VERBS {
            let mut story = facts.story("end v5").stuck_from(2, done, 5);
            let current = story.producer;
            story.end(5, current.at(2), verb, "CONCURRENT_TRANSACTIONS");
            story.end(5, current.at(3), verb, "CONCURRENT_TRANSACTIONS");
            story.end(5, current.at(1), verb, "CONCURRENT_TRANSACTIONS");
            let other = Producer {
                id: current.id + 5000,
                epoch: 2,
            };
            story.end(5, other, verb, "CONCURRENT_TRANSACTIONS");
        }
    }
}

/// TV0's log has no room for what EndTxn v5 stores: the request is refused half-way, and the
/// pending transition stays.
fn left_pending(error: ErrorCode) -> bool {
    error == ErrorCode(35)
}

/// The table follows the request's version, not the cluster's: EndTxn v4 on TV2, v5 on TV1.
pub fn version_against_level(facts: &mut Facts) {
    let version = if facts.transaction_version == 2 { 4 } else { 5 };
    for verb in VERBS {
        let mut story = facts.story("end mixed").ongoing_at(1);
        let current = story.producer;
        let semantics = if version == 4 { "NONE" } else { "NONE (P,2)" };
        let answer = story.end(version, current, verb, semantics);
        if left_pending(answer.error) {
            story.end(4, current, verb, "NONE");
            story.init(Producer::NONE, "CONCURRENT_TRANSACTIONS");
        }
        let log = story.log();
        story.row_after("read log", "?", &log, "");
        let stored = story.stored();
        story.row_after("read __transaction_state", "?", &stored, "");
        let mut story = facts.story("end mixed").empty_at(1);
        let current = story.producer;
        let semantics = match (version, verb) {
            (5, Abort) => "NONE (P,2)",
            (_, _) => "INVALID_TXN_STATE",
        };
        story.end(version, current, verb, semantics);
    }
}
