//! The cores together: a producer that crashes, its coordinator, two data partitions and a group, with messages in any
//! order, lost answers and (in TV2) copies. At the end a read_committed reader sees whole transactions only.

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::batch::{BatchProducer, NewBatch, NewRecord};
use crate::coordinator::{
    self, AddOffsetsToTxn, AddPartitionsToTxn, AddPartitionsToTxnForm, AppendOutcome, AppendTicket,
    Authorization, Claim, Config, Coordinator, Correlation, EndTxn, InitProducerId, Leadership,
    MarkerOutcome, MarkerTicket, PartitionAccess, ProducerIdBlock,
};
use crate::group::{self, GroupConfig, GroupCoordinator, MemberIdentity, OffsetToCommit};
use crate::partition::{
    self, Acks, Partition, PartitionConfig, TransactionSupport, WriteTxnMarker,
};
use crate::types::{
    CoordinatorEpoch, IsolationLevel, LeaderEpoch, RequestId, Timestamp, TransactionalId,
};

const GROUP: usize = 2;

#[derive(Clone, Debug)]
enum Message {
    ToCoordinator(Origin, coordinator::Request),
    ToClient(u64, Response),
    Produce(ProduceBatch),
    BatchAnswer(ProduceBatch, ErrorCode),
    StageOffsets(u64, group::TxnOffsetCommit),
    Appended(AppendTicket),
    Marker(usize, MarkerTicket),
    MarkerAnswer(MarkerTicket, TopicPartition, ErrorCode),
    Verified(usize, RequestId, Result<(), ErrorCode>),
}

/// Who waits for a coordinator's answer.
#[derive(Clone, Debug)]
enum Origin {
    Client(u64),
    Partition(usize, RequestId),
    Nobody,
}

/// Who waits for a partition's answer.
#[derive(Clone, Debug)]
enum Waiter {
    Batch(ProduceBatch),
    Marker(MarkerTicket),
    Offsets(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Open,
    Committed,
    Aborted,
    Unknown,
}

#[derive(Clone, Debug)]
struct Txn {
    outcome: Outcome,
    batches: Vec<(i32, u64)>,
    has_offsets: bool,
}

struct World {
    version: TransactionVersion,
    client: TransactionManager,
    coordinator: Coordinator,
    data: Vec<Partition>,
    group: GroupCoordinator,
    flight: Vec<Message>,
    origins: BTreeMap<u64, Origin>,
    waiters: BTreeMap<RequestId, Waiter>,
    /// Names the request of the client that is on its way: an answer to an earlier one is late.
    connection: u64,
    next: u64,
    now: i64,
    txns: Vec<Txn>,
}

fn manager(features: TransactionVersion) -> TransactionManager {
    TransactionManager::new(ProducerConfig {
        features,
        coordinator_can_bump: true,
    })
}

fn claim(producer: ProducerIdAndEpoch) -> Claim {
    Claim {
        producer_id: Some(producer.producer_id),
        producer_epoch: Some(producer.producer_epoch),
    }
}

fn place(index: usize) -> TopicPartition {
    if index == GROUP {
        TopicPartition::new("__consumer_offsets", 0)
    } else {
        partition(i32::try_from(index).unwrap())
    }
}

fn index_of(partition: &TopicPartition) -> usize {
    if partition.topic.as_str() == "t" {
        usize::try_from(partition.partition).unwrap()
    } else {
        GROUP
    }
}

impl World {
    fn new(version: TransactionVersion) -> Self {
        let config = Config {
            transaction_log_partitions: 1,
            offsets_partitions: 1,
            ..Config::default()
        };
        let mut world = Self {
            version,
            client: manager(version),
            coordinator: Coordinator::new(config, version),
            data: vec![Partition::new(PartitionConfig::default()); 2],
            group: GroupCoordinator::new(GroupConfig::default(), PartitionConfig::default()),
            flight: Vec::new(),
            origins: BTreeMap::new(),
            waiters: BTreeMap::new(),
            connection: 0,
            next: 0,
            now: 0,
            txns: Vec::new(),
        };
        let leader_epoch = LeaderEpoch::new(0);
        for data in &mut world.data {
            data.step(
                partition::Input::BecomeLeader { leader_epoch },
                Timestamp::from_millis(0),
            );
        }
        world.group_step(group::Input::BecomeLeader { leader_epoch });
        world.group_step(group::Input::Load { leader_epoch });
        let coordinator_epoch = CoordinatorEpoch::new(0);
        for leadership in [
            Leadership::Elected {
                partition: 0,
                coordinator_epoch,
            },
            Leadership::Loaded {
                partition: 0,
                coordinator_epoch,
            },
        ] {
            world.coordinator_step(coordinator::Input::Leadership(leadership));
        }
        world.call(Call::InitTransactions);
        world
    }

    fn fresh(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn time(&self) -> Timestamp {
        Timestamp::from_millis(self.now)
    }

    fn tell_client(&mut self, input: Input) {
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

    fn finished(&mut self, operation: Operation, is_ok: bool) {
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

    fn request(&self, request: Request) -> Message {
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

    fn coordinator_step(&mut self, input: coordinator::Input) {
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

    fn coordinator_answered(&mut self, to: Correlation, answer: coordinator::Answer) {
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

    fn ask(
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

    fn data_step(&mut self, index: usize, input: partition::Input) {
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

    fn partition_answered(&mut self, index: usize, request: RequestId, code: ErrorCode) {
        let message = match self.waiters.remove(&request).unwrap() {
            Waiter::Batch(batch) => Message::BatchAnswer(batch, code),
            Waiter::Marker(ticket) => Message::MarkerAnswer(ticket, place(index), code),
            Waiter::Offsets(_) => unreachable!(),
        };
        self.flight.push(message);
    }

    fn group_step(&mut self, input: group::Input) {
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

    fn deliver(&mut self, message: Message) {
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

    fn call(&mut self, call: Call) {
        self.tell_client(Input::Call(call));
    }

    fn begin(&mut self) {
        let before = self.client.state();
        self.call(Call::BeginTransaction);
        if self.client.state() != before {
            self.txns.push(Txn {
                outcome: Outcome::Open,
                batches: Vec::new(),
                has_offsets: false,
            });
        }
    }

    fn send(&mut self, index: i32) {
        if self.client.state() == State::InTransaction && self.client.operation().is_none() {
            let batch = self.fresh();
            self.txns.last_mut().unwrap().batches.push((index, batch));
            self.call(Call::Send {
                partition: partition(index),
                batch: BatchId(batch),
                count: 1,
            });
        }
    }

    /// The offset is the number of the transaction.
    fn send_offsets(&mut self) {
        if self.client.state() == State::InTransaction && self.client.operation().is_none() {
            let txn = self.txns.last_mut().unwrap();
            txn.has_offsets = true;
            let offset = OffsetAndMetadata {
                offset: Offset::new(i64::try_from(self.txns.len()).unwrap()),
                leader_epoch: None,
                metadata: String::new(),
            };
            self.call(Call::SendOffsetsToTransaction {
                member: ConsumerGroupMetadata {
                    group: GroupId::new("g"),
                    generation: None,
                    member_id: MemberId::new(""),
                    instance_id: None,
                },
                offsets: [(partition(0), offset)].into(),
            });
        }
    }

    fn restart(&mut self) {
        if let Some(txn) = self.txns.last_mut()
            && txn.outcome == Outcome::Open
        {
            txn.outcome = Outcome::Unknown;
        }
        self.connection = self.fresh();
        self.client = manager(self.version);
        self.call(Call::InitTransactions);
    }

    /// An answer to the client is lost, with its connection.
    fn lose(&mut self, at: usize) {
        match self.flight.get(at).cloned() {
            Some(Message::ToClient(connection, _)) => {
                self.flight.remove(at);
                if connection == self.connection {
                    self.connection = self.fresh();
                    self.tell_client(Input::Disconnected);
                }
            }
            Some(Message::BatchAnswer(batch, _)) => {
                self.flight.remove(at);
                self.tell_client(Input::BatchAnswered {
                    partition: batch.partition,
                    batch: batch.batch,
                    code: ErrorCode::NetworkException,
                });
            }
            Some(_) | None => {}
        }
    }

    fn expire(&mut self) {
        let found = self
            .client
            .batches()
            .iter()
            .find_map(|(partition, batches)| {
                batches
                    .queue()
                    .first()
                    .map(|batch| (partition.clone(), batch.id))
            });
        if let Some((partition, batch)) = found {
            self.tell_client(Input::BatchExpired { partition, batch });
        }
    }

    fn step(&mut self, action: u8, pick: usize) {
        let at = pick % self.flight.len().max(1);
        let copies = self.version.supports_epoch_bump();
        match action {
            0..=2 => self.begin(),
            3..=5 => self.send(i32::try_from(pick % 2).unwrap()),
            6 => self.send_offsets(),
            7 | 8 => self.call(Call::CommitTransaction),
            9 => self.call(Call::AbortTransaction),
            10 => self.lose(at),
            11 => self.expire(),
            12 if pick.is_multiple_of(3) => self.restart(),
            12 => {
                self.now += 61_000;
                self.coordinator_step(coordinator::Input::AbortTimedOutTransactions);
            }
            13 if copies && !self.flight.is_empty() => match self.flight[at].clone() {
                Message::Produce(batch) => self.flight.push(Message::Produce(batch)),
                Message::ToCoordinator(_, request) => {
                    self.flight
                        .push(Message::ToCoordinator(Origin::Nobody, request));
                }
                Message::Marker(index, ticket) => self.flight.push(Message::Marker(index, ticket)),
                Message::ToClient(..)
                | Message::BatchAnswer(..)
                | Message::StageOffsets(..)
                | Message::Appended(_)
                | Message::MarkerAnswer(..)
                | Message::Verified(..) => {}
            },
            _ if !self.flight.is_empty() => {
                let message = self.flight.remove(self.earliest_like(at));
                self.deliver(message);
            }
            _ => {}
        }
    }

    /// In TV1 batches to one partition keep their order, as they do on a connection: a leader that does not know the
    /// producer takes any first sequence, and would refuse what should have come before for ever.
    fn earliest_like(&self, at: usize) -> usize {
        let place = |message: &Message| match message {
            Message::Produce(batch) => Some(batch.partition.clone()),
            Message::ToCoordinator(..)
            | Message::ToClient(..)
            | Message::BatchAnswer(..)
            | Message::StageOffsets(..)
            | Message::Appended(_)
            | Message::Marker(..)
            | Message::MarkerAnswer(..)
            | Message::Verified(..) => None,
        };
        let wanted = place(&self.flight[at]);
        if wanted.is_none() || self.version.supports_epoch_bump() {
            return at;
        }
        let like = self
            .flight
            .iter()
            .position(|message| place(message) == wanted);
        like.unwrap_or(at)
    }

    /// Delivers everything, and lets the producer end what it has begun.
    fn settle(&mut self) {
        for _ in 0..5000 {
            if !self.flight.is_empty() {
                let message = self.flight.remove(0);
                self.deliver(message);
                continue;
            }
            match self.client.state() {
                State::InTransaction if self.client.operation().is_none() => {
                    self.call(Call::CommitTransaction);
                }
                State::AbortableError if self.client.producer().is_some() => {
                    self.call(Call::AbortTransaction);
                }
                State::AbortableError | State::FatalError => self.restart(),
                State::Ready if self.client.in_flight().is_none() => return,
                State::Uninitialized
                | State::Initializing
                | State::Ready
                | State::InTransaction
                | State::CommittingTransaction
                | State::AbortingTransaction => panic!("stuck: {:?}", self.client),
            }
        }
        panic!("never quiet: {:?} {:?}", self.client.state(), self.flight);
    }

    fn check(&self) {
        let mut visible: BTreeMap<u64, i32> = BTreeMap::new();
        for (index, data) in (0..).zip(&self.data) {
            assert_eq!(
                data.last_stable_offset(),
                data.log().end_offset(),
                "L1, partition {index}"
            );
            let fetched = data
                .fetch(Offset::ZERO, IsolationLevel::ReadCommitted, usize::MAX)
                .unwrap();
            let list = fetched.aborted_transactions.unwrap();
            let seen = read_committed(Offset::ZERO, &fetched.data.batches, &list).unwrap();
            let values: Vec<u64> = seen
                .batches
                .iter()
                .map(|batch| {
                    let record = batch.records().unwrap().next().unwrap().unwrap();
                    u64::from_be_bytes(record.value.unwrap().try_into().unwrap())
                })
                .collect();
            assert!(
                values.windows(2).all(|pair| pair[0] < pair[1]),
                "S6: {values:?}"
            );
            visible.extend(values.into_iter().map(|value| (value, index)));
        }
        assert_eq!(self.group.offsets().staged().count(), 0, "L3");
        let mut offsets = self.group.offsets().iter();
        let committed = offsets.next().map(|(_, it)| it.value.offset.get());
        for (number, txn) in (1_i64..).zip(&self.txns) {
            let seen = txn
                .batches
                .iter()
                .filter(|(index, batch)| visible.get(batch) == Some(index));
            let seen = seen.count();
            match txn.outcome {
                Outcome::Committed => {
                    assert_eq!(seen, txn.batches.len(), "S1: {txn:?}");
                    assert!(
                        !txn.has_offsets || committed >= Some(number),
                        "S1, offsets: {txn:?}"
                    );
                }
                Outcome::Aborted => {
                    assert_eq!(seen, 0, "S2: {txn:?}");
                    assert_ne!(committed, Some(number), "S2, offsets: {txn:?}");
                }
                Outcome::Unknown | Outcome::Open => {
                    assert!(seen == 0 || seen == txn.batches.len(), "S3: {txn:?}");
                    if committed == Some(number) {
                        assert_eq!(seen, txn.batches.len(), "S3, offsets: {txn:?}");
                    }
                }
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

fn play(version: TransactionVersion, steps: &[(u8, usize)]) -> World {
    let mut world = World::new(version);
    world.settle();
    for (action, pick) in steps {
        world.step(*action, *pick);
    }
    world.settle();
    world.check();
    world
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn tv2_transactions_are_all_or_nothing(
        steps in proptest::collection::vec((0_u8..26, any::<usize>()), 0..200),
    ) {
        play(TransactionVersion::V2, &steps);
    }

    /// TV1 without copies and late requests, against which it has no defence (KAFKA-17754), and in order by partition.
    #[test]
    fn tv1_transactions_are_all_or_nothing(
        steps in proptest::collection::vec((0_u8..26, any::<usize>()), 0..200),
    ) {
        play(TransactionVersion::V1, &steps);
    }
}

#[test]
fn the_sessions_do_commit_and_abort() {
    for version in [TransactionVersion::V1, TransactionVersion::V2] {
        let mut world = World::new(version);
        world.settle();
        for (number, end) in (0..6).zip(
            [Call::CommitTransaction, Call::AbortTransaction]
                .into_iter()
                .cycle(),
        ) {
            world.begin();
            world.send(number % 2);
            world.send_offsets();
            while !world.flight.is_empty() {
                let message = world.flight.remove(0);
                world.deliver(message);
            }
            world.call(end);
            world.settle();
        }
        world.check();
        let outcomes: Vec<Outcome> = world.txns.iter().map(|txn| txn.outcome).collect();
        let expected = [Outcome::Committed, Outcome::Aborted].repeat(3);
        assert_eq!(outcomes, expected, "{version:?}");
    }
}
