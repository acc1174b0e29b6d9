//! Long random runs: nothing panics, the derived orders follow the ids, and the log tells what the memory knows.

use super::*;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Move {
    Init {
        name: u8,
        expected: Option<(i64, i16)>,
        keep: bool,
    },
    Add {
        name: u8,
        form: u8,
        back: i16,
        partition: i32,
    },
    End {
        name: u8,
        version: i16,
        back: i16,
        commit: bool,
    },
    Append {
        at: usize,
        error: Option<ErrorCode>,
    },
    Marker {
        at: usize,
        outcome: MarkerOutcome,
        again: bool,
    },
    Abort,
    Expire,
    Retry,
    Wait {
        millis: i64,
    },
    Elect,
    Resign,
    Version(TransactionVersion),
}

fn moves() -> impl Strategy<Value = Move> {
    let error = prop_oneof![
        Just(ErrorCode::RequestTimedOut),
        Just(ErrorCode::NotLeaderOrFollower),
        Just(ErrorCode::MessageTooLarge),
    ];
    let outcome = prop_oneof![
        6 => Just(MarkerOutcome::Answered(ErrorCode::None)),
        1 => Just(MarkerOutcome::Answered(ErrorCode::NotLeaderOrFollower)),
        1 => Just(MarkerOutcome::Answered(ErrorCode::InvalidProducerEpoch)),
        1 => Just(MarkerOutcome::Disconnected),
        1 => Just(MarkerOutcome::NoSuchPartition),
    ];
    prop_oneof![
        4 => (0..3_u8, prop::option::of((P..P + 4, 0..4_i16)), any::<bool>())
            .prop_map(|(name, expected, keep)| Move::Init { name, expected, keep: keep && expected.is_none() }),
        6 => (0..3_u8, 0..3_u8, 0..2_i16, 0..3_i32)
            .prop_map(|(name, form, back, partition)| Move::Add { name, form, back, partition }),
        6 => (0..3_u8, 4..6_i16, 0..2_i16, any::<bool>())
            .prop_map(|(name, version, back, commit)| Move::End { name, version, back, commit }),
        12 => (any::<usize>(), prop::option::weighted(0.2, error)).prop_map(|(at, error)| Move::Append { at, error }),
        12 => (any::<usize>(), outcome, any::<bool>())
            .prop_map(|(at, outcome, again)| Move::Marker { at, outcome, again }),
        1 => Just(Move::Abort),
        1 => Just(Move::Expire),
        2 => Just(Move::Retry),
        1 => (-1_000..90_000_i64).prop_map(|millis| Move::Wait { millis }),
        1 => Just(Move::Wait { millis: 604_800_000 }),
        1 => Just(Move::Elect),
        1 => Just(Move::Resign),
        1 => prop_oneof![Just(TV1), Just(TV2)].prop_map(Move::Version),
    ]
}

fn name(number: u8) -> TransactionalId {
    TransactionalId::new(&format!("txn-{number}"))
}

/// The identity that the client of an id would name, `back` epochs ago.
fn named(desk: &Desk, id: &TransactionalId, back: i16) -> Claim {
    let known = desk.coordinator.owner(id).ok().and_then(|led| led.get(id));
    known.map_or(claim(P, 0), |slot| {
        let stored = slot.current();
        let epoch = ProducerEpoch::to_wire(stored.client_producer_epoch());
        claim(
            stored.client_producer_id().get(),
            epoch.saturating_sub(back),
        )
    })
}

impl Desk {
    /// A leadership ends: appends that it has under way never reach the log.
    fn lose_what_is_unwritten(&mut self) {
        self.unwritten.iter_mut().for_each(Vec::clear);
    }

    /// Whether the last record of an id says what the memory knows, if nothing is under way and nothing was kept from
    /// the log: an epoch that could not be written, or markers that were, of a completion that could not be.
    fn log_tells(&self, id: &TransactionalId, slot: &Slot) -> bool {
        let known = slot.current();
        let prepared = matches!(
            known.state,
            TransactionState::PrepareCommit | TransactionState::PrepareAbort
        );
        if slot.pending().is_some()
            || prepared
            || known.producer_epoch.is_none()
            || known.has_failed_epoch_fence
        {
            return true;
        }
        let key = crate::coordinator::txn_log::tombstone(id).key;
        let last = self.log.iter().rev().find(|record| record.key == key);
        let logged = last
            .and_then(|record| record.value.as_deref())
            .and_then(|value| crate::coordinator::txn_log::metadata(value).ok());
        // The last epoch is not in the record.
        let known = TransactionMetadata {
            last_producer_epoch: None,
            ..TransactionMetadata::clone(known)
        };
        logged == Some(known)
    }
}

struct Run {
    desk: Desk,
    leader_epoch: i32,
}

impl Run {
    fn make(&mut self, step: Move) {
        let desk = &mut self.desk;
        match step {
            Move::Init {
                name: number,
                expected,
                keep,
            } => {
                let request = InitProducerId {
                    transactional_id: Some(name(number)),
                    keep_prepared_txn: keep,
                    ..init(expected)
                };
                desk.ask(Request::InitProducerId(request));
            }
            Move::Add {
                name: number,
                form,
                back,
                partition,
            } => {
                let forms = [
                    AddPartitionsToTxnForm::Client { version: 3 },
                    AddPartitionsToTxnForm::Broker,
                    AddPartitionsToTxnForm::VerifyOnly,
                ];
                let asked = named(desk, &name(number), back);
                let partitions = [TopicPartition::new("t", partition)];
                let request = AddPartitionsToTxn {
                    transactional_id: name(number),
                    ..add(forms[usize::from(form)], asked, &partitions)
                };
                desk.ask(Request::AddPartitionsToTxn(request));
            }
            Move::End {
                name: number,
                version,
                back,
                commit,
            } => {
                let asked = named(desk, &name(number), back);
                let result = if commit { COMMIT } else { ABORT };
                desk.ask(Request::EndTxn(EndTxn {
                    transactional_id: name(number),
                    ..end(version, asked, result)
                }));
            }
            Move::Append { at, error } => {
                if !desk.appends.is_empty() {
                    let at = at % desk.appends.len();
                    desk.appends.swap(0, at);
                    desk.unwritten.swap(0, at);
                    desk.append(error.map_or(AppendOutcome::Written, AppendOutcome::Failed));
                }
            }
            Move::Marker { at, outcome, again } => {
                if !desk.markers.is_empty() {
                    let at = at % desk.markers.len();
                    desk.markers.swap(0, at);
                    let copy = desk.markers[0].clone();
                    desk.marker(outcome);
                    if again {
                        desk.markers.push(copy);
                    }
                }
            }
            Move::Abort => desk.step(Input::AbortTimedOutTransactions),
            Move::Expire => desk.step(Input::RemoveExpiredTransactionalIds),
            Move::Retry => desk.step(Input::RetryCompletions),
            Move::Wait { millis } => desk.now = desk.now.plus_millis(millis),
            Move::Elect => {
                self.leader_epoch += 1;
                desk.lose_what_is_unwritten();
                let log = desk.log.clone();
                desk.load(self.leader_epoch, &log);
            }
            Move::Resign => {
                self.leader_epoch += 1;
                desk.lose_what_is_unwritten();
                let coordinator_epoch = epoch(self.leader_epoch);
                desk.step(Input::Leadership(Leadership::Resigned {
                    partition: 0,
                    coordinator_epoch,
                }));
            }
            Move::Version(level) => desk.step(Input::TransactionVersionChanged(level)),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn a_long_run_keeps_its_orders_and_its_log(steps in prop::collection::vec(moves(), 0..300)) {
        let mut run = Run { desk: Desk::new(TV2), leader_epoch: 3 };
        for step in steps {
            run.make(step);
            let answered = run.desk.answers.iter().all(|answer| match answer {
                Answer::InitProducerId(Ok(answer)) => answer.producer.producer_epoch < ProducerEpoch::MAX,
                Answer::EndTxn(Ok(Some(producer))) => producer.producer_epoch < ProducerEpoch::MAX,
                Answer::InitProducerId(Err(_))
                | Answer::EndTxn(_)
                | Answer::AddPartitionsToTxn(_)
                | Answer::AddOffsetsToTxn(_)
                | Answer::DescribeTransactions(_)
                | Answer::ListTransactions(_) => true,
            });
            prop_assert!(answered, "no client is handed epoch 32767");
            if let Ok(led) = run.desk.coordinator.owner(&id()) {
                prop_assert!(led.orders_follow_the_ids());
                for (id, slot) in led.transactions() {
                    prop_assert!(run.desk.log_tells(id, slot), "{id} {slot:?}");
                }
            }
        }
    }

    #[test]
    fn hostile_records_never_panic(
        key in prop::collection::vec(any::<u8>(), 0..20),
        value in prop::option::of(prop::collection::vec(any::<u8>(), 0..120)),
        cut in 0..80_usize,
        at in 0..80_usize,
        byte in any::<u8>(),
    ) {
        let mut desk = Desk::idle(TV2);
        let mut damaged = crate::coordinator::txn_log::record(&id(), &stored(TransactionState::PrepareCommit, 7, 2), TV2);
        let mut bytes = damaged.value.expect("a value").to_vec();
        bytes.truncate(cut);
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        damaged.value = Some(bytes.into());
        desk.load(3, &[damaged, LogRecord { key: key.into(), value: value.map(Into::into) }]);
        desk.settle();
    }
}
