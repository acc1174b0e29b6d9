use super::*;
use crate::coordinator::Stage;
use crate::coordinator::markers::{MarkerRow, marker_row};
use TransactionState::{CompleteCommit, Ongoing, PrepareAbort, PrepareCommit};

const WRITTEN: MarkerOutcome = MarkerOutcome::Answered(ErrorCode::None);

/// Two partitions prepared to commit, both markers on their way.
fn prepared(level: TransactionVersion) -> Desk {
    let mut desk = Desk::ongoing(level);
    assert_eq!(
        desk.add(add(AddPartitionsToTxnForm::Broker, claim(P, 0), &[p1()])),
        ErrorCode::None
    );
    let version = if level == TV2 { 5 } else { 4 };
    desk.end(end(version, claim(P, 0), COMMIT))
        .expect("prepared");
    desk
}

#[test]
fn the_table() {
    use ErrorCode::{
        CorruptMessage, InvalidProducerEpoch, InvalidRequiredAcks, KafkaStorageError,
        MessageTooLarge, NotEnoughReplicas, NotEnoughReplicasAfterAppend, NotLeaderOrFollower,
        RecordListTooLarge, RequestTimedOut, TransactionCoordinatorFenced, UnknownServerError,
        UnknownTopicOrPartition, UnsupportedForMessageFormat, UnsupportedVersion,
    };
    use MarkerOutcome::{Answered, Disconnected, LeaderNotAvailable, NoSuchPartition};
    let rows = [
        (Answered(ErrorCode::None), MarkerRow::Done),
        (Answered(UnsupportedForMessageFormat), MarkerRow::Done),
        (Answered(UnsupportedVersion), MarkerRow::Done),
        (NoSuchPartition, MarkerRow::Done),
        (Answered(UnknownTopicOrPartition), MarkerRow::Resend),
        (Answered(NotLeaderOrFollower), MarkerRow::Resend),
        (Answered(NotEnoughReplicas), MarkerRow::Resend),
        (Answered(NotEnoughReplicasAfterAppend), MarkerRow::Resend),
        (Answered(RequestTimedOut), MarkerRow::Resend),
        (Answered(KafkaStorageError), MarkerRow::Resend),
        (Disconnected, MarkerRow::Resend),
        (LeaderNotAvailable, MarkerRow::Resend),
        (Answered(InvalidProducerEpoch), MarkerRow::Abandon),
        (Answered(TransactionCoordinatorFenced), MarkerRow::Abandon),
        (Answered(CorruptMessage), MarkerRow::AbandonAndReport),
        (Answered(MessageTooLarge), MarkerRow::AbandonAndReport),
        (Answered(RecordListTooLarge), MarkerRow::AbandonAndReport),
        (Answered(InvalidRequiredAcks), MarkerRow::AbandonAndReport),
        (Answered(UnknownServerError), MarkerRow::AbandonAndReport),
    ];
    for (outcome, row) in rows {
        assert_eq!(marker_row(outcome), row, "{outcome:?}");
    }
}

#[test]
fn the_answer_does_not_wait_for_markers_and_the_completion_does() {
    let mut desk = prepared(TV2);
    assert_eq!(desk.brief(), (PrepareCommit, P, 1));
    desk.marker(WRITTEN);
    assert_eq!(desk.appends, []);
    assert!(!desk.now_holds().partitions.contains(&p0()));
    desk.marker(WRITTEN);
    assert_eq!(desk.appends.len(), 1);
    assert_eq!(
        desk.brief(),
        (PrepareCommit, P, 1),
        "not complete before it is durable"
    );
    desk.append(AppendOutcome::Written);
    assert_eq!(desk.brief(), (CompleteCommit, P, 1));
    assert_eq!(desk.now_holds().partitions.as_slice().len(), 0);
}

#[test]
fn two_answers_for_the_last_partition_complete_once() {
    // KAFKA-10080 (B10).
    let mut desk = prepared(TV1);
    desk.marker(WRITTEN);
    let last = desk.markers[0].clone();
    desk.marker(WRITTEN);
    desk.step(Input::MarkersAnswered(
        last.0.clone(),
        vec![(last.1.clone(), WRITTEN)],
    ));
    assert_eq!(desk.appends.len(), 1);
    desk.append(AppendOutcome::Written);
    let done = desk.coordinator.clone();
    desk.step(Input::MarkersAnswered(last.0, vec![(last.1, WRITTEN)]));
    assert_eq!((desk.appends.len(), desk.coordinator), (0, done));
}

#[test]
fn one_partitions_answer_does_not_count_for_another() {
    // KAFKA-17877 (B29).
    let mut desk = prepared(TV2);
    let (ticket, _) = desk.markers[0].clone();
    for _ in 0..3 {
        desk.step(Input::MarkersAnswered(
            ticket.clone(),
            vec![(p0(), WRITTEN)],
        ));
    }
    assert_eq!(desk.appends, []);
    assert!(desk.now_holds().partitions.contains(&p1()));
}

#[test]
fn a_marker_that_was_not_written_waits_for_the_next_try_and_no_other_is_sent_again() {
    let mut desk = prepared(TV2);
    desk.marker(MarkerOutcome::Answered(ErrorCode::NotLeaderOrFollower));
    assert_eq!(desk.markers.len(), 1, "p1 is on its way");
    desk.step(Input::RetryCompletions);
    let sent: Vec<TopicPartition> = desk
        .markers
        .iter()
        .map(|(_, partition)| partition.clone())
        .collect();
    assert_eq!(sent, [p1(), p0()]);
    desk.step(Input::RetryCompletions);
    assert_eq!(desk.markers.len(), 2, "nothing is queued any more");
    desk.settle();
    assert_eq!(desk.brief(), (CompleteCommit, P, 1));
}

#[test]
fn a_retriable_answer_that_comes_after_success_queues_nothing() {
    let mut desk = prepared(TV2);
    let (ticket, _) = desk.markers[0].clone();
    desk.marker(WRITTEN);
    desk.step(Input::MarkersAnswered(
        ticket,
        vec![(p0(), MarkerOutcome::Disconnected)],
    ));
    desk.step(Input::RetryCompletions);
    assert_eq!(desk.markers.len(), 1);
}

#[test]
fn a_deleted_partition_does_not_hold_up_the_rest() {
    // KAFKA-5202 (B62).
    let mut desk = prepared(TV2);
    desk.marker(MarkerOutcome::NoSuchPartition);
    desk.marker(WRITTEN);
    desk.append(AppendOutcome::Written);
    assert_eq!(desk.brief(), (CompleteCommit, P, 1));
}

#[test]
fn a_fenced_marker_gives_the_transaction_up_until_the_next_election() {
    for error in [
        ErrorCode::InvalidProducerEpoch,
        ErrorCode::TransactionCoordinatorFenced,
    ] {
        let mut desk = prepared(TV2);
        desk.marker(MarkerOutcome::Answered(error));
        desk.marker(WRITTEN);
        desk.step(Input::RetryCompletions);
        assert_eq!(
            (desk.appends.len(), desk.markers.len(), desk.others.len()),
            (0, 0, 0)
        );
        assert_eq!(
            desk.slot().pending().map(|pending| pending.stage.clone()),
            Some(Stage::Abandoned)
        );
        assert_eq!(
            desk.init(init(None)),
            Err(ErrorCode::ConcurrentTransactions)
        );
        let log = desk.log.clone();
        desk.load(4, &log);
        desk.settle();
        assert_eq!(desk.brief(), (CompleteCommit, P, 1));
    }
}

#[test]
fn a_senseless_answer_is_reported_too() {
    let mut desk = prepared(TV2);
    let (ticket, partition) = desk.markers[0].clone();
    desk.marker(MarkerOutcome::Answered(ErrorCode::CorruptMessage));
    let reported = Effect::MarkerAbandoned {
        ticket,
        partition,
        error: ErrorCode::CorruptMessage,
    };
    assert_eq!(desk.others, [reported]);
}

#[test]
fn answers_for_another_decision_or_another_leadership_are_ignored() {
    let desk = prepared(TV2);
    let (ticket, _) = desk.markers[0].clone();
    let strangers = [
        MarkerTicket {
            coordinator_epoch: epoch(2),
            ..ticket.clone()
        },
        MarkerTicket {
            producer: producer(P, 2),
            ..ticket.clone()
        },
        MarkerTicket {
            result: ABORT,
            ..ticket.clone()
        },
        MarkerTicket {
            partition: 1,
            ..ticket.clone()
        },
        MarkerTicket {
            transactional_id: "other".into(),
            ..ticket
        },
    ];
    for stranger in strangers {
        let mut desk = desk.clone();
        let before = desk.coordinator.clone();
        desk.step(Input::MarkersAnswered(
            stranger,
            vec![(p0(), WRITTEN), (p1(), WRITTEN)],
        ));
        assert_eq!(desk.coordinator, before);
    }
}

#[test]
fn a_late_answer_meets_a_first_session_without_harm() {
    let mut desk = Desk::new(TV2);
    desk.ask(Request::InitProducerId(init(None)));
    let ticket = MarkerTicket {
        transactional_id: id(),
        partition: 0,
        coordinator_epoch: epoch(3),
        producer: producer(P, 0),
        result: ABORT,
        transaction_version: TV2,
    };
    desk.step(Input::MarkersAnswered(ticket, vec![(p0(), WRITTEN)]));
    assert_eq!(desk.brief().2, -1);
}

#[test]
fn a_completion_that_cannot_be_appended_keeps_the_id_busy_and_is_tried_again() {
    // KAFKA-5416 (B13b).
    for error in [
        ErrorCode::NotEnoughReplicas,
        ErrorCode::NotEnoughReplicasAfterAppend,
        ErrorCode::RequestTimedOut,
        ErrorCode::UnknownTopicOrPartition,
    ] {
        let mut desk = prepared(TV2);
        desk.marker(WRITTEN);
        desk.marker(WRITTEN);
        desk.append(AppendOutcome::Failed(error));
        assert_eq!(desk.appends, []);
        assert_eq!(
            desk.end(end(5, claim(P, 0), COMMIT)),
            Err(ErrorCode::ConcurrentTransactions)
        );
        desk.step(Input::RetryCompletions);
        desk.step(Input::RetryCompletions);
        assert_eq!(desk.appends.len(), 1);
        desk.append(AppendOutcome::Written);
        assert_eq!(desk.brief(), (CompleteCommit, P, 1));
    }
}

#[test]
fn an_abort_sends_abort_markers_with_the_fencing_epoch() {
    // KAFKA-5231 (B07), KAFKA-6119 (B08).
    for level in [TV1, TV2] {
        let mut desk = Desk::given(level, &stored(Ongoing, 7, 4));
        desk.now = desk.now.plus_millis(60_000);
        desk.step(Input::AbortTimedOutTransactions);
        desk.append(AppendOutcome::Written);
        assert_eq!(desk.brief(), (PrepareAbort, 7, 5));
        assert_eq!(
            (desk.markers[0].0.producer, desk.markers[0].0.result),
            (producer(7, 5), ABORT)
        );
    }
}
