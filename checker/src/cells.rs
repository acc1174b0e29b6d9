//! Cells of the decision tables, as reports name them.

use fencepost_spec::coverage::Cell;
use serde::Serialize;
use std::fmt;

/// A cell in words.
#[derive(Clone, Debug, Serialize)]
pub struct Named {
    request: String,
    state: String,
    answer: &'static str,
}

impl Named {
    /// The cells in lines, one for each request, as in `EndTxn: in Empty INVALID_TXN_STATE; ...`.
    pub fn by_request(cells: &[Self]) -> Vec<String> {
        cells
            .chunk_by(|left, right| left.request == right.request)
            .map(|cells| {
                let states = cells.chunk_by(|left, right| left.state == right.state);
                let states: Vec<_> = states
                    .map(|cells| {
                        let answers: Vec<_> = cells.iter().map(|cell| cell.answer).collect();
                        format!("in {} {}", cells[0].state, answers.join(", "))
                    })
                    .collect();
                format!("{}: {}", cells[0].request, states.join("; "))
            })
            .collect()
    }
}

impl From<&Cell> for Named {
    fn from(cell: &Cell) -> Self {
        Self {
            request: format!("{:?}", cell.request),
            state: cell.state.to_string(),
            answer: cell.answer.name(),
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}: {}", self.request, self.state, self.answer)
    }
}
