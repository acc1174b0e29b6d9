//! The owner of every core: requests in, effects carried out, answers back.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use fencepost::coordinator::{self, Coordinator};
use fencepost::group::{self, GroupCoordinator};
use fencepost::partition;
use fencepost::types::{Timestamp, TopicPartition, TransactionVersion};

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
    pub(super) journal: Journal,
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
}
