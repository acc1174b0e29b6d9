use super::*;
use crate::coordinator::end_txn_tv1::{Row, row};
use TransactionState::{
    CompleteAbort, CompleteCommit, Dead, Empty, Ongoing, PrepareAbort, PrepareCommit,
    PrepareEpochFence,
};

#[test]
fn the_table() {
    let wrong = Row::Refuse(ErrorCode::InvalidTxnState);
    let retry = Row::Refuse(ErrorCode::ConcurrentTransactions);
    let unreachable = Row::Refuse(ErrorCode::UnknownServerError);
    let rows = [
        (Empty, wrong, wrong),
        (Ongoing, Row::Begin(PrepareCommit), Row::Begin(PrepareAbort)),
        (PrepareCommit, retry, wrong),
        (PrepareAbort, wrong, retry),
        (CompleteCommit, Row::AlreadyDone, wrong),
        (CompleteAbort, wrong, Row::AlreadyDone),
        (Dead, unreachable, unreachable),
        (PrepareEpochFence, unreachable, unreachable),
    ];
    for (state, commit, abort) in rows {
        assert_eq!(
            (row(state, COMMIT), row(state, ABORT)),
            (commit, abort),
            "{state:?}"
        );
    }
}

#[test]
fn the_epoch_stays_and_no_identity_is_answered() {
    for (result, prepared, complete) in [
        (COMMIT, PrepareCommit, CompleteCommit),
        (ABORT, PrepareAbort, CompleteAbort),
    ] {
        for level in [TV1, TV2] {
            let mut desk = Desk::given(level, &stored(Ongoing, 7, 1));
            assert_eq!(desk.end(end(4, claim(7, 1), result)), Ok(None));
            assert_eq!(desk.brief(), (prepared, 7, 1));
            assert_eq!(desk.markers[0].0.producer, producer(7, 1));
            assert_eq!(
                desk.markers[0].0.transaction_version,
                TransactionVersion::V0
            );
            desk.settle();
            assert_eq!(desk.brief(), (complete, 7, 1));
            assert_eq!(desk.end(end(4, claim(7, 1), result)), Ok(None), "a retry");
        }
    }
}

#[test]
fn the_guards_refuse_by_id_then_epoch_then_pending() {
    let mut desk = Desk::new(TV1);
    assert_eq!(
        desk.end(end(4, claim(7, 1), COMMIT)),
        Err(ErrorCode::InvalidProducerIdMapping),
        "unknown"
    );
    for state in [
        Empty,
        Ongoing,
        PrepareCommit,
        PrepareAbort,
        CompleteCommit,
        CompleteAbort,
    ] {
        for result in [COMMIT, ABORT] {
            let mut desk = Desk::given(TV1, &stored(state, 7, 1));
            assert_eq!(
                desk.end(end(4, claim(8, 0), result)),
                Err(ErrorCode::InvalidProducerIdMapping)
            );
            for epoch in [-1, 0, 2] {
                assert_eq!(
                    desk.end(end(4, claim(7, epoch), result)),
                    Err(ErrorCode::ProducerFenced)
                );
                assert_eq!(
                    desk.end(end(1, claim(7, epoch), result)),
                    Err(ErrorCode::InvalidProducerEpoch)
                );
            }
            if state == PrepareCommit || state == PrepareAbort {
                assert_eq!(
                    desk.end(end(4, claim(7, 1), result)),
                    Err(ErrorCode::ConcurrentTransactions)
                );
            }
        }
    }
}

#[test]
fn rights_and_the_id_come_first() {
    let mut desk = Desk::new(TV1);
    let nameless = EndTxn {
        transactional_id: "".into(),
        ..end(4, claim(7, 1), COMMIT)
    };
    let denied = EndTxn {
        authorization: Authorization::Denied,
        ..nameless.clone()
    };
    assert_eq!(
        desk.end(denied),
        Err(ErrorCode::TransactionalIdAuthorizationFailed)
    );
    assert_eq!(desk.end(nameless), Err(ErrorCode::InvalidRequest));
}

#[test]
fn a_prepared_transaction_with_nothing_pending_follows_its_own_cells() {
    // The completion could not be appended and no retry follows: the state is prepared, nothing is pending.
    for (result, other) in [(COMMIT, ABORT), (ABORT, COMMIT)] {
        let mut desk = Desk::given(TV1, &stored(Ongoing, 7, 1));
        assert_eq!(desk.end(end(4, claim(7, 1), result)), Ok(None));
        desk.marker(MarkerOutcome::Answered(ErrorCode::None));
        desk.append(AppendOutcome::Failed(ErrorCode::NotLeaderOrFollower));
        assert!(desk.slot().pending().is_none());
        assert_eq!(
            desk.end(end(4, claim(7, 1), result)),
            Err(ErrorCode::ConcurrentTransactions)
        );
        assert_eq!(
            desk.end(end(4, claim(7, 1), other)),
            Err(ErrorCode::InvalidTxnState)
        );
        assert_eq!(
            desk.init(init(None)),
            Err(ErrorCode::ConcurrentTransactions)
        );
        assert_eq!(
            desk.add(add(AddPartitionsToTxnForm::Broker, claim(7, 1), &[p0()])),
            ErrorCode::ConcurrentTransactions
        );
    }
}
