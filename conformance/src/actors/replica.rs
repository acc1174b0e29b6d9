//! A data partition at its leader: the partition core, with what is on its disk while it is stopped.

use super::recovery::Disk;
use super::{Difference, Frame, Outbox, Write};
use crate::map::{self, Clock, PartitionToken, Unmapped, partition_answer};
use bytes::Bytes;
use fencepost::batch::{ControlRecord, RecordBatch};
use fencepost::error_code::ErrorCode as ImplError;
use fencepost::partition::{
    Effect, Input, Parked as ImplParked, Partition, PartitionConfig, Snapshot, Stored,
    TransactionSupport,
};
use fencepost::types::{LeaderEpoch, Offset as ImplOffset, RequestId};
use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::message::*;
use fencepost_spec::partition as s;
use fencepost_spec::types::*;

/// What a stopped replica has on its disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stopped {
    stored: Stored,
}

/// A data partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Replica {
    index: PartitionIndex,
    config: PartitionConfig,
    state: State,
    snapshot: Option<Snapshot>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum State {
    Leading(Box<Partition>),
    Stopped(Box<Stopped>),
    Deleted,
}

const LEADERSHIP: LeaderEpoch = LeaderEpoch::new(0);

impl Replica {
    /// An empty partition that leads.
    pub fn new(index: PartitionIndex, verification: bool) -> Self {
        let config = PartitionConfig {
            verification,
            producer_id_expiration_ms: Clock::PRODUCER_EXPIRATION_MS,
        };
        Self {
            index,
            config,
            state: State::Leading(Box::new(leading(Partition::new(config)))),
            snapshot: None,
        }
    }

    /// A partition that leads with these batches in its log, all replicated.
    pub(super) fn seeded(
        index: PartitionIndex,
        verification: bool,
        batches: Vec<RecordBatch>,
    ) -> Result<Self, Difference> {
        let mut replica = Self::new(index, verification);
        let high_watermark = batches
            .last()
            .map_or(ImplOffset::ZERO, RecordBatch::next_offset);
        let stored = Stored {
            batches,
            snapshot: None,
            aborted: Default::default(),
            high_watermark,
        };
        replica.state = State::Stopped(Box::new(Stopped { stored }));
        replica.recover()?;
        Ok(replica)
    }

    /// The core, while it leads.
    pub(super) fn core(&self) -> Result<&Partition, Difference> {
        match &self.state {
            State::Leading(core) => Ok(core),
            State::Stopped(_) | State::Deleted => {
                Err(Difference::Missing(format!("leader of p{}", self.index.0)))
            }
        }
    }

    /// Whether the topic is gone.
    pub(super) fn is_deleted(&self) -> bool {
        self.state == State::Deleted
    }

    /// A batch arrives.
    pub(super) fn produce(
        &mut self,
        frame: &Frame<'_>,
        request: &Produce,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        if self.is_deleted() {
            out.push(Message::ProduceAnswer {
                correlation: request.correlation,
                identity: request.identity,
                partition: self.index,
                sequence: request.sequence,
                error: ErrorCode::UnknownTopicOrPartition,
            });
            return Ok(());
        }
        let token = PartitionToken::Produce {
            correlation: request.correlation,
            identity: request.identity,
            sequence: request.sequence,
            copy: 0,
        };
        let copy = free_copy(self.core()?, token)?;
        let input = Input::Produce(map::produce(request, copy)?);
        self.step(frame, input, out)
    }

    /// A marker arrives.
    pub(super) fn write_txn_marker(
        &mut self,
        frame: &Frame<'_>,
        marker: &WriteTxnMarkers,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        if self.is_deleted() {
            out.push(Message::WriteTxnMarkersAnswer(MarkerAnswer {
                broker: marker.broker,
                coordinator_epoch: marker.coordinator_epoch,
                transactional_id: marker.transactional_id,
                round: marker.round,
                partition: self.index,
                error: ErrorCode::UnknownTopicOrPartition,
            }));
            return Ok(());
        }
        let first = map::write_txn_marker(marker, 0)?;
        let token = PartitionToken::unpack(first.request);
        let copy = free_copy(self.core()?, token)?;
        let marker = map::write_txn_marker(marker, copy)?;
        self.step(frame, Input::WriteTxnMarker(marker), out)
    }

    /// The coordinator's verdict on a parked batch; one that is parked no more hears nothing.
    pub(super) fn verified(
        &mut self,
        frame: &Frame<'_>,
        (identity, sequence): (Identity, Sequence),
        answer: Result<(), ImplError>,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        if self.is_deleted() {
            return Ok(());
        }
        let core = self.core()?;
        let waiting = core
            .parked()
            .map(|(request, parked)| {
                Ok((abstract_parked(self.index, core, request, parked)?, request))
            })
            .collect::<Result<Vec<_>, Difference>>()?
            .into_iter()
            .filter(|(parked, _)| {
                parked.request.identity() == identity && parked.request.sequence() == sequence
            })
            // Of equal ones the last copy, so that the first is left.
            .min_by_key(|(parked, request)| (*parked, std::cmp::Reverse(*request)));
        let Some((_, request)) = waiting else {
            return Ok(());
        };
        self.step(frame, Input::CoordinatorAnswered { request, answer }, out)
    }

    /// One more record is on every replica.
    pub(super) fn replicate(&mut self, out: &mut Outbox) -> Result<(), Difference> {
        let core = self.core()?;
        let up_to = ImplOffset::new(core.high_watermark().get() + 1);
        self.effects(|core| core.step(Input::Replicated { up_to }, now()), out)
    }

    /// Producers without an open transaction have been idle for too long.
    pub(super) fn expire(&mut self, out: &mut Outbox) -> Result<(), Difference> {
        let later = now().plus_millis(Clock::PRODUCER_EXPIRATION_MS);
        self.effects(|core| core.step(Input::Tick, later), out)
    }

    /// The producer state is written to disk.
    pub(super) fn take_snapshot(&mut self, out: &mut Outbox) -> Result<(), Difference> {
        self.snapshot = Some(self.core()?.snapshot());
        out.write(Write::Snapshot {
            partition: self.index,
        });
        Ok(())
    }

    /// The last snapshot.
    pub(super) fn snapshot(&self) -> Option<&Snapshot> {
        self.snapshot.as_ref()
    }

    /// The replica that comes up from this disk, and leads.
    pub(super) fn recovered(&self, disk: &Disk) -> Result<Self, Difference> {
        let (core, snapshot) = disk.recover(self.config)?;
        Ok(Self {
            state: State::Leading(Box::new(leading(core))),
            snapshot,
            ..self.clone()
        })
    }

    /// The leader is gone: whoever waits is told, and its disk, up to `end`, is what the next leader begins with.
    pub(super) fn stop(&mut self, end: ImplOffset, out: &mut Outbox) -> Result<(), Difference> {
        let next = LeaderEpoch::new(LEADERSHIP.get() + 1);
        let resigned = Input::BecomeFollower { leader_epoch: next };
        self.effects(|core| core.step(resigned, now()), out)?;
        if self.snapshot.as_ref().is_some_and(|it| it.offset > end) {
            self.snapshot = None;
        }
        let core = self.core()?;
        let log = core.log();
        let stored = Stored {
            batches: log
                .batches_from(log.start_offset())
                .take_while(|batch| batch.next_offset() <= end)
                .cloned()
                .collect(),
            snapshot: self.snapshot.clone(),
            aborted: core.aborted().clone(),
            high_watermark: core.high_watermark(),
        };
        self.state = State::Stopped(Box::new(Stopped { stored }));
        Ok(())
    }

    /// The replica reads what it has, and leads.
    pub(super) fn recover(&mut self) -> Result<(), Difference> {
        let State::Stopped(stopped) = &self.state else {
            return Err(Difference::Missing(format!("stopped p{}", self.index.0)));
        };
        let core = Partition::recover(self.config, stopped.stored.clone())
            .map_err(|error| Difference::effect("partition", error))?;
        self.state = State::Leading(Box::new(leading(core)));
        Ok(())
    }

    /// The topic is deleted.
    pub(super) fn delete(&mut self) {
        self.state = State::Deleted;
        self.snapshot = None;
    }

    fn step(
        &mut self,
        frame: &Frame<'_>,
        input: Input,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        self.effects(|core| core.step(input, now()), out)?;
        if !frame.scenario.pace.replica_behind {
            let up_to = self.core()?.log().end_offset();
            self.effects(|core| core.step(Input::Replicated { up_to }, now()), out)?;
        }
        Ok(())
    }

    fn effects(
        &mut self,
        step: impl FnOnce(&mut Partition) -> Vec<Effect>,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let State::Leading(core) = &mut self.state else {
            return Err(Difference::Missing(format!("leader of p{}", self.index.0)));
        };
        for effect in step(core) {
            match effect {
                Effect::Append(batch) => out.write(Write::Batch {
                    partition: self.index,
                    batch,
                }),
                // The log in memory is the one that is compared.
                Effect::Truncate { .. } => {}
                Effect::AskCoordinator {
                    request,
                    transactional_id,
                    producer_id,
                    producer_epoch,
                    verify_only,
                } => {
                    let identity = Identity::new(
                        map::spec_producer_id(producer_id)?,
                        map::spec_producer_epoch(producer_epoch),
                    );
                    let PartitionToken::Produce { sequence, .. } = PartitionToken::unpack(request)
                    else {
                        return Err(Difference::effect("partition", request));
                    };
                    out.push(Message::VerifyPartition(VerifyPartition {
                        partition: self.index,
                        transactional_id: map::spec_transactional_id(&transactional_id)?,
                        identity,
                        sequence,
                        verify_only,
                        ghost: Ghost::NONE,
                    }));
                }
                Effect::Reply { request, answer } => {
                    let token = PartitionToken::unpack(request);
                    out.push(partition_answer(self.index, token, &answer)?);
                }
            }
        }
        Ok(())
    }

    /// The partition that the model would have in its place, in the form of [`crate::map::normal_partition`].
    ///
    /// # Errors
    /// [`Difference`] for a state that the model cannot say.
    pub fn abstract_state(&self, applied: Option<Offset>) -> Result<s::Partition, Difference> {
        let empty = s::Partition::new(self.index, Default::default());
        let mut partition = match &self.state {
            State::Deleted => s::Partition {
                deleted: true,
                ..empty
            },
            State::Stopped(stopped) => abstract_stopped(empty, &stopped.stored)?,
            State::Leading(core) => abstract_leading(empty, core)?,
        };
        partition.applied = applied.unwrap_or(partition.log_end);
        partition.snapshot = match &self.snapshot {
            None => None,
            Some(snapshot) => Some(Box::new(abstract_snapshot(snapshot)?)),
        };
        Ok(partition)
    }

    /// The first offset that is not decided and replicated.
    pub(super) fn last_stable_offset(&self) -> Result<Option<Offset>, Difference> {
        match &self.state {
            State::Leading(core) => Ok(Some(map::spec_offset(core.last_stable_offset())?)),
            State::Stopped(_) | State::Deleted => Ok(None),
        }
    }
}

fn now() -> fencepost::types::Timestamp {
    Clock::default().late()
}

fn leading(mut core: Partition) -> Partition {
    let elected = Input::BecomeLeader {
        leader_epoch: LEADERSHIP,
    };
    core.step(elected, now());
    core
}

/// The first copy of a request that is not outstanding.
fn free_copy(core: &Partition, token: PartitionToken) -> Result<u8, Difference> {
    for copy in 0..2 {
        let request = token.copied(copy).pack()?;
        let parked = core.parked().any(|(known, _)| known == request);
        let waiting = core.waiting().any(|(_, known, _)| known == request);
        if !parked && !waiting {
            return Ok(copy);
        }
    }
    Err(Difference::ThirdCopy)
}

fn abstract_stopped(empty: s::Partition, stored: &Stored) -> Result<s::Partition, Difference> {
    let log_end = stored
        .batches
        .last()
        .map_or(ImplOffset::ZERO, RecordBatch::next_offset);
    Ok(s::Partition {
        log: stored
            .batches
            .iter()
            .map(abstract_batch)
            .collect::<Result<_, _>>()?,
        log_end: map::spec_offset(log_end)?,
        high_watermark: map::spec_offset(stored.high_watermark)?,
        recovering: true,
        ..empty
    })
}

/// The parts that a partition core keeps, for data and offsets partitions alike.
pub(super) fn abstract_leading(
    empty: s::Partition,
    core: &Partition,
) -> Result<s::Partition, Difference> {
    let log = core.log();
    let mut partition = abstract_leading_without_log(empty, core)?;
    partition.log = log
        .batches_from(log.start_offset())
        .map(abstract_batch)
        .collect::<Result<_, _>>()?;
    Ok(partition)
}

/// The same but for the records.
pub(super) fn abstract_leading_without_log(
    empty: s::Partition,
    core: &Partition,
) -> Result<s::Partition, Difference> {
    let log = core.log();
    let aborted = core.aborted().iter().map(|it| {
        Ok(s::AbortedTxn {
            producer_id: map::spec_producer_id(it.producer_id)?,
            first: map::spec_offset(it.first_offset)?,
            last: map::spec_offset(it.last_offset)?,
        })
    });
    let verification = core.verifications().iter().map(|(id, entry)| {
        Ok(s::VerificationEntry {
            producer_id: map::spec_producer_id(id)?,
            epoch: map::spec_producer_epoch(entry.epoch),
            lowest_sequence: entry
                .lowest_sequence
                .map_or(Sequence::FIRST, map::spec_sequence),
            version: if entry.supports_epoch_bump {
                TransactionVersion::Tv2
            } else {
                TransactionVersion::Tv1
            },
        })
    });
    let waiting = core.waiting().map(|(reached, request, answer)| {
        let token = PartitionToken::unpack(request);
        Ok(s::Waiting {
            offset: map::spec_offset(ImplOffset::new(reached.get() - 1))?,
            answer: partition_answer(empty.index, token, answer)?,
        })
    });
    let unreplicated = core.unreplicated().map(|it| {
        let first = map::spec_offset(it.first_offset)?;
        Ok((first, map::spec_offset(it.last_offset)?))
    });
    let mut partition = s::Partition {
        unreplicated: unreplicated.collect::<Result<_, Unmapped>>()?,
        log_end: map::spec_offset(log.end_offset())?,
        high_watermark: map::spec_offset(core.high_watermark())?,
        producers: core
            .producers()
            .iter()
            .map(|(id, state)| abstract_producer(id, state))
            .collect::<Result<_, _>>()?,
        parked: core
            .parked()
            .map(|(request, parked)| abstract_parked(empty.index, core, request, parked))
            .collect::<Result<_, _>>()?,
        verification: verification.collect::<Result<_, Unmapped>>()?,
        aborted: aborted.collect::<Result<_, Unmapped>>()?,
        waiting: waiting.collect::<Result<_, Unmapped>>()?,
        ..empty
    };
    partition.parked.sort_unstable();
    partition.waiting.sort_unstable();
    partition.verification.sort_unstable();
    Ok(partition)
}

fn abstract_producer(
    id: fencepost::types::ProducerId,
    state: &fencepost::partition::ProducerState,
) -> Result<s::ProducerEntry, Unmapped> {
    let batches = state.batches.iter().map(|batch| {
        Ok(s::Batch {
            sequence: map::spec_sequence(batch.first_sequence()),
            offset: map::spec_offset(batch.first_offset())?,
        })
    });
    Ok(s::ProducerEntry {
        producer_id: map::spec_producer_id(id)?,
        epoch: map::spec_producer_epoch(state.epoch),
        coordinator_epoch: state
            .coordinator_epoch
            .map(map::spec_coordinator_epoch)
            .transpose()?,
        batches: batches.collect::<Result<_, Unmapped>>()?,
        open: state
            .current_txn_first_offset
            .map(map::spec_offset)
            .transpose()?,
    })
}

fn abstract_snapshot(snapshot: &Snapshot) -> Result<s::Snapshot, Difference> {
    Ok(s::Snapshot {
        offset: map::spec_offset(snapshot.offset)?,
        producers: snapshot
            .producers
            .iter()
            .map(|(id, state)| abstract_producer(id, state))
            .collect::<Result<_, _>>()?,
    })
}

fn abstract_parked(
    index: PartitionIndex,
    core: &Partition,
    request: RequestId,
    parked: &ImplParked,
) -> Result<s::Parked, Difference> {
    let PartitionToken::Produce {
        correlation,
        identity,
        sequence,
        copy: _,
    } = PartitionToken::unpack(request)
    else {
        return Err(Unmapped::new("parked request", request).into());
    };
    let producer_id = map::producer_id(identity.producer_id);
    let record = abstract_batch(&parked.batch)?;
    Ok(s::Parked {
        request: s::ParkedRequest::Produce(Produce {
            correlation,
            // A parked batch is transactional, and each scenario's producer has its own id.
            transactional_id: None,
            identity,
            partition: index,
            sequence,
            transactional: record.transactional,
            version: match parked.support {
                TransactionSupport::Add => TransactionVersion::Tv2,
                TransactionSupport::Verify | TransactionSupport::VerifyOrAbortable => {
                    TransactionVersion::Tv1
                }
            },
            payload: record.payload,
            ghost: Ghost::NONE,
        }),
        guard_stands: core.verifications().holds(producer_id, Some(parked.guard)),
    })
}

/// A batch of one record as the model's record.
///
/// # Errors
/// [`Unmapped`] for a batch that no scenario writes.
pub(super) fn abstract_batch(batch: &RecordBatch) -> Result<s::Record, Unmapped> {
    let unmapped = || Unmapped::new("batch", batch);
    let producer = batch.producer().ok_or_else(unmapped)?;
    let identity = Identity::new(
        map::spec_producer_id(producer.producer_id)?,
        map::spec_producer_epoch(producer.producer_epoch),
    );
    let marker = match batch.control_record().map_err(|_| unmapped())? {
        Some(ControlRecord::EndTxn(marker)) => Some(marker),
        Some(ControlRecord::Other(_)) => return Err(unmapped()),
        None => None,
    };
    let payload = match marker {
        Some(_) => Payload(0),
        None => payload(batch).ok_or_else(unmapped)?,
    };
    Ok(s::Record {
        offset: map::spec_offset(batch.base_offset())?,
        kind: marker.map_or(s::RecordKind::Data, |it| {
            s::RecordKind::Marker(map::spec_result(it.result))
        }),
        identity,
        sequence: producer
            .base_sequence
            .map_or(Sequence::FIRST, map::spec_sequence),
        transactional: batch.header().is_transactional,
        coordinator_epoch: marker
            .map(|it| map::spec_coordinator_epoch(it.coordinator_epoch))
            .transpose()?,
        payload,
        ghost: Ghost::NONE,
    })
}

/// The one record's payload: of data its only byte, of a staged offset the offset.
fn payload(batch: &RecordBatch) -> Option<Payload> {
    let mut records = batch.records().ok()?;
    let record = records.next()?.ok()?;
    if records.next().is_some() {
        return None;
    }
    match (record.key, record.value?) {
        (None, [byte]) => Some(Payload(*byte)),
        (None, _) => None,
        (Some(_), value) => {
            let value = fencepost::records::offset_commit::OffsetCommitValue::decode(value).ok()?;
            u8::try_from(value.offset.get()).ok().map(Payload)
        }
    }
}

/// The bytes of a seeded record.
pub(super) fn seed_batch(record: &s::Record) -> Result<RecordBatch, Difference> {
    use fencepost::batch::{BatchProducer, NewBatch, NewRecord};
    let batch = NewBatch {
        base_offset: map::offset(record.offset),
        leader_epoch: Some(LEADERSHIP),
        producer: Some(BatchProducer {
            producer_id: map::producer_id(record.identity.producer_id),
            producer_epoch: map::producer_epoch(record.identity.producer_epoch)?,
            base_sequence: Some(map::sequence(record.sequence)?),
        }),
        is_transactional: record.transactional,
        is_control: false,
        records: vec![NewRecord::new(
            now(),
            None,
            Some(Bytes::copy_from_slice(&[record.payload.0])),
        )],
    };
    batch
        .write()
        .map_err(|error| Unmapped::new("batch", error).into())
}
