//! Appending to the leader's log, and answering once the record is replicated.

use super::{Partition, Record, RecordKind, Waiting};
use crate::message::Message;
use crate::rules::Rules;
use crate::step::Out;
use crate::types::*;

impl Partition {
    /// Appends a record and takes it into the producer state.
    pub(crate) fn append(&mut self, rules: &Rules, record: Record) -> Offset {
        let offset = self.log_end;
        let record = Record { offset, ..record };
        self.log_end = Offset(offset.0 + 1);
        self.log.push(record);
        if !self.pace.replica_behind {
            self.high_watermark = self.log_end;
        }
        if !self.pace.apply_lag {
            self.applied = self.log_end;
        }
        self.remember(rules, &record);
        if record.transactional || matches!(record.kind, RecordKind::Marker(_)) {
            self.wipe_guards(rules, &record);
        }
        offset
    }

    /// Sends an answer once `offset` is replicated.
    pub(crate) fn answer_when_replicated(
        &mut self,
        rules: &Rules,
        offset: Offset,
        answer: Message,
        out: &mut Out,
    ) {
        if offset < self.high_watermark || !rules.produce.ack_after_replication {
            out.send(answer);
        } else {
            self.waiting.push(Waiting { offset, answer });
        }
    }
}
