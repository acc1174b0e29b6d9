//! The records of `__transaction_state`, which the protocol crate lacks: read to see what a
//! coordinator has stored, written to start a broker from a state that takes hours to reach.

use bytes::{BufMut, Bytes, BytesMut};

use super::error::WireError;
use super::reader::{Reader, malformed};
use super::requests::{Producer, TopicPartition};

/// The value of a transactional id's record, in its own numbers (-1 for none).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionLogValue {
    /// 0 or 1; 1 has the fields after `start_timestamp`.
    pub version: i16,
    /// Producer id and epoch.
    pub producer: Producer,
    /// Transaction timeout in milliseconds.
    pub timeout_ms: i32,
    /// The state's byte, 0 Empty to 6 Dead.
    pub status: i8,
    /// The partitions; none where the record has null.
    pub partitions: Option<Vec<TopicPartition>>,
    /// Milliseconds since 1970.
    pub last_update_timestamp: i64,
    /// Milliseconds since 1970.
    pub start_timestamp: i64,
    /// Tagged fields by number, undecoded: 0 PreviousProducerId, 1 NextProducerId,
    /// 2 ClientTransactionVersion, and whatever this Kafka adds.
    pub tags: Vec<(u32, Bytes)>,
}

/// The key of a transactional id's record (version 0).
#[must_use]
pub fn transaction_log_key(transactional_id: &str) -> Bytes {
    let mut key = BytesMut::new();
    key.put_i16(0);
    key.put_i16(transactional_id.len() as i16);
    key.extend_from_slice(transactional_id.as_bytes());
    key.freeze()
}

impl TransactionLogValue {
    /// A tagged field as a number of 8 or 2 bytes.
    #[must_use]
    pub fn tag(&self, number: u32) -> Option<i64> {
        let (_, bytes) = self.tags.iter().find(|(tag, _)| *tag == number)?;
        match bytes.as_ref() {
            [high, low] => Some(i64::from(i16::from_be_bytes([*high, *low]))),
            bytes => Some(i64::from_be_bytes(bytes.try_into().ok()?)),
        }
    }

    /// Reads a record's value.
    ///
    /// # Errors
    /// [`WireError::Malformed`] on another version, or a length that does not fit.
    pub fn decode(value: &Bytes) -> Result<Self, WireError> {
        let mut reader = Reader::new(value.clone());
        let version = reader.i16()?;
        if !(0..=1).contains(&version) {
            return Err(malformed("transaction log value above version 1"));
        }
        let producer = Producer {
            id: reader.i64()?,
            epoch: reader.i16()?,
        };
        let timeout_ms = reader.i32()?;
        let status = reader.i8()?;
        let partitions = read_partitions(&mut reader, version)?;
        let last_update_timestamp = reader.i64()?;
        let start_timestamp = reader.i64()?;
        let tags = if version >= 1 {
            read_tags(&mut reader)?
        } else {
            Vec::new()
        };
        Ok(Self {
            version,
            producer,
            timeout_ms,
            status,
            partitions,
            last_update_timestamp,
            start_timestamp,
            tags,
        })
    }

    /// The record's value. Topic names and tags are kept under 127 bytes by their callers, so
    /// each length is one byte in version 1.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let flexible = self.version >= 1;
        let mut value = BytesMut::new();
        value.put_i16(self.version);
        value.put_i64(self.producer.id);
        value.put_i16(self.producer.epoch);
        value.put_i32(self.timeout_ms);
        value.put_i8(self.status);
        match &self.partitions {
            None if flexible => value.put_u8(0),
            None => value.put_i32(-1),
            Some(partitions) => {
                put_count(&mut value, flexible, partitions.len());
                for partition in partitions {
                    put_partition(&mut value, flexible, partition);
                }
            }
        }
        value.put_i64(self.last_update_timestamp);
        value.put_i64(self.start_timestamp);
        if flexible {
            value.put_u8(self.tags.len() as u8);
            for (number, bytes) in &self.tags {
                value.put_u8(*number as u8);
                value.put_u8(bytes.len() as u8);
                value.extend_from_slice(bytes);
            }
        }
        value.freeze()
    }
}

fn put_count(value: &mut BytesMut, flexible: bool, count: usize) {
    if flexible {
        value.put_u8(count as u8 + 1);
    } else {
        value.put_i32(count as i32);
    }
}

/// One topic with one partition; Kafka groups them, and reads both forms.
fn put_partition(value: &mut BytesMut, flexible: bool, partition: &TopicPartition) {
    if flexible {
        value.put_u8(partition.topic.len() as u8 + 1);
    } else {
        value.put_i16(partition.topic.len() as i16);
    }
    value.extend_from_slice(partition.topic.as_bytes());
    put_count(value, flexible, 1);
    value.put_i32(partition.partition);
    if flexible {
        value.put_u8(0);
    }
}

fn read_partitions(
    reader: &mut Reader,
    version: i16,
) -> Result<Option<Vec<TopicPartition>>, WireError> {
    let Some(topics) = read_length(reader, version, 4)? else {
        return Ok(None);
    };
    let mut partitions = Vec::new();
    for _ in 0..topics {
        let length = read_length(reader, version, 2)?.unwrap_or(0);
        let topic = String::from_utf8_lossy(&reader.take(length)?).into_owned();
        for _ in 0..read_length(reader, version, 4)?.unwrap_or(0) {
            partitions.push(TopicPartition::new(&topic, reader.i32()?));
        }
        if version >= 1 {
            read_tags(reader)?;
        }
    }
    Ok(Some(partitions))
}

fn read_length(
    reader: &mut Reader,
    version: i16,
    plain_bytes: usize,
) -> Result<Option<usize>, WireError> {
    let length = match (version, plain_bytes) {
        (1, _) => i64::from(reader.unsigned_varint()?) - 1,
        (_, 2) => i64::from(reader.i16()?),
        (_, _) => i64::from(reader.i32()?),
    };
    match length {
        -1 => Ok(None),
        length => usize::try_from(length)
            .map(Some)
            .map_err(|_| malformed("negative length")),
    }
}

fn read_tags(reader: &mut Reader) -> Result<Vec<(u32, Bytes)>, WireError> {
    let mut tags = Vec::new();
    for _ in 0..reader.unsigned_varint()? {
        let number = reader.unsigned_varint()?;
        let size = reader.unsigned_varint()? as usize;
        tags.push((number, reader.take(size)?));
    }
    Ok(tags)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(version: i16) -> TransactionLogValue {
        TransactionLogValue {
            version,
            producer: Producer {
                id: 42,
                epoch: 32_766,
            },
            timeout_ms: 60_000,
            status: 1,
            partitions: Some(vec![TopicPartition::new("t", 3)]),
            last_update_timestamp: 5,
            start_timestamp: 4,
            tags: match version {
                0 => Vec::new(),
                _ => vec![(2, Bytes::from_static(&[0, 2]))],
            },
        }
    }

    #[test]
    fn both_versions_read_back_as_written() {
        for version in [0, 1] {
            let written = value(version);
            assert_eq!(
                TransactionLogValue::decode(&written.encode()).expect("own value"),
                written
            );
        }
        assert_eq!(value(1).tag(2), Some(2));
        assert_eq!(value(1).tag(0), None);
    }

    #[test]
    fn a_cut_value_is_refused() {
        let whole = value(1).encode();
        for cut in 0..whole.len() {
            assert!(
                TransactionLogValue::decode(&whole.slice(..cut)).is_err(),
                "cut {cut}"
            );
        }
    }
}
