//! Which request an answer belongs to, and what the client is told of it.

use super::application::input;
use super::shell::{Early, Sent, partition_of};
use super::{Place, Running, Said};
use crate::actors::Difference;
use crate::map::{self, impl_error};
use fencepost::client::{Api, BatchId, Class, Input, Request, Response, classify};
use fencepost::error_code::ErrorCode as ImplError;
use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::message::*;
use fencepost_spec::types::*;

impl Running {
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
}
