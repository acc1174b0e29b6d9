//! The application: the model's script, as calls of the production client.

use super::shell::partition_of;
use super::{Ended, Gap, Place, Running, Said, Told};
use crate::actors::Difference;
use crate::actors::membership::member_name;
use crate::map::{DATA_TOPIC, GROUP};
use fencepost::client::{BatchId, Call, ConsumerGroupMetadata, Input, OffsetAndMetadata, State};
use fencepost::types::{GenerationId, GroupId, MemberId, Offset as ImplOffset, TopicPartition};
use fencepost_spec::client::{Item, Outcome, Phase, Workload};
use fencepost_spec::message::Message;
use fencepost_spec::types::*;
use std::collections::BTreeMap;

/// The application's name for the batch of an item.
pub(super) fn batch_id(txn: u8, item: u8) -> BatchId {
    BatchId(u64::from(txn) << 8 | u64::from(item))
}

/// What the record of an item says.
pub(super) fn payload(workload: &Workload, position: Payload, batch: BatchId) -> Payload {
    if workload.inputs > 0 {
        position
    } else {
        // Items are counted by bytes.
        Payload(batch.0 as u8 + 1)
    }
}

impl Running {
    pub(super) fn start(
        &mut self,
        place: Place<'_>,
        said: &mut Said,
    ) -> Result<Option<Ended>, Difference> {
        self.drive(place, Input::Call(Call::InitTransactions), said)?;
        self.proceed(place, said)
    }

    pub(super) fn take(
        &mut self,
        place: Place<'_>,
        told: &Told,
        said: &mut Said,
    ) -> Result<Option<Ended>, Difference> {
        match told {
            Told::Start | Told::TwoPhase => {
                return Err(Difference::Missing("client to start".to_owned()));
            }
            Told::Crash => return Ok(Some(Ended::Closed(Phase::Crashed))),
            Told::End(result) => self.end(place, *result, said)?,
            Told::ResendRequest => self.lose_request(place, said)?,
            Told::ResendBatch(at) => self.resend_batch(place, usize::from(*at), said)?,
            Told::GiveUp(at) if usize::from(*at) >= self.in_flight().count() => {
                return Ok(Some(Ended::LeftOut(Gap::GivenUpOffsets)));
            }
            Told::GiveUp(at) => self.expire(place, usize::from(*at), said)?,
            Told::Answer(answer) => self.answered(place, answer, said)?,
        }
        let ended = self.proceed(place, said)?;
        self.forget_tries();
        Ok(ended)
    }

    fn end(
        &mut self,
        place: Place<'_>,
        result: TransactionResult,
        said: &mut Said,
    ) -> Result<(), Difference> {
        let (call, asked) = match result {
            TransactionResult::Commit => (Call::CommitTransaction, Outcome::CommitAsked),
            TransactionResult::Abort => (Call::AbortTransaction, Outcome::AbortAsked),
        };
        self.ending = true;
        self.item = 0;
        self.told(asked);
        self.drive(place, Input::Call(call), said)
    }

    /// Goes on as far as it can without an answer. `Some` where the application has nothing more to do.
    pub(super) fn proceed(
        &mut self,
        place: Place<'_>,
        said: &mut Said,
    ) -> Result<Option<Ended>, Difference> {
        loop {
            let state = self.core.state();
            if self.ending && matches!(state, State::Ready | State::Initializing) {
                self.ended();
                if self.txn >= place.workload.transactions {
                    if state == State::Initializing {
                        said.messages
                            .retain(|it| !matches!(it, Message::InitProducerId(_)));
                        said.gaps.push(Gap::LastBump);
                    }
                    return Ok(Some(Ended::Closed(Phase::Done)));
                }
            }
            let goes_on = match state {
                State::Ready => {
                    self.item = 0;
                    self.drive(place, Input::Call(Call::BeginTransaction), said)?;
                    true
                }
                State::InTransaction => match self.consumed_all(place.workload) {
                    true => return Ok(Some(Ended::Closed(Phase::Done))),
                    false => self.next_item(place, said)?,
                },
                State::AbortableError => self.abort(place, said)?,
                State::FatalError => {
                    self.failed();
                    return Ok(Some(Ended::Closed(Phase::Fatal)));
                }
                State::Uninitialized
                | State::Initializing
                | State::CommittingTransaction
                | State::AbortingTransaction => false,
            };
            if !goes_on {
                return Ok(None);
            }
        }
    }

    /// The transaction has ended as it was asked to.
    fn ended(&mut self) {
        self.ending = false;
        let told = match self.outcome.get(usize::from(self.txn)) {
            Some(Outcome::CommitAsked) => Outcome::CommitTold,
            Some(_) | None => Outcome::AbortTold,
        };
        self.told(told);
        self.txn += 1;
    }

    /// The producer is done: what that says of a commit that was asked for.
    fn failed(&mut self) {
        let asked = self.outcome.get(usize::from(self.txn));
        if self.ending && asked == Some(&Outcome::CommitAsked) {
            self.told(if self.is_definite() {
                Outcome::ErrorTold
            } else {
                Outcome::Unknown
            });
        }
    }

    fn told(&mut self, outcome: Outcome) {
        if let Some(slot) = self.outcome.get_mut(usize::from(self.txn)) {
            *slot = outcome;
        }
    }

    /// The next item of the script, if nothing is waited for.
    fn next_item(&mut self, place: Place<'_>, said: &mut Said) -> Result<bool, Difference> {
        let most = usize::from(place.workload.max_in_flight);
        if self.waits() || self.in_flight().count() >= most {
            return Ok(false);
        }
        match place.workload.items.get(usize::from(self.item)) {
            None => return Ok(false),
            Some(Item::Send(partition)) => {
                let call = Call::Send {
                    partition: place.topics.partition(*partition),
                    batch: batch_id(self.txn, self.item),
                    count: 1,
                };
                self.item += 1;
                self.drive(place, Input::Call(call), said)?;
            }
            Some(Item::FetchOffset) => self.fetch_offset(place, said),
            Some(Item::CommitOffset) => {
                let next = i64::from(self.position.0) + 1;
                let offset = OffsetAndMetadata {
                    offset: ImplOffset::new(next),
                    leader_epoch: None,
                    metadata: String::new(),
                };
                let call = Call::SendOffsetsToTransaction {
                    member: self.member(place.index),
                    offsets: BTreeMap::from([(input(), offset)]),
                };
                self.drive(place, Input::Call(call), said)?;
            }
        }
        Ok(true)
    }

    fn member(&self, index: ProducerIndex) -> ConsumerGroupMetadata {
        let generation = self.generation;
        ConsumerGroupMetadata {
            group: GroupId::new(GROUP),
            generation: generation.map(|it| GenerationId::new(i32::from(it.0))),
            member_id: MemberId::new(generation.map_or("", |_| member_name(index))),
            instance_id: None,
        }
    }

    /// After a failed send only an abort may follow: once no request waits, and nothing is in flight.
    fn abort(&mut self, place: Place<'_>, said: &mut Said) -> Result<bool, Difference> {
        while !self.sent.is_empty() {
            said.gaps.push(Gap::GivenUpTogether);
            self.expire(place, 0, said)?;
        }
        if self.waits() {
            return Ok(false);
        }
        self.end(place, TransactionResult::Abort, said)?;
        Ok(true)
    }

    /// Whether every input is read: an offset was fetched, and it is the last one.
    fn consumed_all(&self, workload: &Workload) -> bool {
        let consumes = workload.items.contains(&Item::FetchOffset);
        consumes && self.item > 0 && self.position.0 >= workload.inputs
    }

    /// Whether the version of the next transaction is chosen already, and there is a next one.
    pub(super) fn has_chosen_next_version(&self, workload: &Workload) -> bool {
        let ends = match self.core.state() {
            State::CommittingTransaction | State::AbortingTransaction => {
                self.txn + 1 < workload.transactions
            }
            State::Initializing => self.txn > 0,
            State::Uninitialized
            | State::Ready
            | State::InTransaction
            | State::AbortableError
            | State::FatalError => false,
        };
        ends && self.version() == TransactionVersion::Tv1
    }

    /// Gives a batch up, at its place among those in flight.
    fn expire(&mut self, place: Place<'_>, at: usize, said: &mut Said) -> Result<(), Difference> {
        let sent = self.in_flight().nth(at).copied();
        let sent = sent.ok_or_else(|| Difference::Missing("batch in flight".to_owned()))?;
        let input = Input::BatchExpired {
            partition: partition_of(place, sent.partition),
            batch: sent.batch,
        };
        self.drive(place, input, said)
    }
}

/// The scenario's one input partition.
pub(super) fn input() -> TopicPartition {
    TopicPartition::new(DATA_TOPIC, 0)
}
