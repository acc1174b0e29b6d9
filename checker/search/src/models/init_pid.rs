//! The first stage of a public TLA+ model of Kafka transactions: clients ask transaction coordinators for producer ids.
//!
//! Modelled anew after Jack Vanlightly's kafka-tlaplus, transactions/diary/01_InitPidRequest, for two brokers and one
//! initial state (of all assignments: each transactional id on a log partition of its own, if there are enough, and
//! each partition led by another broker), to have counts that TLC agrees on. Distinct / generated / levels, with `c`
//! clients, `t` transactional ids and `p` log partitions: c2 t1 p1 484 / 861 / 18; c3 t1 p1 24,362 / 63,721 / 28;
//! c2 t2 p2 1,473 / 2,657 / 18; c3 t2 p2 139,599 / 353,869 / 28; c4 t1 p1 1,333,096 / 4,569,481 / 38.
//!
//! Two slips of the original are kept, for equal counts: a step that starts a transition takes all *other* transitions
//! from the map of metadata, and the source of producer ids is set back to the id of existing metadata.

use std::hash::{Hash, Hasher};

use stateright::{Model, Property};

const BROKERS: u8 = 2;
const MAX_CLIENTS: usize = 4;
const MAX_TIDS: usize = 2;
const MAX_PARTITIONS: usize = 2;

/// The model's bounds.
#[derive(Clone, Debug)]
pub struct InitPid {
    clients: u8,
    tids: u8,
    partitions: u8,
}

impl InitPid {
    /// A model with 1 to 4 clients, 1 or 2 transactional ids and 1 or 2 log partitions; other numbers are taken to
    /// the nearest of these.
    pub fn new(clients: usize, tids: usize, partitions: usize) -> Self {
        Self {
            clients: clients.clamp(1, MAX_CLIENTS) as u8,
            tids: tids.clamp(1, MAX_TIDS) as u8,
            partitions: partitions.clamp(1, MAX_PARTITIONS) as u8,
        }
    }
}

/// Why a coordinator refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Refusal {
    /// Another broker coordinates this transactional id.
    NotCoordinator,
    /// A transition of this transactional id is not yet committed.
    ConcurrentTransactions,
}

/// A producer id, from 1, with its epoch; epoch -1 is metadata that no transition has touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Grant {
    pid: u8,
    epoch: i8,
}

/// A grant in a byte, and no grant as 0: ids and epochs are at most the number of clients.
impl Grant {
    fn pack(self) -> u8 {
        self.pid << 4 | (self.epoch + 1).cast_unsigned()
    }

    fn unpack(byte: u8) -> Option<Self> {
        let (pid, epoch) = (byte >> 4, (byte & 0xF).cast_signed() - 1);
        (pid > 0).then_some(Self { pid, epoch })
    }
}

/// The position of a broker's view of a transactional id.
fn view(broker: u8, tid: u8) -> usize {
    usize::from(broker) * MAX_TIDS + usize::from(tid)
}

/// Each broker's view of each transactional id, as packed grants.
type Views = [u8; BROKERS as usize * MAX_TIDS];

/// The whole system. Sets of messages and of clients are bits. A client has one request or answer in flight at most,
/// and what was received stays in a set of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitPidState {
    requests: u16,
    requests_received: u16,
    refusals: u16,
    refusals_received: u16,
    /// Clients that wait for an answer.
    waiting: u8,
    /// Clients that have their producer id.
    done: u8,
    /// Clients whose last error was each of the refusals.
    last_refused: [u8; 2],
    /// Each log: packed grants, in order.
    log: [u8; MAX_CLIENTS * MAX_PARTITIONS],
    /// For whom the grant in each log is.
    log_client: [u8; MAX_CLIENTS * MAX_PARTITIONS],
    /// The transactional id of each client, from 1, 0 for none yet.
    tid: [u8; MAX_CLIENTS],
    metadata: Views,
    transition: Views,
    high_watermark: [u8; MAX_PARTITIONS],
    /// The successful answer to each client, a packed grant. A client gets one at most; it has received it when it
    /// has its producer id.
    answers: [u8; MAX_CLIENTS],
    pid_source: u8,
}

/// All fields, as six words: any hasher takes a word faster than its bytes one by one.
impl Hash for InitPidState {
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let [a, b, c, d] = [
            self.requests,
            self.requests_received,
            self.refusals,
            self.refusals_received,
        ]
        .map(u64::from);
        hasher.write_u64(a | b << 16 | c << 32 | d << 48);
        hasher.write_u64(u64::from_le_bytes(self.log));
        hasher.write_u64(u64::from_le_bytes(self.log_client));
        hasher.write_u64(halves(self.metadata, self.transition));
        hasher.write_u64(halves(self.tid, self.answers));
        let [refused, also_refused] = self.last_refused;
        let [committed, also_committed] = self.high_watermark;
        hasher.write_u64(u64::from_le_bytes([
            self.waiting,
            self.done,
            refused,
            also_refused,
            committed,
            also_committed,
            self.pid_source,
            0,
        ]));
    }
}

#[inline]
fn halves(low: [u8; 4], high: [u8; 4]) -> u64 {
    u64::from(u32::from_le_bytes(low)) | u64::from(u32::from_le_bytes(high)) << 32
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InitPidAction {
    /// A client sends a request to a broker, any of them.
    SendRequest {
        /// The client.
        client: u8,
        /// The broker.
        broker: u8,
        /// The transactional id that it asks for.
        tid: u8,
    },
    /// A broker receives a request.
    ReceiveRequest {
        /// The client.
        client: u8,
        /// The broker.
        broker: u8,
        /// The transactional id asked for.
        tid: u8,
    },
    /// A client receives a refusal.
    ReceiveRefusal {
        /// The client.
        client: u8,
        /// The broker.
        broker: u8,
        /// Why.
        refusal: Refusal,
    },
    /// A client receives its producer id.
    ReceiveGrant {
        /// The client.
        client: u8,
    },
    /// A leader commits the next entry of a log partition and answers the client.
    Complete {
        /// The log partition.
        partition: u8,
    },
}

/// The broker that leads a log partition.
fn leader(partition: u8) -> u8 {
    partition % BROKERS
}

fn request_bit(client: u8, broker: u8, tid: u8) -> u16 {
    1 << ((client * BROKERS + broker) * MAX_TIDS as u8 + tid)
}

fn refusal_bit(client: u8, broker: u8, refusal: Refusal) -> u16 {
    1 << ((client * BROKERS + broker) * 2 + refusal as u8)
}

impl Model for InitPid {
    type State = InitPidState;
    type Action = InitPidAction;

    fn init_states(&self) -> Vec<Self::State> {
        vec![empty()]
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>) {
        for client in 0..self.clients {
            self.client_actions(state, client, actions);
        }
        for partition in 0..self.partitions {
            if state.next_entry(partition).is_some() {
                actions.push(InitPidAction::Complete { partition });
            }
        }
    }

    fn next_state(&self, state: &Self::State, action: Self::Action) -> Option<Self::State> {
        let mut next = state.clone();
        self.step(action, &mut next).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("who is done was answered", |_, state: &InitPidState| {
                let done = |client: usize| state.done >> client & 1 == 1;
                (0..MAX_CLIENTS).all(|client| !done(client) || state.answers[client] != 0)
            }),
            Property::always(
                "no two clients are given the same id and epoch",
                |_, state: &InitPidState| {
                    let answers = &state.answers;
                    (1..MAX_CLIENTS).all(|client| {
                        let answer = answers[client];
                        answer == 0
                            || !(0..client).any(|other| {
                                answers[other] == answer && state.tid[other] == state.tid[client]
                            })
                    })
                },
            ),
            Property::sometimes(
                "all clients have a producer id",
                |model: &InitPid, state: &InitPidState| state.all_have_pid(model),
            ),
        ]
    }
}

impl InitPid {
    /// Writes the state after `action` over `next`; false when there is none. For a search that has room for it.
    #[inline]
    pub fn step_into(
        &self,
        state: &InitPidState,
        action: InitPidAction,
        next: &mut InitPidState,
    ) -> bool {
        next.clone_from(state);
        self.step(action, next)
    }

    /// Takes `next` one step further; false when the action is not enabled.
    #[inline]
    fn step(&self, action: InitPidAction, next: &mut InitPidState) -> bool {
        match action {
            InitPidAction::SendRequest {
                client,
                broker,
                tid,
            } => {
                next.requests |= request_bit(client, broker, tid);
                next.tid[usize::from(client)] = tid + 1;
                next.waiting |= 1 << client;
            }
            InitPidAction::ReceiveRequest {
                client,
                broker,
                tid,
            } => {
                let bit = request_bit(client, broker, tid);
                next.requests &= !bit;
                next.requests_received |= bit;
                next.receive_request(client, broker, tid, tid % self.partitions);
            }
            InitPidAction::ReceiveRefusal {
                client,
                broker,
                refusal,
            } => {
                let bit = refusal_bit(client, broker, refusal);
                next.refusals &= !bit;
                next.refusals_received |= bit;
                next.waiting &= !(1 << client);
                next.last_refused = next.last_refused.map(|clients| clients & !(1 << client));
                next.last_refused[refusal as usize] |= 1 << client;
            }
            InitPidAction::ReceiveGrant { client } => {
                next.waiting &= !(1 << client);
                next.done |= 1 << client;
            }
            InitPidAction::Complete { partition } => return next.complete(partition).is_some(),
        }
        true
    }

    fn client_actions(&self, state: &InitPidState, client: u8, actions: &mut Vec<InitPidAction>) {
        let own = state.tid[usize::from(client)];
        let waits = state.waiting >> client & 1 == 1;
        let is_ready = (state.waiting | state.done) >> client & 1 == 0;
        let first = request_bit(client, 0, 0).trailing_zeros();
        let requests = state.requests >> first & 0xF;
        let refusals = state.refusals >> first & 0xF;
        if !is_ready && requests == 0 && refusals == 0 && state.answers[usize::from(client)] == 0 {
            return;
        }
        for broker in 0..BROKERS {
            for tid in 0..self.tids {
                if is_ready && (own == 0 || own == tid + 1) {
                    actions.push(InitPidAction::SendRequest {
                        client,
                        broker,
                        tid,
                    });
                }
                if state.requests & request_bit(client, broker, tid) != 0 {
                    actions.push(InitPidAction::ReceiveRequest {
                        client,
                        broker,
                        tid,
                    });
                }
            }
            for refusal in [Refusal::NotCoordinator, Refusal::ConcurrentTransactions] {
                if waits && state.refusals & refusal_bit(client, broker, refusal) != 0 {
                    actions.push(InitPidAction::ReceiveRefusal {
                        client,
                        broker,
                        refusal,
                    });
                }
            }
        }
        if waits && state.answers[usize::from(client)] != 0 {
            actions.push(InitPidAction::ReceiveGrant { client });
        }
    }
}

impl InitPidState {
    /// True when every client has its producer id.
    pub fn all_have_pid(&self, model: &InitPid) -> bool {
        self.done.count_ones() == u32::from(model.clients)
    }

    fn receive_request(&mut self, client: u8, broker: u8, tid: u8, partition: u8) {
        let view = view(broker, tid);
        let fresh = Grant {
            pid: self.pid_source + 1,
            epoch: -1,
        };
        let known = Grant::unpack(self.metadata[view]);
        let Some(current) = known.or((leader(partition) == broker).then_some(fresh)) else {
            self.refusals |= refusal_bit(client, broker, Refusal::NotCoordinator);
            return;
        };
        let before = self.metadata;
        self.pid_source = current.pid;
        self.metadata[view] = current.pack();
        if self.transition[view] != 0 {
            self.refusals |= refusal_bit(client, broker, Refusal::ConcurrentTransactions);
            return;
        }
        let grant = Grant {
            epoch: current.epoch + 1,
            ..current
        };
        self.transition = before;
        self.transition[view] = grant.pack();
        let log = log_of(partition);
        if let Some(free) = log.into_iter().find(|entry| self.log[*entry] == 0) {
            // A client is answered after one entry and then done, so there is room for all.
            self.log[free] = grant.pack();
            self.log_client[free] = client;
        }
    }

    /// The first entry of a log partition that is not committed.
    fn next_entry(&self, partition: u8) -> Option<usize> {
        let committed = usize::from(self.high_watermark[usize::from(partition)]);
        log_of(partition)
            .nth(committed)
            .filter(|entry| self.log[*entry] != 0)
    }

    fn complete(&mut self, partition: u8) -> Option<()> {
        let entry = self.next_entry(partition)?;
        let (client, grant) = (usize::from(self.log_client[entry]), self.log[entry]);
        let view = view(leader(partition), self.tid[client].checked_sub(1)?);
        self.high_watermark[usize::from(partition)] += 1;
        self.metadata[view] = grant;
        self.transition[view] = 0;
        self.answers[client] = grant;
        Some(())
    }
}

/// The positions of a partition's entries.
fn log_of(partition: u8) -> std::ops::Range<usize> {
    let first = usize::from(partition) * MAX_CLIENTS;
    first..first + MAX_CLIENTS
}

fn empty() -> InitPidState {
    InitPidState {
        requests: 0,
        requests_received: 0,
        refusals: 0,
        refusals_received: 0,
        log: [0; MAX_CLIENTS * MAX_PARTITIONS],
        log_client: [0; MAX_CLIENTS * MAX_PARTITIONS],
        tid: [0; MAX_CLIENTS],
        waiting: 0,
        done: 0,
        last_refused: [0; 2],
        metadata: Views::default(),
        transition: Views::default(),
        high_watermark: [0; MAX_PARTITIONS],
        answers: [0; MAX_CLIENTS],
        pid_source: 0,
    }
}
