//! Record batches (magic 2), written with any producer id, epoch and sequence, and read back from
//! raw log bytes with every length checked.

use bytes::{BufMut, Bytes, BytesMut};

use super::error::WireError;
use super::reader::{Reader, malformed};
use super::requests::Producer;

const HEADER: usize = 61;
/// Where the CRC's cover begins: the attributes.
const CRC_FROM: usize = 21;
const TRANSACTIONAL: i16 = 0x10;
const CONTROL: i16 = 0x20;
const COMPRESSION: i16 = 0x07;

/// A batch to produce: records without headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Producer id and epoch in the batch header; [`Producer::NONE`] for a plain batch.
    pub producer: Producer,
    /// Sequence number of the first record, -1 for none.
    pub base_sequence: i32,
    /// The transactional attribute.
    pub transactional: bool,
    /// Key and value of each record, in order.
    pub records: Vec<(Option<Bytes>, Option<Bytes>)>,
}

impl Batch {
    /// A transactional batch with one record.
    #[must_use]
    pub fn transactional(producer: Producer, base_sequence: i32, value: &str) -> Self {
        Self {
            producer,
            base_sequence,
            transactional: true,
            records: vec![(None, Some(Bytes::copy_from_slice(value.as_bytes())))],
        }
    }

    /// The batch's bytes, as they go into a Produce request. Timestamps are 0.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let count = i32::try_from(self.records.len()).unwrap_or(i32::MAX);
        let mut body = BytesMut::new();
        body.put_i16(if self.transactional { TRANSACTIONAL } else { 0 });
        body.put_i32(count - 1);
        body.put_i64(0);
        body.put_i64(0);
        body.put_i64(self.producer.id);
        body.put_i16(self.producer.epoch);
        body.put_i32(self.base_sequence);
        body.put_i32(count);
        for (index, (key, value)) in self.records.iter().enumerate() {
            put_record(&mut body, index as i64, key.as_ref(), value.as_ref());
        }
        let mut batch = BytesMut::with_capacity(CRC_FROM + body.len());
        batch.put_i64(0);
        batch.put_i32((body.len() + CRC_FROM - 12) as i32);
        batch.put_i32(-1);
        batch.put_i8(2);
        batch.put_u32(crc32c::crc32c(&body));
        batch.extend_from_slice(&body);
        batch.freeze()
    }
}

fn put_record(
    buffer: &mut BytesMut,
    offset_delta: i64,
    key: Option<&Bytes>,
    value: Option<&Bytes>,
) {
    let mut record = BytesMut::new();
    record.put_i8(0);
    put_varint(&mut record, 0);
    put_varint(&mut record, offset_delta);
    put_nullable(&mut record, key);
    put_nullable(&mut record, value);
    put_varint(&mut record, 0);
    put_varint(buffer, record.len() as i64);
    buffer.extend_from_slice(&record);
}

fn put_nullable(buffer: &mut BytesMut, bytes: Option<&Bytes>) {
    match bytes {
        Some(bytes) => {
            put_varint(buffer, bytes.len() as i64);
            buffer.extend_from_slice(bytes);
        }
        None => put_varint(buffer, -1),
    }
}

fn put_varint(buffer: &mut BytesMut, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        buffer.put_u8((rest as u8 & 0x7f) | 0x80);
        rest >>= 7;
    }
    buffer.put_u8(rest as u8);
}

/// A batch as it stands in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchView {
    /// Offset of the first record.
    pub base_offset: i64,
    /// Offset of the last record.
    pub last_offset: i64,
    /// Leader epoch under which it was appended.
    pub partition_leader_epoch: i32,
    /// Producer id and epoch, [`Producer::NONE`] for a plain batch.
    pub producer: Producer,
    /// Sequence number of the first record, -1 for none.
    pub base_sequence: i32,
    /// The transactional attribute.
    pub transactional: bool,
    /// The marker, where this is a control batch of a transaction.
    pub control: Option<ControlRecord>,
    /// The records of a data batch; empty for a control batch, and for one whose header alone was
    /// read.
    pub records: Vec<RecordView>,
}

/// What is made of a compressed batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compressed {
    /// It cannot be read.
    Refused,
    /// Its header is read: who wrote it, how many records, with which sequences.
    HeaderOnly,
}

/// A transaction marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlRecord {
    /// True for COMMIT (type 1), false for ABORT (type 0).
    pub committed: bool,
    /// Epoch of the coordinator that wrote it.
    pub coordinator_epoch: i32,
}

/// A record of a data batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordView {
    /// Its offset.
    pub offset: i64,
    /// Its key, if any.
    pub key: Option<Bytes>,
    /// Its value, if any.
    pub value: Option<Bytes>,
}

/// Reads all whole batches from a piece of a log; a cut last batch is left out, as Kafka's own
/// clients do with a fetch that ends inside a batch.
///
/// # Errors
/// [`WireError::Malformed`] on another magic, a wrong CRC, a compressed batch, or a length that
/// does not fit.
pub fn read_batches(log: &Bytes) -> Result<Vec<BatchView>, WireError> {
    read_all(log, Compressed::Refused)
}

/// As [`read_batches`], but a compressed batch stands without its records.
///
/// # Errors
/// As [`read_batches`], compressed batches excepted.
pub fn read_batch_headers(log: &Bytes) -> Result<Vec<BatchView>, WireError> {
    read_all(log, Compressed::HeaderOnly)
}

fn read_all(log: &Bytes, compressed: Compressed) -> Result<Vec<BatchView>, WireError> {
    let mut batches = Vec::new();
    let mut at = 0;
    while log.len() - at >= 12 {
        let mut head = Reader::new(log.slice(at..at + 12));
        let base_offset = head.i64()?;
        let length = usize::try_from(head.i32()?).map_err(|_| malformed("batch length"))?;
        let Some(end) = at.checked_add(12 + length).filter(|end| *end <= log.len()) else {
            break;
        };
        if length + 12 < HEADER {
            return Err(malformed("batch below its header"));
        }
        batches.push(read_batch(base_offset, &log.slice(at..end), compressed)?);
        at = end;
    }
    Ok(batches)
}

fn read_batch(
    base_offset: i64,
    batch: &Bytes,
    compressed: Compressed,
) -> Result<BatchView, WireError> {
    let mut head = Reader::new(batch.slice(12..));
    let partition_leader_epoch = head.i32()?;
    if head.i8()? != 2 {
        return Err(malformed("magic is not 2"));
    }
    if head.i32()? as u32 != crc32c::crc32c(&batch[CRC_FROM..]) {
        return Err(malformed("wrong CRC"));
    }
    let attributes = head.i16()?;
    let is_compressed = attributes & COMPRESSION != 0;
    if is_compressed && compressed == Compressed::Refused {
        return Err(malformed("compressed batch"));
    }
    if is_compressed && attributes & CONTROL != 0 {
        return Err(malformed("compressed control batch"));
    }
    let last_offset = base_offset.wrapping_add(i64::from(head.i32()?));
    head.i64()?;
    head.i64()?;
    let producer = Producer {
        id: head.i64()?,
        epoch: head.i16()?,
    };
    let base_sequence = head.i32()?;
    let count = head.i32()?;
    let mut records = Vec::new();
    for _ in 0..if is_compressed { 0 } else { count } {
        records.push(read_record(base_offset, &mut head)?);
    }
    let control = if attributes & CONTROL == 0 {
        None
    } else {
        control_record(&records)?
    };
    Ok(BatchView {
        base_offset,
        last_offset,
        partition_leader_epoch,
        producer,
        base_sequence,
        transactional: attributes & TRANSACTIONAL != 0,
        control,
        records: if attributes & CONTROL == 0 {
            records
        } else {
            Vec::new()
        },
    })
}

fn read_record(base_offset: i64, reader: &mut Reader) -> Result<RecordView, WireError> {
    let length = reader.varint()?;
    let length = usize::try_from(length).map_err(|_| malformed("record length"))?;
    let mut record = Reader::new(reader.take(length)?);
    record.i8()?;
    record.varint()?;
    let offset = base_offset.wrapping_add(record.varint()?);
    Ok(RecordView {
        offset,
        key: record.nullable()?,
        value: record.nullable()?,
    })
}

/// The marker of a control batch; nothing for control types that are not transaction markers.
fn control_record(records: &[RecordView]) -> Result<Option<ControlRecord>, WireError> {
    let [record] = records else {
        return Err(malformed("control batch without its one record"));
    };
    let mut key = Reader::new(record.key.clone().unwrap_or_default());
    key.i16()?;
    let committed = match key.i16()? {
        0 => false,
        1 => true,
        _ => return Ok(None),
    };
    let mut value = Reader::new(record.value.clone().unwrap_or_default());
    value.i16()?;
    Ok(Some(ControlRecord {
        committed,
        coordinator_epoch: value.i32()?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Batch {
        Batch {
            producer: Producer { id: 7, epoch: 3 },
            base_sequence: 5,
            transactional: true,
            records: vec![
                (None, None),
                (
                    Some(Bytes::from_static(b"k")),
                    Some(Bytes::from(vec![0; 300])),
                ),
            ],
        }
    }

    #[test]
    fn a_batch_reads_back_as_it_was_written() {
        let views = read_batches(&sample().encode()).expect("own batch");
        let [view] = views.as_slice() else {
            panic!("one batch: {views:?}");
        };
        assert_eq!(view.producer, Producer { id: 7, epoch: 3 });
        assert_eq!((view.base_sequence, view.last_offset), (5, 1));
        assert!(view.transactional && view.control.is_none());
        assert_eq!(view.records[1].value.as_deref(), Some(&[0_u8; 300][..]));
    }

    #[test]
    fn a_compressed_batch_has_its_header() {
        let mut bytes = sample().encode().to_vec();
        // LZ4, over records that no one here could unpack.
        bytes[22] |= 3;
        bytes.truncate(HEADER + 5);
        let length = (bytes.len() - 12) as i32;
        bytes[8..12].copy_from_slice(&length.to_be_bytes());
        let crc = crc32c::crc32c(&bytes[CRC_FROM..]);
        bytes[17..21].copy_from_slice(&crc.to_be_bytes());
        let bytes = Bytes::from(bytes);
        assert!(read_batches(&bytes).is_err());
        let views = read_batch_headers(&bytes).expect("a header");
        let [view] = views.as_slice() else {
            panic!("one batch: {views:?}");
        };
        assert_eq!(view.producer, Producer { id: 7, epoch: 3 });
        assert_eq!((view.base_sequence, view.last_offset), (5, 1));
        assert!(view.transactional && view.records.is_empty());
    }

    #[test]
    fn every_cut_and_every_flipped_byte_is_refused_or_left_out() {
        let whole = sample().encode();
        for cut in 0..whole.len() {
            let views = read_batches(&whole.slice(..cut)).expect("a cut batch is no error");
            assert!(views.is_empty());
        }
        for index in 16..whole.len() {
            let mut bytes = whole.to_vec();
            bytes[index] ^= 0x40;
            assert!(read_batches(&Bytes::from(bytes)).is_err(), "byte {index}");
        }
    }
}
