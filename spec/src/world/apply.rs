//! Takes one action: finds the actor, spends the budget, collects what is sent.

use super::enabled::is_to_coordinator_role;
use super::{Action, State, World};
use crate::client::ClientContext;
use crate::fault::Fault;
use crate::group::Group;
use crate::message::{Message, Produce, WriteTxnMarkers};
use crate::partition::{ParkedRequest, Partition};
use crate::step::{Context, Out, Step};
use crate::types::*;

impl World {
    /// Applies `action`; on NotEnabled the state is not to be used.
    pub(super) fn apply(&self, state: &mut State, action: &Action, out: &mut Out) -> Step {
        let ctx = self.context(state.version);
        match action {
            Action::Deliver { message, broker } => {
                if !take_message(state, message) {
                    return Step::NotEnabled;
                }
                self.deliver(state, message, *broker, out)
            }
            Action::FailAppend(record) => {
                let message = Message::AppendTxnRecord(*record);
                if !take_message(state, &message) || !state.budgets.spend(Fault::FailedAppend) {
                    return Step::NotEnabled;
                }
                state.log.append(record, true, out);
                Step::Handled
            }
            Action::FailVerification(message) => self.fail_verification(state, message, out),
            Action::LoseMarker(marker) => {
                let message = Message::WriteTxnMarkers(*marker);
                if !take_message(state, &message) || !state.budgets.spend(Fault::LoseMarker) {
                    return Step::NotEnabled;
                }
                state.coordinators[usize::from(marker.broker.0)].marker_lost(&ctx, marker);
                Step::Handled
            }
            Action::Stranger { message, broker } => {
                if !state.budgets.spend(Fault::Stranger) {
                    return Step::NotEnabled;
                }
                self.deliver(state, message, *broker, out)
            }
            Action::FindNoLeader(marker) => {
                let message = Message::WriteTxnMarkers(*marker);
                if !take_message(state, &message) || !state.budgets.spend(Fault::Leaderless) {
                    return Step::NotEnabled;
                }
                state.coordinators[usize::from(marker.broker.0)].no_leader(&ctx, marker, out)
            }
            Action::LoseMarkerAnswer(marker) => self.lose_marker_answer(state, marker, out),
            Action::SkipTest(answer) => {
                let message = Message::WriteTxnMarkersAnswer(*answer);
                if !take_message(state, &message) || !state.budgets.spend(Fault::SkippedTest) {
                    return Step::NotEnabled;
                }
                state.coordinators[usize::from(answer.broker.0)]
                    .marker_answered(&ctx, answer, false, out)
            }
            Action::CommitRecord => state.log.commit(out),
            Action::Start(_)
            | Action::End(..)
            | Action::Prepare(_)
            | Action::ManagerDecides(_)
            | Action::Decided(_)
            | Action::ResendRequest(_)
            | Action::ResendBatch(..)
            | Action::GiveUp(..)
            | Action::CrashProducer(_) => self.apply_producer(state, action, out),
            Action::SendMarker(..)
            | Action::ResendMarker(..)
            | Action::Timeout(..)
            | Action::ExpireId(..)
            | Action::Elect(_)
            | Action::LearnElected(_)
            | Action::Load(_)
            | Action::Resign(_)
            | Action::CrashCoordinator(_)
            | Action::StepClockBack(_) => self.apply_coordinator(&ctx, state, action, out),
            Action::Replicate(_)
            | Action::ApplyRecord(_)
            | Action::FailOver(_)
            | Action::Restart(_)
            | Action::Recover(_)
            | Action::TakeSnapshot(_)
            | Action::Evict(..)
            | Action::Compact(_)
            | Action::FollowerFetch(_)
            | Action::Promote(_)
            | Action::DeleteTopic(_)
            | Action::OperatorMarker(_) => self.apply_partition(&ctx, state, action, out),
            Action::Materialise
            | Action::PrepareRebalance
            | Action::CompleteRebalance(_)
            | Action::ExpireOffsets => self.apply_group(&ctx, state, action, out),
            Action::TakeBound(_) | Action::TakeData(_) | Action::TakeAborted(_) => {
                self.apply_reader(state, action)
            }
            Action::Upgrade => {
                if !state.budgets.spend(Fault::Upgrade) {
                    return Step::NotEnabled;
                }
                state.version = TransactionVersion::Tv2;
                Step::Handled
            }
        }
    }

    /// Hands a message to its actor.
    pub(super) fn deliver(
        &self,
        state: &mut State,
        message: &Message,
        broker: Option<BrokerId>,
        out: &mut Out,
    ) -> Step {
        let ctx = self.context(state.version);
        if is_to_coordinator_role(message) {
            let Some(broker) = broker else {
                return Step::NotEnabled;
            };
            let known = known_coordinator(state, message);
            return match state.coordinators.get_mut(usize::from(broker.0)) {
                Some(coordinator) if coordinator.epoch < known => Step::NotEnabled,
                Some(coordinator) => coordinator.handle(&ctx, message, out),
                None => Step::NotEnabled,
            };
        }
        match message {
            Message::WriteTxnMarkersAnswer(m) => {
                state.coordinators[usize::from(m.broker.0)].handle(&ctx, message, out)
            }
            Message::AppendTxnRecordAnswer(m) => {
                state.coordinators[usize::from(m.broker.0)].handle(&ctx, message, out)
            }
            Message::AppendTxnRecord(m) => {
                state.log.append(m, false, out);
                Step::Handled
            }
            Message::Produce(m) if overtakes_first_copy(state, m) => Step::NotEnabled,
            Message::Produce(m) => {
                self.share_routing(state, m.correlation.producer, usize::from(m.partition.0));
                self.deliver_to_partition(state, m.partition, message, out)
            }
            Message::WriteTxnMarkers(m) => self.deliver_marker(state, m, out),
            Message::VerifyAnswer {
                partition,
                coordinator_epoch,
                ..
            } => {
                let known = &mut state.partitions[usize::from(partition.0)].known_coordinator;
                *known = (*coordinator_epoch).max(*known);
                self.deliver_to_partition(state, *partition, message, out)
            }
            Message::TxnOffsetCommit(m) => {
                let at = PartitionIndex(self.scenario.partitions);
                self.share_routing(state, m.correlation.producer, usize::from(at.0));
                self.deliver_to_partition(state, at, message, out)
            }
            Message::OffsetFetch(_) => {
                let at = PartitionIndex(self.scenario.partitions);
                self.deliver_to_partition(state, at, message, out)
            }
            Message::CoordinatorAnswer(m) => {
                self.deliver_answer(state, m.correlation.producer, message, out)
            }
            Message::ProduceAnswer {
                correlation,
                partition,
                ..
            } => {
                self.share_routing(state, correlation.producer, usize::from(partition.0));
                self.deliver_answer(state, correlation.producer, message, out)
            }
            Message::TxnOffsetCommitAnswer { correlation, .. } => {
                let at = state.partitions.len() - 1;
                self.share_routing(state, correlation.producer, at);
                self.deliver_answer(state, correlation.producer, message, out)
            }
            Message::OffsetFetchAnswer { correlation, .. } => {
                self.deliver_answer(state, correlation.producer, message, out)
            }
            Message::InitProducerId(_)
            | Message::AddPartitionsToTxn(_)
            | Message::AddOffsetsToTxn(_)
            | Message::EndTxn(_)
            | Message::VerifyPartition(_) => Step::NotEnabled,
        }
    }

    fn deliver_marker(&self, state: &mut State, marker: &WriteTxnMarkers, out: &mut Out) -> Step {
        if !self.scenario.stale_routing {
            let known = &mut state.partitions[usize::from(marker.partition.0)].known_coordinator;
            *known = marker.coordinator_epoch.max(*known);
        }
        let message = Message::WriteTxnMarkers(*marker);
        self.deliver_to_partition(state, marker.partition, &message, out)
    }

    fn deliver_to_partition(
        &self,
        state: &mut State,
        at: PartitionIndex,
        message: &Message,
        out: &mut Out,
    ) -> Step {
        let ctx = self.context(state.version);
        let group = state.group.as_mut().filter(|_| self.is_offsets(at));
        match state.partitions.get_mut(usize::from(at.0)) {
            Some(partition) => self.partition_receives(&ctx, (partition, group), message, out),
            None => Step::NotEnabled,
        }
    }

    /// A message reaches a partition leader, which for the offsets partition is the group too.
    pub(crate) fn partition_receives(
        &self,
        ctx: &Context<'_>,
        (partition, group): (&mut Partition, Option<&mut Group>),
        message: &Message,
        out: &mut Out,
    ) -> Step {
        match (message, group) {
            (Message::Produce(m), _) => partition.produce(ctx, m, out),
            (Message::WriteTxnMarkers(m), Some(group)) => {
                group.write_txn_markers(partition, ctx, m, out)
            }
            (Message::WriteTxnMarkers(m), None) => partition.write_txn_markers(ctx, m, out),
            (Message::TxnOffsetCommit(m), Some(group)) => {
                group.txn_offset_commit(partition, ctx, m, out)
            }
            (Message::OffsetFetch(m), Some(group)) => group.offset_fetch(ctx, m, out),
            (
                Message::VerifyAnswer {
                    identity,
                    sequence,
                    error,
                    ..
                },
                group,
            ) => {
                let Some(parked) = partition.unpark(*identity, *sequence) else {
                    return Step::Handled;
                };
                match (parked.request, group) {
                    (ParkedRequest::Produce(m), _) => {
                        partition.produce_verified(ctx, &parked, &m, *error, out)
                    }
                    (ParkedRequest::TxnOffsetCommit(m), Some(group)) => {
                        let staging = (&m, parked.guard_stands);
                        group.staging_verified(partition, ctx, staging, *error, out)
                    }
                    (ParkedRequest::TxnOffsetCommit(_), None) => Step::NotEnabled,
                }
            }
            (_, _) => Step::NotEnabled,
        }
    }

    fn deliver_answer(
        &self,
        state: &mut State,
        producer: ProducerIndex,
        message: &Message,
        out: &mut Out,
    ) -> Step {
        if usize::from(producer.0) >= state.producers.len() {
            return Step::Handled;
        }
        let before = state.producers[usize::from(producer.0)].first_identity;
        let client = self.client_context(state, producer);
        let step = state.producers[usize::from(producer.0)].handle(&client, message, out);
        let after = state.producers[usize::from(producer.0)].first_identity;
        if before.is_none()
            && after.is_some()
            && let Some(id) = self.workload(producer).transactional_id
        {
            let newest = &mut state.ghost_newest[usize::from(id.0)];
            let newer =
                newest.is_none_or(|q| state.producers[usize::from(q.0)].first_identity < after);
            if newer {
                *newest = Some(producer);
            }
        }
        step
    }

    fn lose_marker_answer(
        &self,
        state: &mut State,
        marker: &WriteTxnMarkers,
        out: &mut Out,
    ) -> Step {
        let ctx = self.context(state.version);
        let message = Message::WriteTxnMarkers(*marker);
        let offsets = self.is_offsets(marker.partition);
        if offsets
            || !take_message(state, &message)
            || !state.budgets.spend(Fault::LoseMarkerAnswer)
        {
            return Step::NotEnabled;
        }
        let step = self.deliver_marker(state, marker, out);
        let lost = |m: &Message| matches!(m, Message::WriteTxnMarkersAnswer(_));
        out.messages.retain(|m| !lost(m));
        state.partitions[usize::from(marker.partition.0)]
            .waiting
            .retain(|w| !lost(&w.answer));
        state.coordinators[usize::from(marker.broker.0)].marker_lost(&ctx, marker);
        step
    }

    fn fail_verification(&self, state: &mut State, message: &Message, out: &mut Out) -> Step {
        let Message::VerifyAnswer {
            partition,
            identity,
            sequence,
            coordinator_epoch,
            ..
        } = *message
        else {
            return Step::NotEnabled;
        };
        if !take_message(state, message) || !state.budgets.spend(Fault::FailedVerification) {
            return Step::NotEnabled;
        }
        let lost = Message::VerifyAnswer {
            partition,
            identity,
            sequence,
            error: crate::error_code::ErrorCode::NotEnoughReplicas,
            coordinator_epoch,
        };
        self.deliver_to_partition(state, partition, &lost, out)
    }

    fn apply_producer(&self, state: &mut State, action: &Action, out: &mut Out) -> Step {
        match *action {
            Action::Start(p) => {
                if let Some(earlier) = self.workload(p).starts_after_crash_of
                    && state.producers[usize::from(earlier.0)].phase
                        != crate::client::Phase::Crashed
                {
                    return Step::NotEnabled;
                }
                let client = self.client_context(state, p);
                state.producers[usize::from(p.0)].start(&client, out)
            }
            Action::End(p, result) => {
                let client = self.client_context(state, p);
                state.producers[usize::from(p.0)].end(&client, result, out)
            }
            Action::Prepare(p) => {
                let client = self.client_context(state, p);
                let producer = &mut state.producers[usize::from(p.0)];
                let step = producer.prepare(&client);
                if state.manager.prepared.is_none() {
                    state.manager.prepared = producer.identity;
                }
                step
            }
            Action::ManagerDecides(result) => {
                let open = state.manager.prepared.is_some() && state.manager.decision.is_none();
                if !open {
                    return Step::NotEnabled;
                }
                state.manager.decision = Some(result);
                Step::Handled
            }
            Action::Decided(p) => {
                let client = self.client_context(state, p);
                state.producers[usize::from(p.0)].decided(&client, out)
            }
            Action::ResendRequest(p) => {
                let producer = &state.producers[usize::from(p.0)];
                let kind = producer.request;
                if !kind.is_some_and(|k| self.scenario.resends(k))
                    || !state.budgets.spend(Fault::ResendRequest)
                {
                    return Step::NotEnabled;
                }
                let client = self.client_context(state, p);
                state.producers[usize::from(p.0)].resend_request(&client, out)
            }
            Action::ResendBatch(p, at) => {
                if !state.budgets.spend(Fault::ResendBatch) {
                    return Step::NotEnabled;
                }
                let client = self.client_context(state, p);
                state.producers[usize::from(p.0)].resend_batch(&client, usize::from(at), out)
            }
            Action::GiveUp(p, at) => {
                if !state.budgets.spend(Fault::GiveUp) {
                    return Step::NotEnabled;
                }
                let client = self.client_context(state, p);
                state.producers[usize::from(p.0)].give_up(&client, usize::from(at), out)
            }
            Action::CrashProducer(p) => {
                if !state.budgets.spend(Fault::ProducerCrash) {
                    return Step::NotEnabled;
                }
                state.producers[usize::from(p.0)].crash()
            }
            _ => Step::NotEnabled,
        }
    }

    fn apply_coordinator(
        &self,
        ctx: &Context<'_>,
        state: &mut State,
        action: &Action,
        out: &mut Out,
    ) -> Step {
        match *action {
            Action::SendMarker(b, id, p) => {
                state.coordinators[usize::from(b.0)].send_marker(id, p, out)
            }
            Action::ResendMarker(b, id, p) => {
                if !state.budgets.spend(Fault::ResendMarker) {
                    return Step::NotEnabled;
                }
                state.coordinators[usize::from(b.0)].resend_marker(id, p, out)
            }
            Action::Timeout(b, id) => {
                if !state.budgets.spend(Fault::Timer) {
                    return Step::NotEnabled;
                }
                state.coordinators[usize::from(b.0)].timeout(ctx, id, out)
            }
            Action::ExpireId(b, id) => {
                if !state.budgets.spend(Fault::IdExpiry) {
                    return Step::NotEnabled;
                }
                state.coordinators[usize::from(b.0)].expire(ctx, id, out)
            }
            Action::Elect(b) => {
                if state.log.leader == b || !state.budgets.spend(Fault::Election) {
                    return Step::NotEnabled;
                }
                state.log.elect(b);
                Step::Handled
            }
            Action::LearnElected(b) => {
                let epoch = state.log.epoch;
                state.coordinators[usize::from(b.0)].elected(ctx, epoch);
                Step::Handled
            }
            Action::Load(b) => {
                let (log, coordinators) = (&state.log, &mut state.coordinators);
                coordinators[usize::from(b.0)].load(ctx, log, out)
            }
            Action::Resign(b) => {
                state.coordinators[usize::from(b.0)].resign(ctx, out);
                Step::Handled
            }
            Action::CrashCoordinator(b) => {
                if !state.budgets.spend(Fault::CoordinatorCrash) {
                    return Step::NotEnabled;
                }
                let coordinator = &mut state.coordinators[usize::from(b.0)];
                coordinator.resign(ctx, out);
                coordinator.crash();
                state.log.elect(b);
                Step::Handled
            }
            Action::StepClockBack(b) => {
                if !state.budgets.spend(Fault::ClockBack) {
                    return Step::NotEnabled;
                }
                state.coordinators[usize::from(b.0)].clock_back = true;
                Step::Handled
            }
            _ => Step::NotEnabled,
        }
    }

    fn apply_partition(
        &self,
        ctx: &Context<'_>,
        state: &mut State,
        action: &Action,
        out: &mut Out,
    ) -> Step {
        let rules = &self.rules;
        let fault = match action {
            Action::FailOver(_) => Some(Fault::FailOver),
            Action::Restart(_) => Some(Fault::Restart),
            Action::TakeSnapshot(_) => Some(Fault::Snapshot),
            Action::Evict(..) => Some(Fault::Eviction),
            Action::Compact(_) => Some(Fault::Compaction),
            Action::Promote(_) => Some(Fault::Promotion),
            Action::DeleteTopic(_) => Some(Fault::TopicDeletion),
            Action::OperatorMarker(_) => Some(Fault::OperatorMarker),
            _ => None,
        };
        if let Some(fault) = fault
            && !state.budgets.spend(fault)
        {
            return Step::NotEnabled;
        }
        match *action {
            Action::Replicate(p) => state.partitions[usize::from(p.0)].replicate(out),
            Action::ApplyRecord(p) => state.partitions[usize::from(p.0)].apply(),
            Action::FailOver(p) => state.partitions[usize::from(p.0)].fail_over(out),
            Action::Restart(p) => state.partitions[usize::from(p.0)].restart(out),
            Action::Recover(p) => state.partitions[usize::from(p.0)].recover(rules),
            Action::TakeSnapshot(p) => state.partitions[usize::from(p.0)].take_snapshot(rules),
            Action::Evict(p, id) => {
                if rules.storage.evict_only_when_quiet && !is_quiet(state, p, id) {
                    return Step::NotEnabled;
                }
                state.partitions[usize::from(p.0)].evict(id)
            }
            Action::Compact(p) => state.partitions[usize::from(p.0)].compact(&rules.storage),
            Action::FollowerFetch(p) => state.partitions[usize::from(p.0)].follower_fetch(),
            Action::Promote(p) => state.partitions[usize::from(p.0)].promote_follower(out),
            Action::DeleteTopic(p) => {
                let prepared = state
                    .log
                    .committed
                    .iter()
                    .flatten()
                    .any(|m| m.state.prepared().is_some() && m.partitions.contains(p));
                let partition = &mut state.partitions[usize::from(p.0)];
                if !prepared || partition.deleted {
                    return Step::NotEnabled;
                }
                *partition = crate::partition::Partition::new(p, self.scenario.pace);
                partition.deleted = true;
                Step::Handled
            }
            Action::OperatorMarker(p) => state.partitions[usize::from(p.0)].operator_marker(ctx),
            _ => Step::NotEnabled,
        }
    }

    fn apply_group(
        &self,
        ctx: &Context<'_>,
        state: &mut State,
        action: &Action,
        out: &mut Out,
    ) -> Step {
        let Some(group) = state.group.as_mut() else {
            return Step::NotEnabled;
        };
        match *action {
            Action::Materialise => group.materialise(ctx, out),
            Action::PrepareRebalance => {
                if !state.budgets.spend(Fault::Rebalance) {
                    return Step::NotEnabled;
                }
                group.prepare_rebalance()
            }
            Action::CompleteRebalance(member) => group.complete_rebalance(member),
            Action::ExpireOffsets => {
                if !state.budgets.spend(Fault::OffsetExpiry) {
                    return Step::NotEnabled;
                }
                group.expire_offsets(&self.rules.group)
            }
            _ => Step::NotEnabled,
        }
    }

    fn apply_reader(&self, state: &mut State, action: &Action) -> Step {
        let (Action::TakeBound(i) | Action::TakeData(i) | Action::TakeAborted(i)) = *action else {
            return Step::NotEnabled;
        };
        let Some(reader) = state.readers.get_mut(usize::from(i)) else {
            return Step::NotEnabled;
        };
        let partition = &state.partitions[usize::from(reader.partition.0)];
        let rules = &self.rules.fetch;
        match *action {
            Action::TakeBound(_) => reader.take_bound(partition, rules),
            Action::TakeData(_) => reader.take_data(partition, rules),
            Action::TakeAborted(_) => {
                let (from, isolation) = (reader.position, reader.isolation);
                let Some(delivered) = reader.take_aborted(partition, rules) else {
                    return Step::NotEnabled;
                };
                let upper = reader.position;
                self.check_delivery(state, usize::from(i), isolation, (from, upper), &delivered);
                Step::Handled
            }
            _ => Step::NotEnabled,
        }
    }

    /// Who coordinates is known to both ends of a message alike (docs/DEVIATIONS.md), unless the
    /// scenario lets them differ.
    fn share_routing(&self, state: &mut State, producer: ProducerIndex, partition: usize) {
        if self.scenario.stale_routing {
            return;
        }
        let Some(producer) = state.producers.get_mut(usize::from(producer.0)) else {
            return;
        };
        let producer = &mut producer.known_coordinator;
        let partition = &mut state.partitions[partition].known_coordinator;
        let newest = (*producer).max(*partition);
        (*producer, *partition) = (newest, newest);
    }

    /// What the client step of `producer` reads.
    pub(crate) fn client_context(
        &self,
        state: &State,
        producer: ProducerIndex,
    ) -> ClientContext<'_> {
        ClientContext {
            rules: &self.rules,
            version: state.version,
            workload: self.workload(producer),
            offsets: PartitionIndex(self.scenario.partitions),
            tagged: self.scenario.granularity == crate::scenario::Granularity::E2,
            ghost_key: self.scenario.ghost_key,
            prepared: state.manager.prepared.map(|i| (i, state.manager.decision)),
        }
    }

    pub(crate) fn workload(&self, producer: ProducerIndex) -> &crate::client::Workload {
        &self.scenario.workloads[usize::from(producer.0)]
    }
}

/// Takes one copy of a message out of the network.
fn take_message(state: &mut State, message: &Message) -> bool {
    match state.network.iter().position(|m| m == message) {
        Some(at) => {
            state.network.remove(at);
            true
        }
        None => false,
    }
}

/// Whether a batch would pass the only copy of an earlier batch of its producer: first copies
/// share a connection, and only resends may be overtaken.
fn overtakes_first_copy(state: &State, request: &Produce) -> bool {
    let Some(producer) = state
        .producers
        .get(usize::from(request.correlation.producer.0))
    else {
        return false;
    };
    producer
        .in_flight
        .iter()
        .filter(|b| b.partition == request.partition && b.identity == request.identity)
        .take_while(|b| b.sequence != request.sequence)
        .filter(|b| !b.answered)
        .any(|b| {
            let waiting = state.network.iter().filter(|m| {
                matches!(m, Message::Produce(p) if p.partition == b.partition
                    && p.identity == b.identity && p.sequence == b.sequence)
            });
            waiting.count() >= usize::from(b.copies)
        })
}

/// The newest coordinator that the sender of a request has heard from.
fn known_coordinator(state: &State, message: &Message) -> CoordinatorEpoch {
    let of = |c: &crate::message::Correlation| {
        state
            .producers
            .get(usize::from(c.producer.0))
            .map_or(CoordinatorEpoch(0), |p| p.known_coordinator)
    };
    match message {
        Message::InitProducerId(m) => of(&m.correlation),
        Message::AddPartitionsToTxn(m) | Message::AddOffsetsToTxn(m) => of(&m.correlation),
        Message::EndTxn(m) => of(&m.correlation),
        Message::VerifyPartition(m) => {
            state.partitions[usize::from(m.partition.0)].known_coordinator
        }
        _ => CoordinatorEpoch(0),
    }
}

/// Nothing that is old for this producer can still reach the partition: `producer.id.expiration.ms`
/// is a day, and no message or deposed coordinator lives that long.
fn is_quiet(state: &State, partition: PartitionIndex, id: ProducerId) -> bool {
    let in_flight = state.network.iter().any(|m| match m {
        Message::Produce(m) => m.partition == partition && m.identity.producer_id == id,
        Message::WriteTxnMarkers(m) => {
            m.partition == partition
                && m.identity.producer_id == id
                && m.coordinator_epoch != state.log.epoch
        }
        _ => false,
    });
    let deposed = state
        .coordinators
        .iter()
        .any(|c| c.role != crate::coordinator::Role::Follower && c.epoch != state.log.epoch);
    let parked = state.partitions[usize::from(partition.0)]
        .parked
        .iter()
        .any(|p| p.request.identity().producer_id == id);
    !in_flight && !deposed && !parked
}
