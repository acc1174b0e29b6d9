//! OffsetFetch with KIP-447's requireStable.

use kafka_protocol::messages::offset_fetch_request::OffsetFetchRequestTopic;
use kafka_protocol::messages::{GroupId, OffsetFetchRequest};

use super::{ErrorCode, TopicPartition, WireError, only, text, topic_name};
use crate::wire::Connection;

/// A group's committed offset for one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommittedOffset {
    /// Refusal of the partition, or of the whole request where that was refused.
    pub error: ErrorCode,
    /// The offset, -1 for none.
    pub offset: i64,
}

impl Connection {
    /// OffsetFetch v7 for one partition.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn offset_fetch(
        &mut self,
        group_id: &str,
        partition: &TopicPartition,
        require_stable: bool,
    ) -> Result<CommittedOffset, WireError> {
        let topic = OffsetFetchRequestTopic::default()
            .with_name(topic_name(&partition.topic))
            .with_partition_indexes(vec![partition.partition]);
        let request = OffsetFetchRequest::default()
            .with_group_id(GroupId(text(group_id)))
            .with_topics(Some(vec![topic]))
            .with_require_stable(require_stable);
        let answer = self.call(7, &request)?;
        if answer.error_code != 0 {
            return Ok(CommittedOffset {
                error: ErrorCode(answer.error_code),
                offset: -1,
            });
        }
        let topic = only(answer.topics, "topics")?;
        let found = only(topic.partitions, "partitions")?;
        Ok(CommittedOffset {
            error: ErrorCode(found.error_code),
            offset: found.committed_offset,
        })
    }

    /// OffsetFetch v7 without naming partitions: every offset of the group, in the answer's order.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn offset_fetch_all(
        &mut self,
        group_id: &str,
        require_stable: bool,
    ) -> Result<Vec<(TopicPartition, CommittedOffset)>, WireError> {
        let request = OffsetFetchRequest::default()
            .with_group_id(GroupId(text(group_id)))
            .with_topics(None)
            .with_require_stable(require_stable);
        let answer = self.call(7, &request)?;
        let topics = answer.topics.into_iter().flat_map(|topic| {
            let name = topic.name.to_string();
            topic.partitions.into_iter().map(move |found| {
                let offset = CommittedOffset {
                    error: ErrorCode(found.error_code),
                    offset: found.committed_offset,
                };
                (TopicPartition::new(&name, found.partition_index), offset)
            })
        });
        Ok(topics.collect())
    }
}
