//! EndTxn: commit or abort. From v5 on (TV2) the answer carries the next identity.

use kafka_protocol::messages::{EndTxnRequest, ProducerId};

use super::{ErrorCode, Producer, WireError, transactional_id};
use crate::wire::Connection;

/// What is to become of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TransactionResult {
    /// `committed` is true.
    Commit,
    /// `committed` is false.
    Abort,
}

/// The answer to EndTxn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndTxnAnswer {
    /// Refusal, if any.
    pub error: ErrorCode,
    /// The identity to go on with (v5), [`Producer::NONE`] below v5 and on a refusal.
    pub producer: Producer,
}

impl Connection {
    /// EndTxn, v0 to v5.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn end_txn(
        &mut self,
        version: i16,
        id: &str,
        producer: Producer,
        result: TransactionResult,
    ) -> Result<EndTxnAnswer, WireError> {
        let request = EndTxnRequest::default()
            .with_transactional_id(transactional_id(id))
            .with_producer_id(ProducerId(producer.id))
            .with_producer_epoch(producer.epoch)
            .with_committed(result == TransactionResult::Commit);
        let answer = self.call(version, &request)?;
        Ok(EndTxnAnswer {
            error: ErrorCode(answer.error_code),
            producer: Producer {
                id: answer.producer_id.0,
                epoch: answer.producer_epoch,
            },
        })
    }
}
