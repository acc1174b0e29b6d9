//! OffsetCommit, OffsetFetch, TxnOffsetCommit.

use bytes::Bytes;
use fencepost::error_code::ErrorCode;
use fencepost::group::{
    Answer, Input, MemberIdentity, OffsetCommit, OffsetFetch, OffsetToCommit, TxnOffsetCommit,
};
use fencepost::types::{
    GenerationId, GroupId, GroupInstanceId, LeaderEpoch, MemberId, Offset, ProducerEpoch,
    ProducerId, ProducerIdAndEpoch, TopicPartition, TransactionalId,
};
use kafka_protocol::messages::offset_commit_response::{
    OffsetCommitResponsePartition, OffsetCommitResponseTopic,
};
use kafka_protocol::messages::offset_fetch_response::{
    OffsetFetchResponsePartition, OffsetFetchResponseTopic,
};
use kafka_protocol::messages::txn_offset_commit_response::{
    TxnOffsetCommitResponsePartition, TxnOffsetCommitResponseTopic,
};
use kafka_protocol::messages::{
    OffsetCommitRequest, OffsetCommitResponse, OffsetFetchRequest, OffsetFetchResponse, TopicName,
    TxnOffsetCommitRequest, TxnOffsetCommitResponse,
};
use kafka_protocol::protocol::StrBytes;

use super::{Asked, Plan, only, partition, text};
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

/// One offset of a request; none for an offset that no log has.
fn offset(
    topic: &TopicName,
    index: i32,
    (offset, leader_epoch): (i64, i32),
    metadata: Option<&StrBytes>,
) -> Option<OffsetToCommit> {
    Some(OffsetToCommit {
        partition: partition(topic, index),
        offset: Offset::from_wire(offset)?,
        leader_epoch: LeaderEpoch::from_wire(leader_epoch),
        metadata: metadata.map_or_else(String::new, |it| it.to_string()),
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
    let mut asked = Asked::new();
    let mut offsets: Option<Vec<OffsetToCommit>> = Some(Vec::new());
    for topic in request.topics {
        let read = topic.partitions.iter().map(|it| {
            let at = (it.committed_offset, it.committed_leader_epoch);
            offset(
                &topic.name,
                it.partition_index,
                at,
                it.committed_metadata.as_ref(),
            )
        });
        let read: Option<Vec<OffsetToCommit>> = read.collect();
        offsets = offsets.zip(read).map(|(mut all, more)| {
            all.extend(more);
            all
        });
        let indexes = topic.partitions.iter().map(|it| it.partition_index);
        asked.push((topic.name, indexes.collect()));
    }
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
        let topics = asked.into_iter().map(|(name, indexes)| {
            let lines = indexes.into_iter().map(|index| {
                OffsetCommitResponsePartition::default()
                    .with_partition_index(index)
                    .with_error_code(part.error_of(&partition(&name, index)).code())
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
    let mut asked = Asked::new();
    let mut offsets: Option<Vec<OffsetToCommit>> = Some(Vec::new());
    for topic in request.topics {
        let read = topic.partitions.iter().map(|it| {
            let at = (it.committed_offset, it.committed_leader_epoch);
            offset(
                &topic.name,
                it.partition_index,
                at,
                it.committed_metadata.as_ref(),
            )
        });
        let read: Option<Vec<OffsetToCommit>> = read.collect();
        offsets = offsets.zip(read).map(|(mut all, more)| {
            all.extend(more);
            all
        });
        let indexes = topic.partitions.iter().map(|it| it.partition_index);
        asked.push((topic.name, indexes.collect()));
    }
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
        let topics = asked.into_iter().map(|(name, indexes)| {
            let lines = indexes.into_iter().map(|index| {
                TxnOffsetCommitResponsePartition::default()
                    .with_partition_index(index)
                    .with_error_code(part.error_of(&partition(&name, index)).code())
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

pub(super) fn offset_fetch(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let (request, version): (OffsetFetchRequest, i16) = (desk.decode(bytes)?, desk.version());
    let group = GroupId::new(&request.group_id);
    let partitions = request.topics.map(|topics| {
        let all = topics.iter().flat_map(|topic| {
            let indexes = topic.partition_indexes.iter();
            indexes.map(|index| partition(&topic.name, *index))
        });
        all.collect::<Vec<TopicPartition>>()
    });
    desk.group(&group.clone(), |token| {
        Input::OffsetFetch(OffsetFetch {
            request: token,
            group,
            partitions,
            require_stable: request.require_stable,
        })
    });
    Ok(Plan::Parts(Box::new(move |parts| {
        let part = only(parts);
        let code = part.error().code();
        let answer = OffsetFetchResponse::default().with_topics(fetched(part));
        let answer = if version >= 2 {
            answer.with_error_code(code)
        } else {
            answer
        };
        body(version, &answer)
    })))
}

fn fetched(part: Part) -> Vec<OffsetFetchResponseTopic> {
    let lines = match part {
        Part::Group(Answer::OffsetFetch(Ok(lines))) => lines,
        Part::Group(_) | Part::Coordinator(_) | Part::Data(_) | Part::Shell(_) => Vec::new(),
    };
    let mut topics: Vec<OffsetFetchResponseTopic> = Vec::new();
    for (at, result) in lines {
        let line = OffsetFetchResponsePartition::default()
            .with_partition_index(at.partition)
            .with_committed_offset(-1)
            .with_metadata(Some(text("")));
        let line = match result {
            Err(code) => line.with_error_code(code.code()),
            Ok(None) => line,
            Ok(Some(found)) => line
                .with_committed_offset(found.value.offset.get())
                .with_metadata(Some(text(&found.value.metadata))),
        };
        match topics
            .iter_mut()
            .find(|topic| topic.name.as_str() == at.topic.as_str())
        {
            Some(topic) => topic.partitions.push(line),
            None => topics.push(
                OffsetFetchResponseTopic::default()
                    .with_name(TopicName(text(at.topic.as_str())))
                    .with_partitions(vec![line]),
            ),
        }
    }
    topics
}
