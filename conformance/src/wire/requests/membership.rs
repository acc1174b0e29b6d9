//! JoinGroup and SyncGroup of members that wait for each other: sent first, answered later.

use bytes::Bytes;
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use kafka_protocol::messages::{GroupId, JoinGroupRequest, SyncGroupRequest};

use super::{ErrorCode, WireError, text};
use crate::wire::Connection;

/// The versions that are sent: the last ones with static members and without the flexible forms.
const JOIN_GROUP: i16 = 5;
const SYNC_GROUP: i16 = 3;

/// What a member asks for when it joins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Static member's instance id.
    pub instance_id: Option<&'static str>,
    /// Milliseconds without a sign of life after which it is dropped.
    pub session_ms: i32,
    /// Milliseconds that it may take to join again.
    pub rebalance_ms: i32,
    /// The protocols that it knows, best first.
    pub protocols: &'static [&'static str],
}

/// The answer to JoinGroup, with all that a leader is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenerationAnswer {
    /// Refusal.
    pub error: ErrorCode,
    /// The generation, -1 beside a refusal.
    pub generation_id: i32,
    /// The chosen protocol.
    pub protocol: String,
    /// Member id of the leader.
    pub leader: String,
    /// The member's own id.
    pub member_id: String,
    /// For the leader: each member's id, instance id and metadata.
    pub members: Vec<(String, Option<String>, Bytes)>,
}

impl Connection {
    /// Sends JoinGroup v5. The metadata beside each protocol is the member's name and the protocol's.
    ///
    /// # Errors
    /// As [`Connection::send`].
    pub fn send_join_group(
        &mut self,
        group_id: &str,
        member_id: &str,
        name: &str,
        terms: &Terms,
    ) -> Result<(), WireError> {
        let protocols = terms.protocols.iter().map(|protocol| {
            JoinGroupRequestProtocol::default()
                .with_name(text(protocol))
                .with_metadata(Bytes::from(format!("{name} {protocol}")))
        });
        let request = JoinGroupRequest::default()
            .with_group_id(GroupId(text(group_id)))
            .with_session_timeout_ms(terms.session_ms)
            .with_rebalance_timeout_ms(terms.rebalance_ms)
            .with_member_id(text(member_id))
            .with_group_instance_id(terms.instance_id.map(text))
            .with_protocol_type(text("consumer"))
            .with_protocols(protocols.collect());
        self.put(JOIN_GROUP, &request)
    }

    /// Waits for the answer to it.
    ///
    /// # Errors
    /// As [`Connection::receive`].
    pub fn receive_join_group(&mut self) -> Result<GenerationAnswer, WireError> {
        let answer = self.take::<JoinGroupRequest>(JOIN_GROUP)?;
        let members = answer.members.into_iter().map(|it| {
            let instance_id = it.group_instance_id.map(|id| id.to_string());
            (it.member_id.to_string(), instance_id, it.metadata)
        });
        Ok(GenerationAnswer {
            error: ErrorCode(answer.error_code),
            generation_id: answer.generation_id,
            protocol: answer
                .protocol_name
                .map_or_else(String::new, |it| it.to_string()),
            leader: answer.leader.to_string(),
            member_id: answer.member_id.to_string(),
            members: members.collect(),
        })
    }

    /// Sends SyncGroup v3 with what each member is assigned: from a leader everybody's, from others nothing.
    ///
    /// # Errors
    /// As [`Connection::send`].
    pub fn send_sync_group(
        &mut self,
        group_id: &str,
        member: &super::GroupMember,
        assignments: &[(String, Bytes)],
    ) -> Result<(), WireError> {
        let assignments = assignments.iter().map(|(to, bytes)| {
            SyncGroupRequestAssignment::default()
                .with_member_id(text(to))
                .with_assignment(bytes.clone())
        });
        let request = SyncGroupRequest::default()
            .with_group_id(GroupId(text(group_id)))
            .with_generation_id(member.generation_id)
            .with_member_id(text(&member.member_id))
            .with_group_instance_id(member.instance_id.as_deref().map(text))
            .with_assignments(assignments.collect());
        self.put(SYNC_GROUP, &request)
    }

    /// Waits for the answer to it: the member's assignment.
    ///
    /// # Errors
    /// As [`Connection::receive`].
    pub fn receive_sync_group(&mut self) -> Result<(ErrorCode, Bytes), WireError> {
        let answer = self.take::<SyncGroupRequest>(SYNC_GROUP)?;
        Ok((ErrorCode(answer.error_code), answer.assignment))
    }
}
