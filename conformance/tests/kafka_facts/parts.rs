//! AddPartitionsToTxn in both forms, and AddOffsetsToTxn (semantics 3.2).

use fencepost_conformance::wire::{ErrorCode, Producer, TopicPartition, TransactionToAdd};

use super::harness::Facts;
use super::story::{Abort, Commit, Story};

const MAP: &str = "INVALID_PRODUCER_ID_MAPPING";
const PF: &str = "PRODUCER_FENCED";
const CT: &str = "CONCURRENT_TRANSACTIONS";
const ABORTABLE: &str = "TRANSACTION_ABORTABLE";

/// How partitions are asked for.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Client(i16),
    Broker(i16),
    Verify(i16),
    Offsets(i16),
}

pub fn all(facts: &mut Facts) {
    for form in [
        Form::Client(3),
        Form::Broker(4),
        Form::Broker(5),
        Form::Offsets(4),
    ] {
        adding(facts, form);
    }
    for version in [4, 5] {
        verifying(facts, Form::Verify(version));
    }
    downgrades(facts);
    several_partitions(facts);
    stored_client_version(facts);
}

fn other(producer: Producer) -> Producer {
    Producer {
        id: producer.id + 5000,
        epoch: producer.epoch,
    }
}

fn ask(story: &mut Story<'_>, form: Form, producer: Producer, semantics: &str) {
    let shown_pair = story.pair(producer);
    let (request, answer) = match form {
        Form::Client(version) => (
            format!("AddPartitions v{version} {shown_pair}"),
            story.add_raw(version, producer).to_string(),
        ),
        Form::Broker(version) => (
            format!("AddPartitions v{version} (broker) {shown_pair}"),
            batched(story, version, producer, false),
        ),
        Form::Verify(version) => (
            format!("AddPartitions v{version} verifyOnly {shown_pair}"),
            batched(story, version, producer, true),
        ),
        Form::Offsets(version) => {
            let id = story.id.clone();
            let error = story
                .wire()
                .add_offsets_to_txn(version, &id, producer, "group")
                .expect("AddOffsetsToTxn");
            (
                format!("AddOffsets v{version} {shown_pair}"),
                error.to_string(),
            )
        }
    };
    story.row(&request, semantics, &answer);
}

fn batched(story: &mut Story<'_>, version: i16, producer: Producer, verify_only: bool) -> String {
    let id = story.id.clone();
    let partitions = vec![story.partition.clone()];
    let transaction = TransactionToAdd {
        transactional_id: &id,
        producer,
        verify_only,
        partitions,
    };
    let (error, results) = story
        .wire()
        .add_partitions_to_txn_batched(version, &[transaction])
        .expect("AddPartitionsToTxn");
    if error != ErrorCode::NONE {
        return format!("top level {error}");
    }
    story.errors(&results[0].1)
}

fn adding(facts: &mut Facts, form: Form) {
    let end = if facts.transaction_version == 2 { 5 } else { 4 };
    let mut story = facts.story("parts").named("no mapping");
    ask(&mut story, form, Producer { id: 3, epoch: 0 }, MAP);

    let mut story = facts.story("parts").empty_at(1);
    let current = story.producer;
    ask(&mut story, form, other(current), MAP);
    ask(&mut story, form, current.at(0), PF);
    ask(&mut story, form, current.at(2), PF);
    ask(&mut story, form, current, "NONE");
    ask(&mut story, form, current, "NONE");

    let mut story = facts.story("parts").ongoing_at(1);
    let current = story.producer;
    ask(&mut story, form, other(current), MAP);
    ask(&mut story, form, current.at(0), PF);
    ask(&mut story, form, current.at(2), PF);
    ask(&mut story, form, current, "NONE");

    for done in [Commit, Abort] {
        let mut story = facts.story("parts").complete_from(1, done, end);
        let current = story.producer;
        ask(&mut story, form, current.at(current.epoch - 1), PF);
        ask(&mut story, form, current, "NONE");

        let mut story = facts.story("parts").stuck_from(1, done, end);
        let current = story.producer;
        ask(&mut story, form, current, CT);
        ask(&mut story, form, other(current), CT);
        ask(&mut story, form, current.at(0), CT);
    }
}

fn verifying(facts: &mut Facts, form: Form) {
    let end = if facts.transaction_version == 2 { 5 } else { 4 };
    let mut story = facts.story("verify").named("no mapping");
    ask(&mut story, form, Producer { id: 3, epoch: 0 }, MAP);

    let mut story = facts.story("verify").empty_at(1);
    let current = story.producer;
    ask(&mut story, form, current, ABORTABLE);
    ask(&mut story, form, other(current), MAP);
    ask(&mut story, form, current.at(0), PF);
    ask(&mut story, form, current.at(2), PF);

    let mut story = facts.story("verify").ongoing_at(1);
    let current = story.producer;
    ask(&mut story, form, current, "NONE");
    ask(&mut story, form, current.at(0), PF);
    ask(&mut story, form, current.at(2), PF);
    ask(&mut story, form, other(current), MAP);
    let elsewhere = facts.story("verify").partition;
    let mut story = facts.story("verify").ongoing_at(1);
    let current = story.producer;
    story.partition = elsewhere;
    ask(&mut story, form, current, ABORTABLE);

    for done in [Commit, Abort] {
        let mut story = facts.story("verify").complete_from(1, done, end);
        let current = story.producer;
        ask(&mut story, form, current, ABORTABLE);
        ask(&mut story, form, current.at(current.epoch - 1), PF);

        let mut story = facts.story("verify").stuck_from(1, done, end);
        let current = story.producer;
        ask(&mut story, form, current, CT);
        ask(&mut story, form, other(current), MAP);
        ask(&mut story, form, current.at(0), PF);
    }
}

fn downgrades(facts: &mut Facts) {
    let mut story = facts.story("parts").ongoing_at(1);
    let current = story.producer;
    for version in 0..=3 {
        let semantics = if version < 2 {
            "INVALID_PRODUCER_EPOCH"
        } else {
            PF
        };
        ask(&mut story, Form::Client(version), current.at(0), semantics);
        ask(&mut story, Form::Offsets(version), current.at(0), semantics);
    }
}

fn several_partitions(facts: &mut Facts) {
    let mut story = facts.story("parts").empty_at(0);
    let (id, producer) = (story.id.clone(), story.producer);
    let known = story.partition.clone();
    let wanted = [
        known.clone(),
        TopicPartition::new("no-such-topic", 0),
        TopicPartition::new(&known.topic, 9),
    ];
    let errors = story
        .wire()
        .add_partitions_to_txn(3, &id, producer, &wanted)
        .expect("AddPartitionsToTxn");
    let mut errors = errors;
    errors.sort_by_key(|(partition, _)| wanted.iter().position(|it| it == partition));
    let shown = story.errors(&errors);
    story.row(
        "AddPartitions v3 of [known, unknown topic, unknown partition]",
        "OPERATION_NOT_ATTEMPTED, UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_OR_PARTITION",
        &shown,
    );
    let errors = story
        .wire()
        .add_partitions_to_txn(3, "", producer, &[known])
        .expect("AddPartitionsToTxn");
    let shown = story.errors(&errors);
    story.row("AddPartitions v3 with id \"\"", "INVALID_REQUEST", &shown);
    let errors = story
        .wire()
        .add_partitions_to_txn(3, &id, producer, &[])
        .expect("AddPartitionsToTxn");
    let shown = format!("{} errors", errors.len());
    story.row("AddPartitions v3 of nothing", "?", &shown);
}

/// clientTransactionVersion, which the log value keeps in tag 2.
fn stored_client_version(facts: &mut Facts) {
    for form in [
        Form::Client(3),
        Form::Broker(4),
        Form::Broker(5),
        Form::Offsets(4),
    ] {
        let mut story = facts.story("parts").empty_at(0);
        let current = story.producer;
        ask(&mut story, form, current, "NONE");
        let stored = story.stored();
        story.row_after("read __transaction_state", "?", &stored, "");
    }
}
