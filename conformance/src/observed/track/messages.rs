//! From a recorded request to the model's messages, one for each thing that it asks.

use fencepost_spec::message::{self, Correlation, Message};
use fencepost_spec::types::*;

use super::{ID, OFFSETS, Track, UNKNOWN, result};
use crate::cases::oracle::OUR_ROUND;
use crate::observed::event::{Addition, Asked, MarkerAsked, Pair, Place, Sent};

/// Where groups' offsets are.
pub(super) const OFFSETS_TOPIC: &str = "__consumer_offsets";
/// Sequences wrap to 0 after `i32::MAX`.
const SEQUENCES: i64 = 1 << 31;

/// The sequence `count` after `sequence`.
pub(super) fn sequence_after(sequence: i32, count: i64) -> i32 {
    let wrapped = (i64::from(sequence) + count).rem_euclid(SEQUENCES);
    i32::try_from(wrapped).unwrap_or(0)
}

/// Runs of sequences, and batches, that are remembered of a producer in a partition.
const REMEMBERED: usize = 20;

/// Batches have one record in the model and many in life: the model's sequences count batches. What
/// follows on nothing that was sent may be refused, or taken as a beginning: it is a run of its own,
/// far from the others in the model too.
#[derive(Debug, Default)]
pub(super) struct Sequences {
    /// The next sequence of each run, and the model's.
    runs: Vec<(i32, i32)>,
    seen: Vec<(i32, i32, i32)>,
    /// Sequence 0 was sent.
    begun: bool,
}

impl Sequences {
    fn model(&mut self, batch: &Sent) -> i32 {
        let last = sequence_after(batch.sequence, i64::from(batch.count) - 1);
        if let Some(model) = self.seen(batch.sequence, last) {
            return model;
        }
        let next = sequence_after(last, 1);
        let mut runs = self.runs.iter_mut();
        let model = match runs.find(|it| it.0 == batch.sequence) {
            Some(run) => {
                let model = run.1;
                *run = (next, model + 1);
                model
            }
            None => {
                let begins = batch.sequence == 0 && !self.begun;
                self.begun |= begins;
                let far = self.runs.iter().map(|it| it.1).max().unwrap_or(0) + 5;
                let model = if begins { 0 } else { far };
                self.runs.push((next, model + 1));
                model
            }
        };
        if self.runs.len() > REMEMBERED {
            // The oldest is the one that goes on.
            self.runs.remove(1);
        }
        self.seen.push((batch.sequence, last, model));
        if self.seen.len() > REMEMBERED {
            self.seen.remove(0);
        }
        model
    }

    /// What the model calls a batch that was sent.
    pub(super) fn seen(&self, first: i32, last: i32) -> Option<i32> {
        let mut seen = self.seen.iter();
        seen.find(|it| (it.0, it.1) == (first, last)).map(|it| it.2)
    }
}

impl Track {
    pub(super) fn messages(&mut self, asked: &Asked) -> Vec<Message> {
        let version = |on_wire: i16, tv2: i16| {
            if on_wire >= tv2 {
                TransactionVersion::Tv2
            } else {
                TransactionVersion::Tv1
            }
        };
        let ghost = Ghost::NONE;
        match asked {
            Asked::InitProducerId {
                expected,
                two_phase,
                keep_prepared,
                ..
            } => {
                vec![Message::InitProducerId(message::InitProducerId {
                    correlation: self.correlation(),
                    transactional_id: Some(ID),
                    expected: expected.map(|it| self.identity(it)),
                    enable_2pc: *two_phase,
                    keep_prepared_txn: *keep_prepared,
                    timeout_in_range: true,
                    authorized: true,
                })]
            }
            Asked::AddPartitions {
                producer,
                partitions,
                ..
            } => partitions
                .iter()
                .map(|place| {
                    let partition = PartitionIndex(self.place(place) as u8);
                    Message::AddPartitionsToTxn(self.addition(*producer, partition))
                })
                .collect(),
            Asked::AddOffsets { producer, .. } => {
                vec![Message::AddOffsetsToTxn(self.addition(*producer, OFFSETS))]
            }
            Asked::EndTxn {
                version: on_wire,
                producer,
                commit,
                ..
            } => vec![Message::EndTxn(message::EndTxn {
                correlation: self.correlation(),
                transactional_id: ID,
                identity: self.identity(*producer),
                result: result(*commit),
                version: version(*on_wire, 5),
                ghost,
            })],
            Asked::Produce {
                version: on_wire,
                id,
                batches,
            } => batches
                .iter()
                .map(|batch| {
                    let place = self.place(&batch.at);
                    let key = (place, batch.producer);
                    let sequence = self.sequences.entry(key).or_default().model(batch);
                    Message::Produce(message::Produce {
                        correlation: self.correlation(),
                        transactional_id: id.as_ref().map(|_| ID),
                        identity: self.identity(batch.producer),
                        partition: PartitionIndex(place as u8),
                        sequence: Sequence(sequence),
                        transactional: batch.transactional,
                        version: version(*on_wire, 12),
                        payload: Payload(1),
                        ghost,
                    })
                })
                .collect(),
            Asked::TxnOffsetCommit {
                version: on_wire,
                producer,
                group,
                offsets,
                ..
            } => vec![Message::TxnOffsetCommit(message::TxnOffsetCommit {
                correlation: self.correlation(),
                transactional_id: ID,
                identity: self.identity(*producer),
                member: None,
                offset: self.stagings.begin(group, offsets),
                version: version(*on_wire, 5),
                ghost,
            })],
            Asked::Fetch { .. }
            | Asked::BrokerAdditions { .. }
            | Asked::OffsetCommit { .. }
            | Asked::OffsetFetch { .. }
            | Asked::ForgetOffsets { .. }
            | Asked::ConsumerGroup { .. }
            | Asked::WriteTxnMarkers { .. }
            | Asked::DeleteTopics { .. } => Vec::new(),
        }
    }

    /// A transaction of a broker's AddPartitionsToTxn.
    pub(super) fn verifications(&mut self, asked: &Addition) -> Vec<Message> {
        let mut messages = Vec::new();
        for place in &asked.partitions {
            let partition = PartitionIndex(self.place(place) as u8);
            let number = i32::from(self.correlation().number);
            messages.push(Message::VerifyPartition(message::VerifyPartition {
                partition,
                transactional_id: ID,
                identity: self.identity(asked.producer),
                // No batch waits for it: a number that tells the question from a leader's own.
                sequence: Sequence(i32::MIN + number),
                verify_only: asked.verify_only,
                ghost: Ghost::NONE,
            }));
        }
        messages
    }

    /// A marker that came in a request.
    pub(super) fn markers_asked(&mut self, asked: &MarkerAsked) -> Vec<Message> {
        let mut messages = Vec::new();
        for place in &asked.partitions {
            let partition = PartitionIndex(self.place(place) as u8);
            let epoch = u8::try_from(asked.coordinator_epoch).unwrap_or(u8::MAX);
            messages.push(Message::WriteTxnMarkers(message::WriteTxnMarkers {
                broker: BrokerId(0),
                coordinator_epoch: CoordinatorEpoch(epoch),
                transactional_id: ID,
                round: OUR_ROUND,
                partition,
                identity: self.identity(asked.producer),
                result: result(asked.commit),
                version: if asked.version >= 2 {
                    TransactionVersion::Tv2
                } else {
                    TransactionVersion::Tv1
                },
                ghost: Ghost::NONE,
            }));
        }
        messages
    }

    fn addition(
        &mut self,
        producer: Pair,
        partition: PartitionIndex,
    ) -> message::AddPartitionsToTxn {
        message::AddPartitionsToTxn {
            correlation: self.correlation(),
            transactional_id: ID,
            identity: self.identity(producer),
            partition,
            ghost: Ghost::NONE,
        }
    }

    pub(super) fn correlation(&mut self) -> Correlation {
        self.number = self.number.wrapping_add(1);
        Correlation {
            producer: ProducerIndex(3),
            number: self.number,
            attempt: 0,
        }
    }

    pub(super) fn identity(&self, (producer_id, epoch): Pair) -> Identity {
        let at = self.producer_ids.iter().position(|it| *it == producer_id);
        let model = at.map_or(UNKNOWN, |at| ProducerId(at as u8 + 1));
        Identity::new(model, ProducerEpoch(epoch))
    }

    /// The model's partition for a place; a new one gets the next.
    pub(super) fn place(&mut self, place: &Place) -> usize {
        if let Some(at) = self.known_place(place) {
            return at;
        }
        if place.0 == OFFSETS_TOPIC {
            self.offsets_places.push(place.clone());
            return usize::from(OFFSETS.0);
        }
        self.places.push(place.clone());
        (self.places.len() - 1).min(usize::from(OFFSETS.0) - 1)
    }

    pub(super) fn known_place(&self, place: &Place) -> Option<usize> {
        if self.offsets_places.contains(place) {
            return Some(usize::from(OFFSETS.0));
        }
        let at = self.places.iter().position(|it| it == place)?;
        Some(at.min(usize::from(OFFSETS.0) - 1))
    }
}
