//! Reading the log after an election. Records come in any order that compaction leaves, so every record is followed
//! whatever came before it (B69), and one that is not understood is passed over.

use std::collections::BTreeMap;

use bytes::Bytes;
use im::OrdMap;

use super::generation::{Group, GroupPhase, Member};
use super::offsets::{CommittedOffset, Offsets};
use crate::batch::{ControlRecord, Record, RecordBatch};
use crate::partition::{Log, timeline::Timeline};
use crate::records::group_metadata::{GroupMetadataKey, GroupMetadataValue};
use crate::records::offset_commit::{OffsetCommitKey, OffsetCommitValue};
use crate::types::{
    GenerationId, GroupId, GroupInstanceId, MemberId, Offset, ProducerId, Timestamp,
};

/// What a log says.
pub(super) struct Loaded {
    pub(super) offsets: Timeline<Offsets>,
    pub(super) groups: OrdMap<GroupId, Group>,
}

/// Reads the whole log. `now` is when the members' sessions begin again.
pub(super) fn load(log: &Log, high_watermark: Offset, now: Timestamp) -> Loaded {
    let mut offsets = Timeline::new(Offsets::default());
    let mut groups = OrdMap::new();
    for batch in log.batches_from(log.start_offset()) {
        let mut latest = offsets.latest().clone();
        replay(batch, &mut latest);
        replay_groups(batch, &mut groups, now);
        offsets.push(batch.next_offset(), latest);
        offsets.replicate(high_watermark);
    }
    Loaded { offsets, groups }
}

/// Follows one batch: the same function for what was just appended and for what is read after an election.
pub(super) fn replay(batch: &RecordBatch, offsets: &mut Offsets) {
    let producer_id = batch.producer().map(|producer| producer.producer_id);
    if batch.header().is_control {
        if let (Some(id), Ok(Some(ControlRecord::EndTxn(marker)))) =
            (producer_id, batch.control_record())
        {
            offsets.end_txn(id, marker.result);
        }
        return;
    }
    let staged_by = producer_id.filter(|_| batch.header().is_transactional);
    for record in batch.records().into_iter().flatten().flatten() {
        replay_record(&record, staged_by, offsets);
    }
}

fn replay_record(record: &Record<'_>, staged_by: Option<ProducerId>, offsets: &mut Offsets) {
    let Some(Ok(key)) = record.key.map(OffsetCommitKey::decode) else {
        return;
    };
    let Some(value) = record.value else {
        offsets.remove(&key);
        return;
    };
    let Ok(value) = OffsetCommitValue::decode(value) else {
        return;
    };
    let offset = CommittedOffset {
        record_offset: record.offset,
        value,
    };
    match staged_by {
        Some(producer_id) => offsets.stage(producer_id, key, offset),
        None => offsets.commit(key, offset),
    }
}

fn replay_groups(batch: &RecordBatch, groups: &mut OrdMap<GroupId, Group>, now: Timestamp) {
    if batch.header().is_control {
        return;
    }
    for record in batch.records().into_iter().flatten().flatten() {
        let Some(Ok(key)) = record.key.map(GroupMetadataKey::decode) else {
            continue;
        };
        match record.value.map(GroupMetadataValue::decode) {
            None => {
                groups.remove(&key.group);
            }
            Some(Err(_)) => {}
            Some(Ok(value)) => {
                groups.insert(key.group, group(value, record.offset, now));
            }
        }
    }
}

fn group(value: GroupMetadataValue, record_offset: Offset, now: Timestamp) -> Group {
    let protocol = value.protocol.clone().unwrap_or_default();
    let members: BTreeMap<MemberId, Member> = value
        .members
        .into_iter()
        .map(|it| {
            let member = Member {
                instance_id: it.group_instance_id.as_deref().map(GroupInstanceId::new),
                client_id: it.client_id,
                client_host: it.client_host,
                session_timeout_ms: it.session_timeout_ms,
                rebalance_timeout_ms: it.rebalance_timeout_ms,
                protocols: vec![(protocol.clone(), it.subscription)],
                assignment: it.assignment,
                session_deadline: now.plus_millis(i64::from(it.session_timeout_ms)),
                joining: None,
                syncing: None,
            };
            (MemberId::new(&it.member_id), member)
        })
        .collect();
    Group {
        phase: if members.is_empty() {
            GroupPhase::Empty
        } else {
            GroupPhase::Stable
        },
        generation: GenerationId::from_wire(value.generation),
        protocol_type: value.protocol_type,
        protocol: value.protocol,
        leader: value.leader.as_deref().map(MemberId::new),
        members,
        state_timestamp: value.current_state_timestamp,
        record_offset: Some(record_offset),
        ..Group::default()
    }
}

/// The group as its record keeps it.
pub(super) fn metadata(group: &Group) -> GroupMetadataValue {
    let protocol = group.protocol.clone().unwrap_or_default();
    let member =
        |(id, member): (&MemberId, &Member)| crate::records::group_metadata::MemberMetadata {
            member_id: id.as_str().to_owned(),
            group_instance_id: member.instance_id.as_ref().map(|id| id.as_str().to_owned()),
            client_id: member.client_id.clone(),
            client_host: member.client_host.clone(),
            rebalance_timeout_ms: member.rebalance_timeout_ms,
            session_timeout_ms: member.session_timeout_ms,
            subscription: member.subscription(&protocol),
            assignment: Bytes::clone(&member.assignment),
        };
    GroupMetadataValue {
        protocol_type: group.protocol_type.clone(),
        generation: GenerationId::to_wire(group.generation),
        protocol: group.protocol.clone(),
        leader: group.leader.as_ref().map(|id| id.as_str().to_owned()),
        current_state_timestamp: group.state_timestamp,
        members: group.members.iter().map(member).collect(),
    }
}
