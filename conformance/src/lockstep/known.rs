//! Answers that are known to differ: where the model is coarser than Kafka 4.4 and production is not.
//!
//! Each is recognised by the step, by what the model's actor knows, and by both answers; anything else is a divergence.

use super::Exclusion;
use crate::map::{is_tentative_fence, without_ghost};
use fencepost_spec::coordinator::{Slot, Stage, TransactionMetadata, TransactionState};
use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::message::Message;
use fencepost_spec::types::{Sequence, TransactionVersion};
use fencepost_spec::world::{Action, State};

/// What is known to differ between the two sides' answers to this step, if it is known.
pub(super) fn known_difference(
    before: &State,
    action: &Action,
    model: &[Message],
    production: &[Message],
) -> Option<Exclusion> {
    if differ_in_version(model, production) {
        return Some(Exclusion::FenceVersion);
    }
    let (Action::Deliver { message, broker } | Action::Stranger { message, broker }) = action
    else {
        return None;
    };
    match broker {
        Some(broker) => {
            let slots = &before.coordinators[usize::from(broker.0)].slots;
            at_coordinator(slots, message, (error(model), error(production)?))
        }
        None if sequence_asked(before, message, production) => Some(Exclusion::SequenceAsked),
        None => at_partition(message, model, production),
    }
}

/// Whether all that differs is the version that an abort of the coordinator's own is decided under.
fn differ_in_version(model: &[Message], production: &[Message]) -> bool {
    let as_of_cluster = |message: &Message| match *message {
        Message::AppendTxnRecord(mut m) => {
            if let Some(value) = m.value.as_mut()
                && value.state == TransactionState::PrepareAbort
            {
                value.client_version = TransactionVersion::Tv1;
            }
            without_ghost(Message::AppendTxnRecord(m))
        }
        other => without_ghost(other),
    };
    let mut model: Vec<Message> = model.iter().map(as_of_cluster).collect();
    let mut production = production.to_vec();
    model.sort_unstable();
    production.sort_unstable();
    model == production
}

fn at_coordinator(
    slots: &[Slot],
    message: &Message,
    (model, error): (Option<ErrorCode>, ErrorCode),
) -> Option<Exclusion> {
    if let Message::InitProducerId(m) = message {
        let serves = !matches!(
            model,
            Some(ErrorCode::NotCoordinator | ErrorCode::CoordinatorLoadInProgress)
        );
        let invalid = matches!(
            error,
            ErrorCode::InvalidTransactionTimeout
                | ErrorCode::InvalidRequest
                | ErrorCode::TransactionalIdAuthorizationFailed
        );
        let lost = m
            .transactional_id
            .is_some_and(|id| is_abandoned(&slots[usize::from(id.0)]));
        return if !serves && invalid {
            Some(Exclusion::RequestFirst)
        } else {
            (lost && error == ErrorCode::ProducerFenced).then_some(Exclusion::LostCompletion)
        };
    }
    if let Message::EndTxn(m) = message
        && m.version == TransactionVersion::Tv1
        && is_kept(&slots[usize::from(m.transactional_id.0)])
    {
        return Some(Exclusion::KeptTv1);
    }
    let (id, compares_first) = match message {
        Message::EndTxn(m) => (m.transactional_id, true),
        Message::VerifyPartition(m) => (m.transactional_id, m.verify_only),
        Message::AddPartitionsToTxn(m) | Message::AddOffsetsToTxn(m) => (m.transactional_id, false),
        _ => return None,
    };
    let slot = &slots[usize::from(id.0)];
    let by_identity =
        error == ErrorCode::ProducerFenced || error == ErrorCode::InvalidProducerIdMapping;
    let abandoned = is_abandoned(slot);
    let kept = is_kept(slot);
    let refuses = |code: ErrorCode| {
        matches!(
            code,
            ErrorCode::ProducerFenced
                | ErrorCode::InvalidProducerIdMapping
                | ErrorCode::InvalidTxnState
        )
    };
    let both_refuse = model.is_some_and(refuses) && refuses(error);
    let unlogged = slot.metadata.is_none() && (slot.pending.is_some() || slot.created.is_some());
    if compares_first && is_tentative_fence(slot) {
        Some(Exclusion::TentativeFence)
    } else if unlogged && by_identity {
        Some(Exclusion::UnloggedId)
    } else if abandoned && (by_identity || error == ErrorCode::InvalidTxnState) {
        Some(Exclusion::LostCompletion)
    } else if kept && both_refuse {
        Some(Exclusion::KeptIdentity)
    } else {
        None
    }
}

fn is_kept(slot: &Slot) -> bool {
    let open = |it: &TransactionMetadata| it.state == TransactionState::Ongoing;
    slot.metadata
        .is_some_and(|it| open(&it) && it.next.is_some())
}

fn is_abandoned(slot: &Slot) -> bool {
    slot.pending.is_some_and(|it| it.stage == Stage::Abandoned)
}

/// Whether production refuses a batch because of a question that is open for another one of its producer: a lower
/// sequence at another epoch, or TV2's first batch, which has sequence 0.
fn sequence_asked(before: &State, message: &Message, production: &[Message]) -> bool {
    let (partition, identity, sequence) = match message {
        Message::Produce(m) => (m.partition, m.identity, m.sequence),
        Message::VerifyAnswer {
            partition,
            identity,
            sequence,
            ..
        } => (*partition, *identity, *sequence),
        _ => return false,
    };
    let asked = &before.partitions[usize::from(partition.0)].verification;
    let refuses = asked.iter().any(|entry| {
        let first = entry.version == TransactionVersion::Tv2 && sequence != Sequence::FIRST;
        let lower = entry.epoch != identity.producer_epoch && entry.lowest_sequence < sequence;
        entry.producer_id == identity.producer_id && (first || lower)
    });
    refuses && error(production) == Some(ErrorCode::OutOfOrderSequenceNumber)
}

/// Whether a step stages an offset while a marker of its producer is appended and not applied: the model's marker then
/// takes the later offset too.
pub(super) fn stages_after_marker(before: &State, action: &Action) -> bool {
    let (Action::Deliver { message, .. } | Action::Stranger { message, .. }) = action else {
        return false;
    };
    let identity = match message {
        Message::TxnOffsetCommit(m) => m.identity,
        Message::VerifyAnswer { identity, .. } => *identity,
        _ => return false,
    };
    before.group.as_ref().is_some_and(|group| {
        let mut unapplied = group.unapplied.iter();
        unapplied.any(|marker| marker.identity.producer_id == identity.producer_id)
    })
}

fn at_partition(message: &Message, model: &[Message], production: &[Message]) -> Option<Exclusion> {
    let told = (error(model), error(production));
    match (message, told) {
        (
            Message::VerifyAnswer { .. },
            (Some(ErrorCode::InvalidTxnState), Some(ErrorCode::InvalidProducerEpoch)),
        ) => Some(Exclusion::EpochBeforeGuard),
        (Message::VerifyAnswer { .. }, (Some(ErrorCode::NotEnoughReplicas), Some(passed))) => {
            (passed.is_retriable() && is_for_offsets(production))
                .then_some(Exclusion::OffsetsRetriable)
        }
        (Message::TxnOffsetCommit(_), (None, Some(ErrorCode::InvalidProducerEpoch))) => {
            asks(model).then_some(Exclusion::EpochBeforeQuestion)
        }
        (Message::Produce(_), (Some(ErrorCode::None), None)) => {
            asks(production).then_some(Exclusion::DuplicateAsked)
        }
        (
            Message::Produce(m),
            (Some(ErrorCode::OutOfOrderSequenceNumber), Some(ErrorCode::None)),
        ) => (!m.transactional).then_some(Exclusion::FirstSequence),
        (_, _) => None,
    }
}

/// The verdict of the one answer that was sent.
fn error(sent: &[Message]) -> Option<ErrorCode> {
    match sent {
        [Message::CoordinatorAnswer(m)] => Some(m.error),
        [
            Message::VerifyAnswer { error, .. }
            | Message::ProduceAnswer { error, .. }
            | Message::TxnOffsetCommitAnswer { error, .. },
        ] => Some(*error),
        _ => None,
    }
}

fn is_for_offsets(sent: &[Message]) -> bool {
    matches!(sent, [Message::TxnOffsetCommitAnswer { .. }])
}

/// Whether the one message that was sent asks the coordinator.
fn asks(sent: &[Message]) -> bool {
    matches!(sent, [Message::VerifyPartition(_)])
}
