use super::*;
use crate::coordinator::{
    DescribeTransactions, ListTransactions, TransactionDescription, TransactionListing,
};
use TransactionState::{CompleteCommit, Empty, Ongoing, PrepareCommit};

fn describe(desk: &mut Desk, id: &str) -> Result<TransactionDescription, ErrorCode> {
    let request = DescribeTransactions {
        transactional_id: id.into(),
        authorization: Authorization::Allowed,
    };
    match desk.answer(Request::DescribeTransactions(request)) {
        Answer::DescribeTransactions(answer) => answer,
        other => panic!("{other:?}"),
    }
}

const ALL: ListTransactions = ListTransactions {
    states: None,
    producer_ids: None,
    longer_than_ms: None,
};

fn list(desk: &mut Desk, request: ListTransactions) -> Result<Vec<String>, ErrorCode> {
    match desk.answer(Request::ListTransactions(request)) {
        Answer::ListTransactions(answer) => answer.map(|listed| {
            listed
                .iter()
                .map(|listing| listing.transactional_id.to_string())
                .collect()
        }),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_description_says_what_holds_now() {
    let mut desk = Desk::given(TV2, &stored(Ongoing, 7, 1));
    let described = describe(&mut desk, "txn").expect("described");
    assert_eq!((described.state, described.producer_id.get()), (Ongoing, 7));
    assert_eq!(described.producer_epoch, Some(ProducerEpoch::new(1)));
    assert_eq!(described.timeout.to_record(), 60_000);
    assert_eq!(
        described.start_timestamp,
        Some(Timestamp::from_millis(999_000))
    );
    assert_eq!(described.partitions.as_slice(), [p0()]);
    desk.ask(Request::EndTxn(end(5, claim(7, 1), COMMIT)));
    assert_eq!(
        describe(&mut desk, "txn").map(|described| described.state),
        Ok(Ongoing),
        "not durable yet"
    );
    desk.append(AppendOutcome::Written);
    assert_eq!(
        describe(&mut desk, "txn").map(|described| described.state),
        Ok(PrepareCommit)
    );
    desk.marker(MarkerOutcome::Answered(ErrorCode::None));
    let described = describe(&mut desk, "txn").expect("described");
    assert_eq!(
        (described.state, described.partitions.as_slice().len()),
        (PrepareCommit, 0),
        "its marker is written"
    );
}

#[test]
fn what_cannot_be_described() {
    let mut desk = Desk::new(TV2);
    assert_eq!(describe(&mut desk, ""), Err(ErrorCode::InvalidRequest));
    assert_eq!(
        describe(&mut desk, "txn"),
        Err(ErrorCode::TransactionalIdNotFound)
    );
    let denied = DescribeTransactions {
        transactional_id: id(),
        authorization: Authorization::Denied,
    };
    let refused = Answer::DescribeTransactions(Err(ErrorCode::TransactionalIdAuthorizationFailed));
    assert_eq!(desk.answer(Request::DescribeTransactions(denied)), refused);
    desk.step(Input::Leadership(Leadership::Elected {
        partition: 0,
        coordinator_epoch: epoch(4),
    }));
    assert_eq!(
        describe(&mut desk, "txn"),
        Err(ErrorCode::CoordinatorLoadInProgress)
    );
    assert_eq!(
        list(&mut desk, ALL),
        Err(ErrorCode::CoordinatorLoadInProgress)
    );
    desk.step(Input::Leadership(Leadership::Resigned {
        partition: 0,
        coordinator_epoch: epoch(5),
    }));
    assert_eq!(describe(&mut desk, "txn"), Err(ErrorCode::NotCoordinator));
    assert_eq!(list(&mut desk, ALL), Ok(Vec::new()));
}

#[test]
fn a_list_is_filtered_by_state_producer_id_and_duration() {
    let mut desk = Desk::idle(TV2);
    let rows = [
        ("a", stored(Empty, 1, 0)),
        ("b", stored(Ongoing, 2, 0)),
        ("c", stored(CompleteCommit, 3, 0)),
    ];
    let records: Vec<LogRecord> = rows
        .iter()
        .map(|(id, metadata)| {
            crate::coordinator::txn_log::record(&TransactionalId::new(id), metadata, TV2)
        })
        .collect();
    desk.load(3, &records);
    let cases: [(ListTransactions, &[&str]); 7] = [
        (ALL, &["a", "b", "c"]),
        (
            ListTransactions {
                states: Some(vec![Ongoing, Empty]),
                ..ALL
            },
            &["a", "b"],
        ),
        (
            ListTransactions {
                states: Some(Vec::new()),
                ..ALL
            },
            &[],
        ),
        (
            ListTransactions {
                producer_ids: Some(vec![ProducerId::new(3)]),
                ..ALL
            },
            &["c"],
        ),
        // Open since 999,000, asked at 1,000,000; an id with nothing open counts from -1, as in Kafka.
        (
            ListTransactions {
                longer_than_ms: Some(999),
                ..ALL
            },
            &["a", "b", "c"],
        ),
        (
            ListTransactions {
                longer_than_ms: Some(1000),
                ..ALL
            },
            &["a"],
        ),
        (
            ListTransactions {
                longer_than_ms: Some(1_000_001),
                ..ALL
            },
            &[],
        ),
    ];
    for (request, ids) in cases {
        let listed = list(&mut desk, request.clone()).expect("listed");
        assert_eq!(listed, ids, "{request:?}");
    }
    let listing = TransactionListing {
        transactional_id: "b".into(),
        producer_id: ProducerId::new(2),
        state: Ongoing,
    };
    let request = ListTransactions {
        states: Some(vec![Ongoing]),
        ..ALL
    };
    assert_eq!(
        desk.answer(Request::ListTransactions(request)),
        Answer::ListTransactions(Ok(vec![listing]))
    );
}
