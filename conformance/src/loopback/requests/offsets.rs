//! OffsetCommit and TxnOffsetCommit.

use bytes::Bytes;
use fencepost::error_code::ErrorCode;
use fencepost::group::{Input, MemberIdentity, OffsetCommit, OffsetToCommit, TxnOffsetCommit};
use fencepost::types::{
    GenerationId, GroupId, GroupInstanceId, LeaderEpoch, MemberId, Offset, ProducerEpoch,
    ProducerId, ProducerIdAndEpoch, TransactionalId,
};
use kafka_protocol::messages::offset_commit_response::{
    OffsetCommitResponsePartition, OffsetCommitResponseTopic,
};
use kafka_protocol::messages::txn_offset_commit_response::{
    TxnOffsetCommitResponsePartition, TxnOffsetCommitResponseTopic,
};
use kafka_protocol::messages::{
    OffsetCommitRequest, OffsetCommitResponse, TopicName, TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
};
use kafka_protocol::protocol::StrBytes;

use super::{Asked, Plan, only, partition};
use crate::loopback::answer::{Part, body};
use crate::loopback::desk::Desk;
use crate::wire::WireError;

fn member(generation: i32, member_id: &StrBytes, instance_id: Option<&StrBytes>) -> MemberIdentity {
    MemberIdentity {
        generation: GenerationId::from_wire(generation),
        member_id: MemberId::new(member_id),
        instance_id: instance_id.map(|id| GroupInstanceId::new(id)),
    }
}

/// What a request says of one partition.
struct Line {
    index: i32,
    offset: i64,
    leader_epoch: i32,
    metadata: Option<StrBytes>,
}

/// The offsets of a request, topic by topic, and what was asked about; no offsets where one of them is none that a log
/// has.
fn offsets<T>(
    topics: Vec<T>,
    lines: impl Fn(T) -> (TopicName, Vec<Line>),
) -> (Asked, Option<Vec<OffsetToCommit>>) {
    let mut asked = Asked::new();
    let mut offsets = Some(Vec::new());
    for (name, lines) in topics.into_iter().map(lines) {
        let indexes = lines.iter().map(|line| line.index).collect();
        for line in lines {
            offsets = offsets.zip(offset(&name, line)).map(|(mut all, it)| {
                all.push(it);
                all
            });
        }
        asked.push((name, indexes));
    }
    (asked, offsets)
}

/// One offset of a request; none for an offset that no log has.
fn offset(topic: &TopicName, line: Line) -> Option<OffsetToCommit> {
    Some(OffsetToCommit {
        partition: partition(topic, line.index),
        offset: Offset::from_wire(line.offset)?,
        leader_epoch: LeaderEpoch::from_wire(line.leader_epoch),
        metadata: line.metadata.map_or_else(String::new, |it| it.to_string()),
    })
}

/// The error of each partition that was asked about.
fn errors(asked: Asked, part: &Part) -> impl Iterator<Item = (TopicName, Vec<(i32, i16)>)> {
    asked.into_iter().map(|(name, indexes)| {
        let error = |index| part.error_of(&partition(&name, index)).code();
        let lines = indexes.into_iter().map(|index| (index, error(index)));
        let lines = lines.collect();
        (name, lines)
    })
}

pub(super) fn offset_commit(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let (request, version): (OffsetCommitRequest, i16) = (desk.decode(bytes)?, desk.version());
    let group = GroupId::new(&request.group_id);
    let member = member(
        request.generation_id_or_member_epoch,
        &request.member_id,
        request.group_instance_id.as_ref(),
    );
    let (asked, offsets) = offsets(request.topics, |topic| {
        let lines = topic.partitions.into_iter().map(|it| Line {
            index: it.partition_index,
            offset: it.committed_offset,
            leader_epoch: it.committed_leader_epoch,
            metadata: it.committed_metadata,
        });
        let lines = lines.collect();
        (topic.name, lines)
    });
    match offsets {
        None => desk.shell(ErrorCode::InvalidRequest),
        Some(offsets) => desk.group(&group.clone(), |request| {
            Input::OffsetCommit(OffsetCommit {
                request,
                group,
                member,
                offsets,
            })
        }),
    }
    Ok(Plan::Parts(Box::new(move |parts| {
        let part = only(parts);
        let topics = errors(asked, &part).map(|(name, lines)| {
            let lines = lines.into_iter().map(|(index, error)| {
                OffsetCommitResponsePartition::default()
                    .with_partition_index(index)
                    .with_error_code(error)
            });
            let lines = lines.collect();
            OffsetCommitResponseTopic::default()
                .with_name(name)
                .with_partitions(lines)
        });
        body(
            version,
            &OffsetCommitResponse::default().with_topics(topics.collect()),
        )
    })))
}

pub(super) fn txn_offset_commit(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let (request, version): (TxnOffsetCommitRequest, i16) = (desk.decode(bytes)?, desk.version());
    let group = GroupId::new(&request.group_id);
    let member = member(
        request.generation_id,
        &request.member_id,
        request.group_instance_id.as_ref(),
    );
    let producer = ProducerId::from_wire(request.producer_id.0)
        .zip(ProducerEpoch::from_wire(request.producer_epoch));
    let (asked, offsets) = offsets(request.topics, |topic| {
        let lines = topic.partitions.into_iter().map(|it| Line {
            index: it.partition_index,
            offset: it.committed_offset,
            leader_epoch: it.committed_leader_epoch,
            metadata: it.committed_metadata,
        });
        let lines = lines.collect();
        (topic.name, lines)
    });
    match (producer, offsets) {
        (None, _) => desk.shell(ErrorCode::InvalidProducerIdMapping),
        (Some(_), None) => desk.shell(ErrorCode::InvalidRequest),
        (Some((producer_id, producer_epoch)), Some(offsets)) => {
            desk.group(&group.clone(), |token| {
                Input::TxnOffsetCommit(TxnOffsetCommit {
                    request: token,
                    version,
                    transactional_id: TransactionalId::new(&request.transactional_id),
                    producer: ProducerIdAndEpoch {
                        producer_id,
                        producer_epoch,
                    },
                    group,
                    member,
                    offsets,
                })
            });
        }
    }
    Ok(Plan::Parts(Box::new(move |parts| {
        let part = only(parts);
        let topics = errors(asked, &part).map(|(name, lines)| {
            let lines = lines.into_iter().map(|(index, error)| {
                TxnOffsetCommitResponsePartition::default()
                    .with_partition_index(index)
                    .with_error_code(error)
            });
            let lines = lines.collect();
            TxnOffsetCommitResponseTopic::default()
                .with_name(name)
                .with_partitions(lines)
        });
        body(
            version,
            &TxnOffsetCommitResponse::default().with_topics(topics.collect()),
        )
    })))
}
