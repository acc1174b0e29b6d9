//! Where a request is taken in: each of its parts goes to a core, or is answered by the shell.

use bytes::Bytes;
use fencepost::coordinator::{self, Correlation, PartitionAccess, partition_for};
use fencepost::error_code::ErrorCode;
use fencepost::types::{GroupId, RequestId, TopicPartition};
use fencepost::{group, partition};
use kafka_protocol::protocol::Decodable;

use super::answer::{Part, Waiter};
use super::broker::{Broker, OFFSETS_TOPIC, Work};
use super::frame::Head;
use crate::wire::WireError;

/// The parts of one request.
pub(super) struct Desk<'a> {
    pub(super) broker: &'a mut Broker,
    pub(super) head: &'a Head,
    pub(super) call: u64,
    pub(super) parts: Vec<Option<Part>>,
}

impl Desk<'_> {
    /// The request's version.
    pub(super) fn version(&self) -> i16 {
        self.head.version
    }

    /// The request's body, whose lengths have been checked.
    pub(super) fn decode<R: Decodable>(&self, mut body: Bytes) -> Result<R, WireError> {
        R::decode(&mut body, self.head.version)
            .map_err(|error| WireError::Malformed(error.to_string()))
    }

    /// A part that needs no core.
    pub(super) fn shell(&mut self, code: ErrorCode) {
        self.parts.push(Some(Part::Shell(code)));
    }

    /// A part for the transaction coordinator.
    pub(super) fn coordinator(&mut self, request: coordinator::Request) {
        let token = self.token();
        let input = coordinator::Input::Request(Correlation(token), request);
        self.broker.queue(Work::Coordinator(input));
    }

    /// A part for the leader of a data partition.
    pub(super) fn data(
        &mut self,
        at: TopicPartition,
        input: impl FnOnce(RequestId) -> partition::Input,
    ) {
        if self.broker.topics.get(&at).is_none() {
            return self.shell(ErrorCode::UnknownTopicOrPartition);
        }
        let token = self.token();
        self.broker.queue(Work::Data(at, input(RequestId(token))));
    }

    /// A part for the leader of a data partition, who will not answer it.
    pub(super) fn data_unanswered(
        &mut self,
        at: TopicPartition,
        input: impl FnOnce(RequestId) -> partition::Input,
    ) {
        let token = self.broker.fresh();
        self.broker.queue(Work::Data(at, input(RequestId(token))));
        self.shell(ErrorCode::None);
    }

    /// A part for the coordinator of a group.
    pub(super) fn group(&mut self, group: &GroupId, input: impl FnOnce(RequestId) -> group::Input) {
        let index = partition_for(group.as_str(), self.broker.offsets_partitions());
        let token = self.token();
        self.broker
            .queue(Work::Group(index, input(RequestId(token))));
    }

    /// A part for one partition of `__consumer_offsets`.
    pub(super) fn offsets_partition(
        &mut self,
        index: i32,
        input: impl FnOnce(RequestId) -> group::Input,
    ) {
        if !(0..self.broker.offsets_partitions()).contains(&index) {
            return self.shell(ErrorCode::UnknownTopicOrPartition);
        }
        let token = self.token();
        self.broker
            .queue(Work::Group(index, input(RequestId(token))));
    }

    /// What the coordinator is told of a partition that a transaction may write to.
    pub(super) fn access(&self, at: &TopicPartition) -> PartitionAccess {
        let offsets = at.topic.as_str() == OFFSETS_TOPIC
            && (0..self.broker.offsets_partitions()).contains(&at.partition);
        if offsets || self.broker.topics.get(at).is_some() {
            PartitionAccess::Allowed
        } else {
            PartitionAccess::Unknown
        }
    }

    /// The token of the next part.
    fn token(&mut self) -> u64 {
        let part = self.parts.len();
        self.parts.push(None);
        self.broker.wait(Waiter::Call {
            call: self.call,
            part,
        })
    }
}
