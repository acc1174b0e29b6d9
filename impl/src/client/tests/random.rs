//! Long random sessions: whatever calls, answers and losses come, what must always hold holds.

use proptest::prelude::*;

use super::*;

fn any_code() -> impl Strategy<Value = ErrorCode> {
    prop_oneof![
        6 => Just(ErrorCode::None),
        1 => proptest::sample::select(ErrorCode::ALL.to_vec()),
    ]
}

#[derive(Clone, Debug)]
enum Step {
    Call(u8, i32),
    Answer(ErrorCode),
    Lost,
    Batch(usize, ErrorCode),
    Expire(usize),
    Features(bool),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0_u8..8, 0_i32..3).prop_map(|(call, partition)| Step::Call(call, partition)),
        8 => any_code().prop_map(Step::Answer),
        1 => Just(Step::Lost),
        6 => (0_usize..3, any_code()).prop_map(|(at, code)| Step::Batch(at, code)),
        1 => (0_usize..3).prop_map(Step::Expire),
        1 => any::<bool>().prop_map(Step::Features),
    ]
}

/// The coordinator: it answers each request of the producer in its own form.
fn answer(client: &mut Client, code: ErrorCode, epoch: &mut i16) {
    let Some(request) = client.manager.in_flight().cloned() else {
        return;
    };
    let response = match (&request, code) {
        (Request::InitProducerId { .. }, ErrorCode::None)
        | (
            Request::EndTxn {
                version: TransactionVersion::V2,
                ..
            },
            ErrorCode::None,
        ) => {
            *epoch += 1;
            Response::Identity(identity(7, *epoch))
        }
        (Request::AddPartitionsToTxn { partitions, .. }, code) => {
            Response::Partitions(partitions.iter().map(|it| (it.clone(), code)).collect())
        }
        (Request::TxnOffsetCommit { offsets, .. }, code) => {
            Response::Partitions(offsets.keys().map(|it| (it.clone(), code)).collect())
        }
        (_, code) => Response::Code(code),
    };
    client.step(Input::Answered(response)).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_is_numbered_twice_and_no_end_overtakes_its_batches(
        steps in proptest::collection::vec(any_step(), 0..150),
        tv2: bool,
        can_bump: bool,
    ) {
        let features = if tv2 { TransactionVersion::V2 } else { TransactionVersion::V1 };
        let mut client = Client::with(ProducerConfig { features, coordinator_can_bump: can_bump });
        let mut epoch = -1_i16;
        let mut next_batch = 0_u64;
        // (partition, epoch, sequence) of each batch that was sent, and the batch.
        let mut numbers: BTreeMap<(i32, i16, i32), u64> = BTreeMap::new();
        let mut failed_in_transaction = false;
        for step in steps {
            let before = client.sent.len();
            match step {
                Step::Call(call, partition) => {
                    let call = match call {
                        0 => Call::InitTransactions,
                        1 => Call::BeginTransaction,
                        2 => Call::CommitTransaction,
                        3 => Call::AbortTransaction,
                        4 => {
                            let _ = client.send_offsets();
                            continue;
                        }
                        _ => {
                            next_batch += 1;
                            Call::Send { partition: super::partition(partition), batch: BatchId(next_batch), count: 1 }
                        }
                    };
                    let begins = call == Call::BeginTransaction;
                    if client.call(call).is_ok() && begins {
                        failed_in_transaction = false;
                    }
                }
                Step::Answer(code) => answer(&mut client, code, &mut epoch),
                Step::Lost => client.step(Input::Disconnected).unwrap(),
                Step::Batch(at, code) => {
                    let in_flight = client.manager.batches().iter().flat_map(|(partition, batches)| {
                        batches.queue().iter().map(|batch| (partition.partition, batch.id.0))
                    });
                    if let Some((partition, batch)) = in_flight.collect::<Vec<_>>().get(at).copied() {
                        client.answered(partition, batch, code);
                    }
                }
                Step::Expire(at) => {
                    let all = client.manager.batches().iter().flat_map(|(partition, batches)| {
                        batches.queue().iter().map(|batch| (partition.partition, batch.id.0))
                    });
                    if let Some((partition, batch)) = all.collect::<Vec<_>>().get(at).copied() {
                        client.expired(partition, batch);
                    }
                }
                Step::Features(tv2) => {
                    let features = if tv2 { TransactionVersion::V2 } else { TransactionVersion::V1 };
                    client.step(Input::Features(features)).unwrap();
                }
            }
            failed_in_transaction |= client.batches.values().any(Result::is_err);
            client.batches.clear();
            // B82: what is sent under a number is always the same batch.
            for batch in client.produced.drain(..) {
                let number = (batch.partition.partition, batch.producer.producer_epoch.get(), batch.base_sequence.get());
                let known = *numbers.entry(number).or_insert(batch.batch.0);
                // Without a bump, the number of a batch that was refused for good is free again.
                if can_bump {
                    prop_assert_eq!(known, batch.batch.0, "{:?}", number);
                }
            }
            for request in &client.sent[before.min(client.sent.len())..] {
                if let Request::EndTxn { result, .. } = request {
                    prop_assert!(client.manager.batches().values().all(|it| it.queue().is_empty()));
                    if *result == TransactionResult::Commit {
                        prop_assert!(!failed_in_transaction, "B44");
                    }
                }
            }
            // An operation without an answer has a request that will bring it, or batches to wait for.
            if client.manager.operation().is_some() {
                let waits = client.manager.in_flight().is_some()
                    || client.manager.batches().values().any(|it| !it.queue().is_empty());
                prop_assert!(waits, "{:?}", client.manager);
            }
        }
    }
}
