//! The records of committed offsets in `__consumer_offsets`.
//!
//! Key: `i16` 1 (older logs: 0), group, topic, partition. Value: `i16` version 0 to 4. Source: the schemas
//! `OffsetCommitKey` and `OffsetCommitValue`.

use super::RecordError;
use super::codec::{Form, Reader, Writer};
use crate::types::{GroupId, LeaderEpoch, Offset, Timestamp, TopicName, TopicPartition};
use bytes::Bytes;

const LEGACY_KEY: i16 = 0;
const KEY: i16 = 1;

/// Which partition of which group a committed offset belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OffsetCommitKey {
    /// The group.
    pub group: GroupId,
    /// The partition that the group reads.
    pub partition: TopicPartition,
}

impl OffsetCommitKey {
    /// The key's bytes.
    ///
    /// # Errors
    /// [`RecordError::TooLong`] when the group or the topic has more than 32767 bytes.
    pub fn encode(&self) -> Result<Bytes, RecordError> {
        let mut key = Writer::versioned(KEY);
        key.text(Form::Classic, self.group.as_str())?;
        key.text(Form::Classic, self.partition.topic.as_str())?;
        key.i32(self.partition.partition);
        Ok(key.finish())
    }

    /// Reads a key of type 0 or 1: they differ in nothing else.
    ///
    /// # Errors
    /// [`RecordError::UnknownVersion`] when the key is another record's; other variants when it is damaged.
    pub fn decode(bytes: &[u8]) -> Result<Self, RecordError> {
        let mut key = Reader::new(bytes);
        let kind = key.i16()?;
        if kind != KEY && kind != LEGACY_KEY {
            return Err(RecordError::UnknownVersion(kind));
        }
        let group = GroupId::new(key.text(Form::Classic)?);
        let topic = TopicName::new(key.text(Form::Classic)?);
        let partition = key.i32()?;
        key.finish()?;
        Ok(Self {
            group,
            partition: TopicPartition { topic, partition },
        })
    }
}

/// A committed offset.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OffsetCommitValue {
    /// The next offset that the group wants to read.
    pub offset: Offset,
    /// The leader epoch of the last record read. Version 3 and later; other versions do not keep it.
    pub leader_epoch: Option<LeaderEpoch>,
    /// Whatever the client wants to keep with it.
    pub metadata: String,
    /// When it was committed.
    pub commit_timestamp: Timestamp,
    /// When it expires. Version 1 only; other versions do not keep it.
    pub expire_timestamp: Option<Timestamp>,
    /// The topic's id. Version 4; other versions do not keep it.
    pub topic_id: Option<[u8; 16]>,
}

impl OffsetCommitValue {
    /// The value's bytes in this version, 0 to 4: Kafka 4.x writes 3, or 1 for a commit with an expiry, or 4 for one
    /// with a topic id. A field that the version lacks is left out.
    ///
    /// # Errors
    /// [`RecordError::UnknownVersion`] when there is no such version, [`RecordError::TooLong`] when the metadata does
    /// not fit.
    pub fn encode(&self, version: i16) -> Result<Bytes, RecordError> {
        let form = form_of(version)?;
        let mut value = Writer::versioned(version);
        value.i64(self.offset.get());
        if version >= 3 {
            value.i32(LeaderEpoch::to_wire(self.leader_epoch));
        }
        value.text(form, &self.metadata)?;
        value.i64(self.commit_timestamp.as_millis());
        if version == 1 {
            value.i64(self.expire_timestamp.map_or(-1, Timestamp::as_millis));
        }
        let topic_id: Vec<(u32, &[u8])> = self.topic_id.iter().map(|id| (0, &id[..])).collect();
        value.tagged_fields(form, &topic_id);
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
        let offset = Offset::from_wire(value.i64()?).ok_or(RecordError::InvalidField("offset"))?;
        let leader_epoch = if version >= 3 {
            LeaderEpoch::from_wire(value.i32()?)
        } else {
            None
        };
        let metadata = value.text(form)?.to_owned();
        let commit_timestamp = Timestamp::from_millis(value.i64()?);
        let expire_timestamp = match version {
            1 => Some(value.i64()?)
                .filter(|millis| *millis != -1)
                .map(Timestamp::from_millis),
            _no_such_field => None,
        };
        let mut topic_id = None;
        value.tagged_fields(form, |tag, field| {
            if tag == 0 {
                topic_id = Some(field.uuid()?).filter(|id| *id != [0; 16]);
            }
            Ok(tag == 0)
        })?;
        value.finish()?;
        Ok(Self {
            offset,
            leader_epoch,
            metadata,
            commit_timestamp,
            expire_timestamp,
            topic_id,
        })
    }
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
    use super::{OffsetCommitKey, OffsetCommitValue, RecordError};
    use crate::types::{LeaderEpoch, Offset, Timestamp, TopicPartition};
    use proptest::prelude::*;

    fn value() -> OffsetCommitValue {
        OffsetCommitValue {
            offset: Offset::new(258),
            leader_epoch: Some(LeaderEpoch::new(5)),
            metadata: "m".to_owned(),
            commit_timestamp: Timestamp::from_millis(1),
            expire_timestamp: Some(Timestamp::from_millis(2)),
            topic_id: Some([7; 16]),
        }
    }

    #[test]
    fn the_key_bytes_are_kafkas() {
        let key = OffsetCommitKey {
            group: "g".into(),
            partition: TopicPartition::new("t", 3),
        };
        let bytes = key.encode().expect("a short key fits");
        assert_eq!(&bytes[..], [0, 1, 0, 1, b'g', 0, 1, b't', 0, 0, 0, 3]);
        assert_eq!(OffsetCommitKey::decode(&bytes), Ok(key.clone()));
        let mut legacy = bytes.to_vec();
        legacy[1] = 0;
        assert_eq!(OffsetCommitKey::decode(&legacy), Ok(key));
        legacy[1] = 2;
        assert_eq!(
            OffsetCommitKey::decode(&legacy),
            Err(RecordError::UnknownVersion(2))
        );
    }

    #[test]
    fn the_value_bytes_of_each_version_are_kafkas() {
        const OFFSET: [u8; 8] = [0, 0, 0, 0, 0, 0, 1, 2];
        const COMMIT: [u8; 8] = [0, 0, 0, 0, 0, 0, 0, 1];
        let rows: [(i16, Vec<u8>); 5] = [
            (0, [&[0, 0], &OFFSET[..], &[0, 1, b'm'], &COMMIT].concat()),
            (
                1,
                [
                    &[0, 1],
                    &OFFSET[..],
                    &[0, 1, b'm'],
                    &COMMIT,
                    &[0, 0, 0, 0, 0, 0, 0, 2],
                ]
                .concat(),
            ),
            (2, [&[0, 2], &OFFSET[..], &[0, 1, b'm'], &COMMIT].concat()),
            (
                3,
                [&[0, 3], &OFFSET[..], &[0, 0, 0, 5], &[0, 1, b'm'], &COMMIT].concat(),
            ),
            (
                4,
                [
                    &[0, 4],
                    &OFFSET[..],
                    &[0, 0, 0, 5],
                    &[2, b'm'],
                    &COMMIT,
                    &[1, 0, 16],
                    &[7; 16],
                ]
                .concat(),
            ),
        ];
        for (version, bytes) in rows {
            assert_eq!(
                &value().encode(version).expect("fits")[..],
                bytes,
                "version {version}"
            );
            let kept = OffsetCommitValue {
                leader_epoch: value().leader_epoch.filter(|_| version >= 3),
                expire_timestamp: value().expire_timestamp.filter(|_| version == 1),
                topic_id: value().topic_id.filter(|_| version == 4),
                ..value()
            };
            assert_eq!(
                OffsetCommitValue::decode(&bytes),
                Ok(kept),
                "version {version}"
            );
        }
        assert_eq!(value().encode(5), Err(RecordError::UnknownVersion(5)));
    }

    proptest! {
        #[test]
        fn hostile_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), version in 0_u8..6) {
            let mut bytes = bytes;
            let _ = OffsetCommitKey::decode(&bytes);
            if bytes.len() >= 2 {
                bytes[0] = 0;
                bytes[1] = version;
            }
            if let Ok(value) = OffsetCommitValue::decode(&bytes) {
                let again = value.encode(i16::from(version)).expect("what was read fits");
                prop_assert_eq!(OffsetCommitValue::decode(&again), Ok(value));
            }
        }
    }
}
