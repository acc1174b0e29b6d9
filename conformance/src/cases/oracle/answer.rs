//! Answers, in the model's terms.

use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::message::Message;
use fencepost_spec::types::*;
use fencepost_spec::world::State;

use super::OUR_ROUND;

/// An answer in the model's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelAnswer {
    /// The verdict.
    pub error: ErrorCode,
    /// InitProducerId and EndTxn v5: the identity to go on with.
    pub identity: Option<Identity>,
    /// KIP-939: the identity of the transaction that goes on.
    pub ongoing: Option<Identity>,
    /// Produce: where the batch is.
    pub offset: Option<u8>,
}

/// Takes the answer to `request` out of the network, if it is there.
pub fn take_answer(state: &mut State, request: &Message) -> Option<ModelAnswer> {
    let at = state.network.iter().position(|m| answers(m, request))?;
    let answer = state.network.remove(at);
    let plain = |error| ModelAnswer {
        error,
        identity: None,
        ongoing: None,
        offset: None,
    };
    match answer {
        Message::CoordinatorAnswer(m) => Some(ModelAnswer {
            identity: m.identity,
            ongoing: m.ongoing,
            ..plain(m.error)
        }),
        Message::ProduceAnswer {
            identity,
            partition,
            sequence,
            error,
            ..
        } => {
            let at_leader = &state.partitions[usize::from(partition.0)];
            let batch = at_leader
                .producer(identity.producer_id)
                .and_then(|entry| entry.batches.iter().find(|b| b.sequence == sequence));
            Some(ModelAnswer {
                offset: batch
                    .filter(|_| error == ErrorCode::None)
                    .map(|b| b.offset.0),
                ..plain(error)
            })
        }
        Message::TxnOffsetCommitAnswer { error, .. } | Message::VerifyAnswer { error, .. } => {
            Some(plain(error))
        }
        Message::WriteTxnMarkersAnswer(m) => Some(plain(m.error)),
        _ => None,
    }
}

/// Whether `answer` belongs to `request`.
fn answers(answer: &Message, request: &Message) -> bool {
    let asked = match request {
        Message::InitProducerId(m) => m.correlation,
        Message::AddPartitionsToTxn(m) | Message::AddOffsetsToTxn(m) => m.correlation,
        Message::EndTxn(m) => m.correlation,
        Message::Produce(m) => m.correlation,
        Message::TxnOffsetCommit(m) => m.correlation,
        Message::VerifyPartition(m) => {
            return matches!(answer, Message::VerifyAnswer { partition, identity, sequence, .. }
                if (*partition, *identity, *sequence) == (m.partition, m.identity, m.sequence));
        }
        Message::WriteTxnMarkers(_) => {
            return matches!(answer, Message::WriteTxnMarkersAnswer(m) if m.round == OUR_ROUND);
        }
        _ => return false,
    };
    match answer {
        Message::CoordinatorAnswer(m) => m.correlation == asked,
        Message::ProduceAnswer { correlation, .. }
        | Message::TxnOffsetCommitAnswer { correlation, .. } => *correlation == asked,
        _ => false,
    }
}
