use super::*;
use crate::coordinator::init_producer_id::{InitRow, NextIdentity, init_row, next_identity};
use TransactionState::{
    CompleteAbort, CompleteCommit, Dead, Empty, Ongoing, PrepareAbort, PrepareCommit,
    PrepareEpochFence,
};

#[test]
fn the_table() {
    let retry = InitRow::Refuse(ErrorCode::ConcurrentTransactions);
    let unreachable = InitRow::Refuse(ErrorCode::UnknownServerError);
    let rows = [
        (Empty, InitRow::NextIdentity, InitRow::NextIdentity),
        (Ongoing, InitRow::AbortOngoing, InitRow::KeepOngoing),
        (PrepareCommit, retry, retry),
        (PrepareAbort, retry, retry),
        (CompleteCommit, InitRow::NextIdentity, InitRow::NextIdentity),
        (CompleteAbort, InitRow::NextIdentity, InitRow::NextIdentity),
        (Dead, unreachable, unreachable),
        (PrepareEpochFence, unreachable, unreachable),
    ];
    for (state, plain, keep) in rows {
        assert_eq!(
            (init_row(state, false), init_row(state, true)),
            (plain, keep),
            "{state:?}"
        );
    }
}

#[test]
fn the_next_identity_by_epoch_in_use_last_epoch_and_expected_epoch() {
    use NextIdentity::{Raised, Refuse, Repeated, Rotated};
    let fenced = Refuse(ErrorCode::ProducerFenced);
    let rows = [
        (-1, -1, None, Raised),
        (-1, -1, Some(5), Raised),
        (0, -1, None, Raised),
        (7, 6, None, Raised),
        (7, 6, Some(7), Raised),
        (7, 6, Some(6), Repeated),
        (7, 6, Some(5), fenced),
        (7, 6, Some(8), fenced),
        (7, -1, Some(6), fenced),
        (EXH - 1, EXH - 2, Some(EXH - 1), Raised),
        (EXH, EXH - 1, None, Rotated),
        (EXH, EXH - 1, Some(EXH), Rotated),
        (
            EXH,
            EXH - 1,
            Some(EXH - 1),
            Refuse(ErrorCode::UnknownServerError),
        ),
        (MAX, EXH, None, Rotated),
        (MAX, EXH, Some(MAX), Rotated),
    ];
    for (current, last, expected, identity) in rows {
        let mut metadata = stored(Empty, P, current);
        metadata.last_producer_epoch = ProducerEpoch::from_wire(last);
        let expected = expected.map(ProducerEpoch::new);
        assert_eq!(
            next_identity(&metadata, expected),
            identity,
            "{current} {last} {expected:?}"
        );
    }
}

#[test]
fn a_new_id_gets_epoch_0_and_the_next_sessions_rise() {
    let mut desk = Desk::new(TV2);
    assert_eq!(desk.init(init(None)), Ok(producer(P, 0)));
    assert_eq!(desk.brief(), (Empty, P, 0));
    assert_eq!(desk.init(init(None)), Ok(producer(P, 1)));
    assert_eq!(desk.init(init(Some((P, 1)))), Ok(producer(P, 2)));
    assert_eq!(
        desk.init(init(Some((P, 1)))),
        Ok(producer(P, 2)),
        "a retry gets the same"
    );
    assert_eq!(
        desk.init(init(Some((P, 0)))),
        Err(ErrorCode::ProducerFenced)
    );
    assert_eq!(
        desk.init(init(Some((P, 3)))),
        Err(ErrorCode::ProducerFenced)
    );
    assert_eq!(
        desk.init(init(Some((P + 1, 2)))),
        Err(ErrorCode::ProducerFenced)
    );
    assert_eq!(desk.init(init(None)), Ok(producer(P, 3)));
    assert_eq!(
        desk.init(init(Some((P, 2)))),
        Err(ErrorCode::ProducerFenced),
        "no expectation, no retry"
    );
}

#[test]
fn a_new_id_ignores_what_the_producer_expects() {
    let mut desk = Desk::new(TV1);
    assert_eq!(desk.init(init(Some((77, 5)))), Ok(producer(P, 0)));
}

#[test]
fn without_an_id_a_fresh_producer_id_is_given_and_nothing_kept() {
    let mut desk = Desk::idle(TV2);
    let request = InitProducerId {
        transactional_id: None,
        transaction_timeout_ms: 0,
        ..init(None)
    };
    assert_eq!(desk.init(request.clone()), Ok(producer(P, 0)));
    assert_eq!(desk.init(request), Ok(producer(P + 1, 0)));
    assert_eq!(desk.log, []);
}

#[test]
fn the_guards_of_the_request_refuse_in_their_order() {
    let wrong = InitProducerId {
        transactional_id: Some("".into()),
        transaction_timeout_ms: 0,
        expected_producer_id: Some(ProducerId::new(1)),
        enable_2pc: true,
        keep_prepared_txn: true,
        authorization: Authorization::Denied,
        two_phase_commit_authorization: Authorization::Denied,
        ..init(None)
    };
    let mut desk = Desk::new(TV1);
    let mut ask = |request: &InitProducerId| desk.init(request.clone()).expect_err("refused");
    let unauthorized = ErrorCode::TransactionalIdAuthorizationFailed;
    let anonymous = InitProducerId {
        transactional_id: None,
        ..wrong.clone()
    };
    assert_eq!(ask(&anonymous), ErrorCode::ClusterAuthorizationFailed);
    assert_eq!(ask(&wrong), unauthorized);
    let request = InitProducerId {
        authorization: Authorization::Allowed,
        ..wrong
    };
    assert_eq!(
        ask(&request),
        unauthorized,
        "two-phase commit has a right of its own"
    );
    let request = InitProducerId {
        two_phase_commit_authorization: Authorization::Allowed,
        ..request
    };
    assert_eq!(
        ask(&request),
        ErrorCode::InvalidRequest,
        "half an expected identity"
    );
    let request = InitProducerId {
        expected_producer_epoch: Some(ProducerEpoch::new(0)),
        ..request
    };
    assert_eq!(ask(&request), ErrorCode::InvalidRequest, "an empty id");
    let request = InitProducerId {
        transactional_id: Some("x".repeat(32_768).as_str().into()),
        ..request
    };
    assert_eq!(
        ask(&request),
        ErrorCode::InvalidRequest,
        "an id too long for a record"
    );
    let request = InitProducerId {
        transactional_id: Some(id()),
        ..request
    };
    assert_eq!(
        ask(&request),
        ErrorCode::InvalidRequest,
        "kept with an expected identity"
    );
    let request = InitProducerId {
        expected_producer_id: None,
        expected_producer_epoch: None,
        ..request
    };
    assert_eq!(
        ask(&request),
        ErrorCode::UnsupportedVersion,
        "kept in a TV1 cluster"
    );
    let request = InitProducerId {
        keep_prepared_txn: false,
        enable_2pc: false,
        ..request
    };
    assert_eq!(ask(&request), ErrorCode::InvalidTransactionTimeout);
    for (timeout, valid) in [(-1, false), (1, true), (900_000, true), (900_001, false)] {
        let request = InitProducerId {
            transaction_timeout_ms: timeout,
            ..request.clone()
        };
        let answer = desk.init(request);
        assert_eq!(answer.is_ok(), valid, "{timeout} {answer:?}");
    }
}

#[test]
fn two_phase_commit_needs_the_brokers_consent_and_has_no_timeout() {
    let request = InitProducerId {
        version: 6,
        enable_2pc: true,
        transaction_timeout_ms: 0,
        ..init(None)
    };
    let mut desk = Desk::new(TV2);
    assert_eq!(desk.init(request.clone()), Ok(producer(P, 0)));
    assert_eq!(
        desk.now_holds().timeout,
        super::super::TransactionTimeout::Never
    );
    let mut refusing = Coordinator::new(Config::default(), TV2);
    let effects = refusing.step(
        Input::Request(Correlation(1), Request::InitProducerId(request)),
        desk.now,
    );
    let refused = Answer::InitProducerId(Err(ErrorCode::TransactionalIdAuthorizationFailed));
    assert_eq!(effects, [Effect::Reply(Correlation(1), refused)]);
}

#[test]
fn fenced_is_told_as_invalid_epoch_before_version_4() {
    for (version, error) in [
        (3, ErrorCode::InvalidProducerEpoch),
        (4, ErrorCode::ProducerFenced),
    ] {
        let mut desk = Desk::given(TV2, &stored(Empty, P, 4));
        assert_eq!(
            desk.init(InitProducerId {
                version,
                ..init(Some((P, 1)))
            }),
            Err(error)
        );
    }
}

#[test]
fn an_open_transaction_is_aborted_with_one_rise_and_the_client_comes_again() {
    for level in [TV1, TV2] {
        let mut desk = Desk::given(level, &stored(Ongoing, 7, 1));
        assert_eq!(
            desk.init(init(None)),
            Err(ErrorCode::ConcurrentTransactions)
        );
        assert_eq!(desk.brief(), (PrepareAbort, 7, 2));
        let (ticket, _) = desk.markers[0].clone();
        assert_eq!(
            (ticket.producer, ticket.result),
            (producer(7, 2), ABORT),
            "the marker fences"
        );
        assert_eq!(
            desk.init(init(None)),
            Err(ErrorCode::ConcurrentTransactions),
            "markers are on their way"
        );
        desk.settle();
        assert_eq!(desk.brief(), (CompleteAbort, 7, 2));
        assert_eq!(desk.init(init(None)), Ok(producer(7, 3)));
    }
}

#[test]
fn a_repeated_request_after_the_fence_is_a_retry_in_tv2_only() {
    let rows = [
        (TV1, Err(ErrorCode::ProducerFenced)),
        (TV2, Ok(producer(7, 2))),
    ];
    for (level, answer) in rows {
        let mut desk = Desk::given(level, &stored(Ongoing, 7, 1));
        assert_eq!(
            desk.init(init(Some((7, 1)))),
            Err(ErrorCode::ConcurrentTransactions)
        );
        desk.settle();
        assert_eq!(desk.init(init(Some((7, 1)))), answer, "{level:?}");
    }
}

#[test]
fn an_open_transaction_is_aborted_whatever_epoch_is_expected_but_not_for_another_producer_id() {
    for expected in [0, 1, 2, 9] {
        let mut desk = Desk::given(TV2, &stored(Ongoing, 7, 1));
        assert_eq!(
            desk.init(init(Some((7, expected)))),
            Err(ErrorCode::ConcurrentTransactions)
        );
        assert_eq!(desk.brief(), (PrepareAbort, 7, 2));
    }
    let mut desk = Desk::given(TV2, &stored(Ongoing, 7, 1));
    assert_eq!(
        desk.init(init(Some((8, 1)))),
        Err(ErrorCode::ProducerFenced)
    );
    assert_eq!(desk.brief(), (Ongoing, 7, 1));
}

#[test]
fn a_decided_transaction_is_waited_for_whoever_asks() {
    for state in [PrepareCommit, PrepareAbort] {
        let mut desk = Desk::given(TV2, &stored(state, 7, 2));
        for expected in [None, Some((7, 2)), Some((7, 0)), Some((8, 2))] {
            assert_eq!(
                desk.init(init(expected)),
                Err(ErrorCode::ConcurrentTransactions)
            );
        }
    }
}

#[test]
fn an_exhausted_producer_id_is_replaced_and_the_retry_is_known() {
    let mut desk = Desk::given(TV2, &stored(CompleteCommit, 7, EXH));
    assert_eq!(desk.init(init(Some((7, EXH)))), Ok(producer(P, 0)));
    assert_eq!(
        desk.init(init(Some((7, EXH)))),
        Ok(producer(P, 0)),
        "the answer was lost"
    );
    assert_eq!(
        desk.init(init(Some((7, EXH - 1)))),
        Err(ErrorCode::ProducerFenced)
    );
    assert_eq!(desk.init(init(Some((P, 0)))), Ok(producer(P, 1)));
}

#[test]
fn a_tv1_fence_at_the_last_epoch_uses_32767_and_no_client_gets_it() {
    let mut desk = Desk::given(TV1, &stored(Ongoing, 7, EXH));
    assert_eq!(
        desk.init(init(None)),
        Err(ErrorCode::ConcurrentTransactions)
    );
    assert_eq!(desk.markers[0].0.producer, producer(7, MAX));
    desk.settle();
    assert_eq!(desk.brief(), (CompleteAbort, 7, MAX));
    assert_eq!(desk.init(init(None)), Ok(producer(P, 0)));
}

#[test]
fn a_tv2_fence_at_the_last_epoch_replaces_the_producer_id() {
    let mut desk = Desk::given(TV2, &stored(Ongoing, 7, EXH));
    assert_eq!(
        desk.init(init(None)),
        Err(ErrorCode::ConcurrentTransactions)
    );
    assert_eq!(desk.markers[0].0.producer, producer(7, MAX));
    desk.settle();
    assert_eq!(desk.brief(), (CompleteAbort, P, 0));
    assert_eq!(desk.init(init(None)), Ok(producer(P, 1)));
}

#[test]
fn without_a_producer_id_at_hand_nothing_changes() {
    let mut desk = Desk::given(TV2, &stored(Ongoing, 7, EXH));
    for _ in 0..1000 {
        desk.init(InitProducerId {
            transactional_id: None,
            ..init(None)
        })
        .expect("a producer id");
    }
    let before = desk.coordinator.owner(&id()).cloned();
    assert_eq!(
        desk.init(init(None)),
        Err(ErrorCode::CoordinatorLoadInProgress)
    );
    let unknown = InitProducerId {
        transactional_id: Some("new".into()),
        ..init(None)
    };
    assert_eq!(
        desk.init(unknown),
        Err(ErrorCode::CoordinatorLoadInProgress)
    );
    assert_eq!(desk.coordinator.owner(&id()).cloned(), before);
    assert_eq!(desk.others, [Effect::AllocateProducerIds]);
}

#[test]
fn a_new_session_has_its_own_timeout_and_nothing_of_the_last_transaction() {
    let mut desk = Desk::given(TV2, &stored(CompleteCommit, 7, 1));
    let request = InitProducerId {
        transaction_timeout_ms: 1234,
        ..init(None)
    };
    assert_eq!(desk.init(request), Ok(producer(7, 2)));
    let holds = desk.now_holds();
    assert_eq!((holds.state, holds.start_timestamp), (Empty, None));
    assert_eq!(holds.timeout.to_record(), 1234);
    assert!(holds.partitions.is_empty());
}
