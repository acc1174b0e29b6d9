//! Control records: the markers that end transactions.

use bytes::{Buf, BufMut, Bytes};

use super::error::BatchError;
use super::record::Record;
use crate::types::{CoordinatorEpoch, TransactionResult};

const VERSION: i16 = 0;
const ABORT: i16 = 0;
const COMMIT: i16 = 1;

/// The marker that ends a transaction in one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndTxnMarker {
    /// How the transaction ended.
    pub result: TransactionResult,
    /// The leadership of the coordinator that says so.
    pub coordinator_epoch: CoordinatorEpoch,
}

/// What a control record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ControlRecord {
    /// A transaction ends.
    EndTxn(EndTxnMarker),
    /// A control record of another type (2 to 6 belong to KRaft), which holds an offset and changes nothing here.
    Other(i16),
}

impl ControlRecord {
    /// Reads a control record. Versions above 0 may have longer keys and values; negative ones do not exist.
    pub(super) fn read(record: &Record<'_>) -> Result<Self, BatchError> {
        let mut key = record
            .key
            .filter(|key| key.len() >= 4)
            .ok_or(BatchError::ControlRecord)?;
        if key.get_i16() < VERSION {
            return Err(BatchError::ControlRecord);
        }
        let result = match key.get_i16() {
            ABORT => TransactionResult::Abort,
            COMMIT => TransactionResult::Commit,
            other => return Ok(Self::Other(other)),
        };
        let mut value = record
            .value
            .filter(|value| value.len() >= 6)
            .ok_or(BatchError::ControlRecord)?;
        if value.get_i16() < VERSION {
            return Err(BatchError::ControlRecord);
        }
        let coordinator_epoch =
            CoordinatorEpoch::from_wire(value.get_i32()).ok_or(BatchError::ControlRecord)?;
        Ok(Self::EndTxn(EndTxnMarker {
            result,
            coordinator_epoch,
        }))
    }
}

impl EndTxnMarker {
    /// The key: version, then 0 for abort and 1 for commit (the request's boolean is the other way round in spirit:
    /// there, true is commit).
    #[must_use]
    pub fn key(self) -> Bytes {
        let mut out = Vec::with_capacity(4);
        out.put_i16(VERSION);
        out.put_i16(match self.result {
            TransactionResult::Abort => ABORT,
            TransactionResult::Commit => COMMIT,
        });
        out.into()
    }

    /// The value: version, then the coordinator epoch.
    #[must_use]
    pub fn value(self) -> Bytes {
        let mut out = Vec::with_capacity(6);
        out.put_i16(VERSION);
        out.put_i32(self.coordinator_epoch.get());
        out.into()
    }
}
