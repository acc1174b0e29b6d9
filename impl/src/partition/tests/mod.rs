//! Every rule of a partition, by name; then the rules against a log read naively.

mod markers;
mod produce;
mod reads;
mod recovery;
mod reference;
mod regressions;

use bytes::Bytes;

use super::*;
use crate::batch::{BatchProducer, NewBatch, NewRecord};
use crate::types::{
    CoordinatorEpoch, IsolationLevel, ProducerEpoch, ProducerId, Sequence, TransactionVersion,
    TransactionalId,
};

/// A batch to produce.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    pub(super) id: i64,
    pub(super) epoch: i16,
    pub(super) sequence: i32,
    pub(super) count: i32,
    pub(super) transactional: bool,
}

impl Data {
    pub(super) fn txn(id: i64, epoch: i16, sequence: i32) -> Self {
        Self {
            id,
            epoch,
            sequence,
            count: 1,
            transactional: true,
        }
    }

    pub(super) fn plain(id: i64, epoch: i16, sequence: i32) -> Self {
        Self {
            transactional: false,
            ..Self::txn(id, epoch, sequence)
        }
    }

    pub(super) fn of(self, count: i32) -> Self {
        Self { count, ..self }
    }

    pub(super) fn batch(self) -> NewBatch {
        let record = NewRecord::new(
            Timestamp::from_millis(0),
            None,
            Some(Bytes::from(format!(
                "{}/{}/{}",
                self.id, self.epoch, self.sequence
            ))),
        );
        NewBatch {
            base_offset: Offset::ZERO,
            leader_epoch: None,
            producer: Some(BatchProducer {
                producer_id: ProducerId::new(self.id),
                producer_epoch: ProducerEpoch::new(self.epoch),
                base_sequence: Sequence::from_wire(self.sequence),
            }),
            is_transactional: self.transactional,
            is_control: false,
            records: vec![record; usize::try_from(self.count).unwrap()],
        }
    }

    pub(super) fn bytes(self) -> Bytes {
        self.batch().write().unwrap().bytes().clone()
    }
}

/// A marker to write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marker {
    pub(super) id: i64,
    pub(super) epoch: i16,
    pub(super) result: TransactionResult,
    pub(super) coordinator: i32,
    pub(super) version: TransactionVersion,
}

impl Marker {
    pub(super) fn tv1(id: i64, epoch: i16, result: TransactionResult) -> Self {
        Self {
            id,
            epoch,
            result,
            coordinator: 0,
            version: TransactionVersion::V0,
        }
    }

    pub(super) fn tv2(id: i64, epoch: i16, result: TransactionResult) -> Self {
        Self {
            version: TransactionVersion::V2,
            ..Self::tv1(id, epoch, result)
        }
    }

    pub(super) fn by(self, coordinator: i32) -> Self {
        Self {
            coordinator,
            ..self
        }
    }
}

/// A leader on the only replica, and a hand for each message.
#[derive(Clone)]
pub(super) struct Leader {
    pub(super) partition: Partition,
    pub(super) now: i64,
    pub(super) support: TransactionSupport,
    requests: u64,
}

impl Leader {
    pub(super) fn with(config: PartitionConfig, support: TransactionSupport) -> Self {
        let mut leader = Self {
            partition: Partition::new(config),
            now: 0,
            support,
            requests: 0,
        };
        leader.step(Input::BecomeLeader {
            leader_epoch: LeaderEpoch::new(1),
        });
        leader
    }

    pub(super) fn tv1() -> Self {
        Self::with(
            PartitionConfig::default(),
            TransactionSupport::VerifyOrAbortable,
        )
    }

    pub(super) fn tv2() -> Self {
        Self::with(PartitionConfig::default(), TransactionSupport::Add)
    }

    pub(super) fn unverified() -> Self {
        let config = PartitionConfig {
            verification: false,
            ..PartitionConfig::default()
        };
        Self::with(config, TransactionSupport::VerifyOrAbortable)
    }

    pub(super) fn step(&mut self, input: Input) -> Vec<Effect> {
        self.partition.step(input, Timestamp::from_millis(self.now))
    }

    /// Sends without answering the partition's question.
    pub(super) fn send(&mut self, data: Data) -> (RequestId, Vec<Effect>) {
        self.requests += 1;
        let request = RequestId(self.requests);
        let effects = self.step(Input::Produce(Produce {
            request,
            transactional_id: Some(TransactionalId::new("t")),
            support: self.support,
            acks: Acks::Leader,
            records: data.bytes(),
        }));
        (request, effects)
    }

    pub(super) fn answer(
        &mut self,
        request: RequestId,
        answer: Result<(), ErrorCode>,
    ) -> Vec<Effect> {
        self.step(Input::CoordinatorAnswered { request, answer })
    }

    /// Sends, with a coordinator that says yes.
    pub(super) fn produce(&mut self, data: Data) -> Result<Produced, ErrorCode> {
        let (request, effects) = self.send(data);
        match produced(&effects) {
            Some(answer) => answer,
            None => produced(&self.answer(request, Ok(()))).expect("an answer"),
        }
    }

    pub(super) fn produce_at(&mut self, data: Data) -> Result<i64, ErrorCode> {
        self.produce(data).map(|it| it.base_offset.get())
    }

    pub(super) fn mark(&mut self, marker: Marker) -> Result<(), ErrorCode> {
        self.requests += 1;
        let effects = self.step(Input::WriteTxnMarker(WriteTxnMarker {
            request: RequestId(self.requests),
            producer_id: ProducerId::new(marker.id),
            producer_epoch: ProducerEpoch::new(marker.epoch),
            result: marker.result,
            coordinator_epoch: CoordinatorEpoch::new(marker.coordinator),
            transaction_version: marker.version,
        }));
        match &effects[..] {
            [
                Effect::Reply {
                    answer: Answer::WriteTxnMarker(Err(code)),
                    ..
                },
            ] => Err(*code),
            // The answer waits for the high watermark.
            [Effect::Append(_)] => Ok(()),
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn replicate_all(&mut self) -> Vec<Effect> {
        let up_to = self.partition.log().end_offset();
        self.step(Input::Replicated { up_to })
    }

    pub(super) fn stable(&self) -> i64 {
        self.partition.last_stable_offset().get()
    }

    pub(super) fn end(&self) -> i64 {
        self.partition.log().end_offset().get()
    }

    pub(super) fn state(&self, id: i64) -> Option<&ProducerState> {
        self.partition.producers().get(ProducerId::new(id))
    }

    /// What a read_committed reader that begins at 0 sees, filtered by producer id as clients do.
    pub(super) fn committed_values(&self) -> Vec<String> {
        let fetched = self
            .partition
            .fetch(Offset::ZERO, IsolationLevel::ReadCommitted, usize::MAX)
            .unwrap();
        reference::filtered(
            &fetched.data.batches,
            &fetched.aborted_transactions.unwrap(),
        )
    }
}

/// The answer to a produce request among effects.
pub(super) fn produced(effects: &[Effect]) -> Option<Result<Produced, ErrorCode>> {
    effects.iter().find_map(|effect| match effect {
        Effect::Reply {
            answer: Answer::Produce(result),
            ..
        } => Some(*result),
        Effect::Reply { .. }
        | Effect::Append(_)
        | Effect::Truncate { .. }
        | Effect::AskCoordinator { .. } => None,
    })
}
