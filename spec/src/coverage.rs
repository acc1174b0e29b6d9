//! Which cells (request × state × answer) a run has taken.

use crate::coordinator::TransactionState;
use crate::error_code::ErrorCode;
use std::fmt;

/// The requests whose decisions are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CellRequest {
    /// InitProducerId without an expected identity.
    InitProducerId,
    /// InitProducerId with an expected identity (KIP-360).
    InitProducerIdExpected,
    /// InitProducerId that keeps a prepared transaction (KIP-939).
    InitProducerIdKeepPrepared,
    /// AddPartitionsToTxn, client form.
    AddPartitionsToTxn,
    /// AddOffsetsToTxn.
    AddOffsetsToTxn,
    /// AddPartitionsToTxn, broker form, verify only.
    VerifyPartition,
    /// AddPartitionsToTxn, broker form, adding.
    AddPartitionByBroker,
    /// EndTxn v0 to v4, commit.
    EndTxnTv1Commit,
    /// EndTxn v0 to v4, abort.
    EndTxnTv1Abort,
    /// EndTxn v5, commit.
    EndTxnTv2Commit,
    /// EndTxn v5, abort.
    EndTxnTv2Abort,
    /// Produce.
    Produce,
    /// WriteTxnMarkers under TV1's epoch rule.
    WriteTxnMarkersTv1,
    /// WriteTxnMarkers under TV2's epoch rule.
    WriteTxnMarkersTv2,
    /// TxnOffsetCommit.
    TxnOffsetCommit,
    /// OffsetFetch with require-stable.
    OffsetFetch,
}

/// The state in which a request was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CellState {
    /// The broker does not lead.
    NotLeading,
    /// The coordinator has no such id.
    NoMapping,
    /// The coordinator is loading.
    Loading,
    /// A settled transaction state.
    Settled(TransactionState),
    /// A transaction state with a transition pending.
    Pending(TransactionState),
    /// The partition knows nothing of the producer.
    NoProducerState,
    /// The partition has an open transaction of the producer.
    Open,
    /// The partition knows the producer; nothing is open.
    Closed,
    /// The group is stable.
    GroupStable,
    /// The group rebalances.
    GroupRebalancing,
}

/// One cell: this request, met in this state, was answered so. NONE stands for "accepted": the
/// answer itself may come after an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// The request.
    pub request: CellRequest,
    /// The state that it met.
    pub state: CellState,
    /// The decision.
    pub answer: ErrorCode,
}

impl Cell {
    /// More than any [`number`](Self::number).
    pub const NUMBERS: usize = 16 * 32 * 64;

    /// A number of its own for each cell.
    pub fn number(&self) -> usize {
        let state = match self.state {
            CellState::NotLeading => 0,
            CellState::NoMapping => 1,
            CellState::Loading => 2,
            CellState::NoProducerState => 3,
            CellState::Open => 4,
            CellState::Closed => 5,
            CellState::GroupStable => 6,
            CellState::GroupRebalancing => 7,
            CellState::Settled(state) => 8 + state as usize,
            CellState::Pending(state) => 20 + state as usize,
        };
        (self.request as usize * 32 + state) * 64 + self.answer as usize
    }
}

impl fmt::Display for CellState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settled(s) => write!(f, "{s:?}"),
            Self::Pending(s) => write!(f, "{s:?} (pending)"),
            Self::NotLeading
            | Self::NoMapping
            | Self::Loading
            | Self::NoProducerState
            | Self::Open
            | Self::Closed
            | Self::GroupStable
            | Self::GroupRebalancing => write!(f, "{self:?}"),
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} in {}: {}", self.request, self.state, self.answer)
    }
}
