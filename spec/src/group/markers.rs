//! Markers on the offsets partition: staged offsets are published or dropped, then acknowledged.
//!
//! WHO: transaction coordinator to group coordinator. SOURCE: KIP-98; KAFKA-17507 (acknowledged
//! only once applied).

use super::{Group, GroupState, Staged};
use crate::error_code::ErrorCode;
use crate::message::WriteTxnMarkers;
use crate::partition::{Partition, marker_answer};
use crate::step::{Context, Out, Step};
use crate::types::*;

impl Group {
    /// Handles WriteTxnMarkers: the marker is appended; applying it is a step of its own.
    pub fn write_txn_markers(
        &mut self,
        partition: &mut Partition,
        ctx: &Context<'_>,
        request: &WriteTxnMarkers,
        out: &mut Out,
    ) -> Step {
        if partition.recovering {
            return Step::NotEnabled;
        }
        match partition.write_marker(ctx, request, out) {
            Err(error) => out.send(marker_answer(request, error)),
            Ok(_) => {
                let ignored = self.state == GroupState::PreparingRebalance
                    && !ctx.rules.group.marker_in_any_state;
                if ignored || !ctx.rules.group.ack_after_apply {
                    out.send(marker_answer(request, ErrorCode::None));
                }
                if !ignored {
                    self.decide(ctx, request);
                    self.unapplied.push(*request);
                }
            }
        }
        Step::Handled
    }

    /// Applies the oldest marker that is only in the log.
    pub fn materialise(&mut self, ctx: &Context<'_>, out: &mut Out) -> Step {
        if self.unapplied.is_empty() {
            return Step::NotEnabled;
        }
        let marker = self.unapplied.remove(0);
        let rules = &ctx.rules.group;
        let mine = |s: &Staged| s.decided && s.identity.producer_id == marker.identity.producer_id;
        let (decided, left): (Vec<_>, Vec<_>) = self.staged.iter().partition(|s| mine(s));
        self.staged = left.into_iter().collect();
        if marker.result == TransactionResult::Commit {
            for staged in decided {
                self.committed = staged.offset;
                self.ghost_published.push(staged.ghost);
                self.ghost_published.sort();
            }
        }
        if rules.ack_after_apply {
            out.send(marker_answer(&marker, ErrorCode::None));
        }
        Step::Handled
    }

    /// A marker decides what its producer has staged before it in the log.
    fn decide(&mut self, ctx: &Context<'_>, marker: &WriteTxnMarkers) {
        for staged in &mut self.staged {
            staged.decided |= staged.is_decided_by(&ctx.rules.group, marker.identity);
        }
        self.staged.sort();
    }
}
