//! What readers see: last stable offset, aborted list, and the coordinator's lists (semantics 5, 6).

use fencepost_conformance::wire::{Batch, ErrorCode, IsolationLevel, Producer, TransactionResult};

use super::harness::Facts;
use super::story::{Abort, Commit, Story};

pub fn all(facts: &mut Facts) {
    for results in [
        [Commit, Commit],
        [Abort, Commit],
        [Commit, Abort],
        [Abort, Abort],
    ] {
        overlapping(facts, results);
    }
    lists(facts);
}

/// Two transactions on one partition: P opens first, Q second, and Q ends first.
fn overlapping(facts: &mut Facts, [first, second]: [TransactionResult; 2]) {
    let end = if facts.transaction_version == 2 { 5 } else { 4 };
    let other = {
        let story = facts.story("visible").empty_at(0);
        (story.id.clone(), story.producer)
    };
    let mut story = facts.story("visible").ongoing_at(0);
    story.name(other.1.id);
    let mine = (story.id.clone(), story.producer);
    produce(&mut story, &other, 0);
    plain(&mut story);
    produce(&mut story, &mine, 1);
    story.start = "P open from 0, Q open from 1, a plain record at 2, P again at 3".to_owned();
    read(&mut story, "hw 4 lso 0");
    let semantics = if end == 5 { "NONE (Q,1)" } else { "NONE" };
    finish(&mut story, end, &other, first, semantics);
    read(&mut story, "hw 5 lso 0");
    let semantics = if end == 5 { "NONE (P,1)" } else { "NONE" };
    finish(&mut story, end, &mine, second, semantics);
    read(&mut story, "?");
}

fn produce(story: &mut Story<'_>, (id, producer): &(String, Producer), sequence: i32) {
    let partition = story.partition.clone();
    let errors = story
        .wire()
        .add_partitions_to_txn(3, id, *producer, std::slice::from_ref(&partition))
        .expect("AddPartitionsToTxn");
    assert_eq!(errors[0].1, ErrorCode::NONE);
    let answer = story
        .wire()
        .produce(
            11,
            Some(id),
            &partition,
            &Batch::transactional(*producer, sequence, "v"),
        )
        .expect("Produce");
    assert_eq!(answer.error, ErrorCode::NONE);
}

fn plain(story: &mut Story<'_>) {
    let mut batch = Batch::transactional(Producer::NONE, -1, "plain");
    batch.transactional = false;
    let partition = story.partition.clone();
    let answer = story
        .wire()
        .produce(11, None, &partition, &batch)
        .expect("Produce");
    assert_eq!(answer.error, ErrorCode::NONE);
}

fn finish(
    story: &mut Story<'_>,
    version: i16,
    (id, producer): &(String, Producer),
    result: TransactionResult,
    semantics: &str,
) {
    story.id.clone_from(id);
    story.end(version, *producer, result, semantics);
}

/// Reads to the end at read_committed: offsets of the aborted entries by producer, and the bounds.
fn read(story: &mut Story<'_>, semantics: &str) {
    let partition = story.partition.clone();
    let (error, bound) = story
        .wire()
        .latest_offset(&partition, IsolationLevel::ReadCommitted)
        .expect("ListOffsets");
    assert_eq!(error, ErrorCode::NONE);
    let answer = story
        .wire()
        .fetch(&partition, 0, IsolationLevel::ReadCommitted)
        .expect("Fetch");
    assert_eq!(
        answer.last_stable_offset, bound,
        "ListOffsets and Fetch agree"
    );
    let last = answer.batches.last().map_or(-1, |batch| batch.last_offset);
    assert!(
        last < bound,
        "nothing at or above the last stable offset is handed out"
    );
    let aborted: Vec<String> = answer
        .aborted
        .unwrap_or_default()
        .iter()
        .map(|(producer, first)| format!("{} from {first}", story.name(*producer)))
        .collect();
    let shown = format!("hw {} lso {bound}", answer.high_watermark);
    let list = format!("aborted [{}]", aborted.join(", "));
    story.row_after(
        "Fetch and ListOffsets read_committed",
        semantics,
        &shown,
        &list,
    );
}

/// DescribeTransactions and ListTransactions.
fn lists(facts: &mut Facts) {
    let mut story = facts.story("admin").named("id \"\"");
    let error = story
        .wire()
        .describe_transaction("")
        .expect("Describe")
        .error;
    story.row_after(
        "DescribeTransactions",
        "INVALID_REQUEST",
        &error.to_string(),
        "",
    );
    let mut story = facts.story("admin").named("no mapping");
    let state = story.state();
    story.row_after(
        "DescribeTransactions",
        "TRANSACTIONAL_ID_NOT_FOUND",
        &state,
        "",
    );

    let mut story = facts.story("admin").ongoing_at(1);
    let (id, pid) = (story.id.clone(), story.producer.id);
    for (request, states, pids, duration, listed) in [
        ("of this producer id", &[][..], &[pid][..], -1, true),
        ("state Ongoing", &["Ongoing"], &[pid], -1, true),
        ("state Empty", &["Empty"], &[pid], -1, false),
        ("state no-such-state", &["no-such-state"], &[pid], -1, false),
        ("open for 0 ms", &[], &[pid], 0, true),
        ("open for an hour", &[], &[pid], 3_600_000, false),
        ("of another producer id", &[], &[i64::MAX], -1, false),
    ] {
        let (error, found) = story
            .wire()
            .list_transactions(states, pids, duration)
            .expect("ListTransactions");
        let found: Vec<&str> = found
            .iter()
            .filter(|it| it.transactional_id == id)
            .map(|it| it.state.as_str())
            .collect();
        let semantics = if listed { "NONE [Ongoing]" } else { "NONE []" };
        let shown = format!("{error} [{}]", found.join(", "));
        story.row_after(
            &format!("ListTransactions {request}"),
            semantics,
            &shown,
            "",
        );
    }
}
