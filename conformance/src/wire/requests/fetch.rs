//! Fetch: a partition's log at either isolation level, with the aborted list.

use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use kafka_protocol::messages::{BrokerId, FetchRequest};

use super::{ErrorCode, TopicPartition, WireError, only, topic_name};
use crate::wire::{BatchView, Connection, read_batches};

/// Which records a reader asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IsolationLevel {
    /// Everything below the high watermark.
    ReadUncommitted,
    /// Everything below the last stable offset, with the list of aborted transactions.
    ReadCommitted,
}

impl IsolationLevel {
    /// The number on the wire.
    #[must_use]
    pub const fn code(self) -> i8 {
        match self {
            Self::ReadUncommitted => 0,
            Self::ReadCommitted => 1,
        }
    }
}

/// The answer for the one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchAnswer {
    /// Refusal, if any.
    pub error: ErrorCode,
    /// High watermark, -1 on a refusal.
    pub high_watermark: i64,
    /// Last stable offset, -1 where the broker gives none.
    pub last_stable_offset: i64,
    /// First offset that the log still has.
    pub log_start_offset: i64,
    /// Aborted transactions as (producer id, first offset); null (none) for read_uncommitted.
    pub aborted: Option<Vec<(i64, i64)>>,
    /// The batches, control batches included.
    pub batches: Vec<BatchView>,
}

impl Connection {
    /// Fetch v12 without a session: up to 8 MiB from `offset`, without waiting for data.
    ///
    /// # Errors
    /// As [`Connection::call`] and [`read_batches`].
    pub fn fetch(
        &mut self,
        partition: &TopicPartition,
        offset: i64,
        isolation: IsolationLevel,
    ) -> Result<FetchAnswer, WireError> {
        const MAX_BYTES: usize = 8 * 1024 * 1024;
        let (answer, _) = self.fetch_up_to(partition, offset, isolation, MAX_BYTES)?;
        Ok(answer)
    }

    /// The same up to so many bytes; how many came, too.
    ///
    /// # Errors
    /// As [`Connection::fetch`].
    pub fn fetch_up_to(
        &mut self,
        partition: &TopicPartition,
        offset: i64,
        isolation: IsolationLevel,
        max_bytes: usize,
    ) -> Result<(FetchAnswer, usize), WireError> {
        let max_bytes = i32::try_from(max_bytes).unwrap_or(i32::MAX);
        let wanted = FetchPartition::default()
            .with_partition(partition.partition)
            .with_fetch_offset(offset)
            .with_partition_max_bytes(max_bytes);
        let topic = FetchTopic::default()
            .with_topic(topic_name(&partition.topic))
            .with_partitions(vec![wanted]);
        let request = FetchRequest::default()
            .with_replica_id(BrokerId(-1))
            .with_max_wait_ms(0)
            .with_min_bytes(0)
            .with_max_bytes(max_bytes)
            .with_isolation_level(isolation.code())
            .with_session_id(0)
            .with_session_epoch(-1)
            .with_topics(vec![topic]);
        let answer = self.call(12, &request)?;
        if answer.error_code != 0 {
            return Err(WireError::Malformed(format!(
                "Fetch session error {}",
                ErrorCode(answer.error_code)
            )));
        }
        let data = only(only(answer.responses, "topics")?.partitions, "partitions")?;
        let records = data.records.unwrap_or_default();
        let answer = FetchAnswer {
            error: ErrorCode(data.error_code),
            high_watermark: data.high_watermark,
            last_stable_offset: data.last_stable_offset,
            log_start_offset: data.log_start_offset,
            aborted: data.aborted_transactions.map(|list| {
                list.iter()
                    .map(|aborted| (aborted.producer_id.0, aborted.first_offset))
                    .collect()
            }),
            batches: read_batches(&records)?,
        };
        Ok((answer, records.len()))
    }
}
