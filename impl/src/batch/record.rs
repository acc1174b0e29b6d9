//! The records inside an uncompressed batch.

use super::error::BatchError;
use super::header::Header;
use super::varint::{take_i32, take_i64};
use crate::types::{Offset, Timestamp};

/// One record, borrowing from its batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Where it lies in the log.
    pub offset: Offset,
    /// Its time, in milliseconds.
    pub timestamp: Timestamp,
    /// Its key.
    pub key: Option<&'a [u8]>,
    /// Its value; none is a tombstone.
    pub value: Option<&'a [u8]>,
    /// Its headers.
    pub headers: RecordHeaders<'a>,
}

/// One header of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHeader<'a> {
    /// The name, as bytes: that it is UTF-8 is the reader's concern.
    pub key: &'a [u8],
    /// The value.
    pub value: Option<&'a [u8]>,
}

/// The headers of a record, in order, duplicates kept. They were checked when the record was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordHeaders<'a> {
    bytes: &'a [u8],
}

impl<'a> Iterator for RecordHeaders<'a> {
    type Item = RecordHeader<'a>;

    fn next(&mut self) -> Option<RecordHeader<'a>> {
        take_header(&mut self.bytes)
    }
}

/// The records of a batch, in order. After an error nothing more comes.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    header: &'a Header,
    bytes: &'a [u8],
    index: i32,
    failed: bool,
}

impl<'a> Records<'a> {
    pub(super) fn new(header: &'a Header, bytes: &'a [u8]) -> Self {
        Self {
            header,
            bytes,
            index: 0,
            failed: false,
        }
    }

    fn read(&mut self) -> Result<Record<'a>, BatchError> {
        let malformed = BatchError::Record { index: self.index };
        let length = take_i32(&mut self.bytes)
            .and_then(|length| usize::try_from(length).ok())
            .ok_or(malformed)?;
        let (body, rest) = self.bytes.split_at_checked(length).ok_or(malformed)?;
        self.bytes = rest;
        let record = read_body(self.header, body).ok_or(malformed)?;
        self.index += 1;
        if self.index == self.header.record_count && !self.bytes.is_empty() {
            return Err(BatchError::TrailingBytes);
        }
        Ok(record)
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.index >= self.header.record_count {
            return None;
        }
        let record = self.read();
        self.failed = record.is_err();
        Some(record)
    }
}

fn read_body<'a>(header: &Header, mut body: &'a [u8]) -> Option<Record<'a>> {
    let (_attributes, rest) = body.split_first()?;
    body = rest;
    let timestamp_delta = take_i64(&mut body)?;
    let offset_delta = take_i32(&mut body)?;
    if !(0..=header.last_offset_delta).contains(&offset_delta) {
        return None;
    }
    let key = take_bytes(&mut body)?;
    let value = take_bytes(&mut body)?;
    let count = usize::try_from(take_i32(&mut body)?).ok()?;
    let headers = RecordHeaders { bytes: body };
    let mut read = 0_usize;
    while !body.is_empty() {
        take_header(&mut body)?;
        read += 1;
    }
    (read == count).then_some(Record {
        offset: header.base_offset.plus(i64::from(offset_delta))?,
        timestamp: header.base_timestamp.plus_millis(timestamp_delta),
        key,
        value,
        headers,
    })
}

fn take_header<'a>(bytes: &mut &'a [u8]) -> Option<RecordHeader<'a>> {
    Some(RecordHeader {
        key: take_bytes(bytes)??,
        value: take_bytes(bytes)?,
    })
}

/// Takes a length and that many bytes. The outer `None` is malformed, the inner one is length -1: no bytes.
fn take_bytes<'a>(bytes: &mut &'a [u8]) -> Option<Option<&'a [u8]>> {
    let length = take_i32(bytes)?;
    if length == -1 {
        return Some(None);
    }
    let (taken, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some(Some(taken))
}
