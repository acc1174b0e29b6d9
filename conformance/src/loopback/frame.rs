//! What stands before a request's body and before an answer's.

use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::messages::ApiKey;

use crate::wire::preflight::skip_tagged_fields;
use crate::wire::{Reader, WireError, malformed};

/// A request's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) api_key: i16,
    pub(super) version: i16,
    pub(super) correlation_id: i32,
    pub(super) client_id: String,
    flexible_answer: bool,
}

/// Splits a frame into header and body.
///
/// # Errors
/// A frame that ends inside its header, a client id that is no text, an API that Kafka does not have.
pub(super) fn split(frame: Bytes) -> Result<(Head, Bytes), WireError> {
    let mut reader = Reader::new(frame);
    let (api_key, version) = (reader.i16()?, reader.i16()?);
    let correlation_id = reader.i32()?;
    let api = ApiKey::try_from(api_key).map_err(|()| malformed("no such API"))?;
    let client_id = match usize::try_from(reader.i16()?) {
        Ok(length) => String::from_utf8(reader.take(length)?.to_vec())
            .map_err(|_| malformed("client id is no text"))?,
        Err(_) => String::new(),
    };
    let mut body = reader.rest();
    if api.request_header_version(version) >= 2 {
        let tags = skip_tagged_fields(&body)?;
        body = body.slice(tags..);
    }
    let head = Head {
        api_key,
        version,
        correlation_id,
        client_id,
        flexible_answer: api.response_header_version(version) >= 1,
    };
    Ok((head, body))
}

impl Head {
    /// The answer's frame. A body of more than 2 GiB cannot come about: requests and logs are smaller.
    pub(super) fn frame(&self, body: &[u8]) -> Vec<u8> {
        let mut out = BytesMut::with_capacity(body.len() + 9);
        let length = 4 + usize::from(self.flexible_answer) + body.len();
        out.put_i32(i32::try_from(length).unwrap_or(i32::MAX));
        out.put_i32(self.correlation_id);
        if self.flexible_answer {
            out.put_u8(0);
        }
        out.put_slice(body);
        out.to_vec()
    }
}
