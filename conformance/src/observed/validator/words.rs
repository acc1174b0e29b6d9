//! What requests and answers are called, and what is read off them alone.

use super::Part;
use crate::observed::event::{Asked, Verdict};
use crate::observed::track::Said;
use crate::wire::ErrorCode;

/// An InitProducerId that no broker may take: an empty id, or half an identity.
pub(super) fn is_malformed(asked: &Asked) -> bool {
    match asked {
        Asked::InitProducerId { id, expected, .. } => {
            let half = expected.is_some_and(|it| (it.0 < 0) != (it.1 < 0));
            id.as_deref() == Some("") || half
        }
        _ => false,
    }
}

/// What the answer says of a part.
pub(super) fn verdict_of(verdicts: &[Verdict], part: &Part) -> i16 {
    let found = part.of.as_ref().and_then(|(of, place)| {
        let mut verdicts = verdicts.iter();
        verdicts.find(|it| it.of == *of && it.at == *place)
    });
    // An answer that says nothing of it is none: NETWORK_EXCEPTION, as a client takes it.
    found.map_or(13, |it| it.error)
}

pub(super) const fn name(asked: &Asked) -> &'static str {
    match asked {
        Asked::InitProducerId { .. } => "InitProducerId",
        Asked::AddPartitions { .. } | Asked::BrokerAdditions { .. } => "AddPartitionsToTxn",
        Asked::AddOffsets { .. } => "AddOffsetsToTxn",
        Asked::EndTxn { .. } => "EndTxn",
        Asked::Produce { .. } => "Produce",
        Asked::TxnOffsetCommit { .. } => "TxnOffsetCommit",
        Asked::OffsetCommit { .. } => "OffsetCommit",
        Asked::OffsetFetch { .. } => "OffsetFetch",
        Asked::ForgetOffsets { .. } => "OffsetDelete",
        Asked::ConsumerGroup { .. } => "ConsumerGroupHeartbeat",
        Asked::WriteTxnMarkers { .. } => "WriteTxnMarkers",
        Asked::DeleteTopics { .. } => "DeleteTopics",
        Asked::Fetch { .. } => "Fetch",
    }
}

pub(super) fn answer_text(said: Said) -> String {
    let error = ErrorCode(said.error);
    match said.identity.filter(|it| it.0 >= 0) {
        Some((producer, epoch)) => format!("{error} ({producer},{epoch})"),
        None => error.to_string(),
    }
}
