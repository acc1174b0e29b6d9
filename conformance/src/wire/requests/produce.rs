//! Produce: one batch to one partition.

use bytes::Bytes;
use kafka_protocol::messages::ProduceRequest;
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};

use super::{ErrorCode, TopicPartition, WireError, only, topic_name, transactional_id};
use crate::wire::{Batch, Connection};

/// The answer for the one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProduceAnswer {
    /// Refusal, if any.
    pub error: ErrorCode,
    /// Offset of the first record, -1 on a refusal.
    pub base_offset: i64,
    /// The broker's words (v8 and later).
    pub message: Option<String>,
}

impl Connection {
    /// Produce with acks=all, v3 to v12 (v13 names topics by id).
    ///
    /// # Errors
    /// As [`Connection::call`]; [`WireError::Unencodable`] for v13 and later.
    pub fn produce(
        &mut self,
        version: i16,
        id: Option<&str>,
        partition: &TopicPartition,
        batch: &Batch,
    ) -> Result<ProduceAnswer, WireError> {
        self.produce_bytes(version, id, partition, batch.encode())
    }

    /// The same with the batch's bytes as they are.
    ///
    /// # Errors
    /// As [`Connection::produce`].
    pub fn produce_bytes(
        &mut self,
        version: i16,
        id: Option<&str>,
        partition: &TopicPartition,
        records: Bytes,
    ) -> Result<ProduceAnswer, WireError> {
        if version > 12 {
            return Err(WireError::Unencodable("Produce by topic id".to_owned()));
        }
        let data = PartitionProduceData::default()
            .with_index(partition.partition)
            .with_records(Some(records));
        let topic = TopicProduceData::default()
            .with_name(topic_name(&partition.topic))
            .with_partition_data(vec![data]);
        let request = ProduceRequest::default()
            .with_transactional_id(id.map(transactional_id))
            .with_acks(-1)
            .with_timeout_ms(10_000)
            .with_topic_data(vec![topic]);
        let topic = only(self.call(version, &request)?.responses, "topics")?;
        let answer = only(topic.partition_responses, "partitions")?;
        Ok(ProduceAnswer {
            error: ErrorCode(answer.error_code),
            base_offset: answer.base_offset,
            message: answer.error_message.map(|message| message.to_string()),
        })
    }
}
