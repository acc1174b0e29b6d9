//! The owner of every core: requests in, effects carried out, answers back.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use fencepost::coordinator::{
    self, AddPartitionsToTxn, AddPartitionsToTxnForm, AppendOutcome, Authorization, Claim,
    Coordinator, Correlation, Leadership, MarkerOutcome, MarkerTicket, PartitionAccess,
    ProducerIdBlock, Request,
};
use fencepost::error_code::ErrorCode;
use fencepost::group::{self, GroupConfig, GroupCoordinator};
use fencepost::partition::{self, PartitionConfig, WriteTxnMarker};
use fencepost::types::{
    CoordinatorEpoch, ProducerId, ProducerIdAndEpoch, RequestId, Timestamp, TopicPartition,
    TransactionVersion, TransactionalId,
};

use super::answer::{Call, Part, Waiter, reply};
use super::desk::Desk;
use super::fetches::Fetches;
use super::frame::{Head, split};
use super::journal::Journal;
use super::requests::{Plan, api};
use super::topics::{LEADER_EPOCH, Topics};
use super::{LoopbackConfig, Tamper};
use crate::wire::{WireError, malformed, preflight};

/// The topic that holds committed offsets.
pub(super) const OFFSETS_TOPIC: &str = "__consumer_offsets";
/// This broker's id.
pub(super) const BROKER_ID: i32 = 1;
/// How often the sweeps run: time-outs, expiries, retries, group sessions.
const SWEEP: Duration = Duration::from_millis(100);
/// How often fetches that wait for data are looked at when nothing else happens.
const FETCH_POLL: Duration = Duration::from_millis(10);
/// The producer ids of a block.
const BLOCK: i32 = 1000;
/// The leadership of every partition of the transaction log.
const COORDINATOR_EPOCH: CoordinatorEpoch = CoordinatorEpoch::new(0);

/// What the owner is told by the connections.
#[derive(Debug)]
pub(super) enum Event {
    /// A frame came, without its length.
    Request {
        frame: Bytes,
        answer: mpsc::Sender<Reply>,
    },
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
    coordinator: Coordinator,
    groups: Vec<GroupCoordinator>,
    next_producer_id: i64,
    next_member: u64,
    queue: VecDeque<Work>,
    waiters: BTreeMap<u64, Waiter>,
    calls: BTreeMap<u64, Call>,
    next_token: u64,
    fetches: Fetches,
    journal: Journal,
}

impl Broker {
    /// A broker with empty logs, the leader of everything.
    pub(super) fn new(config: LoopbackConfig, address: SocketAddr, journal: Journal) -> Self {
        let partition = PartitionConfig {
            verification: config.verification,
            ..PartitionConfig::default()
        };
        let group = GroupConfig {
            initial_rebalance_delay_ms: 0,
            ..GroupConfig::default()
        };
        let core = coordinator::Config {
            two_phase_commit_enable: true,
            ..coordinator::Config::default()
        };
        let offsets_partitions = core.offsets_partitions;
        let mut broker = Self {
            address,
            level: config.transaction_version,
            topics: Topics::new(partition),
            tamper: config.tamper,
            coordinator: Coordinator::new(core, config.transaction_version),
            groups: (0..offsets_partitions)
                .map(|_| GroupCoordinator::new(group, partition))
                .collect(),
            next_producer_id: 0,
            next_member: 0,
            queue: VecDeque::new(),
            waiters: BTreeMap::new(),
            calls: BTreeMap::new(),
            next_token: 0,
            fetches: Fetches::default(),
            journal,
        };
        broker.lead(core.transaction_log_partitions);
        broker
    }

    fn lead(&mut self, log_partitions: i32) {
        for partition in 0..log_partitions {
            let coordinator_epoch = COORDINATOR_EPOCH;
            let elected = Leadership::Elected {
                partition,
                coordinator_epoch,
            };
            let loaded = Leadership::Loaded {
                partition,
                coordinator_epoch,
            };
            for leadership in [elected, loaded] {
                self.queue(Work::Coordinator(coordinator::Input::Leadership(
                    leadership,
                )));
            }
        }
        for partition in 0..self.offsets_partitions() {
            let leader_epoch = LEADER_EPOCH;
            self.queue(Work::Group(
                partition,
                group::Input::BecomeLeader { leader_epoch },
            ));
            self.queue(Work::Group(partition, group::Input::Load { leader_epoch }));
        }
        self.settle();
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

    fn sweep(&mut self) {
        use coordinator::Input;
        self.queue(Work::Coordinator(Input::AbortTimedOutTransactions));
        self.queue(Work::Coordinator(Input::RemoveExpiredTransactionalIds));
        self.queue(Work::Coordinator(Input::RetryCompletions));
        for partition in 0..self.offsets_partitions() {
            self.queue(Work::Group(partition, group::Input::Tick));
        }
        let now = now();
        for partition in self.topics.partitions_mut() {
            // A tick only forgets; it asks for nothing.
            partition.step(partition::Input::Tick, now);
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
    fn settle(&mut self) {
        while let Some(work) = self.queue.pop_front() {
            match work {
                Work::Coordinator(input) => {
                    let input = (self.tamper.coordinator_takes)(input);
                    for effect in self.coordinator.step(input, now()) {
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
            // The memory of the core is the log: there is nothing that could be read again.
            Effect::Append {
                ticket, records, ..
            } => {
                records.iter().for_each(|it| self.journal.logged(it));
                let input = Input::AppendFinished(ticket, AppendOutcome::Written);
                self.queue(Work::Coordinator(input));
            }
            Effect::SendMarkers { ticket, partitions } => {
                for partition in partitions {
                    self.send_marker(ticket.clone(), partition);
                }
            }
            Effect::Reply(Correlation(token), answer) => {
                self.answered(token, Part::Coordinator(answer));
            }
            Effect::AllocateProducerIds => {
                let block = ProducerId::from_wire(self.next_producer_id)
                    .map(|first| ProducerIdBlock { first, len: BLOCK });
                self.next_producer_id = self.next_producer_id.saturating_add(i64::from(BLOCK));
                self.queue(Work::Coordinator(Input::ProducerIdBlockArrived(block)));
            }
            Effect::Loaded { .. } | Effect::LoadFailed { .. } | Effect::MarkerAbandoned { .. } => {}
        }
    }

    fn send_marker(&mut self, ticket: MarkerTicket, partition: TopicPartition) {
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
        let Some(partition) = self.topics.get_mut(at) else {
            return self.gone(input);
        };
        for effect in partition.step(input, now()) {
            match (self.tamper.partition_asks)(effect) {
                Effect::Append(batch) => {
                    self.journal.appended(at, &batch);
                    let up_to = batch.next_offset();
                    self.queue(Work::Data(at.clone(), Input::Replicated { up_to }));
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
        let Some(group) = usize::try_from(index)
            .ok()
            .and_then(|index| self.groups.get_mut(index))
        else {
            return;
        };
        for effect in group.step(input, now()) {
            match (self.tamper.group_asks)(effect) {
                Effect::Append(batch) => {
                    let at = TopicPartition::new(OFFSETS_TOPIC, index);
                    self.journal.appended(&at, &batch);
                    let up_to = batch.next_offset();
                    self.queue(Work::Group(index, Input::Replicated { up_to }));
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

/// The time, in milliseconds.
pub(super) fn now() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
