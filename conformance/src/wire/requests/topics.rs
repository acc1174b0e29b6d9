//! Metadata, CreateTopics, DeleteTopics: where partitions are, and making and removing them.

use kafka_protocol::messages::create_topics_request::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::{
    BrokerId, CreateTopicsRequest, DeleteTopicsRequest, MetadataRequest,
};

use super::{ErrorCode, WireError, only, text, topic_name};
use crate::wire::Connection;

const TIMEOUT_MS: i32 = 10_000;

/// A broker, as Metadata lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broker {
    /// Broker id.
    pub id: i32,
    /// Host that it advertises.
    pub host: String,
    /// Port that it advertises.
    pub port: u16,
}

/// Who leads a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionLeader {
    /// Partition, from 0.
    pub partition: i32,
    /// Refusal, for example LEADER_NOT_AVAILABLE.
    pub error: ErrorCode,
    /// Broker id, -1 for none.
    pub leader: i32,
    /// Leader epoch.
    pub leader_epoch: i32,
}

/// A topic to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicSpec {
    /// Name.
    pub name: String,
    /// The one replica of each partition in order; empty to let Kafka place one partition.
    pub replicas: Vec<i32>,
    /// Topic configuration, name and value.
    pub configs: Vec<(String, String)>,
}

impl TopicSpec {
    /// A topic with one partition, placed by Kafka.
    #[must_use]
    pub fn one_partition(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            replicas: Vec::new(),
            configs: Vec::new(),
        }
    }
}

impl Connection {
    /// All brokers of the cluster (Metadata v12).
    ///
    /// # Errors
    /// As [`Connection::call`]; [`WireError::Malformed`] on a port outside 0..=65535.
    pub fn brokers(&mut self) -> Result<Vec<Broker>, WireError> {
        let request = MetadataRequest::default().with_topics(Some(Vec::new()));
        let answer = self.call(12, &request)?;
        answer
            .brokers
            .iter()
            .map(|broker| {
                Ok(Broker {
                    id: broker.node_id.0,
                    host: broker.host.to_string(),
                    port: u16::try_from(broker.port)
                        .map_err(|_| WireError::Malformed(format!("port {}", broker.port)))?,
                })
            })
            .collect()
    }

    /// The names of all topics, sorted (Metadata v12).
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn list_topics(&mut self) -> Result<Vec<String>, WireError> {
        let request = MetadataRequest::default()
            .with_topics(None)
            .with_allow_auto_topic_creation(false);
        let answer = self.call(12, &request)?;
        let names = answer.topics.iter().filter_map(|it| it.name.as_ref());
        let mut names: Vec<String> = names.map(|it| it.as_str().to_owned()).collect();
        names.sort();
        Ok(names)
    }

    /// Asks about a topic so that a broker with automatic creation creates it (Metadata v12).
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn ask_for_topic(&mut self, topic: &str) -> Result<(), WireError> {
        let wanted = MetadataRequestTopic::default().with_name(Some(topic_name(topic)));
        let request = MetadataRequest::default()
            .with_topics(Some(vec![wanted]))
            .with_allow_auto_topic_creation(true);
        self.call(12, &request).map(drop)
    }

    /// A topic's error code and the leader of each of its partitions (Metadata v12; the topic is
    /// not created by asking).
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn leaders(&mut self, topic: &str) -> Result<(ErrorCode, Vec<PartitionLeader>), WireError> {
        let wanted = MetadataRequestTopic::default().with_name(Some(topic_name(topic)));
        let request = MetadataRequest::default()
            .with_topics(Some(vec![wanted]))
            .with_allow_auto_topic_creation(false);
        let answer = only(self.call(12, &request)?.topics, "topics")?;
        let leaders = answer
            .partitions
            .iter()
            .map(|partition| PartitionLeader {
                partition: partition.partition_index,
                error: ErrorCode(partition.error_code),
                leader: partition.leader_id.0,
                leader_epoch: partition.leader_epoch,
            })
            .collect();
        Ok((ErrorCode(answer.error_code), leaders))
    }

    /// CreateTopics v5.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn create_topic(&mut self, spec: &TopicSpec) -> Result<ErrorCode, WireError> {
        let placed = !spec.replicas.is_empty();
        let assignments = (0..).zip(&spec.replicas).map(|(partition, broker)| {
            CreatableReplicaAssignment::default()
                .with_partition_index(partition)
                .with_broker_ids(vec![BrokerId(*broker)])
        });
        let configs = spec.configs.iter().map(|(name, value)| {
            CreatableTopicConfig::default()
                .with_name(text(name))
                .with_value(Some(text(value)))
        });
        let topic = CreatableTopic::default()
            .with_name(topic_name(&spec.name))
            .with_num_partitions(if placed { -1 } else { 1 })
            .with_replication_factor(if placed { -1 } else { 1 })
            .with_assignments(assignments.collect())
            .with_configs(configs.collect());
        let request = CreateTopicsRequest::default()
            .with_topics(vec![topic])
            .with_timeout_ms(TIMEOUT_MS);
        let answer = only(self.call(5, &request)?.topics, "topics")?;
        Ok(ErrorCode(answer.error_code))
    }

    /// DeleteTopics v4.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn delete_topic(&mut self, topic: &str) -> Result<ErrorCode, WireError> {
        let request = DeleteTopicsRequest::default()
            .with_topic_names(vec![topic_name(topic)])
            .with_timeout_ms(TIMEOUT_MS);
        let answer = only(self.call(4, &request)?.responses, "topics")?;
        Ok(ErrorCode(answer.error_code))
    }
}
