//! OffsetFetch.

use bytes::Bytes;
use fencepost::group::{Answer, Input, OffsetFetch};
use fencepost::types::{GroupId, TopicPartition};
use kafka_protocol::messages::offset_fetch_response::{
    OffsetFetchResponsePartition, OffsetFetchResponseTopic,
};
use kafka_protocol::messages::{OffsetFetchRequest, OffsetFetchResponse, TopicName};

use super::{Plan, only, partition, text};
use crate::loopback::answer::{Part, body};
use crate::loopback::desk::Desk;
use crate::wire::WireError;

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
