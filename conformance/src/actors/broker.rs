//! A broker's coordinator core, with what its shell keeps: appends under way and markers not sent yet.

use super::{Difference, Outbox, Write};
use crate::map::{
    self, Clock, CoordinatorToken, Topics, coordinator_answer, coordinator_epoch,
    coordinator_request, marker_outcome, read_log_record, spec_transactional_id, spec_version,
};
use fencepost::coordinator::{
    Answer, AppendOutcome, AppendTicket, Config, Coordinator, Effect, Effects, Input, LogRecord,
    MarkerOutcome, MarkerTicket, Ownership, ProducerIdBlock, Slot, Stage, Then,
};
use fencepost::types::Timestamp;
use fencepost_spec::coordinator::TransactionMetadata;
use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::message::*;
use fencepost_spec::types::*;
use std::collections::BTreeMap;

/// The one partition of the transaction log.
pub(super) const LOG_PARTITION: i32 = 0;

/// The markers of one completion: what they say, and where they have yet to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sending {
    /// What to hand back with the answers.
    pub ticket: MarkerTicket,
    /// Where they have not been sent yet.
    pub queued: PartitionSet,
}

/// A broker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Broker {
    pub(super) id: BrokerId,
    pub(super) topics: Topics,
    pub(super) core: Coordinator,
    /// The last leadership that it was told of.
    pub(super) epoch: CoordinatorEpoch,
    pub(super) clock: Clock,
    pub(super) appending: BTreeMap<TransactionalId, AppendTicket>,
    pub(super) sending: BTreeMap<TransactionalId, Sending>,
}

impl Broker {
    /// A broker that leads nothing, with a block of producer ids from `first` on.
    pub fn new(
        id: BrokerId,
        topics: Topics,
        version: TransactionVersion,
        two_phase: bool,
        first: ProducerId,
    ) -> Self {
        let config = Config {
            transaction_log_partitions: 1,
            offsets_partitions: 1,
            two_phase_commit_enable: two_phase,
            transactional_id_expiration_ms: Clock::ID_EXPIRATION_MS,
            ..Config::default()
        };
        let clock = Clock::default();
        let mut core = Coordinator::new(config, map::cluster_version(version));
        let block = ProducerIdBlock {
            first: map::producer_id(first),
            len: 1000,
        };
        core.step(Input::ProducerIdBlockArrived(Some(block)), clock.late());
        Self {
            id,
            topics,
            core,
            epoch: CoordinatorEpoch(0),
            clock,
            appending: BTreeMap::new(),
            sending: BTreeMap::new(),
        }
    }

    /// Takes a request, at a time of the harness's choice. With `blocking`, a fence is followed by the client's next
    /// try.
    pub(super) fn request(
        &mut self,
        message: &Message,
        now: Timestamp,
        blocking: bool,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let (token, request) = coordinator_request(self.topics, message)?;
        let effects = self.core.step(Input::Request(token.pack()?, request), now);
        let fenced = effects.iter().any(begins_fence);
        self.absorb(effects, out)?;
        if fenced && blocking {
            out.push(*message);
        }
        Ok(())
    }

    /// An append of this broker has ended.
    pub(super) fn append_finished(
        &mut self,
        answer: &AppendTxnRecordAnswer,
        blocking: bool,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        if answer.coordinator_epoch != self.epoch {
            return Ok(());
        }
        let Some(ticket) = self.appending.remove(&answer.transactional_id) else {
            return Ok(());
        };
        let outcome = match answer.error {
            ErrorCode::None => AppendOutcome::Written,
            error => AppendOutcome::Failed(map::impl_error(error)?),
        };
        self.finish(ticket, outcome, blocking, out)?;
        self.retry(out)
    }

    /// Hands a ticket back. With `blocking`, the answer to a fence is not sent: the client's next try is on its way.
    pub(super) fn finish(
        &mut self,
        ticket: AppendTicket,
        outcome: AppendOutcome,
        blocking: bool,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let quiet = blocking && is_fence(&ticket);
        let input = Input::AppendFinished(ticket, outcome);
        let mut effects = self.core.step(input, self.clock.late());
        if quiet {
            effects.retain(|effect| !is_retriable_answer(effect));
        }
        self.absorb(effects, out)
    }

    /// A partition leader has answered a marker of this completion.
    pub(super) fn marker_answered(
        &mut self,
        answer: &MarkerAnswer,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let outcome = marker_outcome(answer.error)?;
        self.marker_outcome(answer.transactional_id, answer.partition, outcome, out)
    }

    /// What became of a marker, for the completion that is under way.
    pub(super) fn marker_outcome(
        &mut self,
        id: TransactionalId,
        partition: PartitionIndex,
        outcome: MarkerOutcome,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let Some(sending) = self.sending.get(&id) else {
            return Ok(());
        };
        let outcomes = vec![(self.topics.partition(partition), outcome)];
        let input = Input::MarkersAnswered(sending.ticket.clone(), outcomes);
        let effects = self.core.step(input, self.clock.late());
        self.absorb(effects, out)?;
        self.retry(out)
    }

    /// Sends a marker that is queued.
    pub(super) fn send_marker(
        &mut self,
        id: TransactionalId,
        partition: PartitionIndex,
        round: u8,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let missing = || Difference::Missing(format!("queued marker for p{}", partition.0));
        let sending = self.sending.get_mut(&id).ok_or_else(missing)?;
        if !sending.queued.contains(partition) {
            return Err(missing());
        }
        sending.queued = sending.queued.without(partition);
        self.resend_marker(id, partition, round, out)
    }

    /// Sends a marker again although the first may still arrive.
    pub(super) fn resend_marker(
        &mut self,
        id: TransactionalId,
        partition: PartitionIndex,
        round: u8,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let missing = || Difference::Missing(format!("marker for p{}", partition.0));
        let ticket = &self.sending.get(&id).ok_or_else(missing)?.ticket;
        out.push(Message::WriteTxnMarkers(WriteTxnMarkers {
            broker: self.id,
            coordinator_epoch: map::spec_coordinator_epoch(ticket.coordinator_epoch)?,
            transactional_id: id,
            round,
            partition,
            identity: map::spec_identity(ticket.producer)?,
            result: map::spec_result(ticket.result),
            version: spec_version(ticket.transaction_version),
            ghost: Ghost::NONE,
        }));
        Ok(())
    }

    /// A sweep of the coordinator's own.
    pub(super) fn sweep(
        &mut self,
        input: Input,
        now: Timestamp,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let effects = self.core.step(input, now);
        self.absorb(effects, out)
    }

    /// What could not be done is tried again at once.
    fn retry(&mut self, out: &mut Outbox) -> Result<(), Difference> {
        let effects = self.core.step(Input::RetryCompletions, self.clock.late());
        self.absorb(effects, out)
    }

    /// Turns effects into messages and into what the shell keeps.
    pub(super) fn absorb(&mut self, effects: Effects, out: &mut Outbox) -> Result<(), Difference> {
        for effect in effects {
            match effect {
                Effect::Append {
                    ticket,
                    timestamp: _,
                    records,
                } => self.append(ticket, &records, out)?,
                Effect::SendMarkers { ticket, partitions } => {
                    self.queue(ticket, self.topics.spec_set(&partitions)?)?;
                }
                Effect::Reply(to, answer) => {
                    let token = CoordinatorToken::unpack(to)?;
                    let answer = coordinator_answer(self.topics, token, &answer, self.epoch)?;
                    out.push(answer);
                }
                // The model says it by the stage.
                Effect::MarkerAbandoned { .. } => {}
                Effect::Loaded {
                    skipped_records: 0, ..
                } => {}
                Effect::AllocateProducerIds | Effect::Loaded { .. } | Effect::LoadFailed { .. } => {
                    return Err(Difference::effect("coordinator", effect));
                }
            }
        }
        let core = &self.core;
        self.sending.retain(|id, _| is_writing_markers(core, *id));
        Ok(())
    }

    fn append(
        &mut self,
        ticket: AppendTicket,
        records: &[LogRecord],
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let [record] = records else {
            return Err(Difference::effect("coordinator", records));
        };
        let (id, value) = read_log_record(self.topics, record)?;
        if !self.is_written_so(id, value.as_ref(), record)? {
            return Err(Difference::Record(format!("{record:?}")));
        }
        self.appending.insert(id, ticket);
        out.write(Write::TransactionState {
            broker: self.id,
            record: record.clone(),
        });
        out.push(Message::AppendTxnRecord(AppendTxnRecord {
            broker: self.id,
            coordinator_epoch: self.epoch,
            transactional_id: id,
            value,
        }));
        Ok(())
    }

    /// Whether these bytes are what their meaning is written as, at the times at which it may have been decided.
    fn is_written_so(
        &self,
        id: TransactionalId,
        value: Option<&TransactionMetadata>,
        record: &LogRecord,
    ) -> Result<bool, Difference> {
        for forms in map::record_forms(self.clock) {
            if map::log_record(self.topics, forms, id, value)? == *record {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn queue(&mut self, ticket: MarkerTicket, partitions: PartitionSet) -> Result<(), Difference> {
        let id = spec_transactional_id(&ticket.transactional_id)?;
        let queued = match self.sending.get(&id) {
            Some(known) if known.ticket == ticket => {
                partitions.iter().fold(known.queued, PartitionSet::with)
            }
            Some(_) | None => partitions,
        };
        self.sending.insert(id, Sending { ticket, queued });
        Ok(())
    }

    /// What the core knows of an id, if it leads.
    pub(super) fn slot(&self, id: TransactionalId) -> Option<&Slot> {
        slot(&self.core, id)
    }

    /// The leadership in which it believes, as the model calls it.
    pub(super) fn ownership(&self) -> Option<&Ownership> {
        self.core.partitions().get(&LOG_PARTITION)
    }

    /// The producer id that it would hand out next, asked of a copy.
    ///
    /// # Errors
    /// [`Difference`] where the block is empty.
    pub(super) fn next_producer_id(&self) -> Result<ProducerId, Difference> {
        let asked = Message::InitProducerId(InitProducerId {
            correlation: Correlation {
                producer: ProducerIndex(0),
                number: 0,
                attempt: 0,
            },
            transactional_id: None,
            expected: None,
            enable_2pc: false,
            keep_prepared_txn: false,
            timeout_in_range: true,
            authorized: true,
        });
        let (token, request) = coordinator_request(self.topics, &asked)?;
        let input = Input::Request(token.pack()?, request);
        let effects = self.core.clone().step(input, self.clock.late());
        match effects.as_slice() {
            [Effect::Reply(_, Answer::InitProducerId(Ok(answer)))] => {
                Ok(map::spec_producer_id(answer.producer.producer_id)?)
            }
            _ => Err(Difference::effect("coordinator", effects)),
        }
    }

    /// The leadership that markers and records of this broker carry.
    pub(super) fn impl_epoch(&self) -> fencepost::types::CoordinatorEpoch {
        coordinator_epoch(self.epoch)
    }
}

fn slot(core: &Coordinator, id: TransactionalId) -> Option<&Slot> {
    match core.partitions().get(&LOG_PARTITION)? {
        Ownership::Led(led) => led.get(&map::transactional_id(id)),
        Ownership::Loading(_) => None,
    }
}

fn is_writing_markers(core: &Coordinator, id: TransactionalId) -> bool {
    match slot(core, id).and_then(Slot::pending).map(|it| &it.stage) {
        Some(Stage::WritingMarkers { .. }) => true,
        Some(
            Stage::Appending
            | Stage::AppendingCompletion
            | Stage::CompletionQueued
            | Stage::Abandoned,
        )
        | None => false,
    }
}

fn begins_fence(effect: &Effect) -> bool {
    match effect {
        Effect::Append { ticket, .. } => is_fence(ticket),
        Effect::SendMarkers { .. }
        | Effect::Reply(..)
        | Effect::AllocateProducerIds
        | Effect::Loaded { .. }
        | Effect::LoadFailed { .. }
        | Effect::MarkerAbandoned { .. } => false,
    }
}

fn is_fence(ticket: &AppendTicket) -> bool {
    match ticket {
        AppendTicket::Transition { then, .. } => match then {
            Then::AnswerFencedInitProducerId(..) => true,
            Then::AnswerInitProducerId(..)
            | Then::AnswerAddPartitionsToTxn(..)
            | Then::AnswerAddOffsetsToTxn(..)
            | Then::AnswerEndTxn(..)
            | Then::AbortTimedOut
            | Then::Complete => false,
        },
        AppendTicket::Tombstones { .. } => false,
    }
}

fn is_retriable_answer(effect: &Effect) -> bool {
    match effect {
        Effect::Reply(_, Answer::InitProducerId(Err(error))) => {
            map::spec_error(*error).is_ok_and(ErrorCode::is_retriable)
        }
        Effect::Reply(..)
        | Effect::Append { .. }
        | Effect::SendMarkers { .. }
        | Effect::AllocateProducerIds
        | Effect::Loaded { .. }
        | Effect::LoadFailed { .. }
        | Effect::MarkerAbandoned { .. } => false,
    }
}
