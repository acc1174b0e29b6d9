//! Messages under new names.

use super::Renaming;
use crate::message::*;

impl Renaming {
    /// A message under the new names.
    pub(super) fn message(&self, old: Message) -> Message {
        match old {
            Message::InitProducerId(m) => Message::InitProducerId(InitProducerId {
                correlation: self.correlation(m.correlation),
                transactional_id: m.transactional_id.map(|id| self.id(id)),
                ..m
            }),
            Message::AddPartitionsToTxn(m) => Message::AddPartitionsToTxn(self.add(m)),
            Message::AddOffsetsToTxn(m) => Message::AddOffsetsToTxn(self.add(m)),
            Message::EndTxn(m) => Message::EndTxn(EndTxn {
                correlation: self.correlation(m.correlation),
                transactional_id: self.id(m.transactional_id),
                ghost: self.ghost(m.ghost),
                ..m
            }),
            Message::Produce(m) => Message::Produce(self.produce(m)),
            Message::TxnOffsetCommit(m) => Message::TxnOffsetCommit(self.stage_offset(m)),
            Message::OffsetFetch(m) => Message::OffsetFetch(self.correlation(m)),
            Message::VerifyPartition(m) => Message::VerifyPartition(VerifyPartition {
                partition: self.partition(m.partition),
                transactional_id: self.id(m.transactional_id),
                ghost: self.ghost(m.ghost),
                ..m
            }),
            Message::WriteTxnMarkers(m) => Message::WriteTxnMarkers(self.marker(m)),
            Message::AppendTxnRecord(m) => Message::AppendTxnRecord(self.append(m)),
            Message::CoordinatorAnswer(m) => Message::CoordinatorAnswer(CoordinatorAnswer {
                correlation: self.correlation(m.correlation),
                ..m
            }),
            Message::ProduceAnswer {
                correlation,
                identity,
                partition,
                sequence,
                error,
            } => Message::ProduceAnswer {
                correlation: self.correlation(correlation),
                identity,
                partition: self.partition(partition),
                sequence,
                error,
            },
            Message::TxnOffsetCommitAnswer { correlation, error } => {
                Message::TxnOffsetCommitAnswer {
                    correlation: self.correlation(correlation),
                    error,
                }
            }
            Message::OffsetFetchAnswer {
                correlation,
                error,
                offset,
                generation,
            } => Message::OffsetFetchAnswer {
                correlation: self.correlation(correlation),
                error,
                offset,
                generation,
            },
            Message::VerifyAnswer {
                partition,
                identity,
                sequence,
                error,
                coordinator_epoch,
            } => Message::VerifyAnswer {
                partition: self.partition(partition),
                identity,
                sequence,
                error,
                coordinator_epoch,
            },
            Message::WriteTxnMarkersAnswer(m) => Message::WriteTxnMarkersAnswer(MarkerAnswer {
                transactional_id: self.id(m.transactional_id),
                partition: self.partition(m.partition),
                ..m
            }),
            Message::AppendTxnRecordAnswer(m) => {
                Message::AppendTxnRecordAnswer(AppendTxnRecordAnswer {
                    transactional_id: self.id(m.transactional_id),
                    value: m.value.map(|value| self.metadata(value)),
                    ..m
                })
            }
        }
    }

    fn add(&self, old: AddPartitionsToTxn) -> AddPartitionsToTxn {
        AddPartitionsToTxn {
            correlation: self.correlation(old.correlation),
            transactional_id: self.id(old.transactional_id),
            partition: self.partition(old.partition),
            ghost: self.ghost(old.ghost),
            ..old
        }
    }

    /// A batch under the new names.
    pub(super) fn produce(&self, old: Produce) -> Produce {
        Produce {
            correlation: self.correlation(old.correlation),
            transactional_id: old.transactional_id.map(|id| self.id(id)),
            partition: self.partition(old.partition),
            ghost: self.ghost(old.ghost),
            ..old
        }
    }

    /// A TxnOffsetCommit under the new names.
    pub(super) fn stage_offset(&self, old: TxnOffsetCommit) -> TxnOffsetCommit {
        TxnOffsetCommit {
            correlation: self.correlation(old.correlation),
            transactional_id: self.id(old.transactional_id),
            member: old.member.map(|member| GroupMember {
                id: self.producer(member.id),
                ..member
            }),
            ghost: self.ghost(old.ghost),
            ..old
        }
    }

    /// A marker under the new names.
    pub(super) fn marker(&self, old: WriteTxnMarkers) -> WriteTxnMarkers {
        WriteTxnMarkers {
            transactional_id: self.id(old.transactional_id),
            partition: self.partition(old.partition),
            ghost: self.ghost(old.ghost),
            ..old
        }
    }
}
