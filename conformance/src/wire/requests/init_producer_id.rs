//! InitProducerId v0 to v5 by the protocol crate, v6 (KIP-939) by hand.

use bytes::{Buf, BufMut, BytesMut};
use kafka_protocol::messages::{InitProducerIdRequest, ProducerId};

use super::{ErrorCode, Producer, WireError, transactional_id};
use crate::wire::{Connection, Frame};

/// A request for a producer id and epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitProducerId<'a> {
    /// Transactional id, none for an idempotent producer.
    pub transactional_id: Option<&'a str>,
    /// Transaction timeout in milliseconds.
    pub timeout_ms: i32,
    /// The pair that the client believes to be current (v3 and later), or [`Producer::NONE`].
    pub expected: Producer,
    /// KIP-939's enable2Pc (v6 only, not sent in lower versions).
    pub enable_2pc: bool,
    /// KIP-939's keepPreparedTxn (v6 only, not sent in lower versions).
    pub keep_prepared: bool,
}

impl<'a> InitProducerId<'a> {
    /// A plain request for `transactional_id`, with a timeout of one minute.
    #[must_use]
    pub const fn plain(transactional_id: &'a str) -> Self {
        Self {
            transactional_id: Some(transactional_id),
            timeout_ms: 60_000,
            expected: Producer::NONE,
            enable_2pc: false,
            keep_prepared: false,
        }
    }

    /// The same request with an expected pair (KIP-360).
    #[must_use]
    pub const fn expecting(mut self, expected: Producer) -> Self {
        self.expected = expected;
        self
    }
}

/// The answer to InitProducerId.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitProducerIdAnswer {
    /// Refusal, if any.
    pub error: ErrorCode,
    /// What the client is to use from now on.
    pub producer: Producer,
    /// The transaction that is still open (v6), [`Producer::NONE`] otherwise.
    pub ongoing: Producer,
}

impl Connection {
    /// InitProducerId in any version from 0 to 6.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn init_producer_id(
        &mut self,
        version: i16,
        request: InitProducerId<'_>,
    ) -> Result<InitProducerIdAnswer, WireError> {
        if version >= 6 {
            return self.init_producer_id_by_hand(version, request);
        }
        let mut encoded = InitProducerIdRequest::default()
            .with_transactional_id(request.transactional_id.map(transactional_id))
            .with_transaction_timeout_ms(request.timeout_ms);
        if version >= 3 {
            encoded = encoded
                .with_producer_id(ProducerId(request.expected.id))
                .with_producer_epoch(request.expected.epoch);
        }
        let answer = self.call(version, &encoded)?;
        Ok(InitProducerIdAnswer {
            error: ErrorCode(answer.error_code),
            producer: Producer {
                id: answer.producer_id.0,
                epoch: answer.producer_epoch,
            },
            ongoing: Producer::NONE,
        })
    }

    /// KIP-939: two flags after the epoch, the open transaction's pair after the answer's epoch.
    fn init_producer_id_by_hand(
        &mut self,
        version: i16,
        request: InitProducerId<'_>,
    ) -> Result<InitProducerIdAnswer, WireError> {
        let mut body = BytesMut::new();
        put_compact_nullable(&mut body, request.transactional_id)?;
        body.put_i32(request.timeout_ms);
        body.put_i64(request.expected.id);
        body.put_i16(request.expected.epoch);
        body.put_u8(u8::from(request.enable_2pc));
        body.put_u8(u8::from(request.keep_prepared));
        body.put_u8(0);
        let frame = Frame {
            api_key: 22,
            api_version: version,
            request_header: 2,
            response_header: 1,
        };
        let mut answer = self.call_raw(frame, &body)?;
        if answer.len() < 4 + 2 + 10 + 10 + 1 {
            return Err(WireError::Malformed(format!(
                "InitProducerId v{version} answer of {} bytes",
                answer.len()
            )));
        }
        answer.advance(4);
        Ok(InitProducerIdAnswer {
            error: ErrorCode(answer.get_i16()),
            producer: get_producer(&mut answer),
            ongoing: get_producer(&mut answer),
        })
    }
}

fn get_producer(answer: &mut impl Buf) -> Producer {
    Producer {
        id: answer.get_i64(),
        epoch: answer.get_i16(),
    }
}

/// A compact nullable string: varint of length + 1, 0 for null. Two bytes of length are enough
/// for every id that a broker accepts.
fn put_compact_nullable(body: &mut BytesMut, value: Option<&str>) -> Result<(), WireError> {
    let length = value.map_or(0, |value| value.len() + 1);
    match length {
        0..0x80 => body.put_u8(length as u8),
        0x80..0x4000 => {
            body.put_u8((length as u8 & 0x7f) | 0x80);
            body.put_u8((length >> 7) as u8);
        }
        _ => {
            return Err(WireError::Unencodable(
                "transactional id over 16 KiB".to_owned(),
            ));
        }
    }
    body.extend_from_slice(value.unwrap_or_default().as_bytes());
    Ok(())
}
