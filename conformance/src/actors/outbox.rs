//! What a step of the production side sends, and what it makes durable.

use fencepost::batch::RecordBatch;
use fencepost::coordinator::LogRecord;
use fencepost_spec::message::Message;
use fencepost_spec::types::{BrokerId, PartitionIndex};

/// Something that must be on a disk before anybody may rely on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// A record of the transaction-state log.
    TransactionState {
        /// Whose coordinator wrote it.
        broker: BrokerId,
        /// The record.
        record: LogRecord,
    },
    /// A batch of a data or offsets partition: records or a marker.
    Batch {
        /// Where.
        partition: PartitionIndex,
        /// The batch, at its place in the log.
        batch: RecordBatch,
    },
    /// A snapshot of the producers of a partition.
    Snapshot {
        /// Of which.
        partition: PartitionIndex,
    },
}

/// What a step leaves behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outbox {
    /// The messages that it sends, without ghosts.
    pub messages: Vec<Message>,
    /// What it writes, in order.
    pub writes: Vec<Write>,
}

impl Outbox {
    pub(super) fn push(&mut self, message: Message) {
        self.messages.push(message);
    }

    pub(super) fn write(&mut self, write: Write) {
        self.writes.push(write);
    }
}
