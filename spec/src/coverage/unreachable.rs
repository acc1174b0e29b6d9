//! Cells that a decision table prints and no scenario reaches, with the reason why not.

use super::{Cell, CellRequest, CellState};
use crate::error_code::ErrorCode;

/// Cells that cannot be reached.
#[derive(Clone, Copy, Debug)]
pub struct Unreachable {
    /// The request.
    pub request: CellRequest,
    /// The state; `None` stands for every state.
    pub state: Option<CellState>,
    /// The answer.
    pub answer: ErrorCode,
    /// Why no run comes there.
    pub reason: &'static str,
}

impl Unreachable {
    /// Whether it speaks of this cell.
    pub fn covers(&self, cell: &Cell) -> bool {
        self.request == cell.request
            && self.answer == cell.answer
            && self.state.is_none_or(|state| state == cell.state)
    }
}

/// Every such cell.
pub const UNREACHABLE: &[Unreachable] = &[];
