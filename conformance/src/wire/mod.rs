//! A raw Kafka client: it sends exactly the request it is told to send, with right or wrong
//! producer ids, epochs, sequences and generations, and gives back what the broker answered.
//!
//! It keeps no client state, retries nothing and hides no error code. Numbers stand here as they
//! stand on the wire (`-1` for none): this is the codec. One [`Connection`] is one TCP connection;
//! a test opens as many as its story has actors.

mod batch;
mod connection;
mod error;
pub(crate) mod preflight;
mod reader;
mod requests;
mod shapes;
mod transaction_log;

pub use batch::{Batch, BatchView, ControlRecord, RecordView, read_batch_headers, read_batches};
pub use connection::{Connection, Frame};
pub use error::{ErrorCode, WireError};
pub(crate) use reader::{Reader, malformed};
pub use requests::*;
pub use transaction_log::{TransactionLogValue, transaction_log_key};
