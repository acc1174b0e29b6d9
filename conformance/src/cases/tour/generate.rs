//! Makes the tours: a walk over the model from a fresh broker, breadth first, that keeps the
//! shortest way to each cell. Ways that leave a trace behind or need a held broker count as longer.

use std::collections::{BTreeMap, HashSet};

use fencepost_spec::coordinator::{Stage, Then};
use fencepost_spec::coverage::{Cell, CellRequest, CellState};
use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::message::{self, Message};
use fencepost_spec::rules::Rules;
use fencepost_spec::types::*;

use super::FAR;
use super::cell_id::cell_id;
use super::command::{Command, Place};
use super::drive::OFFSET;
use crate::cases::oracle::{Held, OFFSETS, OUR_ROUND, Oracle};

/// Requests before the one that meets the cell.
const MAX_PREFIX: usize = 6;
/// Places on the way that are looked at.
const MAX_NODES: usize = 3_000;

const STRANGER: ProducerId = ProducerId(200);

/// How a cell is reached, the cell's own request last.
pub type Ways = BTreeMap<String, Vec<Command>>;

#[derive(Clone)]
struct Node {
    oracle: Oracle,
    /// The identity of each id's client, and which id is asked about.
    clients: [Option<Identity>; 2],
    active: usize,
    joined: bool,
    log_held: bool,
    path: Vec<Command>,
}

/// The shortest way to each cell under `rules`.
pub fn generate(rules: &Rules) -> Ways {
    let mut ways = Ways::new();
    let mut seen = HashSet::new();
    let mut level = vec![Node::start(rules)];
    let mut nodes = 0;
    for _ in 0..=MAX_PREFIX {
        let mut next = Vec::new();
        for node in level {
            nodes += 1;
            if nodes > MAX_NODES {
                return ways;
            }
            for probe in node.probes() {
                if let Some((_, cell)) = node.take(&probe) {
                    keep(&mut ways, &cell, &node.path, &probe);
                }
            }
            for step in node.steps() {
                let Some((after, _)) = node.take(&step) else {
                    continue;
                };
                if seen.insert(after.fingerprint()) {
                    next.push(after);
                }
            }
        }
        level = next;
    }
    ways
}

fn keep(ways: &mut Ways, cell: &Cell, path: &[Command], probe: &[Command]) {
    let way = [path, probe].concat();
    let cost = |way: &[Command]| (super::trouble(way), way.len());
    let known = ways.entry(cell_id(cell)).or_insert_with(|| way.clone());
    if cost(&way) < cost(known) {
        *known = way;
    }
}

/// The cell that the last request of a way meets; none where the model does not go that way.
pub fn met(rules: &Rules, way: &[Command]) -> Option<String> {
    let mut node = Node::start(rules);
    let mut together = Vec::new();
    let mut cell = None;
    for command in way {
        together.push(*command);
        let alone = !matches!(
            command,
            Command::HoldLog | Command::Unanswered | Command::Elsewhere
        );
        if alone {
            let (after, met) = node.take(&together)?;
            node = after;
            cell = Some(met);
            together.clear();
        }
    }
    cell.map(|cell| cell_id(&cell))
}

impl Node {
    /// A fresh broker.
    fn start(rules: &Rules) -> Self {
        Self {
            oracle: Oracle::new(rules.clone()),
            clients: [None; 2],
            active: 0,
            joined: false,
            log_held: false,
            path: Vec::new(),
        }
    }

    const fn me(&self) -> Option<Identity> {
        self.clients[self.active]
    }

    fn fingerprint(&self) -> (String, [Option<Identity>; 2], usize, bool, bool) {
        let state = self.oracle.any_state().map(|state| format!("{state:?}"));
        (
            state.unwrap_or_default(),
            self.clients,
            self.active,
            self.joined,
            self.log_held,
        )
    }

    /// What may come before the request that meets a cell.
    fn steps(&self) -> Vec<Vec<Command>> {
        if self.log_held {
            return Vec::new();
        }
        let mut steps = vec![Command::Init(None)];
        if self.path.len() <= 1 {
            steps.push(Command::DeleteTopic);
        }
        if self.active == 0 && self.path.len() > 1 {
            steps.push(Command::Switch);
        }
        if self.joined {
            steps.push(Command::Rebalance);
        } else {
            steps.push(Command::Join);
        }
        if let Some(me) = self.me() {
            let above = at_epoch(me, 1);
            let p0 = Place {
                who: me,
                partition: 0,
            };
            let p1 = Place {
                who: me,
                partition: 1,
            };
            steps.extend([Command::Add(p0), Command::Init(Some(me))]);
            for version in VERSIONS {
                for at in [p0, p1] {
                    steps.push(Command::Produce(version, at, self.next_sequence(at)));
                }
                for result in RESULTS {
                    steps.push(Command::End(version, result, me));
                }
                steps.push(Command::Stage(version, me, None));
            }
            let held = self.path.iter().any(super::is_far_marker);
            if !held {
                for who in [me, above] {
                    let at = Place { who, partition: 0 };
                    steps.push(Command::Marker(
                        TransactionVersion::Tv1,
                        TransactionResult::Abort,
                        at,
                        FAR,
                    ));
                }
            }
        }
        let held = steps.clone();
        let held = held
            .into_iter()
            .filter(|it| {
                !matches!(
                    it,
                    Command::Join | Command::Rebalance | Command::DeleteTopic | Command::Switch
                )
            })
            .map(|it| vec![Command::HoldLog, Command::Unanswered, it]);
        let held: Vec<Vec<Command>> = held.collect();
        let rebalance = (!self.joined).then(|| vec![Command::Join, Command::Rebalance]);
        steps
            .into_iter()
            .map(|it| vec![it])
            .chain(rebalance)
            .chain(held)
            .collect()
    }

    /// Every request, with every neighbouring identity.
    fn probes(&self) -> Vec<Vec<Command>> {
        let mut probes = vec![
            Command::Init(None),
            Command::InitTooLong,
            Command::FetchOffset,
        ];
        for who in self.neighbours() {
            let p0 = Place { who, partition: 0 };
            probes.extend([Command::Init(Some(who)), Command::AddOffsets(who)]);
            for partition in [0, 1] {
                let at = Place { who, partition };
                probes.extend([
                    Command::Add(at),
                    Command::Verify(at),
                    Command::AddByBroker(at),
                ]);
                self.produce_probes(at, &mut probes);
            }
            for version in VERSIONS {
                for result in RESULTS {
                    probes.push(Command::End(version, result, who));
                }
                probes.push(Command::Stage(version, who, None));
                if self.joined {
                    probes.extend([1, 0, 9].map(|g| Command::Stage(version, who, Some(g))));
                }
                for epoch in [0, FAR] {
                    let abort = TransactionResult::Abort;
                    probes.push(Command::Marker(version, abort, p0, epoch));
                }
            }
        }
        let first = self.path.is_empty();
        let elsewhere = probes.clone();
        let elsewhere = elsewhere
            .into_iter()
            .filter(|_| first)
            .filter(is_for_the_coordinator)
            .map(|it| vec![Command::Elsewhere, it]);
        let elsewhere: Vec<Vec<Command>> = elsewhere.collect();
        probes
            .into_iter()
            .map(|it| vec![it])
            .chain(elsewhere)
            .collect()
    }

    fn produce_probes(&self, at: Place, probes: &mut Vec<Command>) {
        let next = self.next_sequence(at);
        let mut sequences = vec![0, next, next + 4];
        if next > 0 {
            sequences.push(next - 1);
        }
        for sequence in sequences {
            probes.extend(VERSIONS.map(|version| Command::Produce(version, at, sequence)));
            probes.push(Command::ProducePlain(at, sequence));
        }
    }

    fn neighbours(&self) -> Vec<Identity> {
        let other = self.clients[1 - self.active].map(|other| at_epoch(other, 1));
        let Some(me) = self.me() else {
            let stranger = Identity::new(STRANGER, ProducerEpoch(0));
            return [stranger].into_iter().chain(other).collect();
        };
        let mut found = vec![
            me,
            Identity::new(STRANGER, me.producer_epoch),
            at_epoch(me, 1),
        ];
        if me.producer_epoch.0 > 0 {
            found.push(at_epoch(me, -1));
        }
        found
    }

    fn next_sequence(&self, at: Place) -> i32 {
        self.oracle
            .any_state()
            .and_then(|state| {
                state.partitions[usize::from(at.partition)].producer(at.who.producer_id)
            })
            .filter(|entry| entry.epoch == at.who.producer_epoch)
            .and_then(|entry| entry.batches.last())
            .map_or(0, |batch| batch.sequence.0 + 1)
    }

    /// The place after `commands`, and the cell that the last of them meets; none where the model
    /// does not answer, or may answer in more than one way.
    fn take(&self, commands: &[Command]) -> Option<(Self, Cell)> {
        let mut node = self.clone();
        let (mut unanswered, mut elsewhere) = (false, false);
        let mut met = None;
        for command in commands {
            match command {
                Command::HoldLog => {
                    node.oracle.hold(Held::Log);
                    node.log_held = true;
                }
                Command::Unanswered => unanswered = true,
                Command::Elsewhere => elsewhere = true,
                command if unanswered => {
                    let request = node.request(*command)?;
                    if !node.oracle.ask(&request).is_empty() {
                        return None;
                    }
                    node.oracle.leave_unanswered(&request);
                    if !node.is_comparable() {
                        return None;
                    }
                    unanswered = false;
                    met = Some(NO_CELL);
                }
                command => met = Some(node.step(*command, elsewhere)?),
            }
            node.path.push(*command);
        }
        node.oracle.settle();
        let one = node.oracle.reachable().len() == 1;
        met.filter(|_| one).map(|cell| (node, cell))
    }

    /// Whether a pending transition is the same thing in the model and in Kafka. Two are not
    /// (docs/DEVIATIONS.md): a new id without its first record, and a TV1 fence before its record.
    fn is_comparable(&self) -> bool {
        let Some(state) = self.oracle.any_state() else {
            return false;
        };
        let slot = &state.coordinators[0].slots[self.active];
        let fences = slot
            .pending
            .is_some_and(|pending| matches!(pending.stage, Stage::Appending(Then::Fence { .. })));
        slot.metadata.is_some() && !(fences && state.version == TransactionVersion::Tv1)
    }

    fn step(&mut self, command: Command, elsewhere: bool) -> Option<Cell> {
        match command {
            Command::Join => self.joined = true,
            Command::Switch => self.active = 1 - self.active,
            Command::Rebalance => self.oracle.begin_rebalance(),
            Command::DeleteTopic => self.oracle.delete_topic(),
            Command::FetchOffset => {
                let group = self.oracle.any_state()?.group.clone()?;
                return Some(offset_fetch_cell(!group.staged.is_empty()));
            }
            command => return self.ask(command, elsewhere),
        }
        Some(NO_CELL)
    }

    fn ask(&mut self, command: Command, elsewhere: bool) -> Option<Cell> {
        let request = self.request(command)?;
        let allowed = if elsewhere {
            self.oracle.ask_elsewhere(&request)
        } else {
            self.oracle.ask(&request)
        };
        let first = allowed.first()?;
        let same = allowed
            .iter()
            .all(|it| it.answer == first.answer && it.cell == first.cell);
        if !same {
            return None;
        }
        if let Some(identity) = first.answer.identity {
            self.clients[self.active] = Some(identity);
        }
        let cell = first.cell;
        let allowed = allowed.clone();
        self.oracle.observe(allowed.iter());
        cell
    }

    fn request(&mut self, command: Command) -> Option<Message> {
        let correlation = self.oracle.correlation();
        let id = TransactionalId(self.active as u8);
        let init = message::InitProducerId {
            correlation,
            transactional_id: Some(id),
            expected: None,
            enable_2pc: false,
            keep_prepared_txn: false,
            timeout_in_range: true,
            authorized: true,
        };
        let add = |identity, partition| message::AddPartitionsToTxn {
            correlation,
            transactional_id: id,
            identity,
            partition,
            ghost: Ghost::NONE,
        };
        let by_broker = |at: Place, verify_only| {
            Message::VerifyPartition(message::VerifyPartition {
                partition: PartitionIndex(at.partition),
                transactional_id: id,
                identity: at.who,
                sequence: Sequence(-1),
                verify_only,
                ghost: Ghost::NONE,
            })
        };
        let produce = |version, at: Place, sequence, transactional: bool| {
            Message::Produce(message::Produce {
                correlation,
                transactional_id: transactional.then_some(id),
                identity: at.who,
                partition: PartitionIndex(at.partition),
                sequence: Sequence(sequence),
                transactional,
                version,
                payload: Payload(1),
                ghost: Ghost::NONE,
            })
        };
        Some(match command {
            Command::Init(expected) => {
                Message::InitProducerId(message::InitProducerId { expected, ..init })
            }
            Command::InitTooLong => Message::InitProducerId(message::InitProducerId {
                timeout_in_range: false,
                ..init
            }),
            Command::Add(at) => {
                Message::AddPartitionsToTxn(add(at.who, PartitionIndex(at.partition)))
            }
            Command::AddOffsets(who) => Message::AddOffsetsToTxn(add(who, OFFSETS)),
            Command::Verify(at) => by_broker(at, true),
            Command::AddByBroker(at) => by_broker(at, false),
            Command::End(version, result, identity) => Message::EndTxn(message::EndTxn {
                correlation,
                transactional_id: id,
                identity,
                result,
                version,
                ghost: Ghost::NONE,
            }),
            Command::Produce(version, at, sequence) => produce(version, at, sequence, true),
            Command::ProducePlain(at, sequence) => {
                produce(TransactionVersion::Tv1, at, sequence, false)
            }
            Command::Stage(version, identity, generation) => {
                Message::TxnOffsetCommit(message::TxnOffsetCommit {
                    correlation,
                    transactional_id: id,
                    identity,
                    member: generation.map(|generation| message::GroupMember {
                        id: ProducerIndex(0),
                        generation: Generation(generation),
                    }),
                    offset: Payload(OFFSET),
                    version,
                    ghost: Ghost::NONE,
                })
            }
            Command::Marker(version, result, at, epoch) => {
                Message::WriteTxnMarkers(message::WriteTxnMarkers {
                    broker: BrokerId(0),
                    coordinator_epoch: CoordinatorEpoch(epoch),
                    transactional_id: id,
                    round: OUR_ROUND,
                    partition: PartitionIndex(at.partition),
                    identity: at.who,
                    result,
                    version,
                    ghost: Ghost::NONE,
                })
            }
            Command::FetchOffset
            | Command::InitIdempotent
            | Command::Join
            | Command::Rebalance
            | Command::Switch
            | Command::DeleteTopic
            | Command::HoldLog
            | Command::Unanswered
            | Command::Elsewhere => return None,
        })
    }
}

const VERSIONS: [TransactionVersion; 2] = [TransactionVersion::Tv1, TransactionVersion::Tv2];
const RESULTS: [TransactionResult; 2] = [TransactionResult::Commit, TransactionResult::Abort];

/// Stands for a step that no table decides; never a case of its own, since only probes are kept.
const NO_CELL: Cell = Cell {
    request: CellRequest::OffsetFetch,
    state: CellState::NotLeading,
    answer: ErrorCode::None,
};

fn at_epoch(identity: Identity, by: i16) -> Identity {
    Identity::new(
        identity.producer_id,
        ProducerEpoch(identity.producer_epoch.0 + by),
    )
}

fn is_for_the_coordinator(command: &Command) -> bool {
    matches!(
        command,
        Command::Init(_)
            | Command::Add(_)
            | Command::AddOffsets(_)
            | Command::Verify(_)
            | Command::AddByBroker(_)
            | Command::End(..)
    )
}

/// The cell of an OffsetFetch, which the model does not count for a reader from outside the group.
fn offset_fetch_cell(staged: bool) -> Cell {
    Cell {
        request: CellRequest::OffsetFetch,
        state: CellState::GroupStable,
        answer: if staged {
            ErrorCode::UnstableOffsetCommit
        } else {
            ErrorCode::None
        },
    }
}
