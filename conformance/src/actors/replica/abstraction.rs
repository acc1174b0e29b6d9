//! The partition that the model would have in a data partition's place.

use super::batch::abstract_batch;
use super::{Replica, State};
use crate::actors::Difference;
use crate::map::{self, PartitionToken, Unmapped, partition_answer};
use fencepost::batch::RecordBatch;
use fencepost::partition::{Parked as ImplParked, Partition, Snapshot, Stored, TransactionSupport};
use fencepost::types::{Offset as ImplOffset, RequestId};
use fencepost_spec::message::*;
use fencepost_spec::partition as s;
use fencepost_spec::types::*;

impl Replica {
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
pub(in crate::actors) fn abstract_leading(
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
pub(in crate::actors) fn abstract_leading_without_log(
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

pub(super) fn abstract_parked(
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
