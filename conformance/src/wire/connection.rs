//! One TCP connection: frames out, frames in, each checked before it is decoded.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use kafka_protocol::messages::{FetchRequest, RequestHeader};
use kafka_protocol::protocol::{Decodable, Encodable, HeaderVersion, Request, StrBytes};

use super::error::WireError;
use super::preflight;
use super::shapes::response_shape;

/// The largest answer that is read, in bytes: far above anything a test asks for.
const MAX_FRAME: usize = 64 * 1024 * 1024;

/// What is known of a request before its body: enough to frame it and to read its answer's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Kafka's API key, for example 22 for InitProducerId.
    pub api_key: i16,
    /// Version of the request.
    pub api_version: i16,
    /// 1 for a plain request header, 2 for a flexible one (tagged fields).
    pub request_header: i16,
    /// 0 for a plain answer header, 1 for a flexible one.
    pub response_header: i16,
}

/// A connection to one broker. Requests may be sent ahead of their answers ([`Self::send`],
/// [`Self::receive`]); answers come in the order of the requests.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    client_id: StrBytes,
    next_correlation_id: i32,
    next_expected_id: i32,
}

impl Connection {
    /// Opens a connection; `timeout` holds for the connect and for every later read and write.
    ///
    /// # Errors
    /// [`WireError::Io`] where the broker cannot be reached or the timeout is zero.
    pub fn open(address: SocketAddr, timeout: Duration) -> Result<Self, WireError> {
        Self::open_as("fencepost", address, timeout)
    }

    /// As [`Self::open`], under a client id of the caller's choice. Kafka lets `__admin_client`
    /// write to internal topics.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_as(
        client_id: &str,
        address: SocketAddr,
        timeout: Duration,
    ) -> Result<Self, WireError> {
        let stream = TcpStream::connect_timeout(&address, timeout)?;
        stream.set_read_timeout(Some(timeout))?;
        stream.set_write_timeout(Some(timeout))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            client_id: StrBytes::from_string(client_id.to_owned()),
            next_correlation_id: 1,
            next_expected_id: 1,
        })
    }

    /// Sends one of the protocol crate's requests and waits for its answer.
    ///
    /// # Errors
    /// [`WireError::Unencodable`] for a field or version that the crate refuses, else as
    /// [`Self::receive`].
    pub fn call<R: Request>(
        &mut self,
        version: i16,
        request: &R,
    ) -> Result<R::Response, WireError> {
        self.put(version, request)?;
        self.take::<R>(version)
    }

    /// Sends one of the protocol crate's requests and waits for the body of its answer.
    pub(super) fn ask<R: Request>(
        &mut self,
        version: i16,
        request: &R,
    ) -> Result<Bytes, WireError> {
        self.put(version, request)?;
        self.receive(frame_of::<R>(version))
    }

    /// Sends one of the protocol crate's requests, whose answer [`Self::take`] reads.
    pub(super) fn put<R: Request>(&mut self, version: i16, request: &R) -> Result<(), WireError> {
        let mut body = BytesMut::new();
        request
            .encode(&mut body, version)
            .map_err(|error| WireError::Unencodable(error.to_string()))?;
        self.send(frame_of::<R>(version), &body)
    }

    /// Waits for the answer to the oldest request, which [`Self::put`] has sent.
    pub(super) fn take<R: Request>(&mut self, version: i16) -> Result<R::Response, WireError> {
        let answer = self.receive(frame_of::<R>(version))?;
        read::<R>(version, answer)
    }

    /// Sends a hand-coded body and waits for the body of its answer.
    ///
    /// # Errors
    /// As [`Self::send`] and [`Self::receive`].
    pub fn call_raw(&mut self, frame: Frame, body: &[u8]) -> Result<Bytes, WireError> {
        self.send(frame, body)?;
        self.receive(frame)
    }

    /// Puts a request on the wire without waiting for its answer.
    ///
    /// # Errors
    /// [`WireError::Io`] where the socket refuses it.
    pub fn send(&mut self, frame: Frame, body: &[u8]) -> Result<(), WireError> {
        let header = RequestHeader::default()
            .with_request_api_key(frame.api_key)
            .with_request_api_version(frame.api_version)
            .with_correlation_id(self.next_correlation_id)
            .with_client_id(Some(self.client_id.clone()));
        let mut message = BytesMut::new();
        message.extend_from_slice(&[0; 4]);
        header
            .encode(&mut message, frame.request_header)
            .map_err(|error| WireError::Unencodable(error.to_string()))?;
        message.extend_from_slice(body);
        let length = i32::try_from(message.len() - 4)
            .map_err(|_| WireError::Unencodable("request over 2 GiB".to_owned()))?;
        message[..4].copy_from_slice(&length.to_be_bytes());
        self.stream.write_all(&message)?;
        self.next_correlation_id = self.next_correlation_id.wrapping_add(1);
        Ok(())
    }

    /// Reads the answer to the oldest request that has none yet, without its header.
    ///
    /// # Errors
    /// [`WireError::Io`] on a timeout or a closed connection, [`WireError::Malformed`] on a frame
    /// length below its header's or above 64 MiB, or another request's correlation id.
    pub fn receive(&mut self, frame: Frame) -> Result<Bytes, WireError> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let length = i32::from_be_bytes(length);
        let length = usize::try_from(length)
            .ok()
            .filter(|length| (4..=MAX_FRAME).contains(length))
            .ok_or_else(|| WireError::Malformed(format!("frame length {length}")))?;
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        let mut answer = Bytes::from(bytes);
        let correlation_id = answer.get_i32();
        if correlation_id != self.next_expected_id {
            return Err(WireError::Malformed(format!(
                "correlation id {correlation_id}, expected {}",
                self.next_expected_id
            )));
        }
        self.next_expected_id = self.next_expected_id.wrapping_add(1);
        if frame.response_header >= 1 {
            let tags = preflight::skip_tagged_fields(&answer)?;
            answer.advance(tags);
        }
        Ok(answer)
    }
}

/// The body of an answer, checked and decoded. Bytes after its end are dropped, as clients do.
pub(super) fn read<R: Request>(version: i16, answer: Bytes) -> Result<R::Response, WireError> {
    let shape = response_shape(R::KEY, version).ok_or_else(|| {
        WireError::Unencodable(format!("no answer shape for api {} v{version}", R::KEY))
    })?;
    let parts = preflight::parts(shape, version, &answer)?;
    let mut whole = if R::KEY == FetchRequest::KEY && parts.fields < parts.end {
        // The crate refuses a tagged field of later versions, which is there to be ignored.
        let mut plain = BytesMut::from(&answer[..parts.fields]);
        plain.put_u8(0);
        plain.freeze()
    } else {
        answer.slice(..parts.end)
    };
    let decoded = R::Response::decode(&mut whole, version)
        .map_err(|error| WireError::Malformed(error.to_string()))?;
    if whole.has_remaining() {
        return Err(WireError::Malformed(format!(
            "{} bytes after the answer",
            whole.remaining()
        )));
    }
    Ok(decoded)
}

impl Connection {
    /// Whether an answer is still to come.
    #[must_use]
    pub const fn is_owed_an_answer(&self) -> bool {
        self.next_expected_id != self.next_correlation_id
    }

    /// Waits up to `timeout` for the oldest answer that is still to come, and throws it away.
    ///
    /// # Errors
    /// As [`Self::receive`].
    pub fn take_late_answer(&mut self, timeout: Duration) -> Result<(), WireError> {
        self.stream.set_read_timeout(Some(timeout))?;
        let plain = Frame {
            api_key: 0,
            api_version: 0,
            request_header: 1,
            response_header: 0,
        };
        self.receive(plain).map(|_| ())
    }
}

/// The frame of a request that the protocol crate knows.
fn frame_of<R: Request>(version: i16) -> Frame {
    Frame {
        api_key: R::KEY,
        api_version: version,
        request_header: R::header_version(version),
        response_header: R::Response::header_version(version),
    }
}
