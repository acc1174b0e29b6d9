//! OffsetCommit outside any transaction.

use kafka_protocol::messages::offset_commit_request::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use kafka_protocol::messages::{GroupId, OffsetCommitRequest};

use super::{ErrorCode, GroupMember, TopicPartition, WireError, only, text, topic_name};
use crate::wire::Connection;

impl Connection {
    /// OffsetCommit v7 of one offset.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn offset_commit(
        &mut self,
        group_id: &str,
        member: &GroupMember,
        partition: &TopicPartition,
        offset: i64,
    ) -> Result<ErrorCode, WireError> {
        self.offset_commit_beside(group_id, member, (partition, offset), "")
    }

    /// The same with the client's own words beside the offset.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn offset_commit_beside(
        &mut self,
        group_id: &str,
        member: &GroupMember,
        (partition, offset): (&TopicPartition, i64),
        words: &str,
    ) -> Result<ErrorCode, WireError> {
        let committed = OffsetCommitRequestPartition::default()
            .with_partition_index(partition.partition)
            .with_committed_offset(offset)
            .with_committed_metadata(Some(text(words)));
        let topic = OffsetCommitRequestTopic::default()
            .with_name(topic_name(&partition.topic))
            .with_partitions(vec![committed]);
        let request = OffsetCommitRequest::default()
            .with_group_id(GroupId(text(group_id)))
            .with_generation_id_or_member_epoch(member.generation_id)
            .with_member_id(text(&member.member_id))
            .with_group_instance_id(member.instance_id.as_deref().map(text))
            .with_topics(vec![topic]);
        let topic = only(self.call(7, &request)?.topics, "topics")?;
        Ok(ErrorCode(only(topic.partitions, "partitions")?.error_code))
    }
}
