use super::*;
use crate::coordinator::end_txn_tv2::{Attempt, Row, row};
use TransactionState::{
    CompleteAbort, CompleteCommit, Dead, Empty, Ongoing, PrepareAbort, PrepareCommit,
    PrepareEpochFence,
};

#[test]
fn the_table() {
    let wrong = Row::Refuse(ErrorCode::InvalidTxnState);
    let retry = Row::Refuse(ErrorCode::ConcurrentTransactions);
    let fenced = Row::Refuse(ErrorCode::ProducerFenced);
    let unreachable = Row::Refuse(ErrorCode::UnknownServerError);
    // State; abort again, abort; commit again, commit.
    let rows = [
        (
            Ongoing,
            fenced,
            Row::Begin(PrepareAbort),
            fenced,
            Row::Begin(PrepareCommit),
        ),
        (Empty, fenced, Row::EmptyAbort, fenced, wrong),
        (
            CompleteAbort,
            Row::AlreadyDone,
            Row::EmptyAbort,
            wrong,
            wrong,
        ),
        (
            CompleteCommit,
            wrong,
            Row::EmptyAbort,
            Row::AlreadyDone,
            wrong,
        ),
        (PrepareCommit, wrong, fenced, retry, fenced),
        (PrepareAbort, retry, fenced, wrong, fenced),
        (Dead, unreachable, unreachable, unreachable, unreachable),
        (
            PrepareEpochFence,
            unreachable,
            unreachable,
            unreachable,
            unreachable,
        ),
    ];
    for (state, abort_again, abort, commit_again, commit) in rows {
        assert_eq!(row(state, ABORT, Attempt::Retry), abort_again, "{state:?}");
        assert_eq!(row(state, ABORT, Attempt::Current), abort, "{state:?}");
        assert_eq!(
            row(state, COMMIT, Attempt::Retry),
            commit_again,
            "{state:?}"
        );
        assert_eq!(row(state, COMMIT, Attempt::Current), commit, "{state:?}");
    }
}

#[test]
fn each_state_by_verb_and_epoch() {
    let (fenced, wrong) = (
        Err(ErrorCode::ProducerFenced),
        Err(ErrorCode::InvalidTxnState),
    );
    let raised = Ok(Some(producer(7, 3)));
    let same = Ok(Some(producer(7, 2)));
    // State at (7, 2); verb; answers to epochs 0, 1, 2, 3.
    let rows = [
        (Empty, COMMIT, [fenced, fenced, wrong, fenced]),
        (Empty, ABORT, [fenced, fenced, raised, fenced]),
        (Ongoing, COMMIT, [fenced, fenced, raised, fenced]),
        (Ongoing, ABORT, [fenced, fenced, raised, fenced]),
        (CompleteCommit, COMMIT, [fenced, same, wrong, fenced]),
        (CompleteCommit, ABORT, [fenced, wrong, raised, fenced]),
        (CompleteAbort, COMMIT, [fenced, wrong, wrong, fenced]),
        (CompleteAbort, ABORT, [fenced, same, raised, fenced]),
    ];
    for (state, result, answers) in rows {
        for (epoch, answer) in (0..).zip(answers) {
            let mut desk = Desk::given(TV2, &stored(state, 7, 2));
            assert_eq!(
                desk.end(end(5, claim(7, epoch), result)),
                answer,
                "{state:?} {result:?} {epoch}"
            );
            let other = desk.end(end(5, claim(8, epoch), result));
            let refused = other == Err(ErrorCode::InvalidProducerIdMapping)
                || other == Err(ErrorCode::ConcurrentTransactions);
            assert!(refused, "{other:?}");
        }
    }
}

#[test]
fn a_decided_transaction_is_waited_for_whatever_is_named() {
    for state in [PrepareCommit, PrepareAbort] {
        let mut desk = Desk::given(TV2, &stored(state, 7, 2));
        for asked in [claim(7, 1), claim(7, 2), claim(7, 0), claim(8, 1)] {
            for result in [COMMIT, ABORT] {
                assert_eq!(
                    desk.end(end(5, asked, result)),
                    Err(ErrorCode::ConcurrentTransactions)
                );
            }
        }
    }
}

#[test]
fn a_prepared_transaction_with_nothing_pending_follows_its_own_cells() {
    for (result, other) in [(COMMIT, ABORT), (ABORT, COMMIT)] {
        let mut desk = Desk::given(TV2, &stored(Ongoing, 7, 1));
        assert_eq!(
            desk.end(end(5, claim(7, 1), result)),
            Ok(Some(producer(7, 2)))
        );
        desk.marker(MarkerOutcome::Answered(ErrorCode::None));
        desk.append(AppendOutcome::Failed(ErrorCode::KafkaStorageError));
        assert!(desk.slot().pending().is_none());
        assert_eq!(
            desk.end(end(5, claim(7, 1), result)),
            Err(ErrorCode::ConcurrentTransactions)
        );
        assert_eq!(
            desk.end(end(5, claim(7, 1), other)),
            Err(ErrorCode::InvalidTxnState)
        );
        for epoch in [0, 2, 3] {
            assert_eq!(
                desk.end(end(5, claim(7, epoch), result)),
                Err(ErrorCode::ProducerFenced)
            );
        }
        assert_eq!(
            desk.end(end(5, claim(8, 1), result)),
            Err(ErrorCode::InvalidProducerIdMapping)
        );
    }
}

#[test]
fn the_decision_raises_the_epoch_and_the_marker_carries_it() {
    for (result, prepared, complete) in [
        (COMMIT, PrepareCommit, CompleteCommit),
        (ABORT, PrepareAbort, CompleteAbort),
    ] {
        let mut desk = Desk::given(TV2, &stored(Ongoing, 7, 1));
        assert_eq!(
            desk.end(end(5, claim(7, 1), result)),
            Ok(Some(producer(7, 2)))
        );
        assert_eq!(desk.brief(), (prepared, 7, 2));
        let ticket = MarkerTicket {
            transactional_id: id(),
            partition: 0,
            coordinator_epoch: epoch(3),
            producer: producer(7, 2),
            result,
            transaction_version: TV2,
        };
        assert_eq!(desk.markers, [(ticket, p0())]);
        desk.settle();
        assert_eq!(desk.brief(), (complete, 7, 2));
        assert_eq!(
            desk.now_holds().last_producer_epoch,
            ProducerEpoch::from_wire(1)
        );
        assert_eq!(
            desk.now_holds().previous_producer_id,
            Some(ProducerId::new(7))
        );
    }
}

#[test]
fn an_empty_abort_raises_the_epoch_and_sends_no_marker() {
    for state in [Empty, CompleteCommit, CompleteAbort] {
        let mut desk = Desk::given(TV2, &stored(state, 7, 2));
        assert_eq!(
            desk.end(end(5, claim(7, 2), ABORT)),
            Ok(Some(producer(7, 3)))
        );
        assert_eq!(desk.markers, []);
        assert_eq!(desk.brief(), (PrepareAbort, 7, 3));
        assert_eq!(desk.now_holds().start_timestamp, Some(desk.now));
        desk.settle();
        assert_eq!(desk.brief(), (CompleteAbort, 7, 3));
        assert_eq!(
            desk.end(end(5, claim(7, 2), ABORT)),
            Ok(Some(producer(7, 3))),
            "a retry"
        );
    }
}

/// Semantics §4 A: a commit at the last epoch.
#[test]
fn the_last_epoch_ends_with_a_fresh_producer_id() {
    let mut desk = Desk::given(TV2, &stored(Empty, 42, EXH));
    assert_eq!(
        desk.add(add(AddPartitionsToTxnForm::Broker, claim(42, EXH), &[p0()])),
        ErrorCode::None
    );
    assert_eq!(
        desk.end(end(5, claim(42, EXH), COMMIT)),
        Ok(Some(producer(P, 0)))
    );
    assert_eq!(desk.brief(), (PrepareCommit, 42, MAX));
    assert_eq!(desk.now_holds().next_producer_id, Some(ProducerId::new(P)));
    assert_eq!(
        desk.now_holds().last_producer_epoch,
        ProducerEpoch::from_wire(EXH)
    );
    assert_eq!(desk.markers[0].0.producer, producer(42, MAX));
    // KAFKA-18660: the client has its new id already and must be told to wait.
    assert_eq!(
        desk.add(add(AddPartitionsToTxnForm::Broker, claim(P, 0), &[p0()])),
        ErrorCode::ConcurrentTransactions
    );
    desk.settle();
    assert_eq!(desk.brief(), (CompleteCommit, P, 0));
    assert_eq!(
        desk.now_holds().previous_producer_id,
        Some(ProducerId::new(42))
    );
    assert_eq!(desk.now_holds().next_producer_id, None);
    assert_eq!(
        desk.end(end(5, claim(42, EXH), COMMIT)),
        Ok(Some(producer(P, 0))),
        "a retry after the overflow"
    );
    assert_eq!(
        desk.end(end(5, claim(42, EXH), ABORT)),
        Err(ErrorCode::InvalidTxnState)
    );
    assert_eq!(
        desk.end(end(5, claim(42, EXH - 1), COMMIT)),
        Err(ErrorCode::InvalidProducerIdMapping)
    );
    assert_eq!(
        desk.add(add(AddPartitionsToTxnForm::Broker, claim(P, 0), &[p0()])),
        ErrorCode::None
    );
    assert_eq!(
        desk.end(end(5, claim(P, 0), COMMIT)),
        Ok(Some(producer(P, 1)))
    );
    assert_eq!(desk.brief(), (PrepareCommit, P, 1));
    desk.settle();
    assert_eq!(desk.brief(), (CompleteCommit, P, 1));
}

#[test]
fn an_empty_abort_at_the_last_epoch_ends_with_a_fresh_producer_id() {
    let mut desk = Desk::given(TV2, &stored(CompleteCommit, 42, EXH));
    assert_eq!(
        desk.end(end(5, claim(42, EXH), ABORT)),
        Ok(Some(producer(P, 0)))
    );
    desk.settle();
    assert_eq!(desk.brief(), (CompleteAbort, P, 0));
    assert_eq!(
        desk.end(end(5, claim(42, EXH), ABORT)),
        Ok(Some(producer(P, 0))),
        "a retry"
    );
}

#[test]
fn an_id_that_a_fence_left_at_32767_can_still_be_aborted() {
    // KAFKA-20090's recovery: the marker stays at 32767 and the id is replaced.
    let mut desk = Desk::given(TV2, &stored(Ongoing, 42, MAX));
    assert_eq!(
        desk.init(init(None)),
        Err(ErrorCode::ConcurrentTransactions)
    );
    assert_eq!(desk.markers[0].0.producer, producer(42, MAX));
    desk.settle();
    assert_eq!(desk.brief(), (CompleteAbort, P, 0));
    // Nobody has 32767, so nobody commits with it; Kafka 4.4 has no record for that.
    let mut desk = Desk::given(TV2, &stored(Ongoing, 42, MAX));
    let commit = desk.end(end(5, claim(42, MAX), COMMIT));
    assert_eq!(commit, Err(ErrorCode::UnknownServerError));
    assert_eq!(desk.brief(), (Ongoing, 42, MAX));
    let abort = desk.end(end(5, claim(42, MAX), ABORT));
    assert_eq!(abort, Ok(Some(producer(P + 1, 0))));
}

#[test]
fn a_fenced_producer_learns_the_fate_of_its_transaction_by_its_next_request() {
    let mut desk = Desk::given(TV2, &stored(Ongoing, 7, 1));
    assert_eq!(
        desk.init(init(None)),
        Err(ErrorCode::ConcurrentTransactions)
    );
    desk.settle();
    assert_eq!(
        desk.end(end(5, claim(7, 1), ABORT)),
        Ok(Some(producer(7, 2))),
        "its abort is what happened"
    );
    assert_eq!(
        desk.end(end(5, claim(7, 1), COMMIT)),
        Err(ErrorCode::InvalidTxnState)
    );
}

#[test]
fn a_late_end_of_the_last_transaction_cannot_end_the_next() {
    // KAFKA-17754 (B01).
    let mut desk = Desk::ongoing(TV2);
    assert_eq!(
        desk.end(end(5, claim(P, 0), COMMIT)),
        Ok(Some(producer(P, 1)))
    );
    desk.settle();
    assert_eq!(
        desk.add(add(AddPartitionsToTxnForm::Broker, claim(P, 1), &[p1()])),
        ErrorCode::None
    );
    assert_eq!(
        desk.end(end(5, claim(P, 0), COMMIT)),
        Err(ErrorCode::ProducerFenced)
    );
    assert_eq!(desk.brief(), (Ongoing, P, 1));
}

#[test]
fn the_version_of_the_request_chooses_the_table_not_the_cluster() {
    let mut desk = Desk::given(TV1, &stored(Ongoing, 7, 1));
    assert_eq!(
        desk.end(end(5, claim(7, 1), COMMIT)),
        Ok(Some(producer(7, 2)))
    );
    desk.settle();
    assert_eq!(desk.brief(), (CompleteCommit, 7, 2));
    assert_eq!(desk.now_holds().client_transaction_version, TV2);
}

#[test]
fn a_version_5_abort_before_any_epoch_is_known_gives_epoch_0() {
    // As Kafka reckons: -1 is the current epoch of an id whose first record could not be written.
    let mut desk = Desk::new(TV2);
    desk.ask(Request::InitProducerId(init(None)));
    desk.append(AppendOutcome::Failed(ErrorCode::RequestTimedOut));
    assert_eq!(
        desk.end(end(5, claim(P, -1), ABORT)),
        Ok(Some(producer(P, 0)))
    );
}
