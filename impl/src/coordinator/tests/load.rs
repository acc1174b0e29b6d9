use super::*;
use crate::records::RecordError;
use TransactionState::{
    CompleteAbort, CompleteCommit, Empty, Ongoing, PrepareAbort, PrepareCommit,
};
use bytes::Bytes;

const WRITTEN: MarkerOutcome = MarkerOutcome::Answered(ErrorCode::None);

fn record(metadata: &TransactionMetadata) -> LogRecord {
    crate::coordinator::txn_log::record(&id(), metadata, TV2)
}

fn ask_all(desk: &mut Desk) -> [Answer; 5] {
    [
        desk.answer(Request::InitProducerId(init(None))),
        desk.answer(Request::AddPartitionsToTxn(add(
            AddPartitionsToTxnForm::Broker,
            claim(7, 1),
            &[p0()],
        ))),
        desk.answer(Request::AddPartitionsToTxn(add(
            AddPartitionsToTxnForm::VerifyOnly,
            claim(7, 1),
            &[p0()],
        ))),
        desk.answer(Request::AddOffsetsToTxn(add_offsets(claim(7, 1)))),
        desk.answer(Request::EndTxn(end(5, claim(7, 1), COMMIT))),
    ]
}

fn refused(error: ErrorCode) -> [Answer; 5] {
    let partitions = || Answer::AddPartitionsToTxn(Ok(vec![(p0(), error)]));
    [
        Answer::InitProducerId(Err(error)),
        partitions(),
        partitions(),
        Answer::AddOffsetsToTxn(Err(error)),
        Answer::EndTxn(Err(error)),
    ]
}

#[test]
fn nobody_is_served_before_the_log_is_read_or_after_leadership_ends() {
    let mut desk = Desk::idle(TV2);
    assert_eq!(ask_all(&mut desk), refused(ErrorCode::NotCoordinator));
    let (partition, coordinator_epoch) = (0, epoch(3));
    desk.step(Input::Leadership(Leadership::Elected {
        partition,
        coordinator_epoch,
    }));
    assert_eq!(
        ask_all(&mut desk),
        refused(ErrorCode::CoordinatorLoadInProgress)
    );
    desk.load(4, &[record(&stored(Ongoing, 7, 1))]);
    assert_eq!(desk.brief(), (Ongoing, 7, 1));
    desk.step(Input::Leadership(Leadership::Resigned {
        partition,
        coordinator_epoch: epoch(5),
    }));
    assert_eq!(ask_all(&mut desk), refused(ErrorCode::NotCoordinator));
    assert!(desk.coordinator.partitions().is_empty());
}

#[test]
fn the_last_record_of_an_id_wins_and_a_null_value_removes_it() {
    let mut desk = Desk::idle(TV2);
    let tombstone = LogRecord {
        value: None,
        ..record(&stored(Empty, 7, 0))
    };
    desk.load(
        3,
        &[
            record(&stored(Empty, 7, 0)),
            tombstone.clone(),
            record(&stored(Ongoing, 7, 5)),
        ],
    );
    assert_eq!(desk.brief(), (Ongoing, 7, 5));
    desk.load(4, &[record(&stored(Empty, 7, 0)), tombstone]);
    assert_eq!(
        desk.end(end(5, claim(7, 0), ABORT)),
        Err(ErrorCode::InvalidProducerIdMapping)
    );
}

#[test]
fn loading_reports_what_it_found() {
    let mut desk = Desk::idle(TV2);
    let unknown_key = LogRecord {
        key: Bytes::from_static(&[0, 9, 1]),
        value: None,
    };
    let unknown_value = LogRecord {
        value: Some(Bytes::from_static(&[0, 9])),
        ..record(&stored(Empty, 7, 0))
    };
    desk.load(
        3,
        &[unknown_key, record(&stored(Empty, 7, 4)), unknown_value],
    );
    assert_eq!(desk.brief(), (Empty, 7, 4), "a skipped value hides nothing");
    let loaded = Effect::Loaded {
        partition: 0,
        coordinator_epoch: epoch(3),
        transactional_ids: 1,
        skipped_records: 2,
    };
    assert_eq!(desk.others, [loaded]);
}

#[test]
fn a_damaged_record_never_passes_as_state() {
    let good = record(&stored(Ongoing, 7, 1));
    let value = good.value.clone().expect("a value");
    let mut wrong_status = value.to_vec();
    wrong_status[16] = 6;
    let mut no_epoch = value.to_vec();
    no_epoch[10] = 0xff;
    let mut no_partitions = value[..17].to_vec();
    no_partitions.push(0);
    no_partitions.extend_from_slice(&value[value.len() - 21..]);
    let rows: [(Vec<u8>, RecordError); 5] = [
        (
            no_partitions,
            RecordError::InvalidField("transaction partitions"),
        ),
        (value[..20].to_vec(), RecordError::UnexpectedEnd),
        (
            wrong_status,
            RecordError::InvalidField("transaction status"),
        ),
        (no_epoch, RecordError::InvalidField("producer epoch")),
        ([&value[..], &[0]].concat(), RecordError::TrailingBytes(1)),
    ];
    for (damaged, error) in rows {
        let mut desk = Desk::idle(TV2);
        desk.load(
            3,
            &[
                good.clone(),
                LogRecord {
                    value: Some(damaged.into()),
                    ..good.clone()
                },
            ],
        );
        assert_eq!(
            desk.others,
            [Effect::LoadFailed {
                partition: 0,
                coordinator_epoch: epoch(3),
                error
            }]
        );
        assert_eq!(
            desk.end(end(5, claim(7, 1), COMMIT)),
            Err(ErrorCode::NotCoordinator)
        );
    }
}

#[test]
fn a_decided_transaction_gets_every_marker_again_and_an_open_one_is_left_alone() {
    // B85, B06: markers may have been written before; sending them again must be harmless, forgetting them is not.
    for (state, complete) in [
        (PrepareCommit, CompleteCommit),
        (PrepareAbort, CompleteAbort),
    ] {
        let mut metadata = stored(state, 7, 2);
        metadata.partitions = metadata.partitions.with(&[p1()]);
        let mut desk = Desk::idle(TV2);
        desk.load(9, &[record(&metadata)]);
        let sent: Vec<TopicPartition> = desk
            .markers
            .iter()
            .map(|(_, partition)| partition.clone())
            .collect();
        assert_eq!(sent, [p0(), p1()]);
        assert_eq!(desk.markers[0].0.coordinator_epoch, epoch(9));
        assert_eq!(
            desk.end(end(5, claim(7, 1), COMMIT)),
            Err(ErrorCode::ConcurrentTransactions)
        );
        desk.settle();
        assert_eq!(desk.brief(), (complete, 7, 2));
    }
    let desk = Desk::given(TV2, &stored(Ongoing, 7, 1));
    assert_eq!((desk.markers.len(), desk.appends.len()), (0, 0));
}

#[test]
fn a_decided_transaction_without_partitions_is_completed_at_once() {
    let mut metadata = stored(PrepareAbort, 7, 2);
    metadata.partitions = PartitionSet::default();
    let mut desk = Desk::idle(TV2);
    desk.load(3, &[record(&metadata)]);
    assert_eq!((desk.markers.len(), desk.appends.len()), (0, 1));
    desk.append(AppendOutcome::Written);
    assert_eq!(desk.brief(), (CompleteAbort, 7, 2));
}

#[test]
fn a_retried_end_is_known_after_an_election_and_a_retried_init_is_not() {
    let mut desk = Desk::ongoing(TV2);
    assert_eq!(
        desk.end(end(5, claim(P, 0), COMMIT)),
        Ok(Some(producer(P, 1)))
    );
    desk.settle();
    let log = desk.log.clone();
    desk.load(4, &log);
    assert_eq!(
        desk.end(end(5, claim(P, 0), COMMIT)),
        Ok(Some(producer(P, 1)))
    );
    // Kafka 4.4.0 does not log the last epoch.
    assert_eq!(
        desk.init(init(Some((P, 0)))),
        Err(ErrorCode::ProducerFenced)
    );
    assert_eq!(desk.init(init(Some((P, 1)))), Ok(producer(P, 2)));
}

#[test]
fn a_retry_after_an_overflow_is_known_after_an_election() {
    // KAFKA-20310: the previous producer id is in the log.
    let mut desk = Desk::given(TV2, &stored(Ongoing, 42, EXH));
    assert_eq!(
        desk.end(end(5, claim(42, EXH), COMMIT)),
        Ok(Some(producer(P, 0)))
    );
    let prepared = desk.log.clone();
    let mut elsewhere = Desk::idle(TV2);
    elsewhere.load(4, &prepared);
    elsewhere.settle();
    assert_eq!(
        elsewhere.brief(),
        (CompleteCommit, P, 0),
        "the promised id, not another"
    );
    assert_eq!(
        elsewhere.end(end(5, claim(42, EXH), COMMIT)),
        Ok(Some(producer(P, 0)))
    );
}

/// Seeds A7: what the coordinator epoch is for, on the coordinator's side. A coordinator that has not heard of its
/// successor goes on sending; its appends are refused and what it knows is not changed by answers meant for the other.
#[test]
fn a_zombie_coordinator_ends_nothing() {
    let mut old = Desk::ongoing(TV2);
    old.end(end(5, claim(P, 0), COMMIT)).expect("prepared");
    let log = old.log.clone();
    let mut new = Desk::idle(TV2);
    new.load(4, &log);
    let (ticket, partition) = new.markers[0].clone();
    old.step(Input::MarkersAnswered(ticket, vec![(partition, WRITTEN)]));
    assert_eq!(old.appends, [], "an answer to the successor's marker");
    new.settle();
    assert_eq!(new.brief(), (CompleteCommit, P, 1));
    old.marker(MarkerOutcome::Answered(
        ErrorCode::TransactionCoordinatorFenced,
    ));
    old.step(Input::RetryCompletions);
    assert_eq!((old.appends.len(), old.markers.len()), (0, 0));
    old.ask(Request::InitProducerId(InitProducerId {
        transactional_id: Some("other".into()),
        ..init(None)
    }));
    old.append(AppendOutcome::Failed(ErrorCode::NotLeaderOrFollower));
    assert_eq!(
        old.answers,
        [Answer::InitProducerId(Err(ErrorCode::NotCoordinator))]
    );
}

#[test]
fn an_older_election_or_resignation_changes_nothing_and_a_newer_one_replaces_everything() {
    // B57, B70.
    let mut desk = Desk::given(TV2, &stored(Ongoing, 7, 1));
    let before = desk.coordinator.clone();
    for coordinator_epoch in [epoch(2), epoch(3)] {
        desk.step(Input::Leadership(Leadership::Elected {
            partition: 0,
            coordinator_epoch,
        }));
        assert_eq!(
            desk.coordinator, before,
            "the same or an older epoch reloads nothing"
        );
    }
    desk.step(Input::Leadership(Leadership::Resigned {
        partition: 0,
        coordinator_epoch: epoch(2),
    }));
    assert_eq!(desk.coordinator, before, "an old notice");
    desk.load(4, &[record(&stored(CompleteCommit, 7, 2))]);
    assert_eq!(desk.brief(), (CompleteCommit, 7, 2));
}

#[test]
fn a_load_for_an_epoch_that_is_over_is_dropped() {
    let mut desk = Desk::idle(TV2);
    let partition = 0;
    desk.step(Input::Leadership(Leadership::Elected {
        partition,
        coordinator_epoch: epoch(3),
    }));
    desk.step(Input::Leadership(Leadership::Elected {
        partition,
        coordinator_epoch: epoch(4),
    }));
    let records = vec![record(&stored(Ongoing, 7, 1))];
    desk.step(Input::Leadership(Leadership::Replayed {
        partition,
        coordinator_epoch: epoch(3),
        records,
    }));
    desk.step(Input::Leadership(Leadership::Loaded {
        partition,
        coordinator_epoch: epoch(3),
    }));
    assert_eq!(
        desk.init(init(None)),
        Err(ErrorCode::CoordinatorLoadInProgress)
    );
    desk.step(Input::Leadership(Leadership::Loaded {
        partition,
        coordinator_epoch: epoch(4),
    }));
    assert_eq!(
        desk.init(init(None)),
        Ok(producer(P, 0)),
        "nothing of the old load is left"
    );
}

#[test]
fn every_prefix_of_the_log_leads_to_the_decided_outcome() {
    // Seeds B3, on the coordinator's side: whatever was durable before the crash, the next coordinator ends what was
    // decided and leaves what was not.
    let mut desk = Desk::ongoing(TV2);
    desk.end(end(5, claim(P, 0), COMMIT)).expect("prepared");
    desk.settle();
    let outcomes = [
        (Empty, P, 0),
        (Ongoing, P, 0),
        (CompleteCommit, P, 1),
        (CompleteCommit, P, 1),
    ];
    for (durable, outcome) in (1..).zip(outcomes) {
        let mut next = Desk::idle(TV2);
        next.load(4, &desk.log[..durable]);
        next.settle();
        assert_eq!(next.brief(), outcome, "after {durable} records");
    }
}
