//! The record of a classic consumer group's generation in `__consumer_offsets`.
//!
//! Key: `i16` 2, group. Value: `i16` version 0 to 4. Source: the schemas `GroupMetadataKey` and `GroupMetadataValue`.

use super::RecordError;
use super::codec::{Form, Reader, Writer};
use crate::types::{GroupId, Timestamp};
use bytes::Bytes;

const KEY: i16 = 2;

/// The key of a group's metadata.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupMetadataKey {
    /// The group.
    pub group: GroupId,
}

impl GroupMetadataKey {
    /// The key's bytes.
    ///
    /// # Errors
    /// [`RecordError::TooLong`] when the group's name has more than 32767 bytes.
    pub fn encode(&self) -> Result<Bytes, RecordError> {
        let mut key = Writer::versioned(KEY);
        key.text(Form::Classic, self.group.as_str())?;
        Ok(key.finish())
    }

    /// Reads a key.
    ///
    /// # Errors
    /// [`RecordError::UnknownVersion`] when the key is another record's; other variants when it is damaged.
    pub fn decode(bytes: &[u8]) -> Result<Self, RecordError> {
        let mut key = Reader::new(bytes);
        let kind = key.i16()?;
        if kind != KEY {
            return Err(RecordError::UnknownVersion(kind));
        }
        let group = GroupId::new(key.text(Form::Classic)?);
        key.finish()?;
        Ok(Self { group })
    }
}

/// One member of a generation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemberMetadata {
    /// The member's id.
    pub member_id: String,
    /// The static instance id. Version 3 and later; other versions do not keep it.
    pub group_instance_id: Option<String>,
    /// The client's id.
    pub client_id: String,
    /// The client's host.
    pub client_host: String,
    /// Milliseconds that the member may take to rejoin. Version 1 and later; before that it reads as the session
    /// timeout.
    pub rebalance_timeout_ms: i32,
    /// Milliseconds without a heartbeat after which the member is dropped.
    pub session_timeout_ms: i32,
    /// The subscription, as the protocol's own bytes.
    pub subscription: Bytes,
    /// The assignment, as the protocol's own bytes.
    pub assignment: Bytes,
}

/// One generation of a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupMetadataValue {
    /// The kind of group, for example `consumer`.
    pub protocol_type: String,
    /// The generation's number.
    pub generation: i32,
    /// The assignment protocol that was chosen.
    pub protocol: Option<String>,
    /// The member that makes assignments.
    pub leader: Option<String>,
    /// When the group last changed its state. Version 2 and later; other versions do not keep it.
    pub current_state_timestamp: Option<Timestamp>,
    /// The members.
    pub members: Vec<MemberMetadata>,
}

impl GroupMetadataValue {
    /// The value's bytes in this version, 0 to 4 (Kafka 4.x writes 3). A field that the version lacks is left out.
    ///
    /// # Errors
    /// [`RecordError::UnknownVersion`] when there is no such version, [`RecordError::TooLong`] when a text is too
    /// long.
    pub fn encode(&self, version: i16) -> Result<Bytes, RecordError> {
        let form = form_of(version)?;
        let mut value = Writer::versioned(version);
        value.text(form, &self.protocol_type)?;
        value.i32(self.generation);
        value.nullable_text(form, self.protocol.as_deref())?;
        value.nullable_text(form, self.leader.as_deref())?;
        if version >= 2 {
            value.i64(
                self.current_state_timestamp
                    .map_or(-1, Timestamp::as_millis),
            );
        }
        value.count(form, self.members.len())?;
        for member in &self.members {
            value.text(form, &member.member_id)?;
            if version >= 3 {
                value.nullable_text(form, member.group_instance_id.as_deref())?;
            }
            value.text(form, &member.client_id)?;
            value.text(form, &member.client_host)?;
            if version >= 1 {
                value.i32(member.rebalance_timeout_ms);
            }
            value.i32(member.session_timeout_ms);
            value.bytes(form, &member.subscription)?;
            value.bytes(form, &member.assignment)?;
            value.tagged_fields(form, &[]);
        }
        value.tagged_fields(form, &[]);
        Ok(value.finish())
    }

    /// Reads a value of any version.
    ///
    /// # Errors
    /// [`RecordError::UnknownVersion`] when there is no such version; other variants when the bytes are damaged.
    pub fn decode(bytes: &[u8]) -> Result<Self, RecordError> {
        let mut value = Reader::new(bytes);
        let version = value.i16()?;
        let form = form_of(version)?;
        let protocol_type = value.text(form)?.to_owned();
        let generation = value.i32()?;
        let protocol = value.nullable_text(form)?.map(str::to_owned);
        let leader = value.nullable_text(form)?.map(str::to_owned);
        let current_state_timestamp = if version >= 2 {
            Some(value.i64()?)
                .filter(|millis| *millis != -1)
                .map(Timestamp::from_millis)
        } else {
            None
        };
        let count = value.count(form)?.ok_or(RecordError::InvalidLength)?;
        let mut members = Vec::new();
        for _ in 0..count {
            members.push(member(&mut value, version, form)?);
        }
        value.tagged_fields(form, |_, _| Ok(false))?;
        value.finish()?;
        Ok(Self {
            protocol_type,
            generation,
            protocol,
            leader,
            current_state_timestamp,
            members,
        })
    }
}

fn member(value: &mut Reader<'_>, version: i16, form: Form) -> Result<MemberMetadata, RecordError> {
    let member_id = value.text(form)?.to_owned();
    let group_instance_id = if version >= 3 {
        value.nullable_text(form)?.map(str::to_owned)
    } else {
        None
    };
    let client_id = value.text(form)?.to_owned();
    let client_host = value.text(form)?.to_owned();
    let rebalance_timeout_ms = if version >= 1 {
        Some(value.i32()?)
    } else {
        None
    };
    let session_timeout_ms = value.i32()?;
    let subscription = Bytes::copy_from_slice(value.bytes(form)?);
    let assignment = Bytes::copy_from_slice(value.bytes(form)?);
    value.tagged_fields(form, |_, _| Ok(false))?;
    Ok(MemberMetadata {
        member_id,
        group_instance_id,
        client_id,
        client_host,
        rebalance_timeout_ms: rebalance_timeout_ms.unwrap_or(session_timeout_ms),
        session_timeout_ms,
        subscription,
        assignment,
    })
}

fn form_of(version: i16) -> Result<Form, RecordError> {
    match version {
        0..=3 => Ok(Form::Classic),
        4 => Ok(Form::Flexible),
        unknown => Err(RecordError::UnknownVersion(unknown)),
    }
}

#[cfg(test)]
mod tests {
    use super::{GroupMetadataKey, GroupMetadataValue, MemberMetadata, RecordError};
    use crate::types::Timestamp;
    use bytes::Bytes;
    use proptest::prelude::*;

    fn value() -> GroupMetadataValue {
        GroupMetadataValue {
            protocol_type: "c".to_owned(),
            generation: 3,
            protocol: Some("r".to_owned()),
            leader: None,
            current_state_timestamp: Some(Timestamp::from_millis(9)),
            members: vec![MemberMetadata {
                member_id: "a".to_owned(),
                group_instance_id: Some("i".to_owned()),
                client_id: "b".to_owned(),
                client_host: "h".to_owned(),
                rebalance_timeout_ms: 6,
                session_timeout_ms: 5,
                subscription: Bytes::from_static(&[1, 2]),
                assignment: Bytes::new(),
            }],
        }
    }

    #[test]
    fn the_key_bytes_are_kafkas() {
        let key = GroupMetadataKey { group: "g".into() };
        let bytes = key.encode().expect("fits");
        assert_eq!(&bytes[..], [0, 2, 0, 1, b'g']);
        assert_eq!(GroupMetadataKey::decode(&bytes), Ok(key));
        assert_eq!(
            GroupMetadataKey::decode(&[0, 1, 0, 0]),
            Err(RecordError::UnknownVersion(1))
        );
    }

    #[test]
    fn version_3_bytes_are_kafkas() {
        let bytes = [
            &[0, 3][..],
            &[
                0, 1, b'c', 0, 0, 0, 3, 0, 1, b'r', 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 9,
            ],
            &[
                0, 0, 0, 1, 0, 1, b'a', 0, 1, b'i', 0, 1, b'b', 0, 1, b'h', 0, 0, 0, 6, 0, 0, 0, 5,
            ],
            &[0, 0, 0, 2, 1, 2, 0, 0, 0, 0],
        ]
        .concat();
        assert_eq!(&value().encode(3).expect("fits")[..], bytes);
        assert_eq!(GroupMetadataValue::decode(&bytes), Ok(value()));
    }

    #[test]
    fn version_4_is_flexible() {
        let bytes = [
            &[0, 4][..],
            &[2, b'c', 0, 0, 0, 3, 2, b'r', 0, 0, 0, 0, 0, 0, 0, 0, 9],
            &[
                2, 2, b'a', 2, b'i', 2, b'b', 2, b'h', 0, 0, 0, 6, 0, 0, 0, 5, 3, 1, 2, 1, 0,
            ],
            &[0],
        ]
        .concat();
        assert_eq!(&value().encode(4).expect("fits")[..], bytes);
        assert_eq!(GroupMetadataValue::decode(&bytes), Ok(value()));
    }

    #[test]
    fn older_versions_keep_what_they_have() {
        let bytes = value().encode(0).expect("fits");
        let mut kept = value();
        kept.current_state_timestamp = None;
        kept.members[0].group_instance_id = None;
        kept.members[0].rebalance_timeout_ms = 5;
        assert_eq!(GroupMetadataValue::decode(&bytes), Ok(kept));
        assert_eq!(value().encode(-1), Err(RecordError::UnknownVersion(-1)));
    }

    proptest! {
        #[test]
        fn hostile_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..120), version in 0_u8..6) {
            let mut bytes = bytes;
            let _ = GroupMetadataKey::decode(&bytes);
            if bytes.len() >= 2 {
                bytes[0] = 0;
                bytes[1] = version;
            }
            if let Ok(value) = GroupMetadataValue::decode(&bytes) {
                let again = value.encode(i16::from(version)).expect("what was read fits");
                prop_assert_eq!(GroupMetadataValue::decode(&again), Ok(value));
            }
        }
    }
}
