//! Carries messages between the cores.

use super::*;

impl World {
    pub(super) fn tell_client(&mut self, input: Input) {
        for effect in self.client.step(input) {
            match effect {
                Effect::Refused(_) | Effect::BatchFinished { .. } => {}
                Effect::Produce(batch) => self.flight.push(Message::Produce(batch)),
                Effect::Send { request, .. } => {
                    self.connection = self.fresh();
                    let message = self.request(request);
                    self.flight.push(message);
                }
                Effect::Finished { operation, outcome } => {
                    self.finished(operation, outcome.is_ok())
                }
            }
        }
    }

    pub(super) fn finished(&mut self, operation: Operation, is_ok: bool) {
        let Some(txn) = self.txns.last_mut() else {
            return;
        };
        match (operation, is_ok) {
            (Operation::Commit, true) => txn.outcome = Outcome::Committed,
            (Operation::Abort, true) => txn.outcome = Outcome::Aborted,
            (Operation::Commit | Operation::Abort, false) => txn.outcome = Outcome::Unknown,
            (Operation::Init | Operation::SendOffsets, _) => {}
        }
    }

    pub(super) fn request(&self, request: Request) -> Message {
        let transactional_id = TransactionalId::new("x");
        let authorization = Authorization::Allowed;
        let request = match request {
            Request::FindCoordinator(_) => {
                return Message::ToClient(self.connection, Response::Code(ErrorCode::None));
            }
            Request::TxnOffsetCommit {
                producer,
                member,
                offsets,
                version,
            } => {
                let one = |(partition, it): (TopicPartition, OffsetAndMetadata)| OffsetToCommit {
                    partition,
                    offset: it.offset,
                    leader_epoch: it.leader_epoch,
                    metadata: it.metadata,
                };
                let commit = group::TxnOffsetCommit {
                    request: RequestId(0),
                    version: if version.supports_epoch_bump() { 5 } else { 4 },
                    transactional_id,
                    producer,
                    group: member.group,
                    member: MemberIdentity::anonymous(),
                    offsets: offsets.into_iter().map(one).collect(),
                };
                return Message::StageOffsets(self.connection, commit);
            }
            Request::InitProducerId { expected } => {
                coordinator::Request::InitProducerId(InitProducerId {
                    version: 5,
                    transactional_id: Some(transactional_id),
                    transaction_timeout_ms: 60_000,
                    expected_producer_id: expected.map(|it| it.producer_id),
                    expected_producer_epoch: expected.map(|it| it.producer_epoch),
                    enable_2pc: false,
                    keep_prepared_txn: false,
                    authorization,
                    two_phase_commit_authorization: authorization,
                })
            }
            Request::AddPartitionsToTxn {
                producer,
                partitions,
            } => coordinator::Request::AddPartitionsToTxn(AddPartitionsToTxn {
                form: AddPartitionsToTxnForm::Client { version: 3 },
                transactional_id,
                claim: claim(producer),
                partitions: partitions
                    .into_iter()
                    .map(|it| (it, PartitionAccess::Allowed))
                    .collect(),
                authorization,
            }),
            Request::AddOffsetsToTxn {
                producer, member, ..
            } => coordinator::Request::AddOffsetsToTxn(AddOffsetsToTxn {
                version: 3,
                transactional_id,
                claim: claim(producer),
                group_id: member.group,
                authorization,
                group_authorization: authorization,
            }),
            Request::EndTxn {
                producer,
                result,
                version,
            } => coordinator::Request::EndTxn(EndTxn {
                version: if version.supports_epoch_bump() { 5 } else { 4 },
                transactional_id,
                claim: claim(producer),
                result,
                authorization,
            }),
        };
        Message::ToCoordinator(Origin::Client(self.connection), request)
    }

    pub(super) fn coordinator_step(&mut self, input: coordinator::Input) {
        let effects = self.coordinator.step(input, self.time());
        for effect in effects {
            match effect {
                coordinator::Effect::Append { ticket, .. } => {
                    self.flight.push(Message::Appended(ticket))
                }
                coordinator::Effect::SendMarkers { ticket, partitions } => {
                    for partition in partitions {
                        self.flight
                            .push(Message::Marker(index_of(&partition), ticket.clone()));
                    }
                }
                coordinator::Effect::Reply(to, answer) => self.coordinator_answered(to, answer),
                coordinator::Effect::AllocateProducerIds => {
                    let first = ProducerId::new(i64::try_from(self.fresh()).unwrap() * 1000);
                    let block = Some(ProducerIdBlock { first, len: 1000 });
                    self.coordinator_step(coordinator::Input::ProducerIdBlockArrived(block));
                }
                coordinator::Effect::Loaded { .. } => {}
                coordinator::Effect::LoadFailed { .. }
                | coordinator::Effect::MarkerAbandoned { .. } => {
                    panic!("{effect:?}")
                }
            }
        }
    }

    pub(super) fn coordinator_answered(&mut self, to: Correlation, answer: coordinator::Answer) {
        use coordinator::Answer;
        let code = |result: Result<(), ErrorCode>| result.err().unwrap_or(ErrorCode::None);
        match (self.origins.remove(&to.0).unwrap(), answer) {
            (Origin::Nobody, _) => {}
            (Origin::Partition(index, request), Answer::AddPartitionsToTxn(lines)) => {
                let line = lines.map_or_else(|code| code, |lines| lines[0].1);
                let answer = if line == ErrorCode::None {
                    Ok(())
                } else {
                    Err(line)
                };
                self.flight.push(Message::Verified(index, request, answer));
            }
            (Origin::Client(connection), answer) => {
                let response = match answer {
                    Answer::InitProducerId(Ok(it)) => Response::Identity(it.producer),
                    Answer::EndTxn(Ok(Some(it))) => Response::Identity(it),
                    Answer::EndTxn(Ok(None)) => Response::Code(ErrorCode::None),
                    Answer::InitProducerId(Err(code)) | Answer::EndTxn(Err(code)) => {
                        Response::Code(code)
                    }
                    Answer::AddOffsetsToTxn(result) => Response::Code(code(result)),
                    Answer::AddPartitionsToTxn(Ok(lines)) => Response::Partitions(lines),
                    Answer::AddPartitionsToTxn(Err(code)) => Response::Code(code),
                    other => panic!("{other:?}"),
                };
                self.flight.push(Message::ToClient(connection, response));
            }
            (origin, answer) => panic!("{origin:?} {answer:?}"),
        }
    }

    pub(super) fn ask(
        &mut self,
        index: usize,
        request: RequestId,
        producer: ProducerIdAndEpoch,
        verify_only: bool,
    ) {
        let form = if verify_only {
            AddPartitionsToTxnForm::VerifyOnly
        } else {
            AddPartitionsToTxnForm::Broker
        };
        let question = coordinator::Request::AddPartitionsToTxn(AddPartitionsToTxn {
            form,
            transactional_id: TransactionalId::new("x"),
            claim: claim(producer),
            partitions: vec![(place(index), PartitionAccess::Allowed)],
            authorization: Authorization::Allowed,
        });
        self.flight.push(Message::ToCoordinator(
            Origin::Partition(index, request),
            question,
        ));
    }

    pub(super) fn data_step(&mut self, index: usize, input: partition::Input) {
        let now = self.time();
        let data = &mut self.data[index];
        let mut effects = data.step(input, now);
        let up_to = data.log().end_offset();
        effects.extend(data.step(partition::Input::Replicated { up_to }, now));
        for effect in effects {
            match effect {
                partition::Effect::Append(_) | partition::Effect::Truncate { .. } => {}
                partition::Effect::AskCoordinator {
                    request,
                    producer_id,
                    producer_epoch,
                    verify_only,
                    ..
                } => {
                    let producer = ProducerIdAndEpoch {
                        producer_id,
                        producer_epoch,
                    };
                    self.ask(index, request, producer, verify_only);
                }
                partition::Effect::Reply { request, answer } => {
                    let code = match answer {
                        partition::Answer::Produce(result) => result.err(),
                        partition::Answer::WriteTxnMarker(result) => result.err(),
                    };
                    self.partition_answered(index, request, code.unwrap_or(ErrorCode::None));
                }
            }
        }
    }

    pub(super) fn partition_answered(&mut self, index: usize, request: RequestId, code: ErrorCode) {
        let message = match self.waiters.remove(&request).unwrap() {
            Waiter::Batch(batch) => Message::BatchAnswer(batch, code),
            Waiter::Marker(ticket) => Message::MarkerAnswer(ticket, place(index), code),
            Waiter::Offsets(_) => unreachable!(),
        };
        self.flight.push(message);
    }

    pub(super) fn group_step(&mut self, input: group::Input) {
        let now = self.time();
        let mut effects = self.group.step(input, now);
        let up_to = self.group.partition().log().end_offset();
        effects.extend(self.group.step(group::Input::Replicated { up_to }, now));
        for effect in effects {
            match effect {
                group::Effect::Append(_) | group::Effect::Truncate { .. } => {}
                group::Effect::AskCoordinator {
                    request,
                    producer,
                    verify_only,
                    ..
                } => {
                    self.ask(GROUP, request, producer, verify_only);
                }
                group::Effect::Reply {
                    request,
                    answer: group::Answer::TxnOffsetCommit(lines),
                } => {
                    let Some(Waiter::Offsets(connection)) = self.waiters.remove(&request) else {
                        panic!("{request:?}")
                    };
                    let line = |(partition, result): (TopicPartition, Result<(), ErrorCode>)| {
                        (partition, result.err().unwrap_or(ErrorCode::None))
                    };
                    let lines = lines.into_iter().map(line).collect();
                    self.flight
                        .push(Message::ToClient(connection, Response::Partitions(lines)));
                }
                group::Effect::Reply {
                    request,
                    answer: group::Answer::WriteTxnMarker(result),
                } => {
                    self.partition_answered(
                        GROUP,
                        request,
                        result.err().unwrap_or(ErrorCode::None),
                    );
                }
                group::Effect::Reply { answer, .. } => panic!("{answer:?}"),
            }
        }
    }

    pub(super) fn deliver(&mut self, message: Message) {
        match message {
            Message::ToCoordinator(origin, request) => {
                let correlation = self.fresh();
                self.origins.insert(correlation, origin);
                self.coordinator_step(coordinator::Input::Request(
                    Correlation(correlation),
                    request,
                ));
            }
            Message::ToClient(connection, response) => {
                if connection == self.connection {
                    self.tell_client(Input::Answered(response));
                }
            }
            Message::Produce(batch) => {
                let request = RequestId(self.fresh());
                let support = if batch.version.supports_epoch_bump() {
                    TransactionSupport::Add
                } else {
                    TransactionSupport::VerifyOrAbortable
                };
                let records = records(&batch);
                let index = index_of(&batch.partition);
                self.waiters.insert(request, Waiter::Batch(batch));
                self.data_step(
                    index,
                    partition::Input::Produce(partition::Produce {
                        request,
                        transactional_id: Some(TransactionalId::new("x")),
                        support,
                        acks: Acks::All,
                        records,
                    }),
                );
            }
            Message::BatchAnswer(batch, code) => self.tell_client(Input::BatchAnswered {
                partition: batch.partition,
                batch: batch.batch,
                code,
            }),
            Message::StageOffsets(connection, mut commit) => {
                commit.request = RequestId(self.fresh());
                self.waiters
                    .insert(commit.request, Waiter::Offsets(connection));
                self.group_step(group::Input::TxnOffsetCommit(commit));
            }
            Message::Appended(ticket) => self.coordinator_step(coordinator::Input::AppendFinished(
                ticket,
                AppendOutcome::Written,
            )),
            Message::Marker(index, ticket) => {
                let request = RequestId(self.fresh());
                let marker = WriteTxnMarker {
                    request,
                    producer_id: ticket.producer.producer_id,
                    producer_epoch: ticket.producer.producer_epoch,
                    result: ticket.result,
                    coordinator_epoch: ticket.coordinator_epoch,
                    transaction_version: ticket.transaction_version,
                };
                self.waiters.insert(request, Waiter::Marker(ticket));
                if index == GROUP {
                    self.group_step(group::Input::WriteTxnMarker(marker));
                } else {
                    self.data_step(index, partition::Input::WriteTxnMarker(marker));
                }
            }
            Message::MarkerAnswer(ticket, partition, code) => {
                let outcomes = vec![(partition, MarkerOutcome::Answered(code))];
                self.coordinator_step(coordinator::Input::MarkersAnswered(ticket, outcomes));
            }
            Message::Verified(GROUP, request, answer) => {
                self.group_step(group::Input::CoordinatorAnswered { request, answer });
            }
            Message::Verified(index, request, answer) => {
                self.data_step(
                    index,
                    partition::Input::CoordinatorAnswered { request, answer },
                );
            }
        }
    }
}

fn records(batch: &ProduceBatch) -> Bytes {
    let value = Bytes::copy_from_slice(&batch.batch.0.to_be_bytes());
    let new = NewBatch {
        base_offset: Offset::ZERO,
        leader_epoch: None,
        producer: Some(BatchProducer {
            producer_id: batch.producer.producer_id,
            producer_epoch: batch.producer.producer_epoch,
            base_sequence: Some(batch.base_sequence),
        }),
        is_transactional: true,
        is_control: false,
        records: vec![NewRecord::new(Timestamp::from_millis(0), None, Some(value))],
    };
    new.write().unwrap().bytes().clone()
}
