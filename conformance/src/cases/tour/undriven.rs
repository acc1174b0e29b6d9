//! Cells that no client can drive on a running broker, with the reason.

use fencepost_spec::coordinator::TransactionState;
use fencepost_spec::coverage::{Cell, CellRequest, CellState};
use fencepost_spec::error_code::ErrorCode;

/// Cells that the tour leaves out for one reason.
#[derive(Clone, Copy, Debug)]
pub struct Undriven {
    /// The requests; none stands for every request.
    pub requests: &'static [CellRequest],
    /// The states; none stands for every state.
    pub states: &'static [CellState],
    /// The answers; none stands for every answer.
    pub answers: &'static [ErrorCode],
    /// Why.
    pub reason: &'static str,
}

impl Undriven {
    /// Whether it speaks of this cell.
    #[must_use]
    pub fn covers(&self, cell: &Cell) -> bool {
        (self.requests.is_empty() || self.requests.contains(&cell.request))
            && (self.states.is_empty() || self.states.contains(&cell.state))
            && (self.answers.is_empty() || self.answers.contains(&cell.answer))
    }
}

/// Every such cell.
pub const UNDRIVEN: &[Undriven] = &[
    Undriven {
        requests: &[],
        states: &[
            CellState::Settled(TransactionState::PrepareCommit),
            CellState::Settled(TransactionState::PrepareAbort),
        ],
        answers: &[],
        reason: "no run of the model comes there: the completion is pending from the moment a \
                 decision is replicated or loaded until Complete* replaces it",
    },
    Undriven {
        requests: &[],
        states: &[CellState::Loading],
        answers: &[],
        reason: "the load of a small log takes a millisecond, and nothing that a client can do holds \
                 it; a request that meets it is asked again, in every case that restarts the broker",
    },
    Undriven {
        requests: &[CellRequest::InitProducerIdKeepPrepared],
        states: &[],
        answers: &[],
        reason: "keepPreparedTxn is UNSUPPORTED_VERSION on 4.4.0 before any other check: not judged; \
                 the cases 2pc/ ask a broker that serves it",
    },
    Undriven {
        requests: &[],
        states: &[],
        answers: &[ErrorCode::TransactionalIdAuthorizationFailed],
        reason: "it takes an authorizer that refuses the client, and the suite connects as one \
                 principal that may do everything",
    },
    Undriven {
        requests: &[CellRequest::Produce],
        states: &[CellState::NoProducerState, CellState::Closed],
        answers: &[ErrorCode::InvalidTxnState],
        reason: "either the verification guard is wiped between the coordinator's answer and the \
                 append, a race inside the broker, or the coordinator refuses the client's identity \
                 after a take-over (KIP-939), which 4.4.0 does not serve",
    },
    Undriven {
        requests: &[CellRequest::TxnOffsetCommit],
        states: &[],
        answers: &[ErrorCode::InvalidTxnState],
        reason: "the same: a wiped guard or a take-over",
    },
    Undriven {
        requests: &[CellRequest::TxnOffsetCommit],
        states: &[],
        answers: &[ErrorCode::CoordinatorLoadInProgress],
        reason: "the answer to the leader's own question is lost between two brokers: on 4.4.0 the \
                 group coordinator and the transaction coordinator of a small cluster are one process",
    },
    Undriven {
        requests: &[CellRequest::TxnOffsetCommit],
        states: &[],
        answers: &[ErrorCode::UnknownMemberId, ErrorCode::FencedInstanceId],
        reason: "the tour speaks for one dynamic member; the cases offsets/ ask as a stranger and as \
                 a static member that was replaced",
    },
    Undriven {
        requests: &[CellRequest::Produce],
        states: &[CellState::Open],
        answers: &[ErrorCode::TransactionAbortable],
        reason: "it takes a partition that still has a transaction open which its coordinator has \
                 completed: the hanging transaction that verification is there to prevent",
    },
];
