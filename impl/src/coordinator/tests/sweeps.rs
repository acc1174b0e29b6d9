use super::*;
use crate::coordinator::TransactionTimeout;
use TransactionState::{
    CompleteAbort, CompleteCommit, Empty, Ongoing, PrepareAbort, PrepareCommit,
};

const WEEK: i64 = 604_800_000;

/// `stored` transactions begin at 999,000 and may stay open for 60,000 ms.
const DEADLINE: i64 = 1_059_000;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

#[test]
fn the_deadline_itself_is_not_yet_too_late() {
    for (now, aborted) in [
        (DEADLINE - 1, false),
        (DEADLINE, false),
        (DEADLINE + 1, true),
    ] {
        let mut desk = Desk::given(TV2, &stored(Ongoing, 7, 1));
        desk.now = at(now);
        desk.step(Input::AbortTimedOutTransactions);
        assert_eq!(!desk.appends.is_empty(), aborted, "{now}");
    }
}

#[test]
fn only_open_transactions_time_out() {
    for state in [
        Empty,
        PrepareCommit,
        PrepareAbort,
        CompleteCommit,
        CompleteAbort,
    ] {
        let mut desk = Desk::given(TV2, &stored(state, 7, 1));
        let under_way = desk.markers.len();
        desk.now = at(DEADLINE + 1);
        desk.step(Input::AbortTimedOutTransactions);
        assert_eq!(
            (desk.appends.len(), desk.markers.len()),
            (0, under_way),
            "{state:?}"
        );
    }
}

#[test]
fn two_phase_commit_never_times_out() {
    let mut metadata = stored(Ongoing, 7, 1);
    metadata.timeout = TransactionTimeout::Never;
    let mut desk = Desk::given(TV2, &metadata);
    desk.now = at(i64::MAX);
    desk.step(Input::AbortTimedOutTransactions);
    assert_eq!(desk.appends, []);
}

#[test]
fn the_slow_producer_is_fenced_by_the_abort() {
    // KAFKA-6119 (B08).
    for (level, version) in [(TV1, 4), (TV2, 5)] {
        let mut desk = Desk::given(level, &stored(Ongoing, 7, 1));
        desk.now = at(DEADLINE + 1);
        desk.step(Input::AbortTimedOutTransactions);
        desk.step(Input::AbortTimedOutTransactions);
        assert_eq!(desk.appends.len(), 1, "one abort is enough");
        desk.settle();
        assert_eq!(desk.answers, []);
        assert_eq!(desk.brief(), (CompleteAbort, 7, 2));
        assert_eq!(
            desk.add(add(AddPartitionsToTxnForm::Broker, claim(7, 1), &[p0()])),
            ErrorCode::ProducerFenced
        );
        let commit = desk.end(end(version, claim(7, 1), COMMIT));
        let error = if level == TV1 {
            ErrorCode::ProducerFenced
        } else {
            ErrorCode::InvalidTxnState
        };
        assert_eq!(commit, Err(error));
    }
}

#[test]
fn a_timeout_at_the_last_epoch_replaces_the_producer_id() {
    // KAFKA-20090 (B19).
    let mut desk = Desk::given(TV2, &stored(Ongoing, 7, EXH));
    desk.now = at(DEADLINE + 1);
    desk.step(Input::AbortTimedOutTransactions);
    desk.settle();
    assert_eq!(desk.brief(), (CompleteAbort, P, 0));
    assert_eq!(
        desk.end(end(5, claim(7, EXH), ABORT)),
        Ok(Some(producer(P, 0))),
        "the client's abort is a retry"
    );
}

#[test]
fn an_abort_that_cannot_be_logged_is_tried_again_by_the_next_sweep() {
    for level in [TV1, TV2] {
        let mut desk = Desk::given(level, &stored(Ongoing, 7, 1));
        desk.now = at(DEADLINE + 1);
        desk.step(Input::AbortTimedOutTransactions);
        desk.append(AppendOutcome::Failed(ErrorCode::NotEnoughReplicas));
        assert_eq!(desk.brief().0, Ongoing);
        desk.step(Input::AbortTimedOutTransactions);
        desk.settle();
        assert_eq!(desk.brief(), (CompleteAbort, 7, 2), "one rise in all");
    }
}

#[test]
fn a_change_under_way_holds_the_sweep_off() {
    let mut desk = Desk::given(TV2, &stored(Ongoing, 7, 1));
    desk.ask(Request::EndTxn(end(5, claim(7, 1), COMMIT)));
    desk.now = at(DEADLINE + 1);
    desk.step(Input::AbortTimedOutTransactions);
    assert_eq!(desk.appends.len(), 1);
    desk.settle();
    assert_eq!(desk.brief(), (CompleteCommit, 7, 2));
}

#[test]
fn a_clock_that_steps_back_stops_nothing() {
    // KAFKA-5415 (B60).
    let mut desk = Desk::given(TV2, &stored(Empty, 7, 1));
    desk.now = at(10);
    assert_eq!(
        desk.add(add(AddPartitionsToTxnForm::Broker, claim(7, 1), &[p0()])),
        ErrorCode::None
    );
    desk.now = at(-5);
    assert_eq!(
        desk.add(add(AddPartitionsToTxnForm::Broker, claim(7, 1), &[p1()])),
        ErrorCode::None
    );
    assert_eq!(
        desk.end(end(5, claim(7, 1), COMMIT)),
        Ok(Some(producer(7, 2)))
    );
    desk.settle();
    assert_eq!(desk.brief(), (CompleteCommit, 7, 2));
}

#[test]
fn many_ids_time_out_in_the_order_of_their_deadlines() {
    let mut desk = Desk::new(TV2);
    for (name, timeout) in [("late", 50_000), ("early", 10_000), ("later", 90_000)] {
        let id = TransactionalId::new(name);
        let request = InitProducerId {
            transactional_id: Some(id.clone()),
            transaction_timeout_ms: timeout,
            ..init(None)
        };
        let producer = desk.init(request).expect("a producer");
        let asked = claim(producer.producer_id.get(), 0);
        let request = AddPartitionsToTxn {
            transactional_id: id,
            ..add(AddPartitionsToTxnForm::Broker, asked, &[p0()])
        };
        assert_eq!(desk.add(request), ErrorCode::None);
    }
    desk.now = desk.now.plus_millis(60_000);
    desk.step(Input::AbortTimedOutTransactions);
    let aborted: Vec<String> = desk
        .appends
        .iter()
        .map(|ticket| match ticket {
            AppendTicket::Transition {
                transactional_id, ..
            } => transactional_id.to_string(),
            AppendTicket::Tombstones { .. } => panic!("no tombstone here"),
        })
        .collect();
    assert_eq!(aborted, ["early", "late"]);
}

#[test]
fn an_unused_id_is_forgotten_after_the_expiration() {
    for state in [Empty, CompleteCommit, CompleteAbort] {
        let mut desk = Desk::given(TV2, &stored(state, 7, 1));
        desk.now = at(999_500 + WEEK - 1);
        desk.step(Input::RemoveExpiredTransactionalIds);
        assert_eq!(desk.appends, [], "{state:?}");
        desk.now = at(999_500 + WEEK);
        desk.step(Input::RemoveExpiredTransactionalIds);
        assert_eq!(
            desk.unwritten,
            [[LogRecord {
                key: vec![0, 0, 0, 3, b't', b'x', b'n'].into(),
                value: None
            }]]
        );
        assert_eq!(
            desk.end(end(5, claim(7, 1), ABORT)),
            Err(ErrorCode::ConcurrentTransactions)
        );
        desk.append(AppendOutcome::Written);
        assert!(
            desk.coordinator
                .owner(&id())
                .expect("led")
                .transactions()
                .is_empty()
        );
        assert_eq!(
            desk.end(end(5, claim(7, 1), ABORT)),
            Err(ErrorCode::InvalidProducerIdMapping)
        );
    }
}

#[test]
fn an_id_with_something_open_is_never_forgotten() {
    for state in [Ongoing, PrepareCommit, PrepareAbort] {
        let mut desk = Desk::given(TV2, &stored(state, 7, 1));
        desk.now = at(i64::MAX);
        desk.step(Input::RemoveExpiredTransactionalIds);
        assert_eq!(desk.appends, [], "{state:?}");
    }
}

#[test]
fn an_id_that_was_never_logged_is_forgotten_too() {
    // KAFKA-14880 (B59).
    let mut desk = Desk::new(TV2);
    desk.ask(Request::InitProducerId(init(None)));
    desk.append(AppendOutcome::Failed(ErrorCode::NotEnoughReplicas));
    desk.now = desk.now.plus_millis(WEEK);
    desk.step(Input::RemoveExpiredTransactionalIds);
    desk.append(AppendOutcome::Written);
    assert!(
        desk.coordinator
            .owner(&id())
            .expect("led")
            .transactions()
            .is_empty()
    );
}

#[test]
fn tombstones_that_are_not_durable_forget_nothing() {
    let mut desk = Desk::given(TV2, &stored(CompleteCommit, 7, 1));
    let before = desk.coordinator.clone();
    desk.now = at(999_500 + WEEK);
    desk.step(Input::RemoveExpiredTransactionalIds);
    desk.step(Input::RemoveExpiredTransactionalIds);
    assert_eq!(desk.appends.len(), 1, "one at a time");
    desk.append(AppendOutcome::Failed(ErrorCode::NotEnoughReplicas));
    assert_eq!(desk.coordinator, before);
    assert_eq!(
        desk.end(end(5, claim(7, 0), COMMIT)),
        Ok(Some(producer(7, 1)))
    );
}

#[test]
fn a_tombstone_that_is_reported_twice_does_not_undo_what_came_between() {
    let mut desk = Desk::given(TV2, &stored(CompleteCommit, 7, 1));
    desk.now = at(999_500 + WEEK);
    desk.step(Input::RemoveExpiredTransactionalIds);
    let ticket = desk.appends[0].clone();
    desk.append(AppendOutcome::Failed(ErrorCode::RequestTimedOut));
    desk.ask(Request::InitProducerId(init(None)));
    for outcome in [
        AppendOutcome::Written,
        AppendOutcome::Failed(ErrorCode::RequestTimedOut),
    ] {
        let before = desk.coordinator.clone();
        desk.step(Input::AppendFinished(ticket.clone(), outcome));
        assert_eq!(desk.coordinator, before);
    }
    desk.settle();
    assert_eq!(desk.brief(), (Empty, 7, 2));
}

#[test]
fn tombstones_of_an_ended_leadership_forget_nothing() {
    let mut desk = Desk::given(TV2, &stored(CompleteCommit, 7, 1));
    desk.now = at(999_500 + WEEK);
    desk.step(Input::RemoveExpiredTransactionalIds);
    let record = crate::coordinator::txn_log::record(&id(), &stored(CompleteCommit, 7, 1), TV2);
    desk.load(4, &[record]);
    desk.append(AppendOutcome::Written);
    assert_eq!(desk.brief(), (CompleteCommit, 7, 1));
}

#[test]
fn tombstones_are_written_in_batches_of_bounded_size() {
    // KAFKA-13099 (B59).
    let config = Config {
        transaction_log_partitions: 1,
        tombstone_batch_bytes: 100,
        ..Config::default()
    };
    let mut desk = Desk {
        coordinator: Coordinator::new(config, TV2),
        ..Desk::idle(TV2)
    };
    let records: Vec<LogRecord> = (0..7)
        .map(|number| {
            let id = TransactionalId::new(&format!("txn-{number}"));
            crate::coordinator::txn_log::record(&id, &stored(Empty, number, 1), TV2)
        })
        .collect();
    desk.load(3, &records);
    desk.now = at(999_500 + WEEK);
    desk.step(Input::RemoveExpiredTransactionalIds);
    assert_eq!(
        desk.unwritten.iter().map(Vec::len).collect::<Vec<_>>(),
        [2, 2, 2, 1]
    );
    desk.settle();
    assert!(
        desk.coordinator
            .owner(&id())
            .expect("led")
            .transactions()
            .is_empty()
    );
}
