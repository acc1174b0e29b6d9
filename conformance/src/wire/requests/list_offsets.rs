//! ListOffsets: the end of a partition at either isolation level.

use kafka_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use kafka_protocol::messages::{BrokerId, ListOffsetsRequest};

use super::{ErrorCode, IsolationLevel, TopicPartition, WireError, only, topic_name};
use crate::wire::Connection;

impl Connection {
    /// ListOffsets v6 for the latest offset: the high watermark, or with read_committed the last
    /// stable offset.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn latest_offset(
        &mut self,
        partition: &TopicPartition,
        isolation: IsolationLevel,
    ) -> Result<(ErrorCode, i64), WireError> {
        const LATEST: i64 = -1;
        let wanted = ListOffsetsPartition::default()
            .with_partition_index(partition.partition)
            .with_timestamp(LATEST);
        let topic = ListOffsetsTopic::default()
            .with_name(topic_name(&partition.topic))
            .with_partitions(vec![wanted]);
        let request = ListOffsetsRequest::default()
            .with_replica_id(BrokerId(-1))
            .with_isolation_level(isolation.code())
            .with_topics(vec![topic]);
        let topic = only(self.call(6, &request)?.topics, "topics")?;
        let answer = only(topic.partitions, "partitions")?;
        Ok((ErrorCode(answer.error_code), answer.offset))
    }
}
