//! The rows of the seed documents that speak of the journal of transaction states: B1 to B3, and the questions of A7.
//!
//! The journal is kept as the bytes that a broker would write: one checksummed batch for each append.

use super::*;
use crate::batch::{NewBatch, NewRecord, ScanEnd, scan};
use crate::types::Offset;
use TransactionState::{CompleteAbort, CompleteCommit, Ongoing, PrepareAbort, PrepareCommit};
use bytes::Bytes;

const WRITTEN: MarkerOutcome = MarkerOutcome::Answered(ErrorCode::None);

/// The journal's bytes: a batch for each record, in their order.
fn journal(records: &[LogRecord]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (at, record) in (0..).zip(records) {
        let now = Timestamp::from_millis(1_000_000);
        let batch = NewBatch {
            base_offset: Offset::new(at),
            leader_epoch: None,
            producer: None,
            is_transactional: false,
            is_control: false,
            records: vec![NewRecord::new(
                now,
                Some(record.key.clone()),
                record.value.clone(),
            )],
        };
        bytes.extend_from_slice(batch.write().expect("a small batch").bytes());
    }
    bytes
}

/// What a broker finds when it starts: the whole records, and how the bytes end.
fn read(bytes: &[u8]) -> (Vec<LogRecord>, ScanEnd) {
    let found = scan(Bytes::copy_from_slice(bytes));
    let mut records = Vec::new();
    for batch in &found.batches {
        for record in batch.records().expect("not compressed") {
            let record = record.expect("checksummed");
            records.push(LogRecord {
                key: Bytes::copy_from_slice(record.key.expect("keyed")),
                value: record.value.map(Bytes::copy_from_slice),
            });
        }
    }
    (records, found.end)
}

fn named(name: &str) -> TransactionalId {
    TransactionalId::new(name)
}

/// The ids and their states after a start from these records.
fn states(records: &[LogRecord]) -> Vec<(String, TransactionState)> {
    let mut desk = Desk::idle(TV2);
    desk.load(4, records);
    let led = desk.coordinator.owner(&id()).expect("loaded");
    let known = led.transactions().iter();
    known
        .map(|(id, slot)| (id.to_string(), slot.current().state))
        .collect()
}

/// Three ids whose states follow each other in the journal.
fn history() -> Vec<LogRecord> {
    let record = |name: &str, state| {
        crate::coordinator::txn_log::record(&named(name), &stored(state, P, 2), TV2)
    };
    vec![
        record("a", TransactionState::Empty),
        record("b", Ongoing),
        record("a", Ongoing),
        record("c", TransactionState::Empty),
        record("b", CompleteAbort),
        crate::coordinator::txn_log::tombstone(&named("c")),
        record("a", CompleteCommit),
    ]
}

#[test]
fn b1_the_last_record_of_each_id_wins_and_a_null_value_forgets_it() {
    let (records, end) = read(&journal(&history()));
    assert_eq!(end, ScanEnd::Clean);
    assert_eq!(records, history());
    let expected = [("a", CompleteCommit), ("b", CompleteAbort)];
    assert_eq!(
        states(&records),
        expected.map(|(id, state)| (id.to_owned(), state))
    );
}

#[test]
fn b1_no_changed_byte_of_a_record_passes_its_checksum() {
    let bytes = journal(&history()[..1]);
    // The base offset and the leader epoch lie before what the checksum covers; a log's order checks the first.
    for at in (8..12).chain(16..bytes.len()) {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            let (records, end) = read(&damaged);
            assert_eq!(records, [], "byte {at} bit {bit}");
            assert_ne!(end, ScanEnd::Clean, "byte {at} bit {bit}");
        }
    }
}

#[test]
fn b2_a_torn_tail_is_cut_at_the_last_whole_record() {
    let history = history();
    let bytes = journal(&history);
    let ends: Vec<usize> = (0..=history.len())
        .map(|count| journal(&history[..count]).len())
        .collect();
    for cut in 0..=bytes.len() {
        let (records, end) = read(&bytes[..cut]);
        let whole = ends.iter().filter(|end| **end <= cut).count() - 1;
        assert_eq!(records, history[..whole], "cut at {cut}");
        match end {
            ScanEnd::Clean => assert_eq!(ends[whole], cut),
            ScanEnd::TornTail(_) => assert_ne!(ends[whole], cut),
            ScanEnd::Damaged(_) => panic!("a tail cut at {cut} was taken for damage"),
        }
        assert_eq!(states(&records), states(&history[..whole]));
    }
}

#[test]
fn b2_damage_in_the_middle_is_reported_and_never_passes_as_state() {
    let history = history();
    let bytes = journal(&history);
    let ends: Vec<usize> = (0..=history.len())
        .map(|count| journal(&history[..count]).len())
        .collect();
    for (record, bounds) in ends.windows(2).enumerate().take(history.len() - 1) {
        for at in (bounds[0] + 16..bounds[1]).step_by(3) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            let (records, end) = read(&damaged);
            assert!(matches!(end, ScanEnd::Damaged(_)), "byte {at}: {end:?}");
            assert_eq!(records, history[..record], "byte {at}");
        }
    }
}

/// One durable step of a transaction, played by the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// The process stops before the step.
    Before,
    /// In the middle of its write.
    Torn,
    /// After it.
    After,
}

/// A transaction on two partitions that is to end so; each of its durable steps in turn.
struct Story {
    desk: Desk,
    result: TransactionResult,
    steps: usize,
}

impl Story {
    /// Ready for the five steps: the added partition, the decision, two markers, the completion.
    fn new(level: TransactionVersion, result: TransactionResult) -> Self {
        let mut desk = Desk::ongoing(level);
        desk.ask(Request::AddPartitionsToTxn(add(
            AddPartitionsToTxnForm::Broker,
            claim(P, 0),
            &[p1()],
        )));
        Self {
            desk,
            result,
            steps: 0,
        }
    }

    /// What the next step writes to the journal; nothing where it writes a marker. `None` after the last.
    fn next_write(&self) -> Option<Vec<LogRecord>> {
        match (self.desk.unwritten.first(), self.desk.markers.first()) {
            (Some(records), _) => Some(records.clone()),
            (None, Some(_)) => Some(Vec::new()),
            (None, None) => None,
        }
    }

    fn step(&mut self) {
        self.steps += 1;
        if self.desk.appends.is_empty() {
            self.desk.marker(WRITTEN);
        } else {
            self.desk.append(AppendOutcome::Written);
        }
        if self.steps == 1 {
            let version = if self.desk.coordinator.transaction_version() == TV2 {
                5
            } else {
                4
            };
            self.desk
                .ask(Request::EndTxn(end(version, claim(P, 0), self.result)));
        }
    }
}

/// Crashes at every cut point of a transaction and starts again from the journal's bytes alone.
fn every_cut_ends_in_the_decided_outcome(level: TransactionVersion, result: TransactionResult) {
    let mut story = Story::new(level, result);
    while let Some(write) = story.next_write() {
        for cut in [Cut::Before, Cut::Torn, Cut::After] {
            let mut bytes = journal(&story.desk.log);
            if cut != Cut::Before && !write.is_empty() {
                let all = [story.desk.log.clone(), write.clone()].concat();
                let whole = journal(&all);
                let torn = usize::midpoint(bytes.len(), whole.len());
                bytes = whole[..if cut == Cut::Torn { torn } else { whole.len() }].to_vec();
            }
            let (records, _) = read(&bytes);
            let mut desk = Desk::idle(level);
            desk.load(9, &records);
            let decided = story.steps > 1 || (story.steps == 1 && cut == Cut::After);
            check(&mut desk, decided, result, (story.steps, cut));
        }
        story.step();
    }
    assert_eq!(story.steps, 5);
    let done = if result == COMMIT {
        CompleteCommit
    } else {
        CompleteAbort
    };
    assert_eq!(story.desk.brief().0, done);
}

/// Where the decision is durable its markers are sent again, to every partition of the record; where it is not, the
/// transaction is still open, and its timeout aborts it.
fn check(desk: &mut Desk, decided: bool, result: TransactionResult, at: (usize, Cut)) {
    let (prepared, done) = match result {
        COMMIT => (PrepareCommit, CompleteCommit),
        ABORT => (PrepareAbort, CompleteAbort),
    };
    let state = desk.brief().0;
    if !decided {
        assert_eq!(state, Ongoing, "{at:?}");
        desk.now = desk.now.plus_millis(60_001);
        desk.step(Input::AbortTimedOutTransactions);
        desk.settle();
        assert_eq!(desk.brief().0, CompleteAbort, "{at:?}");
        return;
    }
    if state == done {
        assert!(desk.markers.is_empty(), "{at:?}");
        return;
    }
    assert_eq!(state, prepared, "{at:?}");
    let mut sent: Vec<TopicPartition> = desk.markers.iter().map(|(_, p)| p.clone()).collect();
    sent.sort();
    assert_eq!(sent, [p0(), p1()], "{at:?}");
    assert!(
        desk.markers
            .iter()
            .all(|(ticket, _)| ticket.result == result && ticket.coordinator_epoch == epoch(9)),
        "{at:?}"
    );
    desk.settle();
    assert_eq!(desk.brief().0, done, "{at:?}");
}

#[test]
fn b3_a_commit_that_crashes_at_any_cut_point_ends_as_decided() {
    for level in [TV1, TV2] {
        every_cut_ends_in_the_decided_outcome(level, COMMIT);
    }
}

#[test]
fn b3_an_abort_that_crashes_at_any_cut_point_ends_as_decided() {
    for level in [TV1, TV2] {
        every_cut_ends_in_the_decided_outcome(level, ABORT);
    }
}

/// A7: AddOffsetsToTxn adds the group's partition of `__consumer_offsets` as AddPartitionsToTxn would, because the
/// marker has to reach it: staged offsets are decided by it like any other data.
#[test]
fn a7_add_offsets_calls_add_partitions_so_that_the_marker_reaches_the_offsets() {
    let mut desk = Desk::ongoing(TV1);
    assert_eq!(desk.add_offsets(add_offsets(claim(P, 0))), Ok(()));
    // The group's name falls to partition 46 of 50.
    let offsets = TopicPartition::new("__consumer_offsets", 46);
    assert!(desk.now_holds().partitions.contains(&offsets));
    desk.end(end(4, claim(P, 0), COMMIT)).expect("prepared");
    let sent: Vec<&TopicPartition> = desk
        .markers
        .iter()
        .map(|(_, partition)| partition)
        .collect();
    assert!(
        sent.contains(&&offsets) && sent.contains(&&p0()),
        "{sent:?}"
    );
}

/// A7: when every marker write fails after EndTxn the decision stands: the client was told, nothing new may begin, and
/// the markers are sent until they are written, by this coordinator or the next.
#[test]
fn a7_when_every_marker_write_fails_the_decision_stands_and_is_carried_out_later() {
    let mut desk = Desk::ongoing(TV2);
    assert_eq!(
        desk.end(end(5, claim(P, 0), COMMIT)),
        Ok(Some(producer(P, 1)))
    );
    for _ in 0..3 {
        desk.marker(MarkerOutcome::Answered(ErrorCode::NotEnoughReplicas));
        assert_eq!(desk.brief().0, PrepareCommit);
        let refused = desk.add(add(AddPartitionsToTxnForm::Broker, claim(P, 1), &[p0()]));
        assert_eq!(refused, ErrorCode::ConcurrentTransactions);
        desk.step(Input::RetryCompletions);
        assert_eq!(desk.markers.len(), 1);
    }
    // The coordinator fails over, and the next one goes on from the record.
    let mut next = Desk::idle(TV2);
    next.load(4, &desk.log);
    assert_eq!(next.markers.len(), 1);
    assert_eq!(next.markers[0].0.result, COMMIT);
    next.settle();
    assert_eq!(next.brief(), (CompleteCommit, P, 1));
}

/// A7: what the coordinator epoch is for. A marker carries the leadership that decided it, so a data partition that has
/// heard of a newer one refuses what a deposed coordinator still sends (its side is
/// `a7_the_coordinator_epoch_stops_a_zombie_coordinator` of the partition), and the deposed one gives up.
#[test]
fn a7_a_coordinator_whose_marker_is_fenced_gives_the_transaction_up() {
    let mut desk = Desk::ongoing(TV2);
    desk.end(end(5, claim(P, 0), COMMIT)).expect("prepared");
    assert_eq!(desk.markers[0].0.coordinator_epoch, epoch(3));
    desk.marker(MarkerOutcome::Answered(
        ErrorCode::TransactionCoordinatorFenced,
    ));
    desk.step(Input::RetryCompletions);
    assert!(desk.markers.is_empty() && desk.appends.is_empty());
    assert_eq!(desk.brief().0, PrepareCommit);
}
