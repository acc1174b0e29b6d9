//! The shell: what the client sends as the model's messages, and which answer is whose.

use super::application::payload;
use super::{Gap, Place, Running, Said};
use crate::actors::Difference;
use fencepost::client::{BatchId, Cause, Effect, Input, Operation, Request, Response};
use fencepost::error_code::ErrorCode as ImplError;
use fencepost::types::TopicPartition;
use fencepost_spec::message::*;
use fencepost_spec::types::*;
use std::collections::VecDeque;

/// A batch that was sent and is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sent {
    pub(super) batch: BatchId,
    pub(super) partition: PartitionIndex,
    pub(super) attempt: u8,
    /// How many copies were sent unasked, and whether one was sent after an answer.
    pub(super) copies: u8,
    pub(super) answered: bool,
    pub(super) early: Early,
}

/// Whether a copy is under way that the client has yet to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Early {
    /// None is.
    None,
    /// One is.
    UnderWay,
    /// It was acknowledged already.
    Acknowledged,
}

pub(super) fn partition_of(place: Place<'_>, partition: PartitionIndex) -> TopicPartition {
    place.topics.partition(partition)
}

impl Running {
    /// The batches whose answer somebody waits for.
    pub(super) fn in_flight(&self) -> impl Iterator<Item = &Sent> {
        let open = |sent: &&Sent| sent.early != Early::Acknowledged;
        self.sent.iter().filter(open)
    }

    /// Whether a request waits for its answer.
    pub(super) fn waits(&self) -> bool {
        self.core.in_flight().is_some() || self.fetching
    }

    /// Which request waits.
    pub(super) fn request(&self) -> Option<RequestKind> {
        if self.fetching {
            return Some(RequestKind::OffsetFetch);
        }
        match self.core.in_flight()? {
            // The harness answers a search at once.
            Request::FindCoordinator(_) => None,
            Request::InitProducerId { .. } => Some(RequestKind::InitProducerId),
            Request::AddPartitionsToTxn { .. } => Some(RequestKind::AddPartitionsToTxn),
            Request::AddOffsetsToTxn { .. } => Some(RequestKind::AddOffsetsToTxn),
            Request::TxnOffsetCommit { .. } => Some(RequestKind::TxnOffsetCommit),
            Request::EndTxn { .. } => Some(RequestKind::EndTxn),
        }
    }

    /// Whether a refusal of EndTxn says that nothing is committed: one of the only copy does.
    pub(super) fn is_definite(&self) -> bool {
        let refused = match self.core.last_error() {
            Some(Cause::Answered { code, .. }) => code == ImplError::InvalidTxnState,
            Some(Cause::BatchExpired | Cause::Aborted | Cause::Poisoned) | None => false,
        };
        !self.resent || refused
    }

    /// One input of the client, with all that follows from it.
    pub(super) fn drive(
        &mut self,
        place: Place<'_>,
        input: Input,
        said: &mut Said,
    ) -> Result<(), Difference> {
        let waiting = self.core.in_flight().cloned();
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            for effect in self.core.step(input) {
                match effect {
                    Effect::Refused(_) => return Err(Difference::effect("client", effect)),
                    Effect::Send {
                        request: Request::FindCoordinator(_),
                        ..
                    } => {
                        said.gaps.push(Gap::Lookup);
                        inputs.push_back(Input::Answered(Response::Code(ImplError::None)));
                    }
                    Effect::Send { request, .. } => {
                        if waiting.as_ref() != Some(&request) {
                            self.asks(place);
                        }
                        said.messages.push(self.message(place, &request)?);
                    }
                    Effect::Produce(batch) => {
                        inputs.extend(self.produce(place, &batch, said)?);
                    }
                    Effect::BatchFinished { batch, .. } => {
                        self.sent.retain(|sent| sent.batch != batch);
                    }
                    Effect::Finished { operation, outcome } => {
                        let staged = operation == Operation::SendOffsets && outcome.is_ok();
                        self.item += u8::from(staged);
                    }
                }
            }
        }
        Ok(())
    }

    /// The item of the script that the model's client would be at.
    pub(super) fn model_item(&self) -> u8 {
        let registers = self.request() == Some(RequestKind::AddPartitionsToTxn);
        self.item - u8::from(registers)
    }

    /// What a batch in flight says.
    pub(super) fn payload_of(&self, place: Place<'_>, sent: &Sent) -> Payload {
        payload(place.workload, self.position, sent.batch)
    }
}
