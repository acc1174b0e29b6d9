//! The id of a cell's case: made of the cell itself, so that it stays.

use fencepost_spec::coverage::{Cell, CellState};

/// `tour/end_txn_tv2_commit/pending_ongoing/concurrent_transactions`.
pub fn cell_id(cell: &Cell) -> String {
    let state = match cell.state {
        CellState::Settled(state) => snake(&format!("{state:?}")),
        CellState::Pending(state) => format!("pending_{}", snake(&format!("{state:?}"))),
        CellState::NotLeading
        | CellState::NoMapping
        | CellState::Loading
        | CellState::NoProducerState
        | CellState::Open
        | CellState::Closed
        | CellState::GroupStable
        | CellState::GroupRebalancing => snake(&format!("{:?}", cell.state)),
    };
    let request = snake(&format!("{:?}", cell.request));
    let answer = cell.answer.name().to_ascii_lowercase();
    format!("tour/{request}/{state}/{answer}")
}

fn snake(camel: &str) -> String {
    let mut name = String::with_capacity(camel.len() + 8);
    for (index, letter) in camel.chars().enumerate() {
        if letter.is_ascii_uppercase() && index > 0 {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_spec::coordinator::TransactionState;
    use fencepost_spec::coverage::CellRequest;
    use fencepost_spec::error_code::ErrorCode;

    #[test]
    fn an_id_says_request_state_and_answer() {
        let cell = Cell {
            request: CellRequest::EndTxnTv2Commit,
            state: CellState::Pending(TransactionState::Ongoing),
            answer: ErrorCode::ConcurrentTransactions,
        };
        let id = "tour/end_txn_tv2_commit/pending_ongoing/concurrent_transactions";
        assert_eq!(cell_id(&cell), id);
    }
}
