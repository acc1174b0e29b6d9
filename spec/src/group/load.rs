//! The group's broker stops, and whoever leads the offsets partition next reads it again.
//!
//! SOURCE: KIP-98; Redpanda #10669 (nothing is served before the whole log is read). Members and
//! generation are in the log too: a restart does not change them.

use super::{Group, Staged};
use crate::error_code::ErrorCode;
use crate::message::{Message, WriteTxnMarkers};
use crate::partition::{Partition, Record, RecordKind, marker_answer};
use crate::rules::GroupRules;
use crate::step::Out;
use crate::types::*;

impl Group {
    /// Everything in memory is gone; markers that were not acknowledged are asked for again.
    pub fn unload(&mut self, out: &mut Out) {
        self.committed = Payload(0);
        self.staged.clear();
        for marker in std::mem::take(&mut self.unapplied) {
            out.send(refused(&marker));
        }
    }

    /// Reads the log of the offsets partition: staged offsets, and what markers made of them.
    pub fn load(&mut self, rules: &GroupRules, partition: &Partition) {
        self.ghost_published.clear();
        for record in &partition.log {
            self.replay(rules, record);
        }
        self.staged.sort();
        self.ghost_published.sort();
    }

    fn replay(&mut self, rules: &GroupRules, record: &Record) {
        match record.kind {
            RecordKind::Emptied => {}
            RecordKind::Data => {
                let id = record.identity.producer_id;
                self.staged.retain(|s| s.identity.producer_id != id);
                self.staged.push(Staged {
                    identity: record.identity,
                    offset: record.payload,
                    decided: false,
                    ghost: record.ghost,
                });
            }
            RecordKind::Marker(result) => {
                let mine = |s: &Staged| s.is_decided_by(rules, record.identity);
                for staged in self.staged.iter().filter(|s| mine(s)) {
                    if result == TransactionResult::Commit {
                        self.committed = staged.offset;
                        self.ghost_published.push(staged.ghost);
                    }
                }
                self.staged.retain(|s| !mine(s));
            }
        }
    }
}

fn refused(marker: &WriteTxnMarkers) -> Message {
    marker_answer(marker, ErrorCode::NotLeaderOrFollower)
}
