//! What the cores do, written down as the events of a recorded run: requests as they reach a core, answers, and what no
//! proxy sees: records of the transaction log, and what partitions append.

use std::io::Write;

use bytes::Bytes;
use fencepost::batch::RecordBatch;
use fencepost::coordinator::LogRecord;
use fencepost::records::transaction_log::{TransactionLogKey, TransactionLogValue};
use fencepost::types::{ProducerEpoch, TopicPartition};

use super::broker::Reply;
use super::frame::Head;
use crate::observed::decode;
use crate::observed::{Event, Inside, Logged, LoggedState};
use crate::wire::read_batch_headers;

/// The bytes of a frame's length.
const LENGTH: usize = 4;

/// Where events go; nowhere, where nobody asked for them.
pub(super) struct Journal {
    out: Option<Box<dyn Write + Send>>,
    exchanges: u64,
}

impl Journal {
    pub(super) fn new(out: Option<Box<dyn Write + Send>>) -> Self {
        let mut journal = Self { out, exchanges: 0 };
        journal.write(|| {
            Some(Event::Shows {
                inside: vec![Inside::TransactionLog, Inside::Partitions],
            })
        });
        journal
    }

    /// A request that a core will see; the number of the exchange, where the model knows it.
    pub(super) fn asked(&mut self, head: &Head, frame: Bytes) -> Option<u64> {
        self.out.as_ref()?;
        let request = decode::asked(head.api_key, head.version, frame)?;
        self.exchanges += 1;
        let exchange = self.exchanges;
        self.write(|| Some(Event::Asked { exchange, request }));
        Some(exchange)
    }

    /// The answer to it, or that there is none.
    pub(super) fn answered(&mut self, exchange: Option<u64>, head: &Head, reply: &Reply) {
        let Some(exchange) = exchange else { return };
        let answer = match reply {
            Reply::Frame(frame) => {
                let body = Bytes::copy_from_slice(&frame[LENGTH..]);
                decode::answered(head.api_key, head.version, body)
            }
            Reply::Nothing | Reply::Close => None,
        };
        self.write(|| {
            Some(match answer {
                Some(answer) => Event::Answered { exchange, answer },
                None => Event::Lost { exchange },
            })
        });
    }

    /// A record of the transaction log. One that cannot be read is left out, and the next event shows it.
    pub(super) fn logged(&mut self, record: &LogRecord) {
        self.write(|| {
            let key = TransactionLogKey::decode(&record.key).ok()?;
            let value = match &record.value {
                Some(bytes) => Some(logged(&TransactionLogValue::decode(bytes).ok()?)?),
                None => None,
            };
            Some(Event::Logged {
                id: key.transactional_id.as_str().to_owned(),
                record: value,
            })
        });
    }

    /// What a partition has appended.
    pub(super) fn appended(&mut self, at: &TopicPartition, batch: &RecordBatch) {
        self.write(|| {
            let batches = read_batch_headers(batch.bytes()).ok()?;
            Some(Event::Appended {
                at: (at.topic.as_str().to_owned(), at.partition),
                batch: decode::stored(batches.first()?),
            })
        });
    }

    pub(super) fn flush(&mut self) {
        if let Some(out) = &mut self.out {
            // A log that cannot be written must not stop the broker; it ends short.
            let _ = out.flush();
        }
    }

    fn write(&mut self, event: impl FnOnce() -> Option<Event>) {
        let Some(out) = &mut self.out else { return };
        let line = event().and_then(|event| serde_json::to_string(&event).ok());
        if let Some(line) = line {
            let _ = writeln!(out, "{line}");
        }
    }
}

fn logged(value: &TransactionLogValue) -> Option<Logged> {
    let epoch = |epoch: Option<ProducerEpoch>| epoch.map_or(0, ProducerEpoch::get);
    let producer = value.producer_id.get();
    let previous = value.previous_producer_id.map_or(producer, |id| id.get());
    let next = value.next_producer_id.map(|id| id.get());
    Some(Logged {
        state: match value.transaction_status {
            0 => LoggedState::Empty,
            1 => LoggedState::Ongoing,
            2 => LoggedState::PrepareCommit,
            3 => LoggedState::PrepareAbort,
            4 => LoggedState::CompleteCommit,
            5 => LoggedState::CompleteAbort,
            _ => return None,
        },
        producer: (producer, ProducerEpoch::to_wire(value.producer_epoch)),
        previous,
        next: next.map(|id| (id, epoch(value.next_producer_epoch))),
        partitions: value
            .transaction_partitions
            .iter()
            .flatten()
            .map(|at| (at.topic.as_str().to_owned(), at.partition))
            .collect(),
    })
}
