//! The partition and the group that the model would have in the place of the offsets partition.

use super::{Offsets, key};
use crate::actors::Difference;
use crate::actors::membership::spec_member;
use crate::actors::replica::{abstract_batch, abstract_leading, abstract_leading_without_log};
use crate::map::{self, PartitionToken, Unmapped};
use fencepost::group::ParkedCommit;
use fencepost::partition::TransactionSupport;
use fencepost::types::{Offset as ImplOffset, RequestId};
use fencepost_spec::group::{Group, Staged};
use fencepost_spec::message::*;
use fencepost_spec::partition as s;
use fencepost_spec::types::*;

impl Offsets {
    /// The partition that the model would have in its place, in the form of [`crate::map::normal_partition`].
    /// Tombstones of expired offsets and records of the group, which the model does not write, are counted out of every
    /// offset.
    ///
    /// # Errors
    /// [`Difference`] for a state that the model cannot say.
    pub fn abstract_partition(&self) -> Result<s::Partition, Difference> {
        let empty = s::Partition::new(self.index, Default::default());
        let core = self.core.partition();
        let log = core.log();
        let is_tombstone = |batch: &fencepost::batch::RecordBatch| batch.producer().is_none();
        let tombstones: Vec<ImplOffset> = log
            .batches_from(log.start_offset())
            .filter(|batch| is_tombstone(batch))
            .map(fencepost::batch::RecordBatch::base_offset)
            .collect();
        if tombstones.is_empty() {
            return self.with_group_parts(abstract_leading(empty, core)?);
        }
        let before = |offset: Offset| {
            let below = tombstones
                .iter()
                .filter(|it| it.get() < i64::from(offset.0));
            // There are fewer tombstones than offsets.
            Offset(offset.0 - below.count() as u8)
        };
        let mut partition = abstract_leading_without_log(empty, core)?;
        for batch in log
            .batches_from(log.start_offset())
            .filter(|batch| !is_tombstone(batch))
        {
            let record = abstract_batch(batch)?;
            partition.log.push(s::Record {
                offset: before(record.offset),
                ..record
            });
        }
        partition.log_end = before(partition.log_end);
        partition.high_watermark = before(partition.high_watermark);
        for entry in &mut partition.producers {
            entry.open = entry.open.map(before);
        }
        for entry in &mut partition.aborted {
            entry.first = before(entry.first);
            entry.last = before(entry.last);
        }
        for (first, last) in &mut partition.unreplicated {
            *first = before(*first);
            *last = before(*last);
        }
        self.with_group_parts(partition)
    }

    fn with_group_parts(&self, mut partition: s::Partition) -> Result<s::Partition, Difference> {
        partition.applied = partition.log_end;
        if self.is_stopped() {
            return Ok(s::Partition {
                log: partition.log,
                log_end: partition.log_end,
                high_watermark: partition.high_watermark,
                applied: partition.applied,
                recovering: true,
                ..s::Partition::new(self.index, Default::default())
            });
        }
        partition.parked = self
            .core
            .parked()
            .map(|(request, parked)| self.abstract_parked(request, parked))
            .collect::<Result<_, _>>()?;
        partition.parked.sort_unstable();
        for (reached, request, answer) in self.core.waiting() {
            partition.waiting.push(s::Waiting {
                offset: map::spec_offset(ImplOffset::new(reached.get() - 1))?,
                answer: self.answer(request, answer)?,
            });
        }
        for entry in &mut partition.producers {
            entry.batches.clear();
        }
        for entry in &mut partition.verification {
            entry.lowest_sequence = Sequence::FIRST;
        }
        Ok(partition)
    }

    /// The group that the model would have in its place, in the form of [`crate::map::normal_group`].
    ///
    /// # Errors
    /// [`Difference`] for a state that the model cannot say.
    pub fn abstract_group(&self) -> Result<Group, Difference> {
        let membership = match self.stopped {
            Some(stopped) => stopped,
            None => self.membership()?,
        };
        Ok(membership.of(self.abstract_offsets()?))
    }

    /// The same with nobody in it.
    ///
    /// # Errors
    /// [`Difference`] for offsets that the model cannot say.
    pub fn abstract_offsets(&self) -> Result<Group, Difference> {
        let offsets = self.core.offsets();
        let payload = |offset: &fencepost::group::CommittedOffset| {
            u8::try_from(offset.value.offset.get())
                .map(Payload)
                .map_err(|_| Unmapped::new("offset", offset))
        };
        let staged = offsets.staged().map(|(id, _, offset)| {
            let log = self.core.partition().log();
            let batch = log.batches_from(offset.record_offset).next();
            let producer = batch.and_then(fencepost::batch::RecordBatch::producer);
            let producer = producer.ok_or_else(|| Unmapped::new("staged offset", offset))?;
            Ok(Staged {
                identity: Identity::new(
                    map::spec_producer_id(id)?,
                    map::spec_producer_epoch(producer.producer_epoch),
                ),
                offset: payload(offset)?,
                decided: false,
                ghost: Ghost::NONE,
            })
        });
        let mut group = Group {
            committed: offsets.committed(&key()).map_or(Ok(Payload(0)), payload)?,
            staged: staged.collect::<Result<_, Unmapped>>()?,
            ..Group::default()
        };
        group.staged.sort_unstable();
        Ok(group)
    }

    pub(super) fn abstract_parked(
        &self,
        request: RequestId,
        parked: &ParkedCommit,
    ) -> Result<s::Parked, Difference> {
        let unmapped = || Difference::from(Unmapped::new("parked commit", request));
        let PartitionToken::TxnOffsetCommit { correlation, .. } = PartitionToken::unpack(request)
        else {
            return Err(unmapped());
        };
        let commit = &parked.commit;
        let [offset] = commit.offsets.as_slice() else {
            return Err(unmapped());
        };
        let support = TransactionSupport::of_txn_offset_commit(commit.version);
        Ok(s::Parked {
            request: s::ParkedRequest::TxnOffsetCommit(TxnOffsetCommit {
                correlation,
                transactional_id: map::spec_transactional_id(&commit.transactional_id)?,
                identity: map::spec_identity(commit.producer)?,
                member: spec_member(&commit.member)?,
                offset: u8::try_from(offset.offset.get())
                    .map(Payload)
                    .map_err(|_| unmapped())?,
                version: if support.supports_epoch_bump() {
                    TransactionVersion::Tv2
                } else {
                    TransactionVersion::Tv1
                },
                ghost: Ghost::NONE,
            }),
            guard_stands: self
                .core
                .partition()
                .verifications()
                .holds(commit.producer.producer_id, Some(parked.guard)),
        })
    }
    /// The first offset that is not decided and replicated, tombstones counted out.
    pub(in crate::actors) fn last_stable_offset(&self) -> Result<Option<Offset>, Difference> {
        if self.is_stopped() {
            return Ok(None);
        }
        let core = self.core.partition();
        let stable = core.last_stable_offset();
        let log = core.log();
        let tombstones = log
            .batches_from(log.start_offset())
            .filter(|batch| batch.producer().is_none() && batch.base_offset() < stable)
            .count();
        let stable = map::spec_offset(stable)?;
        Ok(Some(Offset(stable.0 - tombstones as u8)))
    }
}
