use super::*;
use crate::coordinator::txn_log::append_error;
use crate::records::transaction_log::TransactionLogValue;
use TransactionState::{
    CompleteAbort, CompleteCommit, Empty, Ongoing, PrepareAbort, PrepareCommit,
};

const TIMED_OUT: AppendOutcome = AppendOutcome::Failed(ErrorCode::RequestTimedOut);

#[test]
fn the_errors_of_the_log_as_clients_see_them() {
    use ErrorCode::{
        CoordinatorNotAvailable, InvalidProducerEpoch, KafkaStorageError, MessageTooLarge,
        NotCoordinator, NotEnoughReplicas, NotEnoughReplicasAfterAppend, NotLeaderOrFollower,
        RecordListTooLarge, RequestTimedOut, UnknownServerError, UnknownTopicOrPartition,
    };
    let rows = [
        (UnknownTopicOrPartition, CoordinatorNotAvailable),
        (NotEnoughReplicas, CoordinatorNotAvailable),
        (NotEnoughReplicasAfterAppend, CoordinatorNotAvailable),
        (RequestTimedOut, CoordinatorNotAvailable),
        (NotLeaderOrFollower, NotCoordinator),
        (KafkaStorageError, NotCoordinator),
        (MessageTooLarge, UnknownServerError),
        (RecordListTooLarge, UnknownServerError),
        (InvalidProducerEpoch, InvalidProducerEpoch),
    ];
    for (log, client) in rows {
        assert_eq!(append_error(log), client);
    }
}

#[test]
fn a_failed_append_changes_nothing_and_frees_the_id() {
    // KAFKA-5351 (B13a).
    let requests: [(TransactionMetadata, Request); 4] = [
        (stored(Empty, 7, 1), Request::InitProducerId(init(None))),
        (
            stored(Empty, 7, 1),
            Request::AddPartitionsToTxn(add(AddPartitionsToTxnForm::Broker, claim(7, 1), &[p0()])),
        ),
        (
            stored(Ongoing, 7, 1),
            Request::AddOffsetsToTxn(add_offsets(claim(7, 1))),
        ),
        (
            stored(Ongoing, 7, 1),
            Request::EndTxn(end(5, claim(7, 1), COMMIT)),
        ),
    ];
    for (metadata, request) in requests {
        let mut desk = Desk::given(TV2, &metadata);
        let before = desk.coordinator.owner(&id()).cloned();
        desk.ask(request.clone());
        assert_ne!(desk.coordinator.owner(&id()).cloned(), before);
        desk.append(TIMED_OUT);
        assert_eq!(desk.coordinator.owner(&id()).cloned(), before);
        let told = format!("{:?}", desk.answers);
        assert!(told.contains("CoordinatorNotAvailable"), "{told}");
        desk.answer(request);
    }
}

#[test]
fn nothing_is_answered_and_nothing_holds_before_the_record_is_durable() {
    // B14: an answer that outruns its record is forgotten by a failover.
    let mut desk = Desk::given(TV2, &stored(Empty, 7, 1));
    desk.ask(Request::AddPartitionsToTxn(add(
        AddPartitionsToTxnForm::Broker,
        claim(7, 1),
        &[p0()],
    )));
    assert_eq!((desk.answers.len(), desk.brief()), (0, (Empty, 7, 1)));
    desk.append(AppendOutcome::Written);
    assert_eq!((desk.answers.len(), desk.brief()), (1, (Ongoing, 7, 1)));
}

#[test]
fn every_request_waits_while_an_append_is_under_way() {
    let mut desk = Desk::given(TV2, &stored(Ongoing, 7, 1));
    desk.ask(Request::EndTxn(end(5, claim(7, 1), COMMIT)));
    desk.answers.clear();
    let busy = ErrorCode::ConcurrentTransactions;
    assert_eq!(desk.init(init(None)), Err(busy));
    assert_eq!(
        desk.add(add(AddPartitionsToTxnForm::Broker, claim(7, 1), &[p0()])),
        busy
    );
    assert_eq!(desk.add_offsets(add_offsets(claim(7, 1))), Err(busy));
    assert_eq!(desk.end(end(5, claim(7, 1), COMMIT)), Err(busy));
    assert_eq!(desk.end(end(4, claim(7, 1), COMMIT)), Err(busy));
    assert_eq!(desk.appends.len(), 1);
}

#[test]
fn a_tv1_fence_that_is_not_logged_keeps_its_epoch_and_does_not_rise_again() {
    // KAFKA-9666 (B20).
    let mut desk = Desk::given(TV1, &stored(Ongoing, 7, 1));
    for _ in 0..5 {
        desk.answers.clear();
        desk.ask(Request::InitProducerId(init(None)));
        desk.append(TIMED_OUT);
        assert_eq!(
            desk.answers,
            [Answer::InitProducerId(Err(
                ErrorCode::CoordinatorNotAvailable
            ))]
        );
        assert_eq!(desk.brief(), (Ongoing, 7, 2));
        assert!(desk.now_holds().has_failed_epoch_fence);
    }
    assert_eq!(
        desk.end(end(4, claim(7, 1), COMMIT)),
        Err(ErrorCode::ProducerFenced),
        "the fence counts already"
    );
    assert_eq!(
        desk.init(init(None)),
        Err(ErrorCode::ConcurrentTransactions)
    );
    desk.settle();
    assert_eq!(desk.brief(), (CompleteAbort, 7, 2));
    assert!(!desk.now_holds().has_failed_epoch_fence);
    assert_eq!(desk.init(init(None)), Ok(producer(7, 3)));
}

#[test]
fn a_tv2_fence_that_is_not_logged_never_happened() {
    // KAFKA-19367's follow-up.
    let mut desk = Desk::given(TV2, &stored(Ongoing, 7, 1));
    let before = desk.coordinator.owner(&id()).cloned();
    for _ in 0..5 {
        desk.ask(Request::InitProducerId(init(None)));
        desk.append(TIMED_OUT);
        assert_eq!(desk.coordinator.owner(&id()).cloned(), before);
    }
    assert_eq!(
        desk.end(end(5, claim(7, 1), COMMIT)),
        Ok(Some(producer(7, 2)))
    );
}

#[test]
fn a_fence_whose_append_is_refused_answers_the_error_not_that_it_took_place() {
    let mut desk = Desk::given(TV2, &stored(Ongoing, 7, 1));
    desk.ask(Request::InitProducerId(init(None)));
    desk.append(AppendOutcome::Failed(ErrorCode::NotLeaderOrFollower));
    assert_eq!(
        desk.answers,
        [Answer::InitProducerId(Err(ErrorCode::NotCoordinator))]
    );
}

#[test]
fn an_append_that_ends_under_another_leadership_changes_nothing() {
    let open = stored(Ongoing, 7, 1);
    let mut ended = Desk::given(TV2, &open);
    ended.ask(Request::EndTxn(end(5, claim(7, 1), COMMIT)));
    let resigned = Leadership::Resigned {
        partition: 0,
        coordinator_epoch: epoch(4),
    };
    let elected = Leadership::Elected {
        partition: 0,
        coordinator_epoch: epoch(5),
    };

    let mut away = ended.clone();
    away.step(Input::Leadership(resigned.clone()));
    away.append(AppendOutcome::Written);
    assert_eq!(
        away.answers,
        [Answer::EndTxn(Err(ErrorCode::NotCoordinator))]
    );

    let mut loading = ended.clone();
    loading.step(Input::Leadership(elected));
    loading.append(AppendOutcome::Written);
    assert_eq!(
        loading.answers,
        [Answer::EndTxn(Err(ErrorCode::CoordinatorLoadInProgress))]
    );

    let mut again = ended.clone();
    again.step(Input::Leadership(resigned));
    let record = crate::coordinator::txn_log::record(&id(), &open, TV2);
    again.load(5, &[record]);
    let before = again.coordinator.clone();
    again.append(AppendOutcome::Written);
    assert_eq!(
        again.answers,
        [Answer::EndTxn(Err(ErrorCode::NotCoordinator))]
    );
    assert_eq!((again.coordinator, again.markers.len()), (before, 0));

    let mut failed = ended;
    failed.step(Input::Leadership(Leadership::Resigned {
        partition: 0,
        coordinator_epoch: epoch(4),
    }));
    failed.append(TIMED_OUT);
    assert_eq!(
        failed.answers,
        [Answer::EndTxn(Err(ErrorCode::CoordinatorNotAvailable))]
    );
}

#[test]
fn a_ticket_that_comes_back_twice_is_refused_the_second_time() {
    let mut desk = Desk::given(TV2, &stored(Empty, 7, 1));
    desk.ask(Request::InitProducerId(init(None)));
    let ticket = desk.appends[0].clone();
    desk.append(AppendOutcome::Written);
    let before = desk.coordinator.clone();
    desk.step(Input::AppendFinished(
        ticket.clone(),
        AppendOutcome::Written,
    ));
    desk.step(Input::AppendFinished(ticket, TIMED_OUT));
    assert_eq!(desk.coordinator, before);
}

/// The states that one transaction writes, in order, as the record's own number.
#[test]
fn the_records_of_one_transaction_in_order() {
    for (version, level) in [(4, TV1), (5, TV2)] {
        let mut desk = Desk::ongoing(level);
        desk.end(end(version, claim(P, 0), COMMIT))
            .expect("prepared");
        desk.settle();
        let states: Vec<i8> = desk
            .log
            .iter()
            .map(|record| {
                let value = record.value.as_deref().expect("a value");
                TransactionLogValue::decode(value)
                    .expect("readable")
                    .transaction_status
            })
            .collect();
        let expected =
            [Empty, Ongoing, PrepareCommit, CompleteCommit].map(TransactionState::status);
        assert_eq!(states, expected);
    }
}

#[test]
fn the_record_of_a_prepared_overflow_byte_by_byte() {
    let mut desk = Desk::given(TV2, &stored(Ongoing, 42, EXH));
    desk.end(end(5, claim(42, EXH), COMMIT)).expect("prepared");
    let record = &desk.log[0];
    assert_eq!(&record.key[..], [0, 0, 0, 3, b't', b'x', b'n']);
    let now = 1_000_000_i64.to_be_bytes();
    let start = 999_000_i64.to_be_bytes();
    let value = [
        &[0, 1][..],
        &42_i64.to_be_bytes(),
        &[0x7f, 0xff],
        &60_000_i32.to_be_bytes(),
        &[2],
        &[2, 2, b't', 2, 0, 0, 0, 0, 0],
        &now,
        &start,
        &[3],
        &[0, 8],
        &42_i64.to_be_bytes(),
        &[1, 8],
        &1000_i64.to_be_bytes(),
        &[2, 2, 0, 2],
    ]
    .concat();
    assert_eq!(record.value.as_deref(), Some(&value[..]));
}

#[test]
fn a_cluster_below_version_1_writes_classic_values() {
    let mut desk = Desk::new(TransactionVersion::V0);
    assert_eq!(desk.init(init(None)), Ok(producer(P, 0)));
    let value = [
        &[0, 0][..],
        &P.to_be_bytes(),
        &[0, 0],
        &60_000_i32.to_be_bytes(),
        &[0, 0xff, 0xff, 0xff, 0xff],
        &1_000_000_i64.to_be_bytes(),
        &[0xff; 8],
    ]
    .concat();
    assert_eq!(desk.log[0].value.as_deref(), Some(&value[..]));
    desk.step(Input::TransactionVersionChanged(TV2));
    assert_eq!(desk.coordinator.transaction_version(), TV2);
    assert_eq!(desk.init(init(None)), Ok(producer(P, 1)));
    assert_eq!(desk.log[1].value.as_deref().map(|value| value[1]), Some(1));
}

#[test]
fn prepared_aborts_are_logged_with_the_fence() {
    let mut desk = Desk::given(TV1, &stored(Ongoing, 7, 1));
    desk.init(init(None)).expect_err("fenced");
    let value = TransactionLogValue::decode(desk.log[0].value.as_deref().expect("a value"))
        .expect("readable");
    assert_eq!(value.transaction_status, PrepareAbort.status());
    assert_eq!(value.producer_epoch, Some(ProducerEpoch::new(2)));
}
