//! OffsetFetch with require-stable: where a member starts to read.
//!
//! WHO: member to group coordinator. SOURCE: KIP-447; KAFKA-9346.

use super::{Group, GroupState};
use crate::coverage::{Cell, CellRequest};
use crate::error_code::ErrorCode;
use crate::message::{Correlation, Message};
use crate::partition::Partition;
use crate::step::{Context, Out, Step};

impl Group {
    /// Handles OffsetFetch of a member. A producer that does not own the input waits.
    pub fn offset_fetch(
        &mut self,
        partition: &Partition,
        ctx: &Context<'_>,
        correlation: &Correlation,
        out: &mut Out,
    ) -> Step {
        let loads = partition.recovering && ctx.rules.group.serve_after_load;
        if loads || self.member != correlation.producer || self.state != GroupState::Stable {
            return Step::NotEnabled;
        }
        let unstable = !self.staged.is_empty() && ctx.rules.group.fetch_waits_for_staged;
        let error = if unstable {
            ErrorCode::UnstableOffsetCommit
        } else {
            ErrorCode::None
        };
        out.cell = Some(Cell {
            request: CellRequest::OffsetFetch,
            state: self.cell_state(),
            answer: error,
        });
        if unstable && ctx.blocking {
            return Step::NotEnabled;
        }
        out.send(Message::OffsetFetchAnswer {
            correlation: *correlation,
            error,
            offset: self.committed,
            generation: self.generation,
        });
        Step::Handled
    }
}
