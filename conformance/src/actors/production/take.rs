//! One step of the model's, taken by whichever core it is about.

use super::before::{has_staged, is_fenced, is_offsets, round};
use super::{Excluded, Frame, Production, Took};
use crate::actors::{Difference, Outbox, Told, limits};
use crate::map::{self};
use fencepost::coordinator::Input as CoordinatorInput;
use fencepost::error_code::ErrorCode as ImplError;
use fencepost_spec::types::*;
use fencepost_spec::world::Action;
use std::sync::Arc;

impl Production {
    /// Takes a step that the model takes too.
    ///
    /// # Errors
    /// [`Difference`] where production cannot take it.
    pub fn take(&mut self, frame: &Frame<'_>, action: &Action) -> Result<Took, Difference> {
        if let Some(excluded) = limits::beyond(frame, action) {
            return Ok(Took::Excluded(excluded));
        }
        let mut out = Outbox::default();
        match *action {
            Action::Deliver { message, broker } => {
                return self.deliver(frame, &message, broker, out);
            }
            Action::FailVerification(message) => {
                let lost = Err(ImplError::NetworkException);
                self.verified(frame, &message, lost, &mut out)?;
            }
            Action::LoseMarker(marker) => self.marker_lost(frame, &marker, &mut out)?,
            Action::LoseMarkerAnswer(marker) => {
                self.replica(marker.partition)?
                    .write_txn_marker(frame, &marker, &mut out)?;
                out.messages.clear();
                self.marker_lost(frame, &marker, &mut out)?;
            }
            Action::SendMarker(b, id, p) => {
                let round = round(frame.before, b, id);
                self.broker(b)?.send_marker(id, p, round, &mut out)?;
            }
            Action::ResendMarker(b, id, p) => {
                let round = round(frame.before, b, id);
                self.broker(b)?.resend_marker(id, p, round, &mut out)?;
            }
            Action::Timeout(b, _) => {
                let broker = self.broker(b)?;
                let sweep = CoordinatorInput::AbortTimedOutTransactions;
                broker.sweep(sweep, broker.clock.late(), &mut out)?;
            }
            Action::ExpireId(b, _) => {
                let broker = self.broker(b)?;
                let sweep = CoordinatorInput::RemoveExpiredTransactionalIds;
                broker.sweep(sweep, broker.clock.much_later(), &mut out)?;
            }
            Action::LearnElected(b) => {
                self.broker(b)?.elected(frame.before.log.epoch, &mut out)?;
            }
            Action::Load(b) => self.broker(b)?.load(&frame.before.log, &mut out)?,
            Action::Resign(b) => {
                let leads = frame.before.log.epoch;
                self.broker(b)?.resign(leads, frame.blocking, &mut out)?;
            }
            Action::CrashCoordinator(b) => {
                let leads = frame.before.log.epoch;
                let broker = self.broker(b)?;
                broker.resign(leads, frame.blocking, &mut out)?;
                broker.crash(frame.before.version, frame.rules.two_phase)?;
            }
            Action::StepClockBack(b) => self.broker(b)?.step_clock_back(),
            Action::Upgrade => {
                for broker in &mut self.brokers {
                    Arc::make_mut(broker).upgrade(TransactionVersion::Tv2)?;
                }
                let clients = self.clients.iter_mut().zip(&frame.scenario.workloads);
                for (client, workload) in clients {
                    Arc::make_mut(client).upgraded(workload, TransactionVersion::Tv2)?;
                }
            }
            Action::Replicate(p) => self.replica(p)?.replicate(&mut out)?,
            Action::FailOver(p) => {
                let end = map::offset(frame.before.partitions[usize::from(p.0)].high_watermark);
                self.replica(p)?.stop(end, &mut out)?;
            }
            Action::Restart(p) if is_offsets(frame, p) => self.offsets_mut()?.stop(&mut out)?,
            Action::Recover(p) if is_offsets(frame, p) => self.offsets_mut()?.recover()?,
            Action::Restart(p) => {
                let end = map::offset(frame.before.partitions[usize::from(p.0)].log_end);
                self.replica(p)?.stop(end, &mut out)?;
            }
            Action::Recover(p) => self.replica(p)?.recover()?,
            Action::TakeSnapshot(p) => self.replica(p)?.take_snapshot(&mut out)?,
            Action::Evict(p, _) if is_offsets(frame, p) => {
                return Ok(Took::Excluded(Excluded {
                    what: "producer expiry on the offsets partition",
                    reason: "the tick of the group's core that expires producers would expire offsets and members too",
                }));
            }
            Action::Evict(p, _) => self.replica(p)?.expire(&mut out)?,
            Action::DeleteTopic(p) => self.replica(p)?.delete(),
            Action::Materialise => self.offsets_mut()?.materialise(&mut out)?,
            Action::ExpireOffsets if self.is_ahead() && has_staged(frame.before) => {
                return Ok(Took::Excluded(Excluded {
                    what: "expiry between a marker's append and its application",
                    reason: "production applies a marker in the step that appends it",
                }));
            }
            Action::ExpireOffsets => self.offsets_mut()?.expire(&mut out)?,
            Action::Compact(_) | Action::FollowerFetch(_) | Action::Promote(_) => {
                return Ok(Took::Excluded(Excluded {
                    what: "compaction",
                    reason: "the cleaner and the replica that was away are not in the cores",
                }));
            }
            Action::OperatorMarker(_) => {
                return Ok(Took::Excluded(Excluded {
                    what: "operator's marker",
                    reason: "a marker without a coordinator epoch cannot be asked of a partition",
                }));
            }
            Action::Stranger { message, broker } => {
                return self.deliver(frame, &message, broker, out);
            }
            Action::FindNoLeader(_) => {
                return Ok(Took::Excluded(Excluded {
                    what: "marker for a partition without a leader",
                    reason: "Kafka 4.4.0 drops it; the implementation keeps it on purpose",
                }));
            }
            Action::SkipTest(_) => {
                return Ok(Took::Excluded(Excluded {
                    what: "skipped completion test",
                    reason: "no rules of Kafka's allow it",
                }));
            }
            Action::PrepareRebalance
            | Action::CompleteRebalance(_)
            | Action::ExpireMember
            | Action::ReplaceStaticMember(_)
                if self.offsets.as_ref().is_some_and(|it| it.is_stopped()) =>
            {
                return Ok(Took::Excluded(Excluded {
                    what: "change of members while the group's broker is down",
                    reason: "the model's members need nobody for it",
                }));
            }
            Action::CompleteRebalance(owner) if is_fenced(frame.before, owner) => {
                return Ok(Took::Excluded(Excluded {
                    what: "input given to a member that is fenced",
                    reason: "a process that is fenced joins no more; with the instance id it would fence the other one",
                }));
            }
            Action::PrepareRebalance => self.offsets_mut()?.prepare_rebalance()?,
            Action::CompleteRebalance(owner) => self.offsets_mut()?.complete_rebalance(owner)?,
            Action::ExpireMember => self.offsets_mut()?.expire_member()?,
            Action::ReplaceStaticMember(member) => {
                if let Some(excluded) = self.offsets_mut()?.replace_static_member(member)? {
                    return Ok(Took::Excluded(excluded));
                }
            }
            Action::Start(p) => return self.client(frame, p, &Told::Start),
            Action::End(p, result) => return self.client(frame, p, &Told::End(result)),
            Action::Prepare(p) | Action::Decided(p) => {
                return self.client(frame, p, &Told::TwoPhase);
            }
            Action::ResendRequest(p) => return self.client(frame, p, &Told::ResendRequest),
            Action::ResendBatch(p, at) => return self.client(frame, p, &Told::ResendBatch(at)),
            Action::GiveUp(p, at) => return self.client(frame, p, &Told::GiveUp(at)),
            Action::CrashProducer(p) => return self.client(frame, p, &Told::Crash),
            Action::FailAppend(_)
            | Action::CommitRecord
            | Action::ManagerDecides(_)
            | Action::Elect(_)
            | Action::ApplyRecord(_)
            | Action::TakeBound(_)
            | Action::TakeData(_)
            | Action::TakeAborted(_) => return Ok(Took::Own),
        }
        Ok(Took::Core(out))
    }
}
