//! A batch of one record, and the model's record.

use super::{LEADERSHIP, now};
use crate::actors::Difference;
use crate::map::{self, Unmapped};
use bytes::Bytes;
use fencepost::batch::{ControlRecord, RecordBatch};
use fencepost_spec::partition as s;
use fencepost_spec::types::*;

/// A batch of one record as the model's record.
///
/// # Errors
/// [`Unmapped`] for a batch that no scenario writes.
pub(in crate::actors) fn abstract_batch(batch: &RecordBatch) -> Result<s::Record, Unmapped> {
    let unmapped = || Unmapped::new("batch", batch);
    let producer = batch.producer().ok_or_else(unmapped)?;
    let identity = Identity::new(
        map::spec_producer_id(producer.producer_id)?,
        map::spec_producer_epoch(producer.producer_epoch),
    );
    let marker = match batch.control_record().map_err(|_| unmapped())? {
        Some(ControlRecord::EndTxn(marker)) => Some(marker),
        Some(ControlRecord::Other(_)) => return Err(unmapped()),
        None => None,
    };
    let payload = match marker {
        Some(_) => Payload(0),
        None => payload(batch).ok_or_else(unmapped)?,
    };
    Ok(s::Record {
        offset: map::spec_offset(batch.base_offset())?,
        kind: marker.map_or(s::RecordKind::Data, |it| {
            s::RecordKind::Marker(map::spec_result(it.result))
        }),
        identity,
        sequence: producer
            .base_sequence
            .map_or(Sequence::FIRST, map::spec_sequence),
        transactional: batch.header().is_transactional,
        coordinator_epoch: marker
            .map(|it| map::spec_coordinator_epoch(it.coordinator_epoch))
            .transpose()?,
        payload,
        ghost: Ghost::NONE,
    })
}

/// The one record's payload: of data its only byte, of a staged offset the offset.
fn payload(batch: &RecordBatch) -> Option<Payload> {
    let mut records = batch.records().ok()?;
    let record = records.next()?.ok()?;
    if records.next().is_some() {
        return None;
    }
    match (record.key, record.value?) {
        (None, [byte]) => Some(Payload(*byte)),
        (None, _) => None,
        (Some(_), value) => {
            let value = fencepost::records::offset_commit::OffsetCommitValue::decode(value).ok()?;
            u8::try_from(value.offset.get()).ok().map(Payload)
        }
    }
}

/// The bytes of a seeded record.
pub(in crate::actors) fn seed_batch(record: &s::Record) -> Result<RecordBatch, Difference> {
    use fencepost::batch::{BatchProducer, NewBatch, NewRecord};
    let batch = NewBatch {
        base_offset: map::offset(record.offset),
        leader_epoch: Some(LEADERSHIP),
        producer: Some(BatchProducer {
            producer_id: map::producer_id(record.identity.producer_id),
            producer_epoch: map::producer_epoch(record.identity.producer_epoch)?,
            base_sequence: Some(map::sequence(record.sequence)?),
        }),
        is_transactional: record.transactional,
        is_control: false,
        records: vec![NewRecord::new(
            now(),
            None,
            Some(Bytes::copy_from_slice(&[record.payload.0])),
        )],
    };
    batch
        .write()
        .map_err(|error| Unmapped::new("batch", error).into())
}
