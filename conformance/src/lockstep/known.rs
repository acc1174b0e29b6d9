//! Answers that are known to differ: where neither Kafka nor a KIP says which is right.
//!
//! Each is recognised by the step, by what the model's actor knows, and by both answers; anything else is a divergence.

use super::Exclusion;
use fencepost_spec::coordinator::{Slot, TransactionState};
use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::message::Message;
use fencepost_spec::types::TransactionVersion;
use fencepost_spec::world::{Action, State};

/// What is known to differ between the two sides' answers to this step, if it is known.
pub(super) fn known_difference(
    before: &State,
    action: &Action,
    model: &[Message],
    production: &[Message],
) -> Option<Exclusion> {
    let (Action::Deliver { message, broker } | Action::Stranger { message, broker }) = action
    else {
        return None;
    };
    let slots = &before.coordinators[usize::from((*broker)?.0)].slots;
    at_coordinator(slots, message, (error(model), error(production)))
}

fn at_coordinator(
    slots: &[Slot],
    message: &Message,
    (model, production): (Option<ErrorCode>, Option<ErrorCode>),
) -> Option<Exclusion> {
    let id = match message {
        Message::EndTxn(m) => m.transactional_id,
        Message::VerifyPartition(m) => m.transactional_id,
        Message::AddPartitionsToTxn(m) | Message::AddOffsetsToTxn(m) => m.transactional_id,
        Message::InitProducerId(_)
        | Message::Produce(_)
        | Message::TxnOffsetCommit(_)
        | Message::OffsetFetch(_)
        | Message::WriteTxnMarkers(_)
        | Message::AppendTxnRecord(_)
        | Message::CoordinatorAnswer(_)
        | Message::ProduceAnswer { .. }
        | Message::TxnOffsetCommitAnswer { .. }
        | Message::OffsetFetchAnswer { .. }
        | Message::VerifyAnswer { .. }
        | Message::WriteTxnMarkersAnswer(_)
        | Message::AppendTxnRecordAnswer(_) => return None,
    };
    let kept = slots[usize::from(id.0)]
        .metadata
        .is_some_and(|it| it.state == TransactionState::Ongoing && it.next.is_some());
    let tv1 = matches!(message, Message::EndTxn(m) if m.version == TransactionVersion::Tv1);
    if kept && tv1 {
        Some(Exclusion::KeptTv1)
    } else if kept && model.is_some_and(refuses) && production.is_some_and(refuses) {
        Some(Exclusion::KeptIdentity)
    } else {
        None
    }
}

fn refuses(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::ProducerFenced
            | ErrorCode::InvalidProducerIdMapping
            | ErrorCode::InvalidTxnState
    )
}

/// The verdict of the one answer that was sent.
fn error(sent: &[Message]) -> Option<ErrorCode> {
    match sent {
        [Message::CoordinatorAnswer(m)] => Some(m.error),
        [Message::VerifyAnswer { error, .. }] => Some(*error),
        _ => None,
    }
}
