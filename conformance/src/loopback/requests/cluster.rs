//! Metadata, FindCoordinator, CreateTopics, DeleteTopics: one broker, which leads everything.

use bytes::Bytes;
use kafka_protocol::messages::create_topics_request::CreatableTopic;
use kafka_protocol::messages::create_topics_response::CreatableTopicResult;
use kafka_protocol::messages::delete_topics_response::DeletableTopicResult;
use kafka_protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use kafka_protocol::messages::{
    BrokerId, CreateTopicsRequest, CreateTopicsResponse, DeleteTopicsRequest, DeleteTopicsResponse,
    FindCoordinatorRequest, FindCoordinatorResponse, MetadataRequest, MetadataResponse, TopicName,
};

use super::{Plan, text};
use crate::loopback::answer::body;
use crate::loopback::broker::BROKER_ID;
use crate::loopback::desk::Desk;
use crate::loopback::topics::{LEADER_EPOCH, Topics, UNKNOWN_TOPIC};
use crate::wire::{ErrorCode, WireError};

const SELF: BrokerId = BrokerId(BROKER_ID);
/// INVALID_REPLICA_ASSIGNMENT.
const INVALID_REPLICA_ASSIGNMENT: ErrorCode = ErrorCode(39);
/// INVALID_REPLICATION_FACTOR.
const INVALID_REPLICATION_FACTOR: ErrorCode = ErrorCode(38);
/// INVALID_REQUEST.
const INVALID_REQUEST: i16 = 42;

pub(super) fn metadata(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let (request, version): (MetadataRequest, i16) = (desk.decode(bytes)?, desk.version());
    let topics = &desk.broker.topics;
    let all = request
        .topics
        .as_ref()
        .is_none_or(|list| version == 0 && list.is_empty());
    let described = if all {
        let names = topics
            .counts()
            .map(|(name, count)| (name.to_owned(), count));
        names
            .map(|(name, count)| described(&name, Some(count)))
            .collect()
    } else {
        let asked = request.topics.unwrap_or_default();
        let names = asked
            .iter()
            .map(|it| it.name.as_ref().map_or("", |name| name.as_str()));
        names
            .map(|name| described(name, topics.count(name)))
            .collect()
    };
    let address = desk.broker.address;
    let broker = MetadataResponseBroker::default()
        .with_node_id(SELF)
        .with_host(text(&address.ip().to_string()))
        .with_port(i32::from(address.port()));
    let answer = MetadataResponse::default()
        .with_brokers(vec![broker])
        .with_cluster_id(Some(text("loopback")))
        .with_controller_id(SELF)
        .with_topics(described);
    Ok(Plan::Body(body(version, &answer)))
}

fn described(name: &str, count: Option<usize>) -> MetadataResponseTopic {
    let topic = MetadataResponseTopic::default().with_name(Some(TopicName(text(name))));
    let Some(count) = count else {
        return topic.with_error_code(UNKNOWN_TOPIC.0);
    };
    let partitions = (0..).take(count).map(|index| {
        MetadataResponsePartition::default()
            .with_partition_index(index)
            .with_leader_id(SELF)
            .with_leader_epoch(LEADER_EPOCH.get())
            .with_replica_nodes(vec![SELF])
            .with_isr_nodes(vec![SELF])
    });
    topic.with_partitions(partitions.collect())
}

pub(super) fn find_coordinator(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let request: FindCoordinatorRequest = desk.decode(bytes)?;
    let answer = if (0..=1).contains(&request.key_type) {
        let address = desk.broker.address;
        FindCoordinatorResponse::default()
            .with_node_id(SELF)
            .with_host(text(&address.ip().to_string()))
            .with_port(i32::from(address.port()))
    } else {
        FindCoordinatorResponse::default()
            .with_error_code(INVALID_REQUEST)
            .with_node_id(BrokerId(-1))
            .with_port(-1)
    };
    Ok(Plan::Body(body(desk.version(), &answer)))
}

pub(super) fn create_topics(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let (request, version): (CreateTopicsRequest, i16) = (desk.decode(bytes)?, desk.version());
    let now = desk.broker.now();
    let topics = &mut desk.broker.topics;
    let results = request.topics.iter().map(|topic| {
        let created = partitions(topic).and_then(|count| {
            if request.validate_only {
                Ok(count)
            } else {
                topics.create(&topic.name, count, now).map(|()| count)
            }
        });
        let result = CreatableTopicResult::default().with_name(topic.name.clone());
        match created {
            Ok(count) if version >= 5 => {
                result.with_num_partitions(count).with_replication_factor(1)
            }
            Ok(_) => result,
            Err(code) => result.with_error_code(code.0),
        }
    });
    let answer = CreateTopicsResponse::default().with_topics(results.collect());
    Ok(Plan::Body(body(version, &answer)))
}

/// How many partitions a topic is to have: those that are assigned, all of them to this broker, or a number.
fn partitions(topic: &CreatableTopic) -> Result<i32, ErrorCode> {
    if topic.assignments.is_empty() {
        return match (topic.num_partitions, topic.replication_factor) {
            (-1, -1 | 1) => Ok(1),
            (count, -1 | 1) => Ok(count),
            (_, _) => Err(INVALID_REPLICATION_FACTOR),
        };
    }
    let in_order = (0..).zip(&topic.assignments);
    let ours = in_order
        .into_iter()
        .all(|(index, it)| it.partition_index == index && it.broker_ids == [SELF]);
    match i32::try_from(topic.assignments.len()) {
        Ok(count) if ours => Ok(count),
        Ok(_) | Err(_) => Err(INVALID_REPLICA_ASSIGNMENT),
    }
}

pub(super) fn delete_topics(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let request: DeleteTopicsRequest = desk.decode(bytes)?;
    let results = request.topic_names.into_iter().map(|name| {
        let code = delete(&mut desk.broker.topics, &name);
        DeletableTopicResult::default()
            .with_name(Some(name))
            .with_error_code(code.0)
    });
    let answer = DeleteTopicsResponse::default().with_responses(results.collect());
    Ok(Plan::Body(body(desk.head.version, &answer)))
}

fn delete(topics: &mut Topics, name: &TopicName) -> ErrorCode {
    topics.delete(name).err().unwrap_or(ErrorCode::NONE)
}
