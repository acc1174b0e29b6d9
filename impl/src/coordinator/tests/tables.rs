//! Every decision table of the coordinator, printed cell by cell: a changed cell shows in the snapshot.

use super::*;
use crate::coordinator::add_partitions_to_txn::{add_row, verify_row};
use crate::coordinator::init_producer_id::{init_row, next_identity};
use crate::coordinator::markers::marker_row;
use crate::coordinator::{end_txn_tv1, end_txn_tv2};
use std::fmt::{Debug, Write};

#[derive(Default)]
struct Table(String);

impl Table {
    fn row(&mut self, of: impl Debug, cells: &[(&str, &dyn Debug)]) {
        let of = format!("{of:?}");
        let _ = write!(self.0, "{of:<20}");
        for (column, cell) in cells {
            let _ = write!(self.0, "  {column}: {:<32}", format!("{cell:?}"));
        }
        while self.0.ends_with(' ') {
            self.0.pop();
        }
        self.0.push('\n');
    }
}

#[test]
fn end_txn_tv1_is_pinned() {
    let mut table = Table::default();
    for state in TransactionState::ALL {
        let [commit, abort] = [COMMIT, ABORT].map(|result| end_txn_tv1::row(state, result));
        table.row(state, &[("commit", &commit), ("abort", &abort)]);
    }
    insta::assert_snapshot!(table.0);
}

#[test]
fn end_txn_tv2_is_pinned() {
    use end_txn_tv2::{Attempt, row};
    let mut table = Table::default();
    for state in TransactionState::ALL {
        for attempt in [Attempt::Current, Attempt::Retry] {
            let [commit, abort] = [COMMIT, ABORT].map(|result| row(state, result, attempt));
            table.row((state, attempt), &[("commit", &commit), ("abort", &abort)]);
        }
    }
    insta::assert_snapshot!(table.0);
}

#[test]
fn init_producer_id_is_pinned() {
    let mut table = Table::default();
    for state in TransactionState::ALL {
        let [plain, keep] = [false, true].map(|keep| init_row(state, keep));
        table.row(state, &[("plain", &plain), ("keep", &keep)]);
    }
    for epoch in [0, 5, EXH - 1, EXH, MAX] {
        let known = TransactionMetadata {
            last_producer_epoch: ProducerEpoch::from_wire(epoch - 1),
            ..stored(TransactionState::Empty, P, epoch)
        };
        let expect = |expected| next_identity(&known, ProducerEpoch::from_wire(expected));
        let [none, before, same] = [-1, epoch - 1, epoch].map(expect);
        table.row(
            format!("epoch {epoch}"),
            &[
                ("expects nothing", &none),
                ("the last", &before),
                ("the current", &same),
                ("an older", &expect((epoch - 2).max(-1))),
            ],
        );
    }
    insta::assert_snapshot!(table.0);
}

#[test]
fn add_partitions_to_txn_is_pinned() {
    let mut table = Table::default();
    for state in TransactionState::ALL {
        table.row(
            state,
            &[
                ("add, all in", &add_row(state, true)),
                ("add, some new", &add_row(state, false)),
                ("verify, in", &verify_row(state, true)),
                ("verify, not in", &verify_row(state, false)),
            ],
        );
    }
    insta::assert_snapshot!(table.0);
}

#[test]
fn write_txn_markers_is_pinned() {
    let mut table = Table::default();
    for outcome in [
        MarkerOutcome::Disconnected,
        MarkerOutcome::LeaderNotAvailable,
        MarkerOutcome::NoSuchPartition,
    ] {
        table.row(outcome, &[("then", &marker_row(outcome))]);
    }
    for code in ErrorCode::ALL {
        let outcome = MarkerOutcome::Answered(code);
        table.row(code, &[("then", &marker_row(outcome))]);
    }
    insta::assert_snapshot!(table.0);
}

#[test]
fn state_transitions_are_pinned() {
    let mut table = Table::default();
    for state in TransactionState::ALL {
        table.row(
            state,
            &[
                ("persisted", &state.is_persisted()),
                ("may expire", &state.may_expire()),
                ("after", &state.valid_previous_states()),
            ],
        );
    }
    insta::assert_snapshot!(table.0);
}
