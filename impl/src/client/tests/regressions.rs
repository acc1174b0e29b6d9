//! Bugs that clients have had. Each test names the bug and shows the right behaviour.

use super::*;
use crate::error_code::ErrorCode::{
    InvalidProducerIdMapping, MessageTooLarge, NotEnoughReplicas, ProducerFenced,
};
use TransactionVersion::{V1, V2};

#[test]
fn b22_a_forgotten_transactional_id_is_not_initialized_again() {
    let mut client = Client::started(V1);
    client.commit().unwrap();
    client.code(InvalidProducerIdMapping);
    assert_eq!(client.state(), State::FatalError);
    assert!(client.abort().is_err());
    assert_eq!(client.apis().last(), Some(&Api::EndTxn));
}

#[test]
fn b41_a_batch_of_unknown_fate_keeps_its_number_and_its_epoch() {
    // b2 is written and its answer lost, b3 fails hard: nothing is numbered afresh, and the epoch rises only after all
    // is done.
    let mut client = Client::started(V1);
    client.sequences();
    client.send(0, 2).unwrap();
    client.send(0, 3).unwrap();
    client.answered(0, 3, MessageTooLarge);
    client.abort().unwrap();
    client.answered(0, 2, NotEnoughReplicas);
    assert_eq!(client.sequences(), [(2, 0, 1), (3, 0, 2), (2, 0, 1)]);
    assert!(
        !client.apis().contains(&Api::EndTxn),
        "the end waits for it"
    );
    client.acked(0, 2);
    assert_eq!(client.apis(), [Api::EndTxn]);
}

#[test]
fn b41_a_new_epoch_begins_every_partition_again() {
    let mut client = Client::started(V1);
    client.send(1, 2).unwrap();
    client.lines(&[(1, ErrorCode::None)]);
    client.acked(1, 2);
    client.send(0, 3).unwrap();
    client.expired(0, 3);
    client.abort().unwrap();
    client.code(ErrorCode::None);
    client.identity(7, 1);
    client.sequences();
    client.begin();
    client.send(1, 4).unwrap();
    client.lines(&[(1, ErrorCode::None)]);
    assert_eq!(client.sequences(), [(4, 1, 0)]);
}

#[test]
fn b41_a_batch_that_is_given_up_costs_the_epoch_whenever_that_happens() {
    // Before the end, during a commit, and during an abort.
    type Before = fn(&mut Client);
    let moments: [Before; 3] = [|_| {}, |it| it.commit().unwrap(), |it| it.abort().unwrap()];
    for before in moments {
        let mut client = Client::started(V1);
        client.send(0, 2).unwrap();
        before(&mut client);
        client.expired(0, 2);
        if client.state() == State::AbortableError {
            client.abort().unwrap();
        }
        client.code(ErrorCode::None);
        assert_eq!(
            client.sent.last().map(Request::api),
            Some(Api::InitProducerId)
        );
        client.identity(7, 1);
        assert_eq!(client.state(), State::Ready);
        assert_eq!(client.finished.last(), Some(&(Operation::Abort, Ok(()))));
    }
}

#[test]
fn b42_counters_live_as_long_as_their_epoch() {
    let mut client = Client::started(V1);
    for batch in 2..5 {
        client.commit().unwrap();
        client.code(ErrorCode::None);
        client.begin();
        client.send(0, batch).unwrap();
        client.lines(&[(0, ErrorCode::None)]);
        client.acked(0, batch);
    }
    assert_eq!(
        client.sequences(),
        [(1, 0, 0), (2, 0, 1), (3, 0, 2), (4, 0, 3)]
    );
}

#[test]
fn b44_a_transaction_with_a_failed_send_is_never_committed() {
    for version in [V1, V2] {
        // The send fails before the commit is asked for, and while it is under way.
        let mut early = Client::started(version);
        early.send(0, 2).unwrap();
        early.answered(0, 2, MessageTooLarge);
        assert!(early.commit().is_err());
        let mut late = Client::started(version);
        late.send(0, 2).unwrap();
        late.commit().unwrap();
        late.answered(0, 2, MessageTooLarge);
        assert!(matches!(
            late.finished[..],
            [(Operation::Commit, Err(CallError::Abortable(_)))]
        ));
        for client in [&mut early, &mut late] {
            assert!(!client.apis().contains(&Api::EndTxn));
            client.abort().unwrap();
            let end = client.sent.last().cloned();
            assert!(matches!(
                end,
                Some(Request::EndTxn {
                    result: TransactionResult::Abort,
                    ..
                })
            ));
        }
    }
}

#[test]
fn b45_the_end_overtakes_neither_data_nor_registration() {
    let mut client = Client::ready(V1);
    client.begin();
    client.send(0, 1).unwrap();
    client.commit().unwrap();
    assert_eq!(client.apis(), [Api::AddPartitionsToTxn]);
    client.lines(&[(0, CONCURRENT)]);
    assert_eq!(client.apis(), [Api::AddPartitionsToTxn]);
    client.lines(&[(0, ErrorCode::None)]);
    assert_eq!(client.apis(), []);
    client.acked(0, 1);
    assert_eq!(client.apis(), [Api::EndTxn]);
}

#[test]
fn b45_an_abort_does_not_skip_the_end_while_a_registration_is_on_its_way() {
    let mut client = Client::ready(V1);
    client.begin();
    client.send(0, 1).unwrap();
    client.abort().unwrap();
    assert_eq!(client.finished, []);
    client.lines(&[(0, ErrorCode::None)]);
    assert_eq!(client.apis(), [Api::AddPartitionsToTxn, Api::EndTxn]);
}

#[test]
fn b45_an_abort_registers_nothing_any_more() {
    let mut client = Client::ready(V1);
    client.begin();
    client.send(0, 1).unwrap();
    client.send(1, 2).unwrap();
    client.abort().unwrap();
    client.lines(&[(0, ErrorCode::None)]);
    assert_eq!(client.apis(), [Api::AddPartitionsToTxn, Api::EndTxn]);
}

#[test]
fn b46_an_end_that_was_refused_is_not_reported_as_done() {
    for version in [V1, V2] {
        let mut client = Client::started(version);
        client.commit().unwrap();
        client.code(ProducerFenced);
        let cause = Cause::Answered {
            api: Api::EndTxn,
            code: ProducerFenced,
        };
        assert_eq!(
            client.finished,
            [(Operation::Commit, Err(CallError::Fatal(cause)))]
        );
    }
}

#[test]
fn b54_an_empty_transaction_ends_without_a_word() {
    for version in [V1, V2] {
        for end in [Call::CommitTransaction, Call::AbortTransaction] {
            let mut client = Client::ready(version);
            client.begin();
            client.call(end).unwrap();
            assert_eq!(client.apis(), []);
            assert_eq!(client.finished.len(), 1);
            assert_eq!(client.state(), State::Ready);
        }
    }
}

#[test]
fn b77_the_identity_is_that_of_the_last_answer() {
    // The first answer was lost together with its connection; the coordinator has bumped twice.
    let mut client = Client::new(V1);
    client.call(Call::InitTransactions).unwrap();
    client.code(ErrorCode::None);
    client.step(Input::Disconnected).unwrap();
    client.code(ErrorCode::None);
    client.identity(7, 1);
    assert_eq!(client.manager.producer(), Some(identity(7, 1)));
    assert_eq!(client.finished, [(Operation::Init, Ok(()))]);
}

#[test]
fn a_retried_end_is_the_same_request() {
    // The coordinator knows a retry by its old epoch.
    let mut client = Client::started(V2);
    client.commit().unwrap();
    client.step(Input::Disconnected).unwrap();
    client.code(ErrorCode::None);
    client.code(CONCURRENT);
    let ends: Vec<&Request> = client
        .sent
        .iter()
        .filter(|it| it.api() == Api::EndTxn)
        .collect();
    assert_eq!(ends.len(), 3);
    assert!(ends.windows(2).all(|pair| pair[0] == pair[1]));
}
