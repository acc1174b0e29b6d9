//! A data partition at its leader: the partition core, with what is on its disk while it is stopped.

mod abstraction;
mod batch;

pub(super) use abstraction::{abstract_leading, abstract_leading_without_log};
pub(super) use batch::{abstract_batch, seed_batch};

use super::recovery::Disk;
use super::{Difference, Frame, Outbox, Write};
use crate::map::{self, Clock, PartitionToken, partition_answer};
use fencepost::batch::RecordBatch;
use fencepost::error_code::ErrorCode as ImplError;
use fencepost::partition::{Effect, Input, Partition, PartitionConfig, Snapshot, Stored};
use fencepost::types::{LeaderEpoch, Offset as ImplOffset};
use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::message::*;
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
                Ok((
                    abstraction::abstract_parked(self.index, core, request, parked)?,
                    request,
                ))
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
