//! The producer against a coordinator that is played by hand, and the consumer against real logs.

mod consumer;
mod producer;
mod random;
mod regressions;
mod session;

use std::collections::BTreeMap;

use super::*;
use crate::error_code::ErrorCode;
use crate::types::{
    GroupId, MemberId, Offset, ProducerEpoch, ProducerId, ProducerIdAndEpoch, TopicPartition,
    TransactionResult, TransactionVersion,
};

pub(super) const CONCURRENT: ErrorCode = ErrorCode::ConcurrentTransactions;

pub(super) fn identity(id: i64, epoch: i16) -> ProducerIdAndEpoch {
    ProducerIdAndEpoch {
        producer_id: ProducerId::new(id),
        producer_epoch: ProducerEpoch::new(epoch),
    }
}

pub(super) fn partition(index: i32) -> TopicPartition {
    TopicPartition::new("t", index)
}

/// A producer, and what it has asked for.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) manager: TransactionManager,
    pub(super) sent: Vec<Request>,
    pub(super) backoffs: Vec<Backoff>,
    pub(super) produced: Vec<ProduceBatch>,
    pub(super) finished: Vec<(Operation, Result<(), CallError>)>,
    pub(super) batches: BTreeMap<u64, Result<(), Cause>>,
}

impl Client {
    pub(super) fn with(config: ProducerConfig) -> Self {
        Self {
            manager: TransactionManager::new(config),
            sent: Vec::new(),
            backoffs: Vec::new(),
            produced: Vec::new(),
            finished: Vec::new(),
            batches: BTreeMap::new(),
        }
    }

    pub(super) fn new(features: TransactionVersion) -> Self {
        Self::with(ProducerConfig {
            features,
            coordinator_can_bump: true,
        })
    }

    /// A producer with the identity (7, 0), ready.
    pub(super) fn ready(features: TransactionVersion) -> Self {
        let mut client = Self::new(features);
        client.call(Call::InitTransactions).unwrap();
        client.code(ErrorCode::None);
        client.identity(7, 0);
        assert_eq!(client.finished.pop(), Some((Operation::Init, Ok(()))));
        client.sent.clear();
        client.backoffs.clear();
        client
    }

    /// In a transaction, with batch 1 acknowledged in partition 0.
    pub(super) fn started(features: TransactionVersion) -> Self {
        let mut client = Self::ready(features);
        client.begin();
        client.send(0, 1).unwrap();
        if !features.supports_epoch_bump() {
            client.lines(&[(0, ErrorCode::None)]);
        }
        client.acked(0, 1);
        client
    }

    pub(super) fn step(&mut self, input: Input) -> Result<(), CallError> {
        let mut called = Ok(());
        for effect in self.manager.step(input) {
            match effect {
                Effect::Refused(error) => called = Err(error),
                Effect::Send {
                    request, backoff, ..
                } => {
                    self.sent.push(request);
                    self.backoffs.push(backoff);
                }
                Effect::Produce(batch) => self.produced.push(batch),
                Effect::BatchFinished { batch, outcome, .. } => {
                    let earlier = self.batches.insert(batch.0, outcome);
                    assert_eq!(earlier, None, "a batch is finished once");
                }
                Effect::Finished { operation, outcome } => {
                    self.finished.push((operation, outcome));
                }
            }
        }
        called
    }

    pub(super) fn call(&mut self, call: Call) -> Result<(), CallError> {
        self.step(Input::Call(call))
    }

    pub(super) fn begin(&mut self) {
        self.call(Call::BeginTransaction).unwrap();
    }

    pub(super) fn send(&mut self, index: i32, batch: u64) -> Result<(), CallError> {
        self.call(Call::Send {
            partition: partition(index),
            batch: BatchId(batch),
            count: 1,
        })
    }

    pub(super) fn send_offsets(&mut self) -> Result<(), CallError> {
        let offset = OffsetAndMetadata {
            offset: Offset::new(5),
            leader_epoch: None,
            metadata: String::new(),
        };
        self.call(Call::SendOffsetsToTransaction {
            member: ConsumerGroupMetadata {
                group: GroupId::new("g"),
                generation: None,
                member_id: MemberId::new(""),
                instance_id: None,
            },
            offsets: [(partition(0), offset.clone()), (partition(1), offset)].into(),
        })
    }

    pub(super) fn commit(&mut self) -> Result<(), CallError> {
        self.call(Call::CommitTransaction)
    }

    pub(super) fn abort(&mut self) -> Result<(), CallError> {
        self.call(Call::AbortTransaction)
    }

    pub(super) fn code(&mut self, code: ErrorCode) {
        self.step(Input::Answered(Response::Code(code))).unwrap();
    }

    pub(super) fn identity(&mut self, id: i64, epoch: i16) {
        self.step(Input::Answered(Response::Identity(identity(id, epoch))))
            .unwrap();
    }

    pub(super) fn lines(&mut self, lines: &[(i32, ErrorCode)]) {
        let lines = lines
            .iter()
            .map(|(index, code)| (partition(*index), *code))
            .collect();
        self.step(Input::Answered(Response::Partitions(lines)))
            .unwrap();
    }

    pub(super) fn answered(&mut self, index: i32, batch: u64, code: ErrorCode) {
        self.step(Input::BatchAnswered {
            partition: partition(index),
            batch: BatchId(batch),
            code,
        })
        .unwrap();
    }

    pub(super) fn acked(&mut self, index: i32, batch: u64) {
        self.answered(index, batch, ErrorCode::None);
    }

    pub(super) fn expired(&mut self, index: i32, batch: u64) {
        self.step(Input::BatchExpired {
            partition: partition(index),
            batch: BatchId(batch),
        })
        .unwrap();
    }

    pub(super) fn state(&self) -> State {
        self.manager.state()
    }

    /// The names of what was sent since the last time, and forgets it.
    pub(super) fn apis(&mut self) -> Vec<Api> {
        self.sent.drain(..).map(|request| request.api()).collect()
    }

    /// Batch, epoch and sequence of what was produced since the last time, and forgets it.
    pub(super) fn sequences(&mut self) -> Vec<(u64, i16, i32)> {
        let one = |it: ProduceBatch| {
            (
                it.batch.0,
                it.producer.producer_epoch.get(),
                it.base_sequence.get(),
            )
        };
        self.produced.drain(..).map(one).collect()
    }
}
