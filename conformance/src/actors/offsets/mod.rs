//! The offsets partition: the group coordinator core, with the answers to markers that the model gives in a step of
//! its own.

mod abstraction;

use super::membership::{INITIAL_REBALANCE_DELAY_MS, Instances, Membership, REQUEST};
use super::recovery::Disk;
use super::{Difference, Outbox, Write};
use crate::map::{self, Clock, GROUP, PartitionToken, group_answer};
use fencepost::error_code::ErrorCode as ImplError;
use fencepost::group::{Answer, Effect, GroupConfig, GroupCoordinator, Input, OffsetFetch};
use fencepost::partition::{Partition, PartitionConfig};
use fencepost::records::offset_commit::OffsetCommitKey;
use fencepost::types::{GroupId, LeaderEpoch, RequestId, TopicPartition};
use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::group::GroupState;
use fencepost_spec::message::*;
use fencepost_spec::types::*;

/// The offsets partition and its group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Offsets {
    index: PartitionIndex,
    config: PartitionConfig,
    core: GroupCoordinator,
    /// Acknowledged markers whose acknowledgement the model holds back until it applies them.
    held: Vec<Message>,
    /// Whose instance id each producer has.
    pub(super) instances: Instances,
    /// Who was last assigned the input.
    pub(super) owner: ProducerIndex,
    /// Who was in the group when its broker stopped, until it has read its log again.
    stopped: Option<Membership>,
}

const LEADERSHIP: LeaderEpoch = LeaderEpoch::new(0);

impl Offsets {
    /// An empty offsets partition that serves.
    pub fn new(index: PartitionIndex, verification: bool) -> Self {
        let config = PartitionConfig {
            verification,
            // The tick that expires offsets must not expire producers too.
            producer_id_expiration_ms: i64::MAX,
        };
        Self {
            index,
            config,
            core: serving(Partition::new(config)),
            held: Vec::new(),
            instances: [None; 2],
            owner: ProducerIndex(0),
            stopped: None,
        }
    }

    /// The partition under the group.
    pub(super) fn partition(&self) -> &Partition {
        self.core.partition()
    }

    /// The offsets partition that comes up from this disk, and serves.
    pub(super) fn recovered(&self, disk: &Disk) -> Result<Self, Difference> {
        let (partition, _) = disk.recover(self.config)?;
        Ok(Self {
            index: self.index,
            config: self.config,
            core: serving(partition),
            held: Vec::new(),
            instances: self.instances,
            owner: self.owner,
            stopped: None,
        })
    }

    /// The broker stops: whoever waits for it hears that it does not coordinate any more. An acknowledgement that is held
    /// has not left it.
    pub(super) fn stop(&mut self, out: &mut Outbox) -> Result<(), Difference> {
        self.stopped = Some(self.membership()?);
        let leader_epoch = LeaderEpoch::new(LEADERSHIP.get() + 1);
        let effects = self.step_core(Input::BecomeFollower { leader_epoch }, now());
        self.effects(effects, out)?;
        for answer in std::mem::take(&mut self.held) {
            out.push(lost(answer));
        }
        Ok(())
    }

    /// It comes up from the bytes on its disk. In the model a rebalance goes on; members, who have lost their connection,
    /// begin it again.
    pub(super) fn recover(&mut self) -> Result<(), Difference> {
        let stopped = self.stopped.ok_or_else(|| missing_stop(self.index))?;
        let end = self.core.partition().log().end_offset();
        *self = self.recovered(&Disk::below(end, self.core.partition(), None))?;
        match stopped.state {
            GroupState::PreparingRebalance => self.prepare_rebalance(),
            GroupState::Stable => Ok(()),
        }
    }

    /// Whether its broker is down.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// A staged offset arrives.
    pub(super) fn txn_offset_commit(
        &mut self,
        request: &TxnOffsetCommit,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let token = PartitionToken::TxnOffsetCommit {
            correlation: request.correlation,
            copy: 0,
        };
        let copy = self.free_copy(token)?;
        let member = self.member_identity(request.member);
        let commit = map::txn_offset_commit(request, member, copy)?;
        self.step(Input::TxnOffsetCommit(commit), out)
    }

    /// A member asks where to start.
    pub(super) fn offset_fetch(
        &mut self,
        correlation: &Correlation,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let request = PartitionToken::OffsetFetch(*correlation).pack()?;
        let fetch = OffsetFetch {
            request,
            group: GroupId::new(GROUP),
            partitions: Some(vec![key().partition]),
            require_stable: true,
        };
        self.step(Input::OffsetFetch(fetch), out)
    }

    /// A marker arrives. Its refusal is answered at once, its acknowledgement is held.
    pub(super) fn write_txn_marker(
        &mut self,
        marker: &WriteTxnMarkers,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let token = PartitionToken::unpack(map::write_txn_marker(marker, 0)?.request);
        let copy = self.free_copy(token)?;
        let marker = map::write_txn_marker(marker, copy)?;
        let mut answers = Outbox::default();
        self.step(Input::WriteTxnMarker(marker), &mut answers)?;
        out.writes.append(&mut answers.writes);
        for answer in answers.messages {
            if is_acknowledgement(&answer) {
                self.held.push(answer);
            } else {
                out.push(answer);
            }
        }
        Ok(())
    }

    /// The model applies the oldest marker: its acknowledgement goes out.
    pub(super) fn materialise(&mut self, out: &mut Outbox) -> Result<(), Difference> {
        if self.held.is_empty() {
            return Err(Difference::Missing("acknowledged marker".to_owned()));
        }
        out.push(self.held.remove(0));
        Ok(())
    }

    /// The coordinator's verdict on a parked commit; one that is parked no more hears nothing.
    pub(super) fn verified(
        &mut self,
        (identity, sequence): (Identity, Sequence),
        answer: Result<(), ImplError>,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let waiting = self
            .core
            .parked()
            .map(|(request, parked)| Ok((self.abstract_parked(request, parked)?, request)))
            .collect::<Result<Vec<_>, Difference>>()?
            .into_iter()
            .filter(|(parked, _)| {
                parked.request.identity() == identity && parked.request.sequence() == sequence
            })
            .min_by_key(|(parked, request)| (*parked, std::cmp::Reverse(*request)));
        let Some((_, request)) = waiting else {
            return Ok(());
        };
        self.step(Input::CoordinatorAnswered { request, answer }, out)
    }

    /// Committed offsets have been idle for too long.
    pub(super) fn expire(&mut self, out: &mut Outbox) -> Result<(), Difference> {
        let later = now().plus_millis(Clock::OFFSETS_RETENTION_MS);
        let effects = self.core.step(Input::Tick, later);
        self.effects(effects, out)?;
        self.replicate(out)
    }

    fn step(&mut self, input: Input, out: &mut Outbox) -> Result<(), Difference> {
        let effects = self.core.step(input, now());
        self.effects(effects, out)?;
        self.replicate(out)
    }

    /// A step of the core, with its effects.
    pub(super) fn step_core(
        &mut self,
        input: Input,
        now: fencepost::types::Timestamp,
    ) -> Vec<Effect> {
        self.core.step(input, now)
    }

    /// Everything in the log is replicated.
    pub(super) fn replicate_core(&mut self) -> Vec<Effect> {
        let up_to = self.core.partition().log().end_offset();
        self.step_core(Input::Replicated { up_to }, now())
    }

    /// The group, where somebody has joined it.
    pub(super) fn group(&self) -> Option<&fencepost::group::Group> {
        self.core.groups().next().map(|(_, group)| group)
    }

    fn replicate(&mut self, out: &mut Outbox) -> Result<(), Difference> {
        let effects = self.replicate_core();
        self.effects(effects, out)
    }

    fn effects(&self, effects: Vec<Effect>, out: &mut Outbox) -> Result<(), Difference> {
        for effect in effects {
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
                    producer,
                    verify_only,
                } => {
                    let PartitionToken::TxnOffsetCommit { correlation, .. } =
                        PartitionToken::unpack(request)
                    else {
                        return Err(Difference::effect("group", request));
                    };
                    out.push(Message::VerifyPartition(VerifyPartition {
                        partition: self.index,
                        transactional_id: map::spec_transactional_id(&transactional_id)?,
                        identity: map::spec_identity(producer)?,
                        sequence: Sequence(i32::from(correlation.number)),
                        verify_only,
                        ghost: Ghost::NONE,
                    }));
                }
                // To a member: the harness has its own way to bring it back.
                Effect::Reply { request, .. } if request == REQUEST => {}
                Effect::Reply { request, answer } => out.push(self.answer(request, &answer)?),
            }
        }
        Ok(())
    }

    fn answer(&self, request: RequestId, answer: &Answer) -> Result<Message, Difference> {
        let token = PartitionToken::unpack(request);
        let generation = match self.stopped {
            Some(stopped) => stopped.generation,
            None => self.membership()?.generation,
        };
        Ok(group_answer(self.index, &key(), token, answer, generation)?)
    }

    fn free_copy(&self, token: PartitionToken) -> Result<u8, Difference> {
        for copy in 0..2 {
            let request = token.copied(copy).pack()?;
            let parked = self.core.parked().any(|(known, _)| known == request);
            let waiting = self.core.waiting().any(|(_, known, _)| known == request);
            if !parked && !waiting {
                return Ok(copy);
            }
        }
        Err(Difference::ThirdCopy)
    }

    /// Whether a marker's effect is there that the model has yet to apply.
    pub(super) fn is_ahead(&self) -> bool {
        !self.held.is_empty()
    }
}

/// A group coordinator that leads and has read its log.
fn serving(partition: Partition) -> GroupCoordinator {
    let config = GroupConfig {
        offsets_retention_ms: Clock::OFFSETS_RETENTION_MS,
        initial_rebalance_delay_ms: INITIAL_REBALANCE_DELAY_MS,
        ..GroupConfig::default()
    };
    let mut core = GroupCoordinator::of(config, partition);
    let leader_epoch = LEADERSHIP;
    core.step(Input::BecomeLeader { leader_epoch }, now());
    core.step(Input::Load { leader_epoch }, now());
    core
}

/// The scenario's one input partition, as the group knows it.
fn key() -> OffsetCommitKey {
    OffsetCommitKey {
        group: GroupId::new(GROUP),
        partition: TopicPartition::new(map::DATA_TOPIC, 0),
    }
}

pub(super) fn now() -> fencepost::types::Timestamp {
    Clock::default().late()
}

fn missing_stop(index: PartitionIndex) -> Difference {
    Difference::Missing(format!("stopped p{}", index.0))
}

/// What the sender hears instead of an acknowledgement that has not left the broker.
fn lost(answer: Message) -> Message {
    match answer {
        Message::WriteTxnMarkersAnswer(m) => Message::WriteTxnMarkersAnswer(MarkerAnswer {
            error: ErrorCode::NotLeaderOrFollower,
            ..m
        }),
        other => other,
    }
}

fn is_acknowledgement(answer: &Message) -> bool {
    match answer {
        Message::WriteTxnMarkersAnswer(m) => m.error == ErrorCode::None,
        Message::InitProducerId(_)
        | Message::AddPartitionsToTxn(_)
        | Message::AddOffsetsToTxn(_)
        | Message::EndTxn(_)
        | Message::Produce(_)
        | Message::TxnOffsetCommit(_)
        | Message::OffsetFetch(_)
        | Message::VerifyPartition(_)
        | Message::WriteTxnMarkers(_)
        | Message::AppendTxnRecord(_)
        | Message::CoordinatorAnswer(_)
        | Message::ProduceAnswer { .. }
        | Message::TxnOffsetCommitAnswer { .. }
        | Message::OffsetFetchAnswer { .. }
        | Message::VerifyAnswer { .. }
        | Message::AppendTxnRecordAnswer(_) => false,
    }
}
