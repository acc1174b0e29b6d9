//! A broker's state as the model's coordinator, in the form of [`crate::map::normal_coordinator`].

use super::{Broker, Difference};
use crate::map::{self, CoordinatorToken, Unmapped, abstract_metadata};
use fencepost::coordinator as i;
use fencepost_spec::coordinator::{
    Coordinator, Pending, Role, Slot, Stage, Then, TransactionMetadata,
};
use fencepost_spec::message::RequestKind;
use fencepost_spec::types::*;

impl Broker {
    /// The coordinator that the model would have in its place. `ids` is how many the scenario has.
    ///
    /// # Errors
    /// [`Difference`] for a state that the model cannot say.
    pub fn abstract_state(&self, ids: usize, blocking: bool) -> Result<Coordinator, Difference> {
        let role = match self.ownership() {
            Some(i::Ownership::Led(led)) if led.coordinator_epoch() == self.impl_epoch() => {
                Role::Leader
            }
            Some(i::Ownership::Led(led)) => {
                return Err(Unmapped::new("leadership", led.coordinator_epoch()).into());
            }
            Some(i::Ownership::Loading(_)) => Role::Loading,
            None => Role::Follower,
        };
        let slots = (0..ids)
            .map(|id| self.abstract_slot(TransactionalId(id as u8), blocking))
            .collect::<Result<_, _>>()?;
        Ok(Coordinator {
            broker: self.id,
            role,
            epoch: self.epoch,
            slots,
            next_producer_id: self.next_producer_id()?,
            clock_back: self.clock.back,
            ghost_timed_out: List::new(),
        })
    }

    fn abstract_slot(&self, id: TransactionalId, blocking: bool) -> Result<Slot, Difference> {
        let Some(slot) = self.slot(id) else {
            return Ok(Slot::default());
        };
        let current = slot.current();
        let metadata = abstract_metadata(self.topics, current)?.map(without_decided_partitions);
        let created = match metadata {
            None => Some(map::spec_producer_id(current.producer_id)?),
            Some(_) => None,
        };
        let pending = slot.pending();
        let pending = pending.map(|pending| self.abstract_pending(id, pending, blocking));
        let pending = pending.transpose()?;
        Ok(Slot {
            metadata,
            created,
            pending,
            has_failed_epoch_fence: current.has_failed_epoch_fence
                && metadata.is_none_or(|it| it.state.prepared().is_none()),
            round: 0,
        })
    }

    fn abstract_pending(
        &self,
        id: TransactionalId,
        pending: &i::Pending,
        blocking: bool,
    ) -> Result<Pending, Difference> {
        let missing = || Difference::Missing(format!("ticket for the append of id {}", id.0));
        let stage = match &pending.stage {
            i::Stage::Appending | i::Stage::AppendingCompletion => {
                let ticket = self.ticket(id).ok_or_else(missing)?;
                Stage::Appending(then(ticket, blocking)?)
            }
            i::Stage::WritingMarkers { queued: again } if again.is_empty() => {
                let left = self.topics.spec_set(pending.from.partitions.as_slice())?;
                let sending = self.sending.get(&id).ok_or_else(missing)?;
                let queued = sending.queued.iter().filter(|p| left.contains(*p));
                let queued = queued.fold(PartitionSet::EMPTY, PartitionSet::with);
                let awaiting = queued.iter().fold(left, PartitionSet::without);
                Stage::WritingMarkers { queued, awaiting }
            }
            i::Stage::Abandoned => Stage::Abandoned,
            i::Stage::WritingMarkers { .. } | i::Stage::CompletionQueued => {
                return Err(Unmapped::new("stage", &pending.stage).into());
            }
        };
        let to = match pending.to.state {
            i::TransactionState::Dead => None,
            i::TransactionState::Empty
            | i::TransactionState::Ongoing
            | i::TransactionState::PrepareCommit
            | i::TransactionState::PrepareAbort
            | i::TransactionState::CompleteCommit
            | i::TransactionState::CompleteAbort
            | i::TransactionState::PrepareEpochFence => {
                abstract_metadata(self.topics, &pending.to)?
            }
        };
        Ok(Pending { to, stage })
    }
}

fn without_decided_partitions(metadata: TransactionMetadata) -> TransactionMetadata {
    if metadata.state.prepared().is_some() {
        TransactionMetadata {
            partitions: PartitionSet::EMPTY,
            ..metadata
        }
    } else {
        metadata
    }
}

/// Who waits for an append, in the model's words.
fn then(ticket: &i::AppendTicket, blocking: bool) -> Result<Then, Difference> {
    let then = match ticket {
        i::AppendTicket::Tombstones { .. } => return Ok(Then::Expire),
        i::AppendTicket::Transition { then, .. } => then,
    };
    let unmapped = |token| Difference::from(Unmapped::new("who waits", token));
    match then {
        i::Then::AnswerInitProducerId(to, _, answer) => match CoordinatorToken::unpack(*to)? {
            CoordinatorToken::Producer(RequestKind::InitProducerId, correlation) => {
                Ok(Then::AnswerInit {
                    correlation,
                    ongoing: answer.ongoing.map(map::spec_identity).transpose()?,
                })
            }
            token => Err(unmapped(token)),
        },
        i::Then::AnswerFencedInitProducerId(to, _) => match CoordinatorToken::unpack(*to)? {
            CoordinatorToken::Producer(RequestKind::InitProducerId, correlation) => {
                Ok(Then::Fence {
                    correlation: (!blocking).then_some(correlation),
                })
            }
            token => Err(unmapped(token)),
        },
        i::Then::AnswerAddPartitionsToTxn(to, ..) | i::Then::AnswerAddOffsetsToTxn(to, _) => {
            Ok(match CoordinatorToken::unpack(*to)? {
                CoordinatorToken::Producer(request, correlation) => Then::AnswerAdd {
                    correlation,
                    request,
                },
                CoordinatorToken::Leader {
                    partition,
                    identity,
                    sequence,
                } => Then::AnswerVerify {
                    partition,
                    identity,
                    sequence,
                },
            })
        }
        i::Then::AnswerEndTxn(to, _, producer) => match CoordinatorToken::unpack(*to)? {
            CoordinatorToken::Producer(RequestKind::EndTxn, correlation) => Ok(Then::AnswerEnd {
                correlation,
                version: match producer {
                    None => TransactionVersion::Tv1,
                    Some(_) => TransactionVersion::Tv2,
                },
            }),
            token => Err(unmapped(token)),
        },
        i::Then::AbortTimedOut => Ok(Then::Timeout),
        i::Then::Complete => Ok(Then::Complete),
    }
}
