//! The owner of every core: requests in, effects carried out, answers back.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use fencepost::coordinator::{
    self, AddPartitionsToTxn, AddPartitionsToTxnForm, Authorization, Claim, Coordinator,
    Correlation, MarkerOutcome, MarkerTicket, PartitionAccess, Request,
};
use fencepost::error_code::ErrorCode;
use fencepost::group::{self, GroupCoordinator};
use fencepost::partition::{self, WriteTxnMarker};
use fencepost::types::{
    ProducerIdAndEpoch, RequestId, Timestamp, TopicPartition, TransactionVersion, TransactionalId,
};

use super::answer::{Call, Part, Waiter, reply};
use super::desk::Desk;
use super::disk::Disk;
use super::fetches::Fetches;
use super::frame::{Head, split};
use super::journal::Journal;
use super::operator::{Held, Order, Rights, Settings};
use super::requests::{Plan, api};
use super::topics::Topics;
use super::{LoopbackConfig, Tamper};
use crate::wire::{WireError, malformed, preflight};

/// The topic that holds committed offsets.
pub(super) const OFFSETS_TOPIC: &str = "__consumer_offsets";
/// This broker's id.
pub(super) const BROKER_ID: i32 = 1;
/// How often the sweeps run: time-outs, expiries, retries, group sessions.
const SWEEP: Duration = Duration::from_millis(100);
/// How often idle producers are forgotten, as in Kafka: `producer.id.expiration.check.interval.ms`. The records of the
/// cases are of 1970, so a producer that was read from a log is idle at once.
const SWEEP_PRODUCERS_MS: i64 = 600_000;
/// How often fetches that wait for data are looked at when nothing else happens.
const FETCH_POLL: Duration = Duration::from_millis(10);
/// What the owner is told by the connections.
#[derive(Debug)]
pub(super) enum Event {
    /// A frame came, without its length.
    Request {
        frame: Bytes,
        answer: mpsc::Sender<Reply>,
    },
    /// What whoever started the broker does to it; answered once it is done.
    Operator(Order, mpsc::Sender<()>),
    /// Someone asks how many requests are not answered.
    Count(mpsc::Sender<usize>),
    /// Serve nobody any more.
    Stop,
}

/// What a connection does next.
#[derive(Debug)]
pub(super) enum Reply {
    /// Write this.
    Frame(Vec<u8>),
    /// Read on: the request wants no answer.
    Nothing,
    /// Close: the request cannot be understood or answered.
    Close,
}

/// Something for a core.
#[derive(Debug)]
pub(super) enum Work {
    Coordinator(coordinator::Input),
    Data(TopicPartition, partition::Input),
    Group(i32, group::Input),
}

/// The cores, and what they wait for.
pub(super) struct Broker {
    pub(super) address: SocketAddr,
    pub(super) level: TransactionVersion,
    pub(super) topics: Topics,
    pub(super) tamper: Tamper,
    pub(super) settings: Settings,
    pub(super) coordinator: Coordinator,
    pub(super) groups: Vec<GroupCoordinator>,
    pub(super) disk: Disk,
    pub(super) held: Held,
    /// Time that passes beside the machine's.
    pub(super) passed: Duration,
    /// When the machine's clock was stopped, if it was.
    pub(super) stopped: Option<SystemTime>,
    pub(super) rights: Rights,
    producers_swept: Timestamp,
    pub(super) next_producer_id: i64,
    next_member: u64,
    pub(super) queue: VecDeque<Work>,
    pub(super) waiters: BTreeMap<u64, Waiter>,
    pub(super) calls: BTreeMap<u64, Call>,
    next_token: u64,
    fetches: Fetches,
    journal: Journal,
}

impl Broker {
    /// A broker with empty logs, the leader of everything.
    pub(super) fn new(config: LoopbackConfig, address: SocketAddr, journal: Journal) -> Self {
        let settings = Settings::new(config);
        let mut broker = Self {
            address,
            level: config.transaction_version,
            topics: Topics::new(settings.partition),
            tamper: config.tamper,
            settings,
            coordinator: Coordinator::new(settings.coordinator, config.transaction_version),
            groups: (0..settings.coordinator.offsets_partitions)
                .map(|_| GroupCoordinator::new(settings.group, settings.partition))
                .collect(),
            disk: Disk::default(),
            held: Held::default(),
            passed: Duration::ZERO,
            stopped: None,
            rights: Rights::ALL,
            producers_swept: Timestamp::from_millis(0),
            next_producer_id: 0,
            next_member: 0,
            queue: VecDeque::new(),
            waiters: BTreeMap::new(),
            calls: BTreeMap::new(),
            next_token: 0,
            fetches: Fetches::default(),
            journal,
        };
        broker.producers_swept = broker.now();
        broker.lead();
        broker
    }

    /// Serves until it is told to stop, or everyone who could tell it is gone.
    pub(super) fn run(mut self, inbox: &mpsc::Receiver<Event>) {
        let mut swept = Instant::now();
        loop {
            let wait = if self.fetches.is_empty() {
                SWEEP
            } else {
                FETCH_POLL
            };
            match inbox.recv_timeout(wait) {
                Ok(Event::Request { frame, answer }) => self.request(frame, answer),
                Ok(Event::Operator(order, done)) => {
                    self.carry_out(order);
                    // Whoever asked may be gone.
                    let _ = done.send(());
                }
                Ok(Event::Count(told)) => {
                    // Whoever asked may be gone.
                    let _ = told.send(self.calls.len());
                }
                Ok(Event::Stop) | Err(mpsc::RecvTimeoutError::Disconnected) => {
                    return self.journal.flush();
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            if swept.elapsed() >= SWEEP {
                swept = Instant::now();
                self.sweep();
                self.journal.flush();
            }
            let journal = &mut self.journal;
            self.fetches
                .answer(&self.topics, self.tamper, journal, Instant::now());
        }
    }

    fn request(&mut self, frame: Bytes, answer: mpsc::Sender<Reply>) {
        let taken = split(frame.clone()).and_then(|(head, body)| {
            let plan = self.take(&head, body);
            plan.map(|(plan, call, parts)| (head, plan, call, parts))
        });
        let exchange = match &taken {
            Ok((head, ..)) => self.journal.asked(head, frame),
            Err(_) => None,
        };
        match taken {
            Ok((head, Plan::Parts(finish), number, parts)) => {
                let call = Call {
                    head,
                    exchange,
                    answer,
                    parts,
                    finish,
                };
                self.calls.insert(number, call);
                self.settle();
                self.finish_if_complete(number);
            }
            Ok((head, Plan::Fetch(fetch), ..)) => {
                self.fetches
                    .add((head, exchange), fetch, answer, Instant::now());
            }
            Ok((head, Plan::Body(body), ..)) => {
                // The client may be gone by now.
                let reply = reply(&head, body);
                self.journal.answered(exchange, &head, &reply);
                let _ = answer.send(reply);
            }
            Err(_) => {
                let _ = answer.send(Reply::Close);
            }
        }
    }

    fn take(
        &mut self,
        head: &Head,
        body: Bytes,
    ) -> Result<(Plan, u64, Vec<Option<Part>>), WireError> {
        let call = self.fresh();
        let Some(api) = api(head.api_key, head.version) else {
            let answer = super::requests::unsupported(head, self.level);
            let body = answer.ok_or_else(|| malformed("no such version"))?;
            return Ok((Plan::Body(body), call, Vec::new()));
        };
        preflight::check(api.shape, head.version, &body)?;
        let mut desk = Desk {
            broker: self,
            head,
            call,
            parts: Vec::new(),
        };
        let plan = (api.serve)(&mut desk, body)?;
        let parts = desk.parts;
        Ok((plan, call, parts))
    }

    /// The broker's clock: the machine's, and what it was told has passed beside that.
    pub(super) fn now(&self) -> Timestamp {
        let now = self.stopped.unwrap_or_else(SystemTime::now);
        let since = now
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .saturating_add(self.passed);
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    pub(super) fn sweep(&mut self) {
        use coordinator::Input;
        self.queue(Work::Coordinator(Input::AbortTimedOutTransactions));
        self.queue(Work::Coordinator(Input::RemoveExpiredTransactionalIds));
        self.queue(Work::Coordinator(Input::RetryCompletions));
        for partition in 0..self.offsets_partitions() {
            self.queue(Work::Group(partition, group::Input::Tick));
        }
        let now = self.now();
        if now.millis_since(self.producers_swept) >= SWEEP_PRODUCERS_MS {
            self.producers_swept = now;
            for partition in self.topics.partitions_mut() {
                // A tick only forgets; it asks for nothing.
                partition.step(partition::Input::Tick, now);
            }
        }
        self.settle();
    }

    /// How many partitions `__consumer_offsets` has.
    pub(super) fn offsets_partitions(&self) -> i32 {
        i32::try_from(self.groups.len()).unwrap_or(i32::MAX)
    }

    /// A member id that nobody has had.
    pub(super) fn fresh_member(&mut self, client_id: &str) -> String {
        self.next_member += 1;
        format!("{client_id}-{}", self.next_member)
    }

    pub(super) fn queue(&mut self, work: Work) {
        self.queue.push_back(work);
    }

    /// The token by which an answer finds `waiter`.
    pub(super) fn wait(&mut self, waiter: Waiter) -> u64 {
        let token = self.fresh();
        self.waiters.insert(token, waiter);
        token
    }

    /// A number that was never given before.
    pub(super) fn fresh(&mut self) -> u64 {
        self.next_token += 1;
        self.next_token
    }

    /// Works until no core has anything left to do.
    pub(super) fn settle(&mut self) {
        let now = self.now();
        while let Some(work) = self.queue.pop_front() {
            match work {
                Work::Coordinator(input) => {
                    let input = (self.tamper.coordinator_takes)(input);
                    for effect in self.coordinator.step(input, now) {
                        self.coordinator_asks((self.tamper.coordinator_asks)(effect));
                    }
                }
                Work::Data(at, input) => self.data(&at, (self.tamper.partition_takes)(input)),
                Work::Group(index, input) => self.group(index, (self.tamper.group_takes)(input)),
            }
        }
    }

    fn coordinator_asks(&mut self, effect: coordinator::Effect) {
        use coordinator::{Effect, Input};
        match effect {
            Effect::Append {
                ticket, records, ..
            } => {
                records.iter().for_each(|it| self.journal.logged(it));
                let most = self.settings.coordinator.tombstone_batch_bytes;
                let outcome = self.disk.append(ticket.partition(), records, most);
                if self.held.log {
                    self.held.appends.push(ticket);
                } else {
                    self.queue(Work::Coordinator(Input::AppendFinished(ticket, outcome)));
                }
            }
            Effect::SendMarkers { ticket, partitions } => {
                for partition in partitions {
                    self.send_marker(ticket.clone(), partition);
                }
            }
            Effect::Reply(Correlation(token), answer) => {
                self.answered(token, Part::Coordinator(answer));
            }
            Effect::AllocateProducerIds => self.allocate_producer_ids(),
            Effect::Loaded {
                skipped_records, ..
            } => assert_eq!(
                skipped_records,
                self.disk.foreign_records(),
                "records that the coordinator says it has passed over"
            ),
            Effect::LoadFailed { .. } | Effect::MarkerAbandoned { .. } => {}
        }
    }

    pub(super) fn send_marker(&mut self, ticket: MarkerTicket, partition: TopicPartition) {
        if self.held.markers {
            return self.held.unsent.push((ticket, partition));
        }
        if partition.topic.as_str() != OFFSETS_TOPIC && self.topics.get(&partition).is_none() {
            let outcome = vec![(partition, MarkerOutcome::NoSuchPartition)];
            let input = coordinator::Input::MarkersAnswered(ticket, outcome);
            return self.queue(Work::Coordinator(input));
        }
        let token = self.wait(Waiter::Marker {
            ticket: ticket.clone(),
            partition: partition.clone(),
        });
        let marker = WriteTxnMarker {
            request: RequestId(token),
            producer_id: ticket.producer.producer_id,
            producer_epoch: ticket.producer.producer_epoch,
            result: ticket.result,
            coordinator_epoch: ticket.coordinator_epoch,
            transaction_version: ticket.transaction_version,
        };
        self.queue(if partition.topic.as_str() == OFFSETS_TOPIC {
            Work::Group(partition.partition, group::Input::WriteTxnMarker(marker))
        } else {
            Work::Data(partition, partition::Input::WriteTxnMarker(marker))
        });
    }

    fn data(&mut self, at: &TopicPartition, input: partition::Input) {
        use partition::{Effect, Input};
        let now = self.now();
        let Some(partition) = self.topics.get_mut(at) else {
            return self.gone(input);
        };
        for effect in partition.step(input, now) {
            match (self.tamper.partition_asks)(effect) {
                Effect::Append(batch) => {
                    self.journal.appended(at, &batch);
                    let from = batch.base_offset();
                    let up_to = batch.next_offset();
                    let outcome = match std::mem::take(&mut self.held.fails) {
                        true => Input::AppendFailed { from },
                        false => Input::Replicated { up_to },
                    };
                    self.queue(Work::Data(at.clone(), outcome));
                }
                Effect::AskCoordinator {
                    request,
                    transactional_id,
                    producer_id,
                    producer_epoch,
                    verify_only,
                } => {
                    let producer = ProducerIdAndEpoch {
                        producer_id,
                        producer_epoch,
                    };
                    self.question(at.clone(), request, transactional_id, producer, verify_only);
                }
                Effect::Reply { request, answer } => self.answered(request.0, Part::Data(answer)),
                Effect::Truncate { .. } => {}
            }
        }
    }

    /// The topic was deleted in between: whoever waits hears of it.
    fn gone(&mut self, input: partition::Input) {
        use partition::Input;
        let request = match input {
            Input::Produce(produce) => produce.request,
            Input::WriteTxnMarker(marker) => marker.request,
            Input::CoordinatorAnswered { request, .. } => request,
            Input::Replicated { .. }
            | Input::AppendFailed { .. }
            | Input::BecomeLeader { .. }
            | Input::BecomeFollower { .. }
            | Input::Truncate { .. }
            | Input::Replicate { .. }
            | Input::Tick => return,
        };
        self.answered(request.0, Part::Shell(ErrorCode::UnknownTopicOrPartition));
    }

    fn group(&mut self, index: i32, input: group::Input) {
        use group::{Effect, Input};
        let now = self.now();
        let Some(group) = usize::try_from(index)
            .ok()
            .and_then(|index| self.groups.get_mut(index))
        else {
            return;
        };
        for effect in group.step(input, now) {
            match (self.tamper.group_asks)(effect) {
                Effect::Append(batch) => {
                    let at = TopicPartition::new(OFFSETS_TOPIC, index);
                    self.journal.appended(&at, &batch);
                    let from = batch.base_offset();
                    let up_to = batch.next_offset();
                    let outcome = match std::mem::take(&mut self.held.fails) {
                        true => Input::AppendFailed { from },
                        false => Input::Replicated { up_to },
                    };
                    self.queue(Work::Group(index, outcome));
                }
                Effect::AskCoordinator {
                    request,
                    transactional_id,
                    producer,
                    verify_only,
                } => {
                    let at = TopicPartition::new(OFFSETS_TOPIC, index);
                    self.question(at, request, transactional_id, producer, verify_only);
                }
                Effect::Reply { request, answer } => self.answered(request.0, Part::Group(answer)),
                Effect::Truncate { .. } => {}
            }
        }
    }

    /// Brings a question about a write's transaction to the coordinator.
    fn question(
        &mut self,
        asker: TopicPartition,
        request: RequestId,
        transactional_id: TransactionalId,
        producer: ProducerIdAndEpoch,
        verify_only: bool,
    ) {
        let partitions = vec![(asker.clone(), PartitionAccess::Allowed)];
        let token = self.wait(Waiter::Question { asker, request });
        let request = Request::AddPartitionsToTxn(AddPartitionsToTxn {
            form: if verify_only {
                AddPartitionsToTxnForm::VerifyOnly
            } else {
                AddPartitionsToTxnForm::Broker
            },
            transactional_id,
            claim: Claim {
                producer_id: Some(producer.producer_id),
                producer_epoch: Some(producer.producer_epoch),
            },
            partitions,
            authorization: Authorization::Allowed,
        });
        let input = coordinator::Input::Request(Correlation(token), request);
        self.queue(Work::Coordinator(input));
    }

    /// Brings a core's answer to whoever waits for it.
    fn answered(&mut self, token: u64, part: Part) {
        match self.waiters.remove(&token) {
            Some(Waiter::Call { call, part: index }) => {
                if let Some(slot) = self
                    .calls
                    .get_mut(&call)
                    .and_then(|it| it.parts.get_mut(index))
                {
                    *slot = Some(part);
                }
                self.finish_if_complete(call);
            }
            Some(Waiter::Question { asker, request }) => {
                let code = part.error_of(&asker);
                let answer = if code == ErrorCode::None {
                    Ok(())
                } else {
                    Err(code)
                };
                self.queue(if asker.topic.as_str() == OFFSETS_TOPIC {
                    let input = group::Input::CoordinatorAnswered { request, answer };
                    Work::Group(asker.partition, input)
                } else {
                    let input = partition::Input::CoordinatorAnswered { request, answer };
                    Work::Data(asker, input)
                });
            }
            Some(Waiter::Marker { ticket, partition }) => {
                let outcome = MarkerOutcome::Answered(part.error());
                let input = coordinator::Input::MarkersAnswered(ticket, vec![(partition, outcome)]);
                self.queue(Work::Coordinator(input));
            }
            None => {}
        }
    }

    fn finish_if_complete(&mut self, number: u64) {
        if self.calls.get(&number).is_some_and(Call::is_complete)
            && let Some(call) = self.calls.remove(&number)
        {
            call.finish(&mut self.journal);
        }
    }
}
