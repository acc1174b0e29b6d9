//! TxnOffsetCommit: offsets staged in a transaction.

use kafka_protocol::messages::txn_offset_commit_request::{
    TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic,
};
use kafka_protocol::messages::{GroupId, ProducerId, TxnOffsetCommitRequest};

use super::{
    ErrorCode, Producer, TopicPartition, WireError, only, text, topic_name, transactional_id,
};
use crate::wire::Connection;

/// Who commits, for KIP-447's check (v3 and later).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// Generation of a classic group or member epoch, -1 for none.
    pub generation_id: i32,
    /// Member id, empty for none.
    pub member_id: String,
    /// Static member's instance id.
    pub instance_id: Option<String>,
}

impl GroupMember {
    /// No group metadata, as clients before KIP-447 commit.
    #[must_use]
    pub fn unknown() -> Self {
        Self {
            generation_id: -1,
            member_id: String::new(),
            instance_id: None,
        }
    }
}

/// One partition's offset to be staged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TxnOffsetCommit<'a> {
    /// Transactional id.
    pub transactional_id: &'a str,
    /// Producer id and epoch.
    pub producer: Producer,
    /// Group.
    pub group_id: &'a str,
    /// Group metadata (not sent below v3).
    pub member: GroupMember,
    /// Partition whose offset it is.
    pub partition: TopicPartition,
    /// The offset.
    pub offset: i64,
}

impl Connection {
    /// TxnOffsetCommit, v0 to v5.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn txn_offset_commit(
        &mut self,
        version: i16,
        commit: &TxnOffsetCommit<'_>,
    ) -> Result<ErrorCode, WireError> {
        let partition = TxnOffsetCommitRequestPartition::default()
            .with_partition_index(commit.partition.partition)
            .with_committed_offset(commit.offset)
            .with_committed_metadata(Some(text("")));
        let topic = TxnOffsetCommitRequestTopic::default()
            .with_name(topic_name(&commit.partition.topic))
            .with_partitions(vec![partition]);
        let mut request = TxnOffsetCommitRequest::default()
            .with_transactional_id(transactional_id(commit.transactional_id))
            .with_group_id(GroupId(text(commit.group_id)))
            .with_producer_id(ProducerId(commit.producer.id))
            .with_producer_epoch(commit.producer.epoch)
            .with_topics(vec![topic]);
        if version >= 3 {
            request = request
                .with_generation_id(commit.member.generation_id)
                .with_member_id(text(&commit.member.member_id))
                .with_group_instance_id(commit.member.instance_id.as_deref().map(text));
        }
        let topic = only(self.call(version, &request)?.topics, "topics")?;
        Ok(ErrorCode(only(topic.partitions, "partitions")?.error_code))
    }
}
