//! AddOffsetsToTxn: the group's offsets partition joins the transaction.

use kafka_protocol::messages::{AddOffsetsToTxnRequest, GroupId, ProducerId};

use super::{ErrorCode, Producer, WireError, text, transactional_id};
use crate::wire::Connection;

impl Connection {
    /// AddOffsetsToTxn, v0 to v4.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn add_offsets_to_txn(
        &mut self,
        version: i16,
        id: &str,
        producer: Producer,
        group_id: &str,
    ) -> Result<ErrorCode, WireError> {
        let request = AddOffsetsToTxnRequest::default()
            .with_transactional_id(transactional_id(id))
            .with_producer_id(ProducerId(producer.id))
            .with_producer_epoch(producer.epoch)
            .with_group_id(GroupId(text(group_id)));
        Ok(ErrorCode(self.call(version, &request)?.error_code))
    }
}
