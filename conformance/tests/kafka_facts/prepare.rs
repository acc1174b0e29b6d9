//! Two brokers: the participant's leader is halted, so a transaction stays in Prepare* with its
//! markers under way, as it does for milliseconds in life.

use fencepost_conformance::wire::{
    Batch, Connection, CoordinatorKey, ErrorCode, IsolationLevel, Producer, TopicPartition,
    TopicSpec, TransactionResult,
};

use super::harness::{Facts, TIMEOUT, wait_until};
use super::story::{Abort, Commit, Story};

const CT: &str = "CONCURRENT_TRANSACTIONS";

pub fn all(facts: &mut Facts) {
    for done in [Commit, Abort] {
        held(facts, done);
    }
    topic_deleted(facts);
    leader_gone(facts);
}

/// Ongoing (P,1) with a record on broker 2; the coordinator is broker 1.
fn ongoing<'a>(facts: &'a mut Facts, area: &'static str) -> Story<'a> {
    let mut story = facts.story(area);
    let mut candidate = 0;
    while coordinator(&mut story) != 1 {
        candidate += 1;
        story.id = format!("{}-{candidate}", story.id);
    }
    let topic = TopicSpec {
        name: format!("{}-on-2", story.partition.topic),
        replicas: vec![2],
        configs: Vec::new(),
    };
    let error = story.wire().create_topic(&topic).expect("CreateTopics");
    assert_eq!(error, ErrorCode::NONE);
    story.partition = TopicPartition::new(&topic.name, 0);
    let partition = story.partition.clone();
    let mut leader = await_leader(&mut story);
    let mut story = story.empty_at(1);
    story.add_insisting();
    let batch = Batch::transactional(story.producer, 0, "v");
    let answer = leader
        .produce(11, Some(&story.id), &partition, &batch)
        .expect("Produce");
    assert_eq!(answer.error, ErrorCode::NONE, "{:?}", answer.message);
    story
}

fn coordinator(story: &mut Story<'_>) -> i32 {
    let id = story.id.clone();
    story
        .wire()
        .find_coordinator(CoordinatorKey::Transaction(&id))
        .expect("FindCoordinator")
        .node_id
}

fn leader(story: &Story<'_>) -> Connection {
    Connection::open(story.facts.server.address(2), TIMEOUT).expect("broker 2")
}

fn end_version(story: &Story<'_>) -> i16 {
    if story.facts.transaction_version == 2 {
        5
    } else {
        4
    }
}

/// Halts broker 2, then ends the transaction: the answer comes all the same.
fn end_without_leader(story: &mut Story<'_>, done: TransactionResult) -> Producer {
    story.facts.server.pause(2).expect("SIGSTOP");
    story.hold();
    story.start = "Ongoing (P,1), the partition's broker halted".to_owned();
    let version = end_version(story);
    let current = story.producer;
    let semantics = if version == 5 { "NONE (P,2)" } else { "NONE" };
    story.end(version, current, done, semantics);
    current
}

/// Lets broker 2 go on, and notes the state and the log once the markers are written.
fn let_go(story: &mut Story<'_>, semantics: &str) {
    story.facts.server.resume(2).expect("SIGCONT");
    story.let_go();
    let state = story.state();
    story.row("broker goes on", semantics, &state);
    let mut leader = leader(story);
    let (log, producers) = (story.log_at(&mut leader), story.producers_at(&mut leader));
    story.row_after("read log", "?", &log, &producers);
}

fn held(facts: &mut Facts, done: TransactionResult) {
    let mut story = ongoing(facts, "prepare");
    let current = end_without_leader(&mut story, done);
    let version = end_version(&story);
    for verb in [Commit, Abort] {
        story.end(version, current, verb, CT);
    }
    story.init(Producer::NONE, CT);
    story.init(current, CT);
    let stored = current.at(if version == 5 { 2 } else { 1 });
    story.add(3, stored, CT);
    let other = Producer {
        id: stored.id + 5000,
        epoch: stored.epoch,
    };
    story.add(3, other, CT);
    let semantics = match (done, version) {
        (Commit, 5) => "CompleteCommit (P,2)",
        (Abort, 5) => "CompleteAbort (P,2)",
        (Commit, _) => "CompleteCommit (P,1)",
        (Abort, _) => "CompleteAbort (P,1)",
    };
    let_go(&mut story, semantics);
    let semantics = if version == 5 { "NONE (P,2)" } else { "NONE" };
    story.end(version, current, done, semantics);
}

/// A deleted topic owes no marker.
fn topic_deleted(facts: &mut Facts) {
    let mut story = ongoing(facts, "prepare");
    end_without_leader(&mut story, Commit);
    let topic = story.partition.topic.clone();
    let error = story.wire().delete_topic(&topic).expect("DeleteTopics");
    story.row("DeleteTopics", "NONE", &error.to_string());
    story.facts.server.resume(2).expect("SIGCONT");
    story.let_go();
    let state = story.state();
    let semantics = match end_version(&story) {
        5 => "CompleteCommit (P,2)",
        _ => "CompleteCommit (P,1)",
    };
    story.row("broker goes on", semantics, &state);
}

/// KAFKA-20734, open when this was written: where the partition has no leader alive, the
/// coordinator takes it for deleted, drops its marker and completes. The partition keeps the
/// transaction open, and the next transaction of the producer decides over its records.
fn leader_gone(facts: &mut Facts) {
    let mut story = ongoing(facts, "prepare");
    let topic = story.partition.topic.clone();
    story.facts.server.kill(2).expect("SIGKILL");
    wait_until("no leader", || {
        let (_, leaders) = story.wire().leaders(&topic).expect("Metadata");
        leaders.iter().all(|leader| leader.leader == -1)
    });
    story.start = "Ongoing (P,1), the partition's broker killed, its leader -1".to_owned();
    let version = end_version(&story);
    let current = story.producer;
    let semantics = if version == 5 { "NONE (P,2)" } else { "NONE" };
    let answer = story.end_raw(version, current, Commit);
    let shown = story.with_pair(answer.error, answer.producer);
    story.row_after(
        &format!("EndTxn v{version} Commit (P,1)"),
        semantics,
        &shown,
        "",
    );
    std::thread::sleep(std::time::Duration::from_millis(500));
    let (held, epoch) = match version {
        5 => ("PrepareCommit (P,2) 1 part.", 2),
        _ => ("PrepareCommit (P,1) 1 part.", 1),
    };
    let state = story.state();
    story.row("500 ms later", held, &state);
    story.facts.server.restart(2).expect("restart");
    let mut leader = await_leader(&mut story);
    std::thread::sleep(std::time::Duration::from_millis(500));
    let (log, producers) = (story.log_at(&mut leader), story.producers_at(&mut leader));
    let committed = match version {
        5 => "[d1 C2] hw 2 lso 2 aborted 0",
        _ => "[d1 C1] hw 2 lso 2 aborted 0",
    };
    story.row_after("broker restarted, read log", committed, &log, &producers);

    let next = current.at(epoch);
    let sequence = if version == 5 { 0 } else { 1 };
    story.add(3, next, "NONE");
    let batch = Batch::transactional(next, sequence, "v");
    let (id, partition) = (story.id.clone(), story.partition.clone());
    let answer = leader
        .produce(11, Some(&id), &partition, &batch)
        .expect("Produce");
    let pair = story.pair(next);
    story.row(
        &format!("Produce v11 {pair} seq {sequence}"),
        "NONE",
        &answer.error.to_string(),
    );
    story.end(
        version,
        next,
        Abort,
        if version == 5 { "NONE (P,3)" } else { "NONE" },
    );
    let (log, producers) = (story.log_at(&mut leader), story.producers_at(&mut leader));
    let semantics = match version {
        5 => "[d1 C2 d2 A3] hw 4 lso 4 aborted 1",
        _ => "[d1 C1 d1 A1] hw 4 lso 4 aborted 1",
    };
    story.row_after("read log", semantics, &log, &producers);
    let aborted = leader
        .fetch(&partition, 0, IsolationLevel::ReadCommitted)
        .expect("Fetch")
        .aborted;
    let firsts: Vec<i64> = aborted.unwrap_or_default().iter().map(|it| it.1).collect();
    story.row_after(
        "Fetch read_committed, aborted from",
        "[2]",
        &format!("{firsts:?}"),
        "",
    );
}

fn await_leader(story: &mut Story<'_>) -> Connection {
    let mut leader = leader(story);
    let partition = story.partition.clone();
    wait_until("leader back", || {
        let (error, _) = leader
            .latest_offset(&partition, IsolationLevel::ReadUncommitted)
            .expect("ListOffsets");
        error == ErrorCode::NONE
    });
    leader
}
