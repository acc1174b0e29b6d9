//! A connection breaks, or the network keeps a copy: what goes again.

use super::shell::{Early, Sent, partition_of};
use super::{Gap, Place, Running, Said};
use crate::actors::Difference;
use crate::map::impl_error;
use fencepost::client::{Class, Input, Request, State, classify};
use fencepost::error_code::ErrorCode as ImplError;
use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::message::*;

impl Running {
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
    pub(super) fn is_asked_in_error(&self, error: ErrorCode) -> Result<bool, Difference> {
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
    pub(super) fn ask_in_error(
        &mut self,
        place: Place<'_>,
        said: &mut Said,
    ) -> Result<(), Difference> {
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
    pub(super) fn copy_early(
        &self,
        place: Place<'_>,
        sent: &Sent,
        said: &mut Said,
    ) -> Result<(), Difference> {
        said.gaps.push(Gap::EarlyCopy);
        let (identity, sequence) = self.numbered(place, sent)?;
        let number = (identity, sequence, self.version());
        said.messages.push(self.batch_message(place, sent, number));
        Ok(())
    }
}
