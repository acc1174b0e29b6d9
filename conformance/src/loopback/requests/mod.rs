//! The APIs that the broker speaks: version ranges, shapes, and who serves each.

mod additions;
mod cluster;
mod describe;
mod identities;
mod markers;
mod members;
mod offset_fetch;
mod offsets;
mod records;
mod versions;

use bytes::Bytes;
use fencepost::coordinator::Claim;
use fencepost::types::{ProducerEpoch, ProducerId, TopicPartition};
use kafka_protocol::messages::{FetchRequest, TopicName};
use kafka_protocol::protocol::StrBytes;

use super::answer::{Finish, Part};
use super::desk::Desk;
use super::shapes;
use crate::wire::WireError;
use crate::wire::preflight::Shape;

pub(super) use versions::unsupported;

/// How a request is served.
pub(super) enum Plan {
    /// The answer is made when every part has come.
    Parts(Finish),
    /// A fetch, which may wait.
    Fetch(FetchRequest),
    /// The answer is here.
    Body(Result<Option<Bytes>, WireError>),
}

/// An API in some of its versions.
pub(super) struct Api {
    pub(super) key: i16,
    pub(super) min: i16,
    pub(super) max: i16,
    pub(super) shape: &'static Shape,
    pub(super) serve: fn(&mut Desk<'_>, Bytes) -> Result<Plan, WireError>,
}

const fn api_of(
    key: i16,
    versions: (i16, i16),
    shape: &'static Shape,
    serve: fn(&mut Desk<'_>, Bytes) -> Result<Plan, WireError>,
) -> Api {
    Api {
        key,
        min: versions.0,
        max: versions.1,
        shape,
        serve,
    }
}

/// By key, then by version. Versions that name topics by id are left out.
pub(super) static APIS: [Api; 24] = [
    api_of(0, (3, 12), &shapes::PRODUCE, records::produce),
    api_of(1, (4, 12), &shapes::FETCH, records::fetch),
    api_of(2, (1, 7), &shapes::LIST_OFFSETS, records::list_offsets),
    api_of(3, (0, 12), &shapes::METADATA, cluster::metadata),
    api_of(8, (2, 8), &shapes::OFFSET_COMMIT, offsets::offset_commit),
    api_of(9, (1, 7), &shapes::OFFSET_FETCH, offset_fetch::offset_fetch),
    api_of(
        10,
        (0, 3),
        &shapes::FIND_COORDINATOR,
        cluster::find_coordinator,
    ),
    api_of(11, (0, 7), &shapes::JOIN_GROUP, members::join_group),
    api_of(12, (0, 4), &shapes::HEARTBEAT, members::heartbeat),
    api_of(13, (0, 4), &shapes::LEAVE_GROUP, members::leave_group),
    api_of(14, (0, 5), &shapes::SYNC_GROUP, members::sync_group),
    api_of(18, (0, 4), &shapes::API_VERSIONS, versions::api_versions),
    api_of(19, (2, 7), &shapes::CREATE_TOPICS, cluster::create_topics),
    api_of(20, (1, 5), &shapes::DELETE_TOPICS, cluster::delete_topics),
    api_of(
        22,
        (0, 6),
        &shapes::INIT_PRODUCER_ID,
        identities::init_producer_id,
    ),
    api_of(
        24,
        (0, 3),
        &shapes::ADD_PARTITIONS_TO_TXN,
        additions::add_partitions,
    ),
    api_of(
        24,
        (4, 5),
        &shapes::ADD_PARTITIONS_TO_TXN_BATCHED,
        additions::add_partitions_batched,
    ),
    api_of(
        25,
        (0, 4),
        &shapes::ADD_OFFSETS_TO_TXN,
        additions::add_offsets,
    ),
    api_of(26, (0, 5), &shapes::END_TXN, identities::end_txn),
    api_of(
        27,
        (1, 2),
        &shapes::WRITE_TXN_MARKERS,
        markers::write_txn_markers,
    ),
    api_of(
        28,
        (0, 5),
        &shapes::TXN_OFFSET_COMMIT,
        offsets::txn_offset_commit,
    ),
    api_of(
        61,
        (0, 0),
        &shapes::DESCRIBE_PRODUCERS,
        describe::describe_producers,
    ),
    api_of(
        65,
        (0, 0),
        &shapes::DESCRIBE_TRANSACTIONS,
        describe::describe_transactions,
    ),
    api_of(
        66,
        (0, 1),
        &shapes::LIST_TRANSACTIONS,
        describe::list_transactions,
    ),
];

/// The API that serves this version of a request.
pub(super) fn api(key: i16, version: i16) -> Option<&'static Api> {
    APIS.iter()
        .find(|api| api.key == key && (api.min..=api.max).contains(&version))
}

fn claim(producer_id: i64, producer_epoch: i16) -> Claim {
    Claim {
        producer_id: ProducerId::from_wire(producer_id),
        producer_epoch: ProducerEpoch::from_wire(producer_epoch),
    }
}

fn partition(topic: &TopicName, index: i32) -> TopicPartition {
    TopicPartition::new(topic.as_str(), index)
}

fn text(value: &str) -> StrBytes {
    StrBytes::from_string(value.to_owned())
}

/// Topics with the partitions of each that were asked about, in the order of the request: the order of the parts.
type Asked = Vec<(TopicName, Vec<i32>)>;

/// Each partition's part, topic by topic.
fn by_topic<T>(
    asked: Asked,
    parts: Vec<Part>,
    line: impl Fn(&TopicName, i32, Part) -> T,
) -> Vec<(TopicName, Vec<T>)> {
    let mut parts = parts.into_iter();
    asked
        .into_iter()
        .map(|(topic, indexes)| {
            let lines = indexes
                .into_iter()
                .zip(parts.by_ref())
                .map(|(index, part)| line(&topic, index, part))
                .collect();
            (topic, lines)
        })
        .collect()
}

/// The only part of a request that has one.
fn only(parts: Vec<Part>) -> Part {
    let unknown = Part::Shell(fencepost::error_code::ErrorCode::UnknownServerError);
    parts.into_iter().next().unwrap_or(unknown)
}
