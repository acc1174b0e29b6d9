//! The rules of the producer, by name.

use super::*;
use crate::error_code::ErrorCode::{
    CoordinatorLoadInProgress, CoordinatorNotAvailable, DuplicateSequenceNumber, FencedInstanceId,
    GroupAuthorizationFailed, InvalidProducerEpoch, InvalidTxnState, MessageTooLarge,
    NotCoordinator, NotEnoughReplicas, OperationNotAttempted, OutOfOrderSequenceNumber,
    TopicAuthorizationFailed, TransactionAbortable, TransactionalIdAuthorizationFailed,
    UnknownMemberId, UnknownProducerId,
};
use TransactionResult::{Abort, Commit};
use TransactionVersion::{V0, V1, V2};

#[test]
fn a_tv1_transaction_registers_sends_and_ends() {
    let mut client = Client::ready(V1);
    client.begin();
    client.send(0, 1).unwrap();
    client.send(1, 2).unwrap();
    assert_eq!(
        client.produced,
        [],
        "nothing before the registration is answered"
    );
    let add = |partitions: Vec<TopicPartition>| Request::AddPartitionsToTxn {
        producer: identity(7, 0),
        partitions,
    };
    assert_eq!(client.sent, [add(vec![partition(0)])]);
    client.lines(&[(0, ErrorCode::None)]);
    assert_eq!(client.sequences(), [(1, 0, 0)]);
    client.lines(&[(1, ErrorCode::None)]);
    assert_eq!(client.sent[1], add(vec![partition(1)]));
    assert_eq!(client.sequences(), [(2, 0, 0)]);
    client.commit().unwrap();
    client.acked(0, 1);
    assert_eq!(client.sent.len(), 2, "the end waits for every batch");
    client.acked(1, 2);
    let end = Request::EndTxn {
        producer: identity(7, 0),
        result: Commit,
        version: V1,
    };
    assert_eq!(client.sent[2], end);
    client.code(ErrorCode::None);
    assert_eq!(client.finished, [(Operation::Commit, Ok(()))]);
    assert_eq!(client.state(), State::Ready);
    // Sequences go on over TV1 transactions.
    client.begin();
    client.send(0, 3).unwrap();
    client.lines(&[(0, ErrorCode::None)]);
    assert_eq!(client.sequences(), [(3, 0, 1)]);
}

#[test]
fn a_tv2_transaction_registers_nothing_and_goes_on_with_the_answers_identity() {
    let mut client = Client::ready(V2);
    client.begin();
    client.send(0, 1).unwrap();
    assert_eq!(client.sequences(), [(1, 0, 0)]);
    client.acked(0, 1);
    client.commit().unwrap();
    let end = Request::EndTxn {
        producer: identity(7, 0),
        result: Commit,
        version: V2,
    };
    assert_eq!(client.sent, [end]);
    client.identity(7, 1);
    assert_eq!(client.finished, [(Operation::Commit, Ok(()))]);
    client.begin();
    client.send(0, 2).unwrap();
    assert_eq!(client.sequences(), [(2, 1, 0)]);
    // At the last epoch the answer holds another producer id.
    client.acked(0, 2);
    client.commit().unwrap();
    client.identity(8, 0);
    assert_eq!(client.manager.producer(), Some(identity(8, 0)));
}

#[test]
fn calls_out_of_turn_are_refused_and_change_nothing() {
    type Make = fn() -> Client;
    type Made = fn(&mut Client) -> Result<(), CallError>;
    let fresh: Make = || Client::new(V1);
    let ready: Make = || Client::ready(V1);
    let open: Make = || Client::started(V1);
    let committing: Make = || {
        let mut client = Client::started(V1);
        client.commit().unwrap();
        client
    };
    let abortable: Make = || {
        let mut client = Client::started(V1);
        client.send(0, 9).unwrap();
        client.answered(0, 9, InvalidProducerEpoch);
        client
    };
    let fatal: Make = || {
        let mut client = Client::started(V1);
        client.commit().unwrap();
        client.code(ErrorCode::ProducerFenced);
        client
    };
    // Columns: init, begin, send, offsets, commit, abort. `x` is allowed.
    let table = [
        (fresh, "x....."),
        (ready, ".x...."),
        (open, "..xxxx"),
        (committing, "....x."),
        (abortable, ".....x"),
        (fatal, "......"),
    ];
    for (make, row) in table {
        let calls: [Made; 6] = [
            |it| it.call(Call::InitTransactions),
            |it| it.call(Call::BeginTransaction),
            |it| it.send(0, 50),
            Client::send_offsets,
            Client::commit,
            Client::abort,
        ];
        for (column, (call, cell)) in calls.into_iter().zip(row.chars()).enumerate() {
            let mut client = make();
            let before = client.manager.clone();
            let called = call(&mut client);
            assert_eq!(called.is_ok(), cell == 'x', "{:?} {column}", before.state());
            if called.is_err() {
                assert_eq!(client.manager, before);
            }
        }
    }
}

#[test]
fn errors_name_their_reason() {
    let mut client = Client::started(V1);
    client.send(0, 9).unwrap();
    client.answered(0, 9, InvalidProducerEpoch);
    let cause = Cause::Answered {
        api: Api::Produce,
        code: InvalidProducerEpoch,
    };
    assert_eq!(client.commit(), Err(CallError::Abortable(cause)));
    assert_eq!(client.send(0, 10), Err(CallError::Abortable(cause)));
    let mut client = Client::ready(V1);
    client.begin();
    client.send_offsets().unwrap();
    assert_eq!(
        client.commit(),
        Err(CallError::Pending(Operation::SendOffsets))
    );
}

#[test]
fn b75_a_call_without_an_answer_may_be_made_again() {
    // B75: the caller gave up waiting; the answer still comes, once.
    let mut client = Client::started(V1);
    client.commit().unwrap();
    client.commit().unwrap();
    assert_eq!(client.abort(), Err(CallError::Pending(Operation::Commit)));
    client.code(ErrorCode::None);
    assert_eq!(client.finished, [(Operation::Commit, Ok(()))]);
    let mut client = Client::new(V1);
    client.call(Call::InitTransactions).unwrap();
    client.call(Call::InitTransactions).unwrap();
    assert_eq!(client.apis(), [Api::FindCoordinator]);
}

#[test]
fn the_coordinator_is_found_first_and_again_when_it_has_moved() {
    let mut client = Client::new(V1);
    client.call(Call::InitTransactions).unwrap();
    client.code(CoordinatorNotAvailable);
    assert_eq!(client.apis(), [Api::FindCoordinator, Api::FindCoordinator]);
    client.code(ErrorCode::None);
    client.code(NotCoordinator);
    assert_eq!(client.apis(), [Api::InitProducerId, Api::FindCoordinator]);
    client.code(ErrorCode::None);
    client.code(CoordinatorLoadInProgress);
    client.code(CONCURRENT);
    assert_eq!(client.apis(), [Api::InitProducerId; 3]);
    assert_eq!(client.backoffs.last(), Some(&Backoff::Retry));
    client.step(Input::Disconnected).unwrap();
    assert_eq!(client.apis(), [Api::FindCoordinator]);
    client.code(ErrorCode::None);
    client.identity(7, 3);
    assert_eq!(client.state(), State::Ready);
}

#[test]
fn the_first_registration_comes_back_soon_when_the_last_transaction_is_not_done() {
    let mut client = Client::ready(V1);
    client.begin();
    client.send(0, 1).unwrap();
    client.lines(&[(0, CONCURRENT)]);
    assert_eq!(
        client.backoffs,
        [Backoff::None, Backoff::FirstAddPartitions]
    );
    client.lines(&[(0, ErrorCode::None)]);
    client.send(1, 2).unwrap();
    client.lines(&[(1, CONCURRENT)]);
    assert_eq!(client.backoffs[2..], [Backoff::None, Backoff::Retry]);
}

#[test]
fn registrations_can_fail() {
    let cases = [
        (
            vec![(0, TopicAuthorizationFailed), (1, OperationNotAttempted)],
            State::AbortableError,
        ),
        (
            vec![(0, UnknownProducerId), (1, ErrorCode::None)],
            State::AbortableError,
        ),
        (vec![(0, TransactionAbortable)], State::AbortableError),
        (vec![(0, InvalidTxnState)], State::FatalError),
        (vec![(0, InvalidProducerEpoch)], State::FatalError),
        (vec![(0, ErrorCode::ProducerFenced)], State::FatalError),
        (
            vec![(0, TransactionalIdAuthorizationFailed)],
            State::FatalError,
        ),
        (
            vec![(0, ErrorCode::InvalidProducerIdMapping)],
            State::FatalError,
        ),
        (
            vec![(0, TopicAuthorizationFailed), (1, InvalidTxnState)],
            State::FatalError,
        ),
    ];
    for (lines, state) in cases {
        let mut client = Client::ready(V1);
        client.begin();
        client.send(0, 1).unwrap();
        client.lines(&lines);
        assert_eq!(client.state(), state, "{lines:?}");
        assert!(
            client.batches[&1].is_err(),
            "what waits for the registration is not sent"
        );
        assert_eq!(client.produced, []);
    }
}

#[test]
fn offsets_go_with_the_transaction() {
    let mut client = Client::ready(V1);
    client.begin();
    client.send_offsets().unwrap();
    client.code(ErrorCode::None);
    client.code(ErrorCode::None);
    client.lines(&[(0, ErrorCode::None), (1, CoordinatorLoadInProgress)]);
    let apis = [
        Api::AddOffsetsToTxn,
        Api::FindCoordinator,
        Api::TxnOffsetCommit,
        Api::TxnOffsetCommit,
    ];
    let Some(Request::TxnOffsetCommit {
        offsets, version, ..
    }) = client.sent.last()
    else {
        panic!("{:?}", client.sent);
    };
    assert_eq!(
        offsets.keys().collect::<Vec<_>>(),
        [&partition(1)],
        "what is staged is not sent again"
    );
    assert_eq!(*version, V1);
    assert_eq!(client.apis(), apis);
    client.lines(&[(1, ErrorCode::None)]);
    assert_eq!(client.finished, [(Operation::SendOffsets, Ok(()))]);
    client.commit().unwrap();
    assert_eq!(
        client.apis(),
        [Api::EndTxn],
        "offsets alone make a transaction"
    );
    // TV2: the group is registered by the commit itself.
    let mut client = Client::ready(V2);
    client.begin();
    client.send_offsets().unwrap();
    client.code(ErrorCode::None);
    client.lines(&[(0, ErrorCode::None), (1, ErrorCode::None)]);
    client.commit().unwrap();
    assert_eq!(
        client.apis(),
        [Api::FindCoordinator, Api::TxnOffsetCommit, Api::EndTxn]
    );
}

#[test]
fn offsets_can_fail() {
    let abortable = [
        UnknownMemberId,
        FencedInstanceId,
        GroupAuthorizationFailed,
        TransactionAbortable,
    ];
    for code in abortable {
        for version in [V1, V2] {
            let mut client = Client::ready(version);
            client.begin();
            client.send_offsets().unwrap();
            client.code(ErrorCode::None);
            if version == V1 {
                client.code(ErrorCode::None);
            }
            client.lines(&[(0, code), (1, code)]);
            assert_eq!(client.state(), State::AbortableError);
            let cause = Cause::Answered {
                api: Api::TxnOffsetCommit,
                code,
            };
            assert_eq!(
                client.finished,
                [(Operation::SendOffsets, Err(CallError::Abortable(cause)))]
            );
            client.abort().unwrap();
            assert_eq!(client.sent.last().map(Request::api), Some(Api::EndTxn));
        }
    }
}

#[test]
fn b82_batches_are_sent_again_in_their_order_with_their_numbers() {
    let mut client = Client::started(V1);
    client.sequences();
    for batch in 2..9 {
        client.send(0, batch).unwrap();
    }
    assert_eq!(
        client.sequences(),
        [(2, 0, 1), (3, 0, 2), (4, 0, 3), (5, 0, 4), (6, 0, 5)],
        "five in flight"
    );
    client.answered(0, 2, NotEnoughReplicas);
    assert_eq!(client.sequences(), [(2, 0, 1)], "at once: it is the first");
    client.answered(0, 3, OutOfOrderSequenceNumber);
    assert_eq!(client.sequences(), [], "in its turn");
    client.acked(0, 2);
    assert_eq!(client.sequences(), [(3, 0, 2), (7, 0, 6)]);
    client.answered(0, 3, DuplicateSequenceNumber);
    assert_eq!(client.batches[&3], Ok(()));
    assert_eq!(client.sequences(), [(8, 0, 7)]);
    assert_eq!(client.state(), State::InTransaction);
    // In its turn and out of order all the same: something is lost.
    client.answered(0, 4, OutOfOrderSequenceNumber);
    assert_eq!(client.state(), State::AbortableError);
    // What comes after the lost one can never be in order.
    client.answered(0, 5, OutOfOrderSequenceNumber);
    assert!(client.batches[&5].is_err());
}

#[test]
fn acknowledgements_may_come_out_of_order() {
    // The first answer to batch 2 was "timed out" although it was appended.
    let mut client = Client::started(V1);
    client.send(0, 2).unwrap();
    client.send(0, 3).unwrap();
    client.answered(0, 2, ErrorCode::RequestTimedOut);
    client.acked(0, 3);
    client.answered(0, 2, DuplicateSequenceNumber);
    client.commit().unwrap();
    client.code(ErrorCode::None);
    client.sequences();
    client.begin();
    client.send(0, 4).unwrap();
    client.lines(&[(0, ErrorCode::None)]);
    assert_eq!(client.sequences(), [(4, 0, 3)]);
}

#[test]
fn late_answers_say_nothing() {
    let mut client = Client::started(V1);
    let before = client.manager.clone();
    client.acked(0, 1);
    client.answered(3, 77, MessageTooLarge);
    client.expired(0, 1);
    client.code(ErrorCode::ProducerFenced);
    assert_eq!(client.manager, before);
}

#[test]
fn tv1_recovery_raises_the_epoch_after_the_abort() {
    let mut client = Client::started(V1);
    client.send(0, 2).unwrap();
    client.answered(0, 2, MessageTooLarge);
    client.apis();
    client.abort().unwrap();
    client.code(ErrorCode::None);
    let bump = Request::InitProducerId {
        expected: Some(identity(7, 0)),
    };
    assert_eq!(client.sent.last(), Some(&bump));
    assert_eq!(client.state(), State::Initializing);
    assert_eq!(client.finished, [], "the abort is done with the bump");
    client.identity(7, 1);
    assert_eq!(client.finished, [(Operation::Abort, Ok(()))]);
    client.sequences();
    client.begin();
    client.send(0, 3).unwrap();
    client.send(1, 4).unwrap();
    client.lines(&[(0, ErrorCode::None)]);
    client.lines(&[(1, ErrorCode::None)]);
    assert_eq!(client.sequences(), [(3, 1, 0), (4, 1, 0)]);
}

#[test]
fn without_a_bump_sequences_go_on_after_what_was_acknowledged() {
    let mut client = Client::with(ProducerConfig {
        features: V0,
        coordinator_can_bump: false,
    });
    client.call(Call::InitTransactions).unwrap();
    client.code(ErrorCode::None);
    client.identity(7, 0);
    client.begin();
    client.send(0, 1).unwrap();
    client.lines(&[(0, ErrorCode::None)]);
    client.acked(0, 1);
    client.send(0, 2).unwrap();
    client.answered(0, 2, MessageTooLarge);
    client.abort().unwrap();
    client.code(ErrorCode::None);
    assert_eq!(client.state(), State::Ready);
    client.sequences();
    client.begin();
    client.send(0, 3).unwrap();
    client.lines(&[(0, ErrorCode::None)]);
    assert_eq!(client.sequences(), [(3, 0, 1)]);
    // But a batch whose fate is unknown leaves no way on.
    client.expired(0, 3);
    assert_eq!(client.state(), State::FatalError);
    let mut client = client.clone();
    assert_eq!(client.abort(), Err(CallError::Fatal(Cause::BatchExpired)));
}

#[test]
fn tv2_recovery_needs_no_request_of_its_own() {
    let mut client = Client::started(V2);
    client.send(0, 2).unwrap();
    client.expired(0, 2);
    assert_eq!(client.state(), State::AbortableError);
    client.abort().unwrap();
    assert_eq!(client.apis(), [Api::EndTxn]);
    client.identity(7, 1);
    assert_eq!(client.state(), State::Ready);
}

#[test]
fn b50_turning_to_tv2_ends_the_old_transaction_in_tv1_and_raises_the_epoch() {
    for end in [Commit, Abort] {
        let mut client = Client::started(V1);
        client.step(Input::Features(V2)).unwrap();
        assert_eq!(client.manager.version(), V1);
        client.apis();
        client
            .call(if end == Commit {
                Call::CommitTransaction
            } else {
                Call::AbortTransaction
            })
            .unwrap();
        let old = Request::EndTxn {
            producer: identity(7, 0),
            result: end,
            version: V1,
        };
        assert_eq!(client.sent, [old]);
        client.code(ErrorCode::None);
        client.identity(7, 1);
        assert_eq!(client.manager.version(), V2);
        client.begin();
        client.send(0, 5).unwrap();
        assert_eq!(client.apis(), [Api::EndTxn, Api::InitProducerId]);
    }
    // And back: the end of a TV2 transaction has raised the epoch already.
    let mut client = Client::started(V2);
    client.step(Input::Features(V1)).unwrap();
    client.commit().unwrap();
    client.identity(7, 1);
    assert_eq!(
        (client.state(), client.manager.version()),
        (State::Ready, V1)
    );
}

#[test]
fn an_error_while_aborting_is_no_news() {
    let mut client = Client::started(V1);
    client.send(1, 2).unwrap();
    client.abort().unwrap();
    client.lines(&[(1, TopicAuthorizationFailed)]);
    assert_eq!(client.state(), State::AbortingTransaction);
    assert_eq!(client.sent.last().map(Request::api), Some(Api::EndTxn));
    client.code(ErrorCode::None);
    assert_eq!(client.finished, [(Operation::Abort, Ok(()))]);
}

#[test]
fn a_fatal_error_ends_everything() {
    let mut client = Client::started(V2);
    client.send(0, 2).unwrap();
    client.send(1, 3).unwrap();
    client.answered(0, 2, ErrorCode::ProducerFenced);
    assert_eq!(client.state(), State::FatalError);
    assert!(client.batches[&2].is_err() && client.batches[&3].is_err());
    assert!(
        client
            .manager
            .batches()
            .values()
            .all(|it| it.queue().is_empty())
    );
    // An answer to what was on its way changes nothing any more, whatever it says.
    let mut client = Client::started(V2);
    client.send(0, 2).unwrap();
    client.send_offsets().unwrap();
    client.answered(0, 2, ErrorCode::ProducerFenced);
    client.code(ErrorCode::None);
    assert_eq!(client.finished.len(), 1);
    assert!(client.finished[0].1.is_err());
    assert_eq!(client.state(), State::FatalError);
}
