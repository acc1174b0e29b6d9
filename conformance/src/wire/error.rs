//! Two kinds of failure: what the broker answered, and what went wrong on the way.

use std::fmt;
use std::io;

use kafka_protocol::error::ResponseError;

/// An answer's error code, as Kafka numbers them; 0 is `NONE`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErrorCode(
    /// The number on the wire.
    pub i16,
);

impl ErrorCode {
    /// Success.
    pub const NONE: Self = Self(0);

    /// Kafka's name of the code, for example `PRODUCER_FENCED`; a code that the protocol crate
    /// does not know is given as `CODE_n`.
    #[must_use]
    pub fn name(self) -> String {
        match ResponseError::try_from_code(self.0) {
            None => "NONE".to_owned(),
            Some(ResponseError::Unknown(code)) => format!("CODE_{code}"),
            Some(known) => screaming_snake(&format!("{known:?}")),
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// Kafka's name: a failed assertion on a code is then readable.
impl fmt::Debug for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

fn screaming_snake(camel: &str) -> String {
    let mut name = String::with_capacity(camel.len() + 8);
    for (index, letter) in camel.chars().enumerate() {
        if letter.is_ascii_uppercase() && index > 0 {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

/// Why no answer could be had from a broker.
#[derive(Debug)]
pub enum WireError {
    /// The socket failed, timed out, or was closed by the broker (`UnexpectedEof`: Kafka closes
    /// the connection on a request that it cannot parse).
    Io(io::Error),
    /// The broker's bytes are not an answer to the request: a length that does not fit the frame,
    /// a wrong correlation id, a body that does not decode.
    Malformed(String),
    /// The request cannot be put on the wire in this version (our own caller's mistake).
    Unencodable(String),
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "connection: {error}"),
            Self::Malformed(what) => write!(f, "malformed answer: {what}"),
            Self::Unencodable(what) => write!(f, "request cannot be encoded: {what}"),
        }
    }
}

impl std::error::Error for WireError {}

impl From<io::Error> for WireError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_printed_by_kafkas_name() {
        assert_eq!(ErrorCode(90).to_string(), "PRODUCER_FENCED");
        assert_eq!(ErrorCode(48).to_string(), "INVALID_TXN_STATE");
        assert_eq!(ErrorCode(0).to_string(), "NONE");
        assert_eq!(ErrorCode(12345).to_string(), "CODE_12345");
    }
}
