//! JoinGroup, SyncGroup, Heartbeat, LeaveGroup of the classic protocol.

use bytes::Bytes;
use fencepost::error_code::ErrorCode;
use fencepost::group::{Answer, Heartbeat, Input, JoinGroup, Joined, LeaveGroup, SyncGroup};
use fencepost::types::{GenerationId, GroupId, GroupInstanceId, MemberId};
use kafka_protocol::messages::join_group_response::JoinGroupResponseMember;
use kafka_protocol::messages::leave_group_response::MemberResponse;
use kafka_protocol::messages::{
    HeartbeatRequest, HeartbeatResponse, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest,
    LeaveGroupResponse, SyncGroupRequest, SyncGroupResponse,
};
use kafka_protocol::protocol::StrBytes;

use super::{Plan, only, text};
use crate::loopback::answer::{Part, body};
use crate::loopback::desk::Desk;
use crate::wire::WireError;

fn instance(id: Option<&StrBytes>) -> Option<GroupInstanceId> {
    id.map(|id| GroupInstanceId::new(id))
}

pub(super) fn join_group(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let (request, version): (JoinGroupRequest, i16) = (desk.decode(bytes)?, desk.version());
    let fresh = desk.broker.fresh_member(&desk.head.client_id);
    let client_id = desk.head.client_id.clone();
    let group = GroupId::new(&request.group_id);
    desk.group(&group.clone(), |token| {
        let protocols = request.protocols.iter();
        Input::JoinGroup(JoinGroup {
            request: token,
            group,
            member_id: MemberId::new(&request.member_id),
            instance_id: instance(request.group_instance_id.as_ref()),
            fresh_member_id: MemberId::new(&fresh),
            require_known_member_id: version >= 4,
            client_id,
            client_host: "/127.0.0.1".to_owned(),
            session_timeout_ms: request.session_timeout_ms,
            // Version 0 has one timeout for both.
            rebalance_timeout_ms: if version >= 1 {
                request.rebalance_timeout_ms
            } else {
                request.session_timeout_ms
            },
            protocol_type: request.protocol_type.to_string(),
            protocols: protocols
                .map(|it| (it.name.to_string(), it.metadata.clone()))
                .collect(),
        })
    });
    Ok(Plan::Parts(Box::new(move |parts| {
        let part = only(parts);
        let answer = JoinGroupResponse::default().with_error_code(part.error().code());
        let answer = match part {
            Part::Group(Answer::JoinGroup(Ok(joined))) => with_joined(answer, version, &joined),
            Part::Group(Answer::JoinGroup(Err(refused))) => answer
                .with_generation_id(-1)
                .with_protocol_name(Some(text("")))
                .with_member_id(text(refused.member_id.as_str())),
            Part::Group(_) | Part::Coordinator(_) | Part::Data(_) | Part::Shell(_) => answer
                .with_generation_id(-1)
                .with_protocol_name(Some(text(""))),
        };
        body(version, &answer)
    })))
}

fn with_joined(answer: JoinGroupResponse, version: i16, joined: &Joined) -> JoinGroupResponse {
    let members = joined.members.iter().map(|it| {
        let member = JoinGroupResponseMember::default()
            .with_member_id(text(it.member_id.as_str()))
            .with_metadata(it.subscription.clone());
        if version >= 5 {
            member.with_group_instance_id(it.instance_id.as_ref().map(|id| text(id.as_str())))
        } else {
            member
        }
    });
    answer
        .with_generation_id(joined.generation.get())
        .with_protocol_name(Some(text(&joined.protocol)))
        .with_leader(text(joined.leader.as_str()))
        .with_member_id(text(joined.member_id.as_str()))
        .with_members(members.collect())
}

pub(super) fn sync_group(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let (request, version): (SyncGroupRequest, i16) = (desk.decode(bytes)?, desk.version());
    let group = GroupId::new(&request.group_id);
    match GenerationId::from_wire(request.generation_id) {
        None => desk.shell(ErrorCode::IllegalGeneration),
        Some(generation) => desk.group(&group.clone(), |token| {
            let assignments = request.assignments.iter();
            Input::SyncGroup(SyncGroup {
                request: token,
                group,
                member_id: MemberId::new(&request.member_id),
                instance_id: instance(request.group_instance_id.as_ref()),
                generation,
                assignments: assignments
                    .map(|it| (MemberId::new(&it.member_id), it.assignment.clone()))
                    .collect(),
            })
        }),
    }
    Ok(Plan::Parts(Box::new(move |parts| {
        let part = only(parts);
        let answer = SyncGroupResponse::default().with_error_code(part.error().code());
        let answer = match part {
            Part::Group(Answer::SyncGroup(Ok(assignment))) => answer.with_assignment(assignment),
            Part::Group(_) | Part::Coordinator(_) | Part::Data(_) | Part::Shell(_) => answer,
        };
        body(version, &answer)
    })))
}

pub(super) fn heartbeat(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let (request, version): (HeartbeatRequest, i16) = (desk.decode(bytes)?, desk.version());
    let group = GroupId::new(&request.group_id);
    match GenerationId::from_wire(request.generation_id) {
        None => desk.shell(ErrorCode::IllegalGeneration),
        Some(generation) => desk.group(&group.clone(), |token| {
            Input::Heartbeat(Heartbeat {
                request: token,
                group,
                member_id: MemberId::new(&request.member_id),
                instance_id: instance(request.group_instance_id.as_ref()),
                generation,
            })
        }),
    }
    Ok(Plan::Parts(Box::new(move |parts| {
        let code = only(parts).error().code();
        body(version, &HeartbeatResponse::default().with_error_code(code))
    })))
}

pub(super) fn leave_group(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let (request, version): (LeaveGroupRequest, i16) = (desk.decode(bytes)?, desk.version());
    let group = GroupId::new(&request.group_id);
    let leaving: Vec<(StrBytes, Option<StrBytes>)> = if version >= 3 {
        let members = request.members.into_iter();
        members
            .map(|it| (it.member_id, it.group_instance_id))
            .collect()
    } else {
        vec![(request.member_id, None)]
    };
    for (member_id, instance_id) in &leaving {
        desk.group(&group, |token| {
            Input::LeaveGroup(LeaveGroup {
                request: token,
                group: group.clone(),
                member_id: MemberId::new(member_id),
                instance_id: instance(instance_id.as_ref()),
            })
        });
    }
    Ok(Plan::Parts(Box::new(move |parts| {
        if version < 3 {
            let code = only(parts).error().code();
            return body(
                version,
                &LeaveGroupResponse::default().with_error_code(code),
            );
        }
        let members = leaving
            .into_iter()
            .zip(parts)
            .map(|((member, instance), part)| {
                MemberResponse::default()
                    .with_member_id(member)
                    .with_group_instance_id(instance)
                    .with_error_code(part.error().code())
            });
        body(
            version,
            &LeaveGroupResponse::default().with_members(members.collect()),
        )
    })))
}
