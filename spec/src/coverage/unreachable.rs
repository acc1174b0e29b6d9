//! Cells that a decision table prints and that no run can reach, with the reason.

use super::{Cell, CellRequest, CellState};
use crate::coordinator::TransactionState;
use crate::error_code::ErrorCode;

/// Cells that no run reaches for one reason.
#[derive(Clone, Copy, Debug)]
pub struct Unreachable {
    /// The requests; none stands for every request.
    pub requests: &'static [CellRequest],
    /// The states.
    pub states: &'static [CellState],
    /// The answers; none stands for every answer.
    pub answers: &'static [ErrorCode],
    /// Why no run comes there.
    pub reason: &'static str,
}

impl Unreachable {
    /// Whether it speaks of this cell.
    pub fn covers(&self, cell: &Cell) -> bool {
        (self.requests.is_empty() || self.requests.contains(&cell.request))
            && self.states.contains(&cell.state)
            && (self.answers.is_empty() || self.answers.contains(&cell.answer))
    }
}

/// Every such cell.
pub const UNREACHABLE: &[Unreachable] = &[Unreachable {
    requests: &[],
    states: &[
        CellState::Settled(TransactionState::PrepareCommit),
        CellState::Settled(TransactionState::PrepareAbort),
    ],
    answers: &[],
    reason: "the completion is pending from the moment a decision is replicated or loaded until \
             Complete* replaces it",
}];
