//! The records of `__transaction_state`: one key for each transactional id, its last value wins, a null value removes
//! the id. Source: the schemas `TransactionLogKey` and `TransactionLogValue` of Kafka 4.4.0; KIP-915 (flexible values),
//! KIP-939 (the next identity). KAFKA-20357 adds the last producer epoch as tag 4 to a later Kafka; 4.4.0 has none.

use super::RecordError;
use super::codec::{Form, Reader, Writer};
use crate::types::{
    ProducerEpoch, ProducerId, Timestamp, TopicName, TopicPartition, TransactionVersion,
    TransactionalId,
};
use bytes::Bytes;

const KEY: i16 = 0;

const PREVIOUS_PRODUCER_ID: u32 = 0;
const NEXT_PRODUCER_ID: u32 = 1;
const CLIENT_TRANSACTION_VERSION: u32 = 2;
const NEXT_PRODUCER_EPOCH: u32 = 3;

/// The key of a transactional id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransactionLogKey {
    /// The id.
    pub transactional_id: TransactionalId,
}

impl TransactionLogKey {
    /// The key's bytes.
    ///
    /// # Errors
    /// [`RecordError::TooLong`] when the id has more than 32767 bytes.
    pub fn encode(&self) -> Result<Bytes, RecordError> {
        let mut key = Writer::versioned(KEY);
        key.text(Form::Classic, self.transactional_id.as_str())?;
        Ok(key.finish())
    }

    /// Reads a key.
    ///
    /// # Errors
    /// [`RecordError::UnknownVersion`] when the key is of another kind (Kafka skips such a record); other variants
    /// when it is damaged.
    pub fn decode(bytes: &[u8]) -> Result<Self, RecordError> {
        let mut key = Reader::new(bytes);
        let version = key.i16()?;
        if version != KEY {
            return Err(RecordError::UnknownVersion(version));
        }
        let transactional_id = TransactionalId::new(key.text(Form::Classic)?);
        key.finish()?;
        Ok(Self { transactional_id })
    }
}

/// The version of a value: the cluster's transaction version decides which is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransactionLogValueVersion {
    /// Classic forms. The previous and next identities and the client's transaction version are not kept.
    V0,
    /// Flexible forms with tagged fields.
    V1,
}

impl TransactionLogValueVersion {
    /// The version that a cluster at this level writes.
    #[must_use]
    pub fn of(level: TransactionVersion) -> Self {
        match level {
            TransactionVersion::V0 => Self::V0,
            TransactionVersion::V1 | TransactionVersion::V2 => Self::V1,
        }
    }

    fn number(self) -> i16 {
        match self {
            Self::V0 => 0,
            Self::V1 => 1,
        }
    }

    fn form(self) -> Form {
        match self {
            Self::V0 => Form::Classic,
            Self::V1 => Form::Flexible,
        }
    }
}

/// The value of a transactional id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TransactionLogValue<P = Vec<TopicPartition>> {
    /// The producer id in use.
    pub producer_id: ProducerId,
    /// The producer id that a client used for the last decision. Tag 0.
    pub previous_producer_id: Option<ProducerId>,
    /// The producer id that the client gets next. Tag 1.
    pub next_producer_id: Option<ProducerId>,
    /// The epoch in use; `None` before the first initialisation is logged, so never in a log that Kafka wrote.
    pub producer_epoch: Option<ProducerEpoch>,
    /// The epoch that goes with [`Self::next_producer_id`]. Tag 3, KIP-939.
    pub next_producer_epoch: Option<ProducerEpoch>,
    /// The transaction timeout in milliseconds; `i32::MAX` when the transaction takes part in two-phase commit.
    pub transaction_timeout_ms: i32,
    /// The number of the transaction's state, 0 to 5.
    pub transaction_status: i8,
    /// The partitions of the transaction; null on the wire when the state is Empty.
    pub transaction_partitions: Option<P>,
    /// When the id was last changed.
    pub last_update_timestamp: Timestamp,
    /// When the transaction began.
    pub start_timestamp: Option<Timestamp>,
    /// The transaction version that the client used. Tag 2; 0 when absent.
    pub client_transaction_version: TransactionVersion,
}

impl<P: AsRef<[TopicPartition]>> TransactionLogValue<P> {
    /// The value's bytes. Partitions are grouped by topic in the order given, neighbours of one topic together.
    ///
    /// # Errors
    /// [`RecordError::TooLong`] when a topic's name does not fit its field.
    pub fn encode(&self, version: TransactionLogValueVersion) -> Result<Bytes, RecordError> {
        let form = version.form();
        let mut value = Writer::versioned(version.number());
        value.i64(self.producer_id.get());
        value.i16(ProducerEpoch::to_wire(self.producer_epoch));
        value.i32(self.transaction_timeout_ms);
        value.i8(self.transaction_status);
        match &self.transaction_partitions {
            None => value.null_array(form),
            Some(partitions) => write_partitions(&mut value, form, partitions.as_ref())?,
        }
        value.i64(self.last_update_timestamp.as_millis());
        value.i64(self.start_timestamp.map_or(-1, Timestamp::as_millis));
        self.write_tags(&mut value, form);
        Ok(value.finish())
    }

    /// A tag is written only when its value is not the default.
    fn write_tags(&self, value: &mut Writer, form: Form) {
        let previous = self.previous_producer_id.map(|id| id.get().to_be_bytes());
        let next = self.next_producer_id.map(|id| id.get().to_be_bytes());
        let client = Some(self.client_transaction_version.level())
            .filter(|level| *level != 0)
            .map(i16::to_be_bytes);
        let next_epoch = self
            .next_producer_epoch
            .map(|epoch| epoch.get().to_be_bytes());
        let tags = [
            (
                PREVIOUS_PRODUCER_ID,
                previous.as_ref().map(|bytes| &bytes[..]),
            ),
            (NEXT_PRODUCER_ID, next.as_ref().map(|bytes| &bytes[..])),
            (
                CLIENT_TRANSACTION_VERSION,
                client.as_ref().map(|bytes| &bytes[..]),
            ),
            (
                NEXT_PRODUCER_EPOCH,
                next_epoch.as_ref().map(|bytes| &bytes[..]),
            ),
        ];
        let present: Vec<(u32, &[u8])> = tags
            .into_iter()
            .filter_map(|(tag, bytes)| bytes.map(|bytes| (tag, bytes)))
            .collect();
        value.tagged_fields(form, &present);
    }
}

impl TransactionLogValue {
    /// Reads a value of version 0 or 1.
    ///
    /// # Errors
    /// [`RecordError::UnknownVersion`] when there is no such version (Kafka skips such a record); other variants when
    /// the bytes are damaged.
    pub fn decode(bytes: &[u8]) -> Result<Self, RecordError> {
        let mut value = Reader::new(bytes);
        let version = value.i16()?;
        let form = [
            TransactionLogValueVersion::V0,
            TransactionLogValueVersion::V1,
        ]
        .into_iter()
        .find(|known| known.number() == version)
        .ok_or(RecordError::UnknownVersion(version))?
        .form();
        let producer_id =
            ProducerId::from_wire(value.i64()?).ok_or(RecordError::InvalidField("producer id"))?;
        let mut read = Self {
            producer_id,
            previous_producer_id: None,
            next_producer_id: None,
            producer_epoch: ProducerEpoch::from_wire(value.i16()?),
            next_producer_epoch: None,
            transaction_timeout_ms: value.i32()?,
            transaction_status: value.i8()?,
            transaction_partitions: read_partitions(&mut value, form)?,
            last_update_timestamp: Timestamp::from_millis(value.i64()?),
            start_timestamp: Some(value.i64()?)
                .filter(|millis| *millis != -1)
                .map(Timestamp::from_millis),
            client_transaction_version: TransactionVersion::V0,
        };
        value.tagged_fields(form, |tag, field| read.read_tag(tag, field))?;
        value.finish()?;
        Ok(read)
    }

    fn read_tag(&mut self, tag: u32, field: &mut Reader<'_>) -> Result<bool, RecordError> {
        match tag {
            PREVIOUS_PRODUCER_ID => self.previous_producer_id = ProducerId::from_wire(field.i64()?),
            NEXT_PRODUCER_ID => self.next_producer_id = ProducerId::from_wire(field.i64()?),
            CLIENT_TRANSACTION_VERSION => {
                self.client_transaction_version = TransactionVersion::from_level(field.i16()?)
                    .ok_or(RecordError::InvalidField("client transaction version"))?;
            }
            NEXT_PRODUCER_EPOCH => {
                self.next_producer_epoch = ProducerEpoch::from_wire(field.i16()?)
            }
            _unknown => return Ok(false),
        }
        Ok(true)
    }
}

fn write_partitions(
    value: &mut Writer,
    form: Form,
    partitions: &[TopicPartition],
) -> Result<(), RecordError> {
    let same_topic = |left: &TopicPartition, right: &TopicPartition| left.topic == right.topic;
    value.count(form, partitions.chunk_by(same_topic).count())?;
    for topic in partitions.chunk_by(same_topic) {
        value.text(form, topic[0].topic.as_str())?;
        value.count(form, topic.len())?;
        for partition in topic {
            value.i32(partition.partition);
        }
        value.tagged_fields(form, &[]);
    }
    Ok(())
}

fn read_partitions(
    value: &mut Reader<'_>,
    form: Form,
) -> Result<Option<Vec<TopicPartition>>, RecordError> {
    let Some(topics) = value.count(form)? else {
        return Ok(None);
    };
    let mut partitions = Vec::new();
    for _ in 0..topics {
        let topic = TopicName::new(value.text(form)?);
        let count = value.count(form)?.ok_or(RecordError::InvalidLength)?;
        for _ in 0..count {
            partitions.push(TopicPartition {
                topic: topic.clone(),
                partition: value.i32()?,
            });
        }
        value.tagged_fields(form, |_, _| Ok(false))?;
    }
    Ok(Some(partitions))
}

#[cfg(test)]
#[path = "transaction_log_tests.rs"]
mod tests;
