//! AddPartitionsToTxn: v0 to v3 as clients send it, v4 and v5 as brokers do (batched, with
//! verifyOnly).

use kafka_protocol::messages::add_partitions_to_txn_request::{
    AddPartitionsToTxnTopic, AddPartitionsToTxnTransaction,
};
use kafka_protocol::messages::add_partitions_to_txn_response::AddPartitionsToTxnTopicResult;
use kafka_protocol::messages::{AddPartitionsToTxnRequest, ProducerId};

use super::{
    ErrorCode, PartitionErrors, Producer, TopicPartition, WireError, by_topic, topic_name,
    transactional_id,
};
use crate::wire::Connection;

/// One transaction of a broker's batched request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionToAdd<'a> {
    /// Transactional id.
    pub transactional_id: &'a str,
    /// Producer id and epoch.
    pub producer: Producer,
    /// Only ask whether the partitions belong to the transaction; add nothing.
    pub verify_only: bool,
    /// The partitions.
    pub partitions: Vec<TopicPartition>,
}

impl Connection {
    /// The client form, v0 to v3: one transaction.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn add_partitions_to_txn(
        &mut self,
        version: i16,
        id: &str,
        producer: Producer,
        partitions: &[TopicPartition],
    ) -> Result<PartitionErrors, WireError> {
        let request = AddPartitionsToTxnRequest::default()
            .with_v3_and_below_transactional_id(transactional_id(id))
            .with_v3_and_below_producer_id(ProducerId(producer.id))
            .with_v3_and_below_producer_epoch(producer.epoch)
            .with_v3_and_below_topics(topics(partitions));
        let answer = self.call(version, &request)?;
        Ok(errors(answer.results_by_topic_v3_and_below))
    }

    /// The broker form, v4 and v5: the top-level error (15 etc. where none can be judged), then
    /// each transaction's answers in the order of the broker.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn add_partitions_to_txn_batched(
        &mut self,
        version: i16,
        transactions: &[TransactionToAdd<'_>],
    ) -> Result<(ErrorCode, Vec<(String, PartitionErrors)>), WireError> {
        let transactions = transactions.iter().map(|transaction| {
            AddPartitionsToTxnTransaction::default()
                .with_transactional_id(transactional_id(transaction.transactional_id))
                .with_producer_id(ProducerId(transaction.producer.id))
                .with_producer_epoch(transaction.producer.epoch)
                .with_verify_only(transaction.verify_only)
                .with_topics(topics(&transaction.partitions))
        });
        let request =
            AddPartitionsToTxnRequest::default().with_transactions(transactions.collect());
        let answer = self.call(version, &request)?;
        let results = answer
            .results_by_transaction
            .into_iter()
            .map(|result| {
                (
                    result.transactional_id.to_string(),
                    errors(result.topic_results),
                )
            })
            .collect();
        Ok((ErrorCode(answer.error_code), results))
    }
}

fn topics(partitions: &[TopicPartition]) -> Vec<AddPartitionsToTxnTopic> {
    by_topic(partitions)
        .into_iter()
        .map(|(name, indexes)| {
            AddPartitionsToTxnTopic::default()
                .with_name(topic_name(name))
                .with_partitions(indexes)
        })
        .collect()
}

fn errors(topics: Vec<AddPartitionsToTxnTopicResult>) -> PartitionErrors {
    topics
        .into_iter()
        .flat_map(|topic| {
            topic.results_by_partition.into_iter().map(move |result| {
                (
                    TopicPartition::new(&topic.name, result.partition_index),
                    ErrorCode(result.partition_error_code),
                )
            })
        })
        .collect()
}
