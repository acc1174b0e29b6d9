//! WriteTxnMarkers: a marker decides what its producer has open here.
//!
//! WHO: coordinator to partition leader. SOURCE: KIP-98 (coordinator epoch); KIP-890 (the marker
//! carries the bumped epoch); KIP-1228 (it must be higher under TV2); KAFKA-19999 (a repeat with
//! nothing open is accepted).

use super::{Partition, Record, RecordKind};
use crate::coverage::{Cell, CellRequest};
use crate::error_code::ErrorCode;
use crate::message::{MarkerAnswer, Message, WriteTxnMarkers};
use crate::step::{Context, Out, Step};
use crate::types::*;

impl Partition {
    /// Handles WriteTxnMarkers: appends the marker, or says why not. `Ok` is the marker's offset.
    pub fn write_marker(
        &mut self,
        ctx: &Context<'_>,
        request: &WriteTxnMarkers,
        out: &mut Out,
    ) -> Result<Offset, ErrorCode> {
        let verdict = self.marker_error(ctx, request);
        out.cell = Some(Cell {
            request: match request.version {
                TransactionVersion::Tv1 => CellRequest::WriteTxnMarkersTv1,
                TransactionVersion::Tv2 => CellRequest::WriteTxnMarkersTv2,
            },
            state: self.producer_cell(request.identity.producer_id),
            answer: verdict.unwrap_or(ErrorCode::None),
        });
        if let Some(error) = verdict {
            return Err(error);
        }
        Ok(self.append(
            ctx.rules,
            Record {
                offset: self.log_end,
                kind: RecordKind::Marker(request.result),
                identity: request.identity,
                sequence: Sequence::FIRST,
                transactional: true,
                coordinator_epoch: Some(request.coordinator_epoch),
                payload: Payload(0),
                ghost: request.ghost,
            },
        ))
    }

    /// A marker on a data partition: append, then acknowledge once replicated.
    pub fn write_txn_markers(
        &mut self,
        ctx: &Context<'_>,
        request: &WriteTxnMarkers,
        out: &mut Out,
    ) -> Step {
        if self.recovering {
            return Step::NotEnabled;
        }
        match self.write_marker(ctx, request, out) {
            Ok(offset) => {
                let answer = marker_answer(request, ErrorCode::None);
                self.answer_when_replicated(ctx.rules, offset, answer, out);
            }
            Err(error) => out.send(marker_answer(request, error)),
        }
        Step::Handled
    }

    /// First refusal wins: the epoch before the coordinator epoch (observed on Kafka 4.4.0).
    fn marker_error(&self, ctx: &Context<'_>, request: &WriteTxnMarkers) -> Option<ErrorCode> {
        if self.deleted {
            return Some(ErrorCode::UnknownTopicOrPartition);
        }
        let rules = &ctx.rules.produce;
        let Some(entry) = self.producer(request.identity.producer_id) else {
            return (!rules.unknown_marker_ok).then_some(ErrorCode::InvalidProducerEpoch);
        };
        let epoch = request.identity.producer_epoch;
        let strict = request.version == TransactionVersion::Tv2 && ctx.rules.strict_marker_epoch;
        let repeated = epoch == entry.epoch && entry.open.is_none() && rules.repeated_marker_ok;
        let too_low = if strict {
            epoch <= entry.epoch && !repeated
        } else {
            epoch < entry.epoch
        };
        if too_low {
            return Some(ErrorCode::InvalidProducerEpoch);
        }
        let fenced = entry
            .coordinator_epoch
            .is_some_and(|e| e > request.coordinator_epoch);
        (fenced && rules.check_coordinator_epoch).then_some(ErrorCode::TransactionCoordinatorFenced)
    }
}

/// The answer to a marker.
pub(crate) fn marker_answer(request: &WriteTxnMarkers, error: ErrorCode) -> Message {
    Message::WriteTxnMarkersAnswer(MarkerAnswer {
        broker: request.broker,
        coordinator_epoch: request.coordinator_epoch,
        transactional_id: request.transactional_id,
        round: request.round,
        partition: request.partition,
        error,
    })
}
