//! JoinGroup, SyncGroup, Heartbeat, LeaveGroup: enough for groups with one member.

use bytes::Bytes;
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::leave_group_request::MemberIdentity;
use kafka_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use kafka_protocol::messages::{
    GroupId, HeartbeatRequest, JoinGroupRequest, LeaveGroupRequest, SyncGroupRequest,
};

use super::{ErrorCode, GroupMember, WireError, text};
use crate::wire::Connection;

const SESSION_TIMEOUT_MS: i32 = 30_000;

/// The answer to JoinGroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinGroupAnswer {
    /// Refusal; MEMBER_ID_REQUIRED on the first try without a member id.
    pub error: ErrorCode,
    /// The member's id and generation.
    pub member: GroupMember,
    /// Member id of the leader.
    pub leader: String,
}

impl Connection {
    /// JoinGroup v5 with one protocol of empty metadata and a session of 30 seconds.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn join_group(
        &mut self,
        group_id: &str,
        member_id: &str,
        instance_id: Option<&str>,
    ) -> Result<JoinGroupAnswer, WireError> {
        self.join_group_as(
            group_id,
            member_id,
            instance_id,
            ("range", SESSION_TIMEOUT_MS),
        )
    }

    /// The same with another protocol and session.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn join_group_as(
        &mut self,
        group_id: &str,
        member_id: &str,
        instance_id: Option<&str>,
        (protocol, session_ms): (&str, i32),
    ) -> Result<JoinGroupAnswer, WireError> {
        let protocol = JoinGroupRequestProtocol::default()
            .with_name(text(protocol))
            .with_metadata(Bytes::from_static(&[
                0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
            ]));
        let request = JoinGroupRequest::default()
            .with_group_id(GroupId(text(group_id)))
            .with_session_timeout_ms(session_ms)
            .with_rebalance_timeout_ms(SESSION_TIMEOUT_MS)
            .with_member_id(text(member_id))
            .with_group_instance_id(instance_id.map(text))
            .with_protocol_type(text("consumer"))
            .with_protocols(vec![protocol]);
        let answer = self.call(5, &request)?;
        Ok(JoinGroupAnswer {
            error: ErrorCode(answer.error_code),
            member: GroupMember {
                generation_id: answer.generation_id,
                member_id: answer.member_id.to_string(),
                instance_id: instance_id.map(str::to_owned),
            },
            leader: answer.leader.to_string(),
        })
    }

    /// SyncGroup v3 with an empty assignment for the member itself, as a sole leader sends it.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn sync_group(
        &mut self,
        group_id: &str,
        member: &GroupMember,
    ) -> Result<ErrorCode, WireError> {
        let assignment = SyncGroupRequestAssignment::default()
            .with_member_id(text(&member.member_id))
            .with_assignment(Bytes::new());
        let request = SyncGroupRequest::default()
            .with_group_id(GroupId(text(group_id)))
            .with_generation_id(member.generation_id)
            .with_member_id(text(&member.member_id))
            .with_group_instance_id(member.instance_id.as_deref().map(text))
            .with_assignments(vec![assignment]);
        Ok(ErrorCode(self.call(3, &request)?.error_code))
    }

    /// Heartbeat v3.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn heartbeat(
        &mut self,
        group_id: &str,
        member: &GroupMember,
    ) -> Result<ErrorCode, WireError> {
        let request = HeartbeatRequest::default()
            .with_group_id(GroupId(text(group_id)))
            .with_generation_id(member.generation_id)
            .with_member_id(text(&member.member_id))
            .with_group_instance_id(member.instance_id.as_deref().map(text));
        Ok(ErrorCode(self.call(3, &request)?.error_code))
    }

    /// LeaveGroup v3 of one member: the request's error, or else the member's.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn leave_group(
        &mut self,
        group_id: &str,
        member: &GroupMember,
    ) -> Result<ErrorCode, WireError> {
        let leaving = MemberIdentity::default()
            .with_member_id(text(&member.member_id))
            .with_group_instance_id(member.instance_id.as_deref().map(text));
        let request = LeaveGroupRequest::default()
            .with_group_id(GroupId(text(group_id)))
            .with_members(vec![leaving]);
        let answer = self.call(3, &request)?;
        let of_member = answer.members.first().map_or(0, |member| member.error_code);
        Ok(ErrorCode(if answer.error_code == 0 {
            of_member
        } else {
            answer.error_code
        }))
    }
}
