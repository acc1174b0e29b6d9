//! The whole production side of a scenario, and one step of it.

use super::replica::seed_batch;
use super::{Broker, Client, Difference, Offsets, Outbox, Replica, Said, Told, limits};
use crate::map::{self, Clock, Topics, impl_error};
use fencepost::coordinator::{Input as CoordinatorInput, MarkerOutcome};
use fencepost::error_code::ErrorCode as ImplError;
use fencepost_spec::client::Item;
use fencepost_spec::coordinator::{Stage, TransactionMetadata};
use fencepost_spec::fault::Fault;
use fencepost_spec::message::*;
use fencepost_spec::rules::Rules;
use fencepost_spec::scenario::Scenario;
use fencepost_spec::types::*;
use fencepost_spec::world::{Action, State};
use std::sync::Arc;

/// Where a step happens: the scenario, its rules, and the model's state before the step.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The rules.
    pub rules: &'a Rules,
    /// The model's state before the step.
    pub before: &'a State,
    /// Whether a retriable answer is "not enabled yet".
    pub blocking: bool,
}

/// Which step production has no counterpart for, and why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Excluded {
    /// What is left out.
    pub what: &'static str,
    /// Why.
    pub reason: &'static str,
}

/// What a step of the production side was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Took {
    /// A core took it.
    Core(Outbox),
    /// A client took it.
    Client(ProducerIndex, Said),
    /// It is a step of the model's own: network, transaction-state log, readers, budgets.
    Own,
    /// It cannot be taken.
    Excluded(Excluded),
}

/// Every production core of a scenario. Cheap to fork: a step copies only the cores that it touches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Production {
    brokers: Vec<Arc<Broker>>,
    replicas: Vec<Arc<Replica>>,
    offsets: Option<Arc<Offsets>>,
    clients: Vec<Arc<Client>>,
}

impl Production {
    /// The production side at the scenario's start, which `initial` is for the model.
    ///
    /// # Errors
    /// [`Difference`] for a start that production cannot express.
    pub fn new(scenario: &Scenario, rules: &Rules, initial: &State) -> Result<Self, Difference> {
        let topics = Topics {
            data: scenario.partitions,
        };
        let brokers = initial.coordinators.iter().map(|coordinator| {
            let (id, first) = (coordinator.broker, coordinator.next_producer_id);
            let version = rules.transaction_version;
            let mut broker = Broker::new(id, topics, version, rules.two_phase, first);
            if initial.log.leader == id {
                let mut out = Outbox::default();
                broker.elected(initial.log.epoch, &mut out)?;
                broker.load(&initial.log, &mut out)?;
            }
            Ok(Arc::new(broker))
        });
        let replicas = initial
            .partitions
            .iter()
            .take(usize::from(scenario.partitions));
        let replicas = replicas.map(|partition| {
            let batches = partition
                .log
                .iter()
                .map(seed_batch)
                .collect::<Result<Vec<_>, _>>()?;
            let replica = Replica::seeded(partition.index, scenario.verification, batches)?;
            Ok(Arc::new(replica))
        });
        let offsets = if scenario.offsets {
            let index = PartitionIndex(scenario.partitions);
            let offsets = Offsets::new(index, scenario.verification);
            Some(Arc::new(if names_generations(scenario) {
                let are_static = scenario.budgets.left(Fault::StaticReplacement) > 0;
                offsets.with_members(are_static)?
            } else {
                offsets
            }))
        } else {
            None
        };
        let clients = initial.producers.iter().zip(&scenario.workloads);
        let clients = clients.map(|(producer, workload)| Client::new(producer, workload));
        Ok(Self {
            brokers: brokers.collect::<Result<_, Difference>>()?,
            replicas: replicas.collect::<Result<_, Difference>>()?,
            offsets,
            clients: clients.map(Arc::new).collect(),
        })
    }

    /// The clients.
    pub fn clients(&self) -> &[Arc<Client>] {
        &self.clients
    }

    /// The brokers.
    pub fn brokers(&self) -> &[Arc<Broker>] {
        &self.brokers
    }

    /// The data partitions.
    pub fn replicas(&self) -> &[Arc<Replica>] {
        &self.replicas
    }

    /// The offsets partition.
    pub fn offsets(&self) -> Option<&Arc<Offsets>> {
        self.offsets.as_ref()
    }

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

    fn deliver(
        &mut self,
        frame: &Frame<'_>,
        message: &Message,
        broker: Option<BrokerId>,
        mut out: Outbox,
    ) -> Result<Took, Difference> {
        match message {
            Message::InitProducerId(m)
                if m.keep_prepared_txn && frame.before.version == TransactionVersion::Tv1 =>
            {
                return Ok(Took::Excluded(Excluded {
                    what: "keep_prepared_txn under TV1",
                    reason: "production answers UNSUPPORTED_VERSION, the model serves it",
                }));
            }
            Message::InitProducerId(m) => {
                let stored = stored(frame.before, broker, m.transactional_id);
                let keeps = m.keep_prepared_txn;
                let when = |clock: Clock| clock.init_producer_id(keeps, stored.as_ref());
                self.request(frame, message, broker, when, &mut out)?;
            }
            Message::AddPartitionsToTxn(_)
            | Message::AddOffsetsToTxn(_)
            | Message::VerifyPartition(_) => {
                self.request(frame, message, broker, Clock::early, &mut out)?;
            }
            Message::EndTxn(m) => {
                let stored = stored(frame.before, broker, Some(m.transactional_id));
                let when = |clock: Clock| clock.end_txn(stored.as_ref());
                self.request(frame, message, broker, when, &mut out)?;
            }
            Message::WriteTxnMarkersAnswer(m) => {
                // The sender knows which of its requests an answer belongs to.
                if is_current(frame.before, m) {
                    self.broker(m.broker)?.marker_answered(m, &mut out)?;
                }
            }
            Message::AppendTxnRecordAnswer(m) => {
                self.broker(m.broker)?
                    .append_finished(m, frame.blocking, &mut out)?;
            }
            Message::Produce(m) => {
                self.replica(m.partition)?.produce(frame, m, &mut out)?;
            }
            Message::WriteTxnMarkers(m) => match self.offsets.as_mut() {
                Some(offsets) if m.partition.0 == frame.scenario.partitions => {
                    Arc::make_mut(offsets).write_txn_marker(m, &mut out)?;
                }
                Some(_) | None => {
                    self.replica(m.partition)?
                        .write_txn_marker(frame, m, &mut out)?;
                }
            },
            Message::VerifyAnswer { error, .. } => {
                let answer = match impl_error(*error)? {
                    ImplError::None => Ok(()),
                    error => Err(error),
                };
                self.verified(frame, message, answer, &mut out)?;
            }
            Message::TxnOffsetCommit(m) => self.offsets_mut()?.txn_offset_commit(m, &mut out)?,
            Message::OffsetFetch(m) => self.offsets_mut()?.offset_fetch(m, &mut out)?,
            Message::CoordinatorAnswer(CoordinatorAnswer { correlation, .. })
            | Message::ProduceAnswer { correlation, .. }
            | Message::TxnOffsetCommitAnswer { correlation, .. }
            | Message::OffsetFetchAnswer { correlation, .. } => {
                let told = Told::Answer(*message);
                return self.client(frame, correlation.producer, &told);
            }
            Message::AppendTxnRecord(_) => return Ok(Took::Own),
        }
        Ok(Took::Core(out))
    }

    /// A step of a client. Answers to strangers are nobody's.
    fn client(
        &mut self,
        frame: &Frame<'_>,
        producer: ProducerIndex,
        told: &Told,
    ) -> Result<Took, Difference> {
        let Some(client) = self.clients.get_mut(usize::from(producer.0)) else {
            return Ok(Took::Own);
        };
        let said = Arc::make_mut(client).take(frame, producer, told)?;
        Ok(Took::Client(producer, said))
    }

    fn request(
        &mut self,
        frame: &Frame<'_>,
        message: &Message,
        broker: Option<BrokerId>,
        when: impl FnOnce(Clock) -> fencepost::types::Timestamp,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let broker = broker.ok_or_else(|| Difference::Missing("broker".to_owned()))?;
        let broker = self.broker(broker)?;
        let now = when(broker.clock);
        broker.request(message, now, frame.blocking, out)
    }

    fn verified(
        &mut self,
        frame: &Frame<'_>,
        message: &Message,
        answer: Result<(), ImplError>,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let Message::VerifyAnswer {
            partition,
            identity,
            sequence,
            ..
        } = *message
        else {
            return Err(Difference::Missing("verdict".to_owned()));
        };
        match self.offsets.as_mut() {
            Some(offsets) if partition.0 == frame.scenario.partitions => {
                Arc::make_mut(offsets).verified((identity, sequence), answer, out)
            }
            Some(_) | None => {
                self.replica(partition)?
                    .verified(frame, (identity, sequence), answer, out)
            }
        }
    }

    fn marker_lost(
        &mut self,
        frame: &Frame<'_>,
        marker: &WriteTxnMarkers,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let answer = MarkerAnswer {
            broker: marker.broker,
            coordinator_epoch: marker.coordinator_epoch,
            transactional_id: marker.transactional_id,
            round: marker.round,
            partition: marker.partition,
            error: fencepost_spec::error_code::ErrorCode::None,
        };
        let awaited =
            awaiting(frame.before, &answer).is_some_and(|it| it.contains(answer.partition));
        if !awaited {
            return Ok(());
        }
        let lost = MarkerOutcome::Disconnected;
        let (id, partition) = (marker.transactional_id, marker.partition);
        self.broker(marker.broker)?
            .marker_outcome(id, partition, lost, out)
    }

    /// The last stable offset of a partition, while it has a leader.
    ///
    /// # Errors
    /// [`Difference`] for an offset that the model cannot say.
    pub fn last_stable_offset(
        &self,
        partition: PartitionIndex,
    ) -> Result<Option<Offset>, Difference> {
        match (self.replicas.get(usize::from(partition.0)), &self.offsets) {
            (Some(replica), _) => replica.last_stable_offset(),
            (None, Some(offsets)) => offsets.last_stable_offset(),
            (None, None) => Ok(None),
        }
    }

    /// Whether production is a step ahead: it has applied a marker that the model has only appended.
    pub fn is_ahead(&self) -> bool {
        self.offsets.as_ref().is_some_and(|it| it.is_ahead())
    }

    pub(super) fn broker(&mut self, broker: BrokerId) -> Result<&mut Broker, Difference> {
        let missing = || Difference::Missing(format!("broker {}", broker.0));
        let found = self.brokers.get_mut(usize::from(broker.0));
        found.map(Arc::make_mut).ok_or_else(missing)
    }

    pub(super) fn replica(
        &mut self,
        partition: PartitionIndex,
    ) -> Result<&mut Replica, Difference> {
        let missing = || Difference::Missing(format!("p{}", partition.0));
        let found = self.replicas.get_mut(usize::from(partition.0));
        found.map(Arc::make_mut).ok_or_else(missing)
    }

    fn offsets_mut(&mut self) -> Result<&mut Offsets, Difference> {
        let missing = || Difference::Missing("offsets partition".to_owned());
        self.offsets.as_mut().map(Arc::make_mut).ok_or_else(missing)
    }
}

fn is_offsets(frame: &Frame<'_>, partition: PartitionIndex) -> bool {
    frame.scenario.offsets && partition.0 == frame.scenario.partitions
}

/// Whether another member has taken over this one's instance id.
fn is_fenced(before: &State, member: ProducerIndex) -> bool {
    let group = before.group.as_ref();
    group.is_some_and(|group| group.replaced.contains(member))
}

/// Whether an offset is staged: no rules of Kafka's let offsets expire then.
fn has_staged(before: &State) -> bool {
    let group = before.group.as_ref();
    group.is_some_and(|group| !group.staged.is_empty())
}

/// Whether somebody may name a generation: then the group has members.
fn names_generations(scenario: &Scenario) -> bool {
    let fetches = scenario
        .workloads
        .iter()
        .any(|workload| workload.items.contains(&Item::FetchOffset));
    fetches || scenario.budgets.left(Fault::Stranger) > 0
}

/// What a broker has stored of an id before the step.
fn stored(
    before: &State,
    broker: Option<BrokerId>,
    id: Option<TransactionalId>,
) -> Option<TransactionMetadata> {
    let coordinator = before.coordinators.get(usize::from(broker?.0))?;
    coordinator.slots.get(usize::from(id?.0))?.metadata
}

/// Which completion of an id a marker sent now belongs to: the sender's bookkeeping.
fn round(before: &State, broker: BrokerId, id: TransactionalId) -> u8 {
    before.coordinators[usize::from(broker.0)].slots[usize::from(id.0)].round
}

/// Whether an answer belongs to the completion that its sender is at.
fn is_current(before: &State, answer: &MarkerAnswer) -> bool {
    awaiting(before, answer).is_some()
}

/// The markers that the sender waits for, where an answer belongs to the completion that it is at.
fn awaiting(before: &State, answer: &MarkerAnswer) -> Option<PartitionSet> {
    let coordinator = &before.coordinators[usize::from(answer.broker.0)];
    let slot = &coordinator.slots[usize::from(answer.transactional_id.0)];
    let current = coordinator.epoch == answer.coordinator_epoch && slot.round == answer.round;
    match slot.pending.map(|pending| pending.stage) {
        Some(Stage::WritingMarkers { awaiting, .. }) if current => Some(awaiting),
        Some(Stage::WritingMarkers { .. } | Stage::Appending(_) | Stage::Abandoned) | None => None,
    }
}
