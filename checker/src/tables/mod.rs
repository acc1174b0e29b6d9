//! Decision tables, by running the actors of the model: every prepared state of an id, a producer
//! or a group meets a request that names each identity, and the decision is written down.

mod coordinator;
mod group;
mod partition;
mod prepared;

use fencepost_spec::coverage::{Cell, CellRequest};
use fencepost_spec::types::TransactionVersion;
use serde::Serialize;

/// A request with a decision table, under Kafka's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// InitProducerId, in its three forms.
    InitProducerId,
    /// AddPartitionsToTxn, from clients and from brokers.
    AddPartitionsToTxn,
    /// AddOffsetsToTxn.
    AddOffsetsToTxn,
    /// EndTxn.
    EndTxn,
    /// Produce.
    Produce,
    /// WriteTxnMarkers.
    WriteTxnMarkers,
    /// TxnOffsetCommit.
    TxnOffsetCommit,
    /// OffsetFetch with require-stable.
    OffsetFetch,
}

impl Request {
    /// Every request.
    pub const ALL: [Self; 8] = [
        Self::InitProducerId,
        Self::AddPartitionsToTxn,
        Self::AddOffsetsToTxn,
        Self::EndTxn,
        Self::Produce,
        Self::WriteTxnMarkers,
        Self::TxnOffsetCommit,
        Self::OffsetFetch,
    ];

    /// Kafka's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::InitProducerId => "InitProducerId",
            Self::AddPartitionsToTxn => "AddPartitionsToTxn",
            Self::AddOffsetsToTxn => "AddOffsetsToTxn",
            Self::EndTxn => "EndTxn",
            Self::Produce => "Produce",
            Self::WriteTxnMarkers => "WriteTxnMarkers",
            Self::TxnOffsetCommit => "TxnOffsetCommit",
            Self::OffsetFetch => "OffsetFetch",
        }
    }
}

/// A line of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The form of the request, as coverage counts it.
    pub request: String,
    /// The state that it meets.
    pub state: String,
    /// What it names.
    pub given: String,
    /// The decision: an error code, NONE for "accepted".
    pub answer: &'static str,
    /// What is written or asked.
    pub effect: String,
    /// The cell.
    #[serde(skip)]
    pub cell: Cell,
}

/// The table of a request under a version.
pub fn rows(request: Request, version: TransactionVersion) -> Vec<Row> {
    match request {
        Request::InitProducerId => coordinator::init_producer_id(version),
        Request::AddPartitionsToTxn => coordinator::add_partitions_to_txn(version),
        Request::AddOffsetsToTxn => coordinator::add_offsets_to_txn(version),
        Request::EndTxn => coordinator::end_txn(version),
        Request::Produce => partition::produce(version),
        Request::WriteTxnMarkers => partition::write_txn_markers(version),
        Request::TxnOffsetCommit => group::txn_offset_commit(version),
        Request::OffsetFetch => group::offset_fetch(version),
    }
}

/// Every cell that a table prints, under either version, in order.
pub fn printed() -> Vec<Cell> {
    let versions = [TransactionVersion::Tv1, TransactionVersion::Tv2];
    let mut cells: Vec<_> = versions
        .into_iter()
        .flat_map(|version| Request::ALL.into_iter().flat_map(move |r| rows(r, version)))
        .map(|row| row.cell)
        .collect();
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// A row for a cell that was taken.
fn row(cell: Cell, given: String, effect: String) -> Row {
    Row {
        request: form(cell.request),
        state: cell.state.to_string(),
        given,
        answer: cell.answer.name(),
        effect,
        cell,
    }
}

/// The form of a request, in words.
fn form(request: CellRequest) -> String {
    match request {
        CellRequest::InitProducerId => "InitProducerId",
        CellRequest::InitProducerIdExpected => "InitProducerId with an expected identity",
        CellRequest::InitProducerIdKeepPrepared => {
            "InitProducerId that keeps a prepared transaction"
        }
        CellRequest::AddPartitionsToTxn => "AddPartitionsToTxn from a client",
        CellRequest::AddOffsetsToTxn => "AddOffsetsToTxn",
        CellRequest::VerifyPartition => "AddPartitionsToTxn from a broker, verify only",
        CellRequest::AddPartitionByBroker => "AddPartitionsToTxn from a broker, adding",
        CellRequest::EndTxnTv1Commit => "EndTxn v0 to v4, commit",
        CellRequest::EndTxnTv1Abort => "EndTxn v0 to v4, abort",
        CellRequest::EndTxnTv2Commit => "EndTxn v5, commit",
        CellRequest::EndTxnTv2Abort => "EndTxn v5, abort",
        CellRequest::Produce => "Produce",
        CellRequest::WriteTxnMarkersTv1 => "WriteTxnMarkers under TV1's epoch rule",
        CellRequest::WriteTxnMarkersTv2 => "WriteTxnMarkers under TV2's epoch rule",
        CellRequest::TxnOffsetCommit => "TxnOffsetCommit",
        CellRequest::OffsetFetch => "OffsetFetch with require-stable",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_conformance::cases::{UNDRIVEN, is_toured};

    /// Under both versions: every cell has a case that drives it on a broker, or a reason why none
    /// can.
    #[test]
    fn every_cell_is_toured_or_has_a_reason() {
        for version in [TransactionVersion::Tv1, TransactionVersion::Tv2] {
            for cell in printed() {
                let driven = is_toured(version, &cell);
                let reasoned = UNDRIVEN.iter().any(|it| it.covers(&cell));
                assert!(
                    driven != reasoned,
                    "{cell} under {version}: driven {driven}"
                );
            }
        }
    }
}
