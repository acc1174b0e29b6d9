//! A place on the way: the broker as the model has it, and its clients.

use fencepost_spec::coordinator::{Stage, Then};
use fencepost_spec::coverage::{Cell, CellRequest, CellState};
use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::rules::Rules;
use fencepost_spec::types::*;

use crate::cases::oracle::{Held, Oracle};
use crate::cases::tour::command::{Command, Place};

/// A place.
#[derive(Clone)]
pub(super) struct Node {
    pub(super) oracle: Oracle,
    /// The identity of each id's client, and which id is asked about.
    pub(super) clients: [Option<Identity>; 2],
    pub(super) active: usize,
    pub(super) joined: bool,
    pub(super) log_held: bool,
    pub(super) path: Vec<Command>,
}

/// Stands for a step that no table decides; never a case of its own, since only probes are kept.
const NO_CELL: Cell = Cell {
    request: CellRequest::OffsetFetch,
    state: CellState::NotLeading,
    answer: ErrorCode::None,
};

impl Node {
    /// A fresh broker.
    pub(super) fn start(rules: &Rules) -> Self {
        Self {
            oracle: Oracle::new(rules.clone()),
            clients: [None; 2],
            active: 0,
            joined: false,
            log_held: false,
            path: Vec::new(),
        }
    }

    pub(super) const fn me(&self) -> Option<Identity> {
        self.clients[self.active]
    }

    pub(super) fn fingerprint(&self) -> (String, [Option<Identity>; 2], usize, bool, bool) {
        let state = self.oracle.any_state().map(|state| format!("{state:?}"));
        (
            state.unwrap_or_default(),
            self.clients,
            self.active,
            self.joined,
            self.log_held,
        )
    }

    pub(super) fn next_sequence(&self, at: Place) -> i32 {
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
    pub(super) fn take(&self, commands: &[Command]) -> Option<(Self, Cell)> {
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
