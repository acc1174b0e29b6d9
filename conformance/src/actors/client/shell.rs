//! The shell: what the client sends as the model's messages, and which answer is whose.

use super::application::{input, payload};
use super::{Gap, Place, Running, Said};
use crate::actors::Difference;
use crate::actors::membership::spec_member_of;
use crate::map::{self, impl_error};
use fencepost::client::{
    Api, BatchId, Cause, Class, Effect, Input, Operation, ProduceBatch, Request, Response, State,
    classify,
};
use fencepost::error_code::ErrorCode as ImplError;
use fencepost::types::TopicPartition;
use fencepost_spec::error_code::ErrorCode;
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

    /// A new request.
    fn asks(&mut self, place: Place<'_>) {
        self.number += 1;
        self.attempt = u8::from(place.tagged);
        self.resent = false;
    }

    fn correlation(&self, place: Place<'_>) -> Correlation {
        Correlation {
            producer: place.index,
            number: self.number,
            attempt: self.attempt,
        }
    }

    pub(super) fn fetch_offset(&mut self, place: Place<'_>, said: &mut Said) {
        self.fetching = true;
        self.asks(place);
        said.messages
            .push(Message::OffsetFetch(self.correlation(place)));
    }

    fn message(&self, place: Place<'_>, request: &Request) -> Result<Message, Difference> {
        let correlation = self.correlation(place);
        let unmapped = || Difference::effect("client", request);
        let transactional_id = place.workload.transactional_id.ok_or_else(unmapped)?;
        let add = |producer, partition| {
            Ok::<_, Difference>(AddPartitionsToTxn {
                correlation,
                transactional_id,
                identity: map::spec_identity(producer)?,
                partition,
                ghost: Ghost::NONE,
            })
        };
        Ok(match request {
            Request::FindCoordinator(_) => return Err(unmapped()),
            Request::InitProducerId { expected } => Message::InitProducerId(InitProducerId {
                correlation,
                transactional_id: Some(transactional_id),
                expected: expected.map(map::spec_identity).transpose()?,
                enable_2pc: false,
                keep_prepared_txn: false,
                timeout_in_range: true,
                authorized: true,
            }),
            Request::AddPartitionsToTxn {
                producer,
                partitions,
            } => {
                // The application sends one batch at a time.
                let [partition] = partitions.as_slice() else {
                    return Err(unmapped());
                };
                let partition = place.topics.spec_partition(partition)?;
                Message::AddPartitionsToTxn(add(*producer, partition)?)
            }
            Request::AddOffsetsToTxn { producer, .. } => {
                let offsets = PartitionIndex(place.topics.data);
                Message::AddOffsetsToTxn(add(*producer, offsets)?)
            }
            Request::TxnOffsetCommit {
                producer,
                member,
                offsets,
                version,
            } => {
                let offset = offsets.get(&input()).filter(|_| offsets.len() == 1);
                let offset = offset.ok_or_else(unmapped)?.offset.get();
                Message::TxnOffsetCommit(TxnOffsetCommit {
                    correlation,
                    transactional_id,
                    identity: map::spec_identity(*producer)?,
                    member: spec_member_of(member.generation, &member.member_id)?,
                    offset: Payload(u8::try_from(offset).map_err(|_| unmapped())?),
                    version: map::spec_version(*version),
                    ghost: Ghost::NONE,
                })
            }
            Request::EndTxn {
                producer,
                result,
                version,
            } => Message::EndTxn(EndTxn {
                correlation,
                transactional_id,
                identity: map::spec_identity(*producer)?,
                result: map::spec_result(*result),
                version: map::spec_version(*version),
                ghost: Ghost::NONE,
            }),
        })
    }

    /// The client sends a batch: for the first time, or again. Where a copy went before, this is the one, and its answer
    /// may have come.
    fn produce(
        &mut self,
        place: Place<'_>,
        batch: &ProduceBatch,
        said: &mut Said,
    ) -> Result<Option<Input>, Difference> {
        let partition = place.topics.spec_partition(&batch.partition)?;
        let sent = match self.sent.iter_mut().find(|sent| sent.batch == batch.batch) {
            Some(sent) => {
                let early = std::mem::replace(&mut sent.early, Early::None);
                match early {
                    Early::None => *sent,
                    Early::UnderWay => return Ok(None),
                    Early::Acknowledged => {
                        return Ok(Some(Input::BatchAnswered {
                            partition: batch.partition.clone(),
                            batch: batch.batch,
                            code: ImplError::None,
                        }));
                    }
                }
            }
            None => {
                let sent = Sent {
                    batch: batch.batch,
                    partition,
                    attempt: u8::from(place.tagged),
                    copies: 1,
                    answered: false,
                    early: Early::None,
                };
                self.sent.push(sent);
                sent
            }
        };
        said.messages.push(self.batch_message(
            place,
            &sent,
            (
                map::spec_identity(batch.producer)?,
                map::spec_sequence(batch.base_sequence),
                map::spec_version(batch.version),
            ),
        ));
        Ok(None)
    }

    fn batch_message(
        &self,
        place: Place<'_>,
        sent: &Sent,
        (identity, sequence, version): (Identity, Sequence, TransactionVersion),
    ) -> Message {
        Message::Produce(Produce {
            correlation: Correlation {
                producer: place.index,
                number: 0,
                attempt: sent.attempt,
            },
            transactional_id: place.workload.transactional_id,
            identity,
            partition: sent.partition,
            sequence,
            transactional: true,
            version,
            payload: payload(place.workload, self.position, sent.batch),
            ghost: Ghost::NONE,
        })
    }

    /// The number that a batch was sent under.
    pub(super) fn numbered(
        &self,
        place: Place<'_>,
        sent: &Sent,
    ) -> Result<(Identity, Sequence), Difference> {
        let batches = self
            .core
            .batches()
            .get(&partition_of(place, sent.partition));
        let mut queue = batches.into_iter().flat_map(|batches| batches.queue());
        let number = queue
            .find(|it| it.id == sent.batch)
            .and_then(|it| it.number);
        let number = number.ok_or_else(|| Difference::Missing("numbered batch".to_owned()))?;
        Ok((
            map::spec_identity(number.producer)?,
            map::spec_sequence(number.base_sequence),
        ))
    }

    /// Whether the client, too, would send this batch next: none of its partition is before it.
    fn is_its_turn(&self, place: Place<'_>, sent: &Sent) -> bool {
        let batches = self
            .core
            .batches()
            .get(&partition_of(place, sent.partition));
        batches
            .and_then(|batches| batches.queue().first())
            .is_some_and(|first| first.id == sent.batch)
    }

    /// The connection breaks before the request is answered.
    pub(super) fn lose_request(
        &mut self,
        place: Place<'_>,
        said: &mut Said,
    ) -> Result<(), Difference> {
        self.resent = true;
        self.attempt += u8::from(place.tagged);
        if self.fetching {
            said.messages
                .push(Message::OffsetFetch(self.correlation(place)));
            return Ok(());
        }
        if self.core.state() == State::AbortableError {
            return self.ask_in_error(place, said);
        }
        self.drive(place, Input::Disconnected, said)
    }

    /// Whether the client would drop a request that is answered so, because the transaction can only be aborted.
    fn is_asked_in_error(&self, error: ErrorCode) -> Result<bool, Difference> {
        let code = impl_error(error)?;
        let api = self.core.in_flight().map(Request::api);
        Ok(self.core.state() == State::AbortableError
            && api.is_some_and(|api| match classify(api, code) {
                Class::Retry | Class::FindAndRetry => true,
                Class::Success
                | Class::Abortable
                | Class::AbortableWithBump
                | Class::OutOfOrder
                | Class::Fatal => false,
            }))
    }

    /// The model's client asks until it is answered; production's hears of nothing.
    fn ask_in_error(&mut self, place: Place<'_>, said: &mut Said) -> Result<(), Difference> {
        said.gaps.push(Gap::AskedInError);
        self.resent = true;
        if let Some(request) = self.core.in_flight() {
            said.messages.push(self.message(place, request)?);
        }
        Ok(())
    }

    /// A batch goes again, unasked.
    pub(super) fn resend_batch(
        &mut self,
        place: Place<'_>,
        at: usize,
        said: &mut Said,
    ) -> Result<(), Difference> {
        let batch = self.in_flight().nth(at).map(|sent| sent.batch);
        let mut found = self.sent.iter_mut();
        let sent = found.find(|sent| Some(sent.batch) == batch);
        let sent = sent.ok_or_else(|| Difference::Missing("batch in flight".to_owned()))?;
        sent.copies += 1;
        sent.attempt += u8::from(place.tagged);
        let sent = *sent;
        if sent.early == Early::None && self.is_its_turn(place, &sent) {
            let input = Input::BatchAnswered {
                partition: partition_of(place, sent.partition),
                batch: sent.batch,
                code: ImplError::NetworkException,
            };
            return self.drive(place, input, said);
        }
        self.copy_early(place, &sent, said)
    }

    /// The network's copy of a batch, which the client has yet to send again.
    fn copy_early(&self, place: Place<'_>, sent: &Sent, said: &mut Said) -> Result<(), Difference> {
        said.gaps.push(Gap::EarlyCopy);
        let (identity, sequence) = self.numbered(place, sent)?;
        let number = (identity, sequence, self.version());
        said.messages.push(self.batch_message(place, sent, number));
        Ok(())
    }

    /// An answer arrives; one that nobody waits for is dropped.
    pub(super) fn answered(
        &mut self,
        place: Place<'_>,
        answer: &Message,
        said: &mut Said,
    ) -> Result<(), Difference> {
        match answer {
            Message::CoordinatorAnswer(m) => {
                if !self.awaits(m.request, m.correlation) {
                    return Ok(());
                }
                if self.is_asked_in_error(m.error)? {
                    return self.ask_in_error(place, said);
                }
                let response = self.response(m)?;
                self.request_answered(place, response, said)
            }
            Message::TxnOffsetCommitAnswer { correlation, error } => {
                if !self.awaits(RequestKind::TxnOffsetCommit, *correlation) {
                    return Ok(());
                }
                if self.is_asked_in_error(*error)? {
                    return self.ask_in_error(place, said);
                }
                let lines = vec![(input(), impl_error(*error)?)];
                self.request_answered(place, Response::Partitions(lines), said)
            }
            Message::OffsetFetchAnswer {
                correlation,
                error,
                offset,
                generation,
            } => {
                if !self.awaits(RequestKind::OffsetFetch, *correlation) {
                    return Ok(());
                }
                if *error != ErrorCode::None {
                    self.resent = true;
                    said.messages
                        .push(Message::OffsetFetch(self.correlation(place)));
                    return Ok(());
                }
                self.fetching = false;
                self.position = *offset;
                self.generation = Some(*generation);
                self.item += 1;
                Ok(())
            }
            Message::ProduceAnswer {
                correlation,
                identity,
                partition,
                sequence,
                error,
            } => {
                let number = (*identity, *sequence);
                match self.awaiting(place, *partition, number, correlation.attempt)? {
                    Some(sent) => self.batch_answered(place, sent, *error, said),
                    None => Ok(()),
                }
            }
            Message::InitProducerId(_)
            | Message::AddPartitionsToTxn(_)
            | Message::AddOffsetsToTxn(_)
            | Message::EndTxn(_)
            | Message::Produce(_)
            | Message::TxnOffsetCommit(_)
            | Message::OffsetFetch(_)
            | Message::VerifyPartition(_)
            | Message::WriteTxnMarkers(_)
            | Message::AppendTxnRecord(_)
            | Message::VerifyAnswer { .. }
            | Message::WriteTxnMarkersAnswer(_)
            | Message::AppendTxnRecordAnswer(_) => {
                Err(Difference::Missing("answer to a producer".to_owned()))
            }
        }
    }

    /// Of a request that nobody waits for, no try is remembered.
    pub(super) fn forget_tries(&mut self) {
        if !self.waits() {
            self.attempt = 0;
            self.resent = false;
        }
    }

    fn awaits(&self, kind: RequestKind, correlation: Correlation) -> bool {
        self.request() == Some(kind)
            && self.number == correlation.number
            && self.attempt == correlation.attempt
    }

    /// The batch in flight whose answer this is.
    fn awaiting(
        &self,
        place: Place<'_>,
        partition: PartitionIndex,
        number: (Identity, Sequence),
        attempt: u8,
    ) -> Result<Option<Sent>, Difference> {
        for sent in self.in_flight() {
            if sent.partition == partition
                && sent.attempt == attempt
                && self.numbered(place, sent)? == number
            {
                return Ok(Some(*sent));
            }
        }
        Ok(None)
    }

    fn response(&self, answer: &CoordinatorAnswer) -> Result<Response, Difference> {
        let code = impl_error(answer.error)?;
        Ok(match (self.core.in_flight(), answer.identity) {
            (Some(Request::AddPartitionsToTxn { partitions, .. }), _) => {
                let lines = partitions.iter().map(|it| (it.clone(), code));
                Response::Partitions(lines.collect())
            }
            (_, Some(identity)) if code == ImplError::None => {
                Response::Identity(map::identity(identity)?)
            }
            (_, _) => Response::Code(code),
        })
    }

    fn request_answered(
        &mut self,
        place: Place<'_>,
        response: Response,
        said: &mut Said,
    ) -> Result<(), Difference> {
        let number = self.number;
        let resent = std::mem::replace(&mut self.resent, true);
        self.drive(place, Input::Answered(response), said)?;
        // Only the same request again is one that was sent again.
        if self.number == number && !self.waits() {
            self.resent = resent;
        }
        Ok(())
    }

    fn batch_answered(
        &mut self,
        place: Place<'_>,
        sent: Sent,
        error: ErrorCode,
        said: &mut Said,
    ) -> Result<(), Difference> {
        if sent.early != Early::None {
            return self.early_answered(place, sent, error, said);
        }
        let said_before = said.messages.len();
        let partition = partition_of(place, sent.partition);
        let answer = |code| Input::BatchAnswered {
            partition: partition.clone(),
            batch: sent.batch,
            code,
        };
        // Whether it goes again is the client's to say; how it went is the shell's to know.
        self.note_answered(sent.batch);
        self.drive(place, answer(impl_error(error)?), said)?;
        let waits = self.sent.iter_mut().find(|it| it.batch == sent.batch);
        let has_gone = said.messages.len() > said_before;
        if let Some(waits) = waits.filter(|_| !has_gone) {
            waits.early = Early::UnderWay;
            let waits = *waits;
            self.copy_early(place, &waits, said)?;
        }
        Ok(())
    }

    fn note_answered(&mut self, batch: BatchId) {
        for sent in &mut self.sent {
            if sent.batch == batch {
                sent.answered = true;
            }
        }
    }

    /// The copy that went before its turn is answered.
    fn early_answered(
        &mut self,
        place: Place<'_>,
        sent: Sent,
        error: ErrorCode,
        said: &mut Said,
    ) -> Result<(), Difference> {
        if error == ErrorCode::None {
            for it in &mut self.sent {
                if it.batch == sent.batch {
                    it.early = Early::Acknowledged;
                }
            }
            return Ok(());
        }
        self.note_answered(sent.batch);
        match classify(Api::Produce, impl_error(error)?) {
            Class::Retry | Class::FindAndRetry | Class::OutOfOrder => {
                self.copy_early(place, &sent, said)
            }
            // To the client, whose own copy has yet to go, the batch is one that comes to nothing.
            Class::Abortable => {
                let expired = Input::BatchExpired {
                    partition: partition_of(place, sent.partition),
                    batch: sent.batch,
                };
                self.drive(place, expired, said)
            }
            Class::Success | Class::AbortableWithBump | Class::Fatal => {
                Err(Difference::effect("client", (error, sent)))
            }
        }
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
