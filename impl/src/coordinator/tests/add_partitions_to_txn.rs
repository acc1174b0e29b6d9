use super::*;
use crate::coordinator::add_partitions_to_txn::{AddRow, add_row, verify_row};
use AddPartitionsToTxnForm::{Broker, VerifyOnly};
use TransactionState::{
    CompleteAbort, CompleteCommit, Dead, Empty, Ongoing, PrepareAbort, PrepareCommit,
    PrepareEpochFence,
};

const CLIENT: AddPartitionsToTxnForm = AddPartitionsToTxnForm::Client { version: 3 };

#[test]
fn the_tables() {
    let retry = ErrorCode::ConcurrentTransactions;
    let (unreachable, abortable) = (
        ErrorCode::UnknownServerError,
        ErrorCode::TransactionAbortable,
    );
    let (inside, outside) = (Ok(ErrorCode::None), Ok(abortable));
    let rows = [
        (Empty, AddRow::Begin, AddRow::Begin, inside, outside),
        (Ongoing, AddRow::AlreadyDone, AddRow::Begin, inside, outside),
        (
            PrepareCommit,
            AddRow::Refuse(retry),
            AddRow::Refuse(retry),
            Err(retry),
            Err(retry),
        ),
        (
            PrepareAbort,
            AddRow::Refuse(retry),
            AddRow::Refuse(retry),
            Err(retry),
            Err(retry),
        ),
        (
            CompleteCommit,
            AddRow::Begin,
            AddRow::Begin,
            inside,
            outside,
        ),
        (CompleteAbort, AddRow::Begin, AddRow::Begin, inside, outside),
        (
            Dead,
            AddRow::Refuse(unreachable),
            AddRow::Refuse(unreachable),
            inside,
            outside,
        ),
        (
            PrepareEpochFence,
            AddRow::Refuse(unreachable),
            AddRow::Refuse(unreachable),
            inside,
            outside,
        ),
    ];
    for (state, all_in, some_out, verified, not_verified) in rows {
        assert_eq!(
            (add_row(state, true), add_row(state, false)),
            (all_in, some_out),
            "{state:?}"
        );
        assert_eq!(
            (verify_row(state, true), verify_row(state, false)),
            (verified, not_verified),
            "{state:?}"
        );
    }
}

#[test]
fn an_unknown_id_has_no_producer() {
    let mut desk = Desk::new(TV2);
    for form in [CLIENT, Broker, VerifyOnly] {
        assert_eq!(
            desk.add(add(form, claim(P, 0), &[p0()])),
            ErrorCode::InvalidProducerIdMapping
        );
    }
    assert_eq!(
        desk.add_offsets(add_offsets(claim(P, 0))),
        Err(ErrorCode::InvalidProducerIdMapping)
    );
}

#[test]
fn another_producer_id_is_no_mapping_and_any_other_epoch_is_fenced() {
    for state in [Empty, Ongoing, CompleteCommit, CompleteAbort] {
        for form in [CLIENT, Broker, VerifyOnly] {
            let mut desk = Desk::given(TV2, &stored(state, 7, 1));
            assert_eq!(
                desk.add(add(form, claim(8, 1), &[p0()])),
                ErrorCode::InvalidProducerIdMapping
            );
            assert_eq!(
                desk.add(add(form, claim(-1, 1), &[p0()])),
                ErrorCode::InvalidProducerIdMapping
            );
            for epoch in [-1, 0, 2] {
                assert_eq!(
                    desk.add(add(form, claim(7, epoch), &[p0()])),
                    ErrorCode::ProducerFenced
                );
            }
            assert_eq!(desk.log, []);
        }
    }
}

#[test]
fn fenced_is_told_as_invalid_epoch_before_version_2() {
    for (version, error) in [
        (1, ErrorCode::InvalidProducerEpoch),
        (2, ErrorCode::ProducerFenced),
    ] {
        let mut desk = Desk::given(TV2, &stored(Ongoing, 7, 1));
        let form = AddPartitionsToTxnForm::Client { version };
        assert_eq!(desk.add(add(form, claim(7, 0), &[p1()])), error);
        assert_eq!(
            desk.add_offsets(AddOffsetsToTxn {
                version,
                ..add_offsets(claim(7, 0))
            }),
            Err(error)
        );
    }
}

#[test]
fn a_transaction_opens_with_its_first_partition_and_keeps_its_start() {
    for state in [Empty, CompleteCommit, CompleteAbort] {
        let mut desk = Desk::given(TV2, &stored(state, 7, 1));
        assert_eq!(desk.add(add(Broker, claim(7, 1), &[p0()])), ErrorCode::None);
        assert_eq!(desk.brief(), (Ongoing, 7, 1));
        let start = desk.now;
        desk.now = desk.now.plus_millis(5);
        assert_eq!(
            desk.add(add(CLIENT, claim(7, 1), &[p1(), p0()])),
            ErrorCode::None
        );
        let holds = desk.now_holds();
        assert_eq!(holds.start_timestamp, Some(start));
        assert_eq!(holds.last_update_timestamp, desk.now);
        assert_eq!(holds.partitions.as_slice(), [p0(), p1()]);
        assert_eq!(
            holds.client_transaction_version,
            TransactionVersion::V0,
            "a client's own request says so"
        );
    }
}

#[test]
fn a_finished_transactions_partition_is_not_there_already() {
    // KAFKA-5268 (B09): the shortcut is for open transactions only.
    let mut desk = Desk::ongoing(TV1);
    assert_eq!(desk.end(end(4, claim(P, 0), COMMIT)), Ok(None));
    desk.settle();
    let written = desk.log.len();
    assert_eq!(desk.add(add(CLIENT, claim(P, 0), &[p0()])), ErrorCode::None);
    assert_eq!(desk.brief(), (Ongoing, P, 0));
    assert_eq!(desk.log.len(), written + 1);
}

#[test]
fn partitions_that_are_in_the_open_transaction_are_not_written_again() {
    let mut desk = Desk::ongoing(TV2);
    let written = desk.log.len();
    assert_eq!(desk.add(add(Broker, claim(P, 0), &[p0()])), ErrorCode::None);
    assert_eq!(desk.log.len(), written);
}

#[test]
fn a_pending_change_comes_before_the_identity() {
    for state in [PrepareCommit, PrepareAbort] {
        for asked in [claim(7, 2), claim(8, 2), claim(7, 0)] {
            let mut desk = Desk::given(TV2, &stored(state, 7, 2));
            for form in [CLIENT, Broker] {
                assert_eq!(
                    desk.add(add(form, asked, &[p0()])),
                    ErrorCode::ConcurrentTransactions
                );
            }
            assert_eq!(
                desk.add_offsets(add_offsets(asked)),
                Err(ErrorCode::ConcurrentTransactions)
            );
        }
    }
}

#[test]
fn verification_looks_at_the_identity_before_a_decided_transaction() {
    for state in [PrepareCommit, PrepareAbort] {
        let mut desk = Desk::given(TV2, &stored(state, 7, 2));
        let rows = [
            (claim(7, 2), ErrorCode::ConcurrentTransactions),
            (claim(8, 2), ErrorCode::InvalidProducerIdMapping),
            (claim(7, 0), ErrorCode::ProducerFenced),
        ];
        for (asked, error) in rows {
            assert_eq!(desk.add(add(VerifyOnly, asked, &[p0()])), error);
        }
    }
}

#[test]
fn verification_answers_each_partition_writes_nothing_and_ignores_what_is_pending() {
    let mut desk = Desk::given(TV1, &stored(Ongoing, 7, 1));
    desk.ask(Request::AddPartitionsToTxn(add(
        CLIENT,
        claim(7, 1),
        &[p1()],
    )));
    let answer = desk.answer(Request::AddPartitionsToTxn(add(
        VerifyOnly,
        claim(7, 1),
        &[p0(), p1()],
    )));
    let outcomes = vec![
        (p0(), ErrorCode::None),
        (p1(), ErrorCode::TransactionAbortable),
    ];
    assert_eq!(answer, Answer::AddPartitionsToTxn(Ok(outcomes)));
    assert_eq!(desk.appends.len(), 1);
}

#[test]
fn one_partition_that_cannot_be_added_stops_the_others() {
    let mut desk = Desk::given(TV2, &stored(Empty, 7, 1));
    let long = TopicPartition::new(&"x".repeat(32_768), 0);
    let partitions = vec![
        (p0(), PartitionAccess::Allowed),
        (p1(), PartitionAccess::Denied),
        (TopicPartition::new("u", 0), PartitionAccess::Unknown),
        (long.clone(), PartitionAccess::Allowed),
    ];
    let request = AddPartitionsToTxn {
        partitions,
        ..add(CLIENT, claim(7, 1), &[])
    };
    let outcomes = vec![
        (p0(), ErrorCode::OperationNotAttempted),
        (p1(), ErrorCode::TopicAuthorizationFailed),
        (
            TopicPartition::new("u", 0),
            ErrorCode::UnknownTopicOrPartition,
        ),
        (long, ErrorCode::UnknownTopicOrPartition),
    ];
    assert_eq!(
        desk.answer(Request::AddPartitionsToTxn(request)),
        Answer::AddPartitionsToTxn(Ok(outcomes))
    );
    assert_eq!(desk.brief(), (Empty, 7, 1));
}

#[test]
fn a_caller_without_rights_is_refused_before_anything_else() {
    let mut desk = Desk::given(TV2, &stored(Empty, 7, 1));
    let denied = |form| AddPartitionsToTxn {
        authorization: Authorization::Denied,
        ..add(form, claim(7, 1), &[p0()])
    };
    assert_eq!(
        desk.add(denied(CLIENT)),
        ErrorCode::TransactionalIdAuthorizationFailed
    );
    for form in [Broker, VerifyOnly] {
        let answer = desk.answer(Request::AddPartitionsToTxn(denied(form)));
        assert_eq!(
            answer,
            Answer::AddPartitionsToTxn(Err(ErrorCode::ClusterAuthorizationFailed))
        );
    }
    let rows = [
        (
            Authorization::Denied,
            Authorization::Denied,
            ErrorCode::TransactionalIdAuthorizationFailed,
        ),
        (
            Authorization::Allowed,
            Authorization::Denied,
            ErrorCode::GroupAuthorizationFailed,
        ),
    ];
    for (authorization, group_authorization, error) in rows {
        let request = AddOffsetsToTxn {
            authorization,
            group_authorization,
            ..add_offsets(claim(7, 1))
        };
        assert_eq!(desk.add_offsets(request), Err(error));
    }
}

#[test]
fn an_empty_id_is_an_invalid_request() {
    let mut desk = Desk::new(TV2);
    for form in [CLIENT, Broker, VerifyOnly] {
        let request = AddPartitionsToTxn {
            transactional_id: "".into(),
            ..add(form, claim(7, 1), &[p0()])
        };
        assert_eq!(desk.add(request), ErrorCode::InvalidRequest);
    }
}

#[test]
fn nothing_to_add_still_opens_a_transaction() {
    let mut desk = Desk::given(TV2, &stored(Empty, 7, 1));
    let answer = desk.answer(Request::AddPartitionsToTxn(add(CLIENT, claim(7, 1), &[])));
    assert_eq!(answer, Answer::AddPartitionsToTxn(Ok(Vec::new())));
    assert_eq!(desk.brief(), (Ongoing, 7, 1));
}

#[test]
fn a_producer_that_was_never_told_its_epoch_cannot_open_a_transaction() {
    let mut desk = Desk::new(TV2);
    desk.ask(Request::InitProducerId(init(None)));
    desk.append(AppendOutcome::Failed(ErrorCode::NotEnoughReplicas));
    assert_eq!(desk.brief(), (Empty, P, -1));
    assert_eq!(
        desk.add(add(CLIENT, claim(P, -1), &[p0()])),
        ErrorCode::UnknownServerError
    );
    assert_eq!(desk.brief(), (Empty, P, -1));
}

#[test]
fn a_groups_offsets_join_by_the_partition_that_owns_the_group() {
    // B55: offsets open a transaction as any partition does.
    let mut desk = Desk::given(TV2, &stored(Empty, 7, 1));
    assert_eq!(desk.add_offsets(add_offsets(claim(7, 1))), Ok(()));
    assert_eq!(desk.brief(), (Ongoing, 7, 1));
    let offsets = TopicPartition::new("__consumer_offsets", 46);
    assert!(desk.now_holds().partitions.contains(&offsets));
    let written = desk.log.len();
    assert_eq!(desk.add_offsets(add_offsets(claim(7, 1))), Ok(()), "again");
    assert_eq!(desk.log.len(), written);
}

#[test]
fn a_thousand_partitions_fit_in_one_transaction() {
    let many: Vec<TopicPartition> = (0..1000)
        .map(|partition| TopicPartition::new("t", partition))
        .collect();
    let mut desk = Desk::given(TV2, &stored(Empty, 7, 1));
    for partition in &many {
        assert_eq!(
            desk.add(add(Broker, claim(7, 1), std::slice::from_ref(partition))),
            ErrorCode::None
        );
    }
    assert_eq!(
        desk.end(end(5, claim(7, 1), COMMIT)),
        Ok(Some(producer(7, 2)))
    );
    assert_eq!(
        desk.markers
            .iter()
            .map(|(_, partition)| partition.clone())
            .collect::<Vec<_>>(),
        many
    );
    desk.settle();
    assert_eq!(desk.brief(), (CompleteCommit, 7, 2));
}

#[test]
fn a_cluster_at_version_0_has_no_records_for_newer_clients() {
    // Kafka 4.4 answers the same and then leaves the id busy; here nothing has begun.
    let mut desk = Desk::new(TransactionVersion::V0);
    assert_eq!(desk.init(init(None)), Ok(producer(P, 0)));
    let whole = Answer::AddPartitionsToTxn(Err(ErrorCode::UnsupportedVersion));
    for _ in 0..2 {
        let asked = add(Broker, claim(P, 0), &[p0()]);
        assert_eq!(desk.answer(Request::AddPartitionsToTxn(asked)), whole);
        assert_eq!(desk.brief(), (Empty, P, 0));
    }
    assert_eq!(desk.add(add(CLIENT, claim(P, 0), &[p0()])), ErrorCode::None);
    let unsupported = Err(ErrorCode::UnsupportedVersion);
    assert_eq!(desk.end(end(5, claim(P, 0), COMMIT)), unsupported);
    assert_eq!(desk.end(end(4, claim(P, 0), COMMIT)), Ok(None));
}
