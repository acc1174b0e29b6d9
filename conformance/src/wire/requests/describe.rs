//! DescribeTransactions and DescribeProducers (KIP-664): what coordinator and partition believe.

use kafka_protocol::messages::describe_producers_request::TopicRequest;
use kafka_protocol::messages::{DescribeProducersRequest, DescribeTransactionsRequest};

use super::{ErrorCode, Producer, TopicPartition, WireError, only, topic_name, transactional_id};
use crate::wire::Connection;

/// A transactional id, as its coordinator describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionDescription {
    /// Refusal, for example TRANSACTIONAL_ID_NOT_FOUND.
    pub error: ErrorCode,
    /// Kafka's name of the state, for example `Ongoing`.
    pub state: String,
    /// Producer id and epoch that the coordinator holds.
    pub producer: Producer,
    /// Transaction timeout in milliseconds.
    pub timeout_ms: i32,
    /// When the transaction began, milliseconds since 1970; -1 for none.
    pub start_time_ms: i64,
    /// Partitions of the transaction, sorted.
    pub partitions: Vec<TopicPartition>,
}

/// A producer, as a partition leader describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveProducer {
    /// Producer id and epoch that the partition holds.
    pub producer: Producer,
    /// Last sequence, -1 for none.
    pub last_sequence: i32,
    /// Epoch of the coordinator whose marker came last, -1 for none.
    pub coordinator_epoch: i32,
    /// First offset of the open transaction, -1 for none.
    pub current_txn_start_offset: i64,
}

impl Connection {
    /// DescribeTransactions v0 for one id.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn describe_transaction(&mut self, id: &str) -> Result<TransactionDescription, WireError> {
        let request = DescribeTransactionsRequest::default()
            .with_transactional_ids(vec![transactional_id(id)]);
        let found = only(self.call(0, &request)?.transaction_states, "transactions")?;
        let mut partitions: Vec<TopicPartition> = found
            .topics
            .iter()
            .flat_map(|topic| {
                topic
                    .partitions
                    .iter()
                    .map(|partition| TopicPartition::new(&topic.topic, *partition))
            })
            .collect();
        partitions.sort();
        Ok(TransactionDescription {
            error: ErrorCode(found.error_code),
            state: found.transaction_state.to_string(),
            producer: Producer {
                id: found.producer_id.0,
                epoch: found.producer_epoch,
            },
            timeout_ms: found.transaction_timeout_ms,
            start_time_ms: found.transaction_start_time_ms,
            partitions,
        })
    }

    /// DescribeProducers v0 for one partition, sorted by producer id.
    ///
    /// # Errors
    /// As [`Connection::call`]; [`WireError::Malformed`] on an epoch outside 16 bits.
    pub fn describe_producers(
        &mut self,
        partition: &TopicPartition,
    ) -> Result<(ErrorCode, Vec<ActiveProducer>), WireError> {
        let topic = TopicRequest::default()
            .with_name(topic_name(&partition.topic))
            .with_partition_indexes(vec![partition.partition]);
        let request = DescribeProducersRequest::default().with_topics(vec![topic]);
        let topic = only(self.call(0, &request)?.topics, "topics")?;
        let answer = only(topic.partitions, "partitions")?;
        let mut producers = answer
            .active_producers
            .iter()
            .map(|active| {
                Ok(ActiveProducer {
                    producer: Producer {
                        id: active.producer_id.0,
                        epoch: i16::try_from(active.producer_epoch).map_err(|_| {
                            WireError::Malformed(format!("epoch {}", active.producer_epoch))
                        })?,
                    },
                    last_sequence: active.last_sequence,
                    coordinator_epoch: active.coordinator_epoch,
                    current_txn_start_offset: active.current_txn_start_offset,
                })
            })
            .collect::<Result<Vec<_>, WireError>>()?;
        producers.sort_by_key(|active| active.producer);
        Ok((ErrorCode(answer.error_code), producers))
    }
}
