//! Which actions to try in a state. A candidate may turn out not to be enabled.

use super::{Action, State, World};
use crate::client::Phase;
use crate::coordinator::{Role, Stage};
use crate::fault::Fault;
use crate::group::GroupState;
use crate::message::Message;
use crate::types::*;

impl World {
    /// Every action worth trying in `state`, in a fixed order.
    pub fn candidates(&self, state: &State, actions: &mut Vec<Action>) {
        self.deliveries(state, actions);
        self.producer_actions(state, actions);
        self.coordinator_actions(state, actions);
        self.partition_actions(state, actions);
        self.group_actions(state, actions);
        for i in 0..state.readers.len() as u8 {
            actions.push(Action::TakeBound(i));
            actions.push(Action::TakeData(i));
            actions.push(Action::TakeAborted(i));
        }
        if state.budgets.left(Fault::Upgrade) > 0 {
            actions.push(Action::Upgrade);
        }
        if state.budgets.left(Fault::Stranger) > 0 {
            self.stranger_requests(state, actions);
        }
        if state.manager.prepared.is_some() && state.manager.decision.is_none() {
            actions.push(Action::ManagerDecides(TransactionResult::Abort));
            actions.push(Action::ManagerDecides(TransactionResult::Commit));
        }
    }

    fn deliveries(&self, state: &State, actions: &mut Vec<Action>) {
        let mut last = None;
        for message in &state.network {
            if last == Some(message) {
                continue;
            }
            last = Some(message);
            if is_to_coordinator_role(message) {
                for coordinator in &state.coordinators {
                    let serves = coordinator.role != Role::Follower;
                    if serves || !self.scenario.blocking {
                        actions.push(Action::Deliver {
                            message: *message,
                            broker: Some(coordinator.broker),
                        });
                    }
                }
            } else {
                actions.push(Action::Deliver {
                    message: *message,
                    broker: None,
                });
            }
            self.message_faults(state, message, actions);
        }
        if !state.log.appended.is_empty() {
            actions.push(Action::CommitRecord);
        }
    }

    fn message_faults(&self, state: &State, message: &Message, actions: &mut Vec<Action>) {
        let left = |fault| state.budgets.left(fault) > 0;
        match message {
            Message::AppendTxnRecord(m) if left(Fault::FailedAppend) => {
                actions.push(Action::FailAppend(*m));
            }
            Message::VerifyAnswer { .. } if left(Fault::FailedVerification) => {
                actions.push(Action::FailVerification(*message));
            }
            Message::WriteTxnMarkers(m) => {
                if left(Fault::LoseMarker) {
                    actions.push(Action::LoseMarker(*m));
                }
                if left(Fault::Leaderless) {
                    actions.push(Action::FindNoLeader(*m));
                }
                if left(Fault::LoseMarkerAnswer) {
                    actions.push(Action::LoseMarkerAnswer(*m));
                }
            }
            Message::WriteTxnMarkersAnswer(m)
                if !self.rules.markers.test_after_every_ack && left(Fault::SkippedTest) =>
            {
                actions.push(Action::SkipTest(*m));
            }
            Message::AppendTxnRecord(_)
            | Message::VerifyAnswer { .. }
            | Message::WriteTxnMarkersAnswer(_)
            | Message::InitProducerId(_)
            | Message::AddPartitionsToTxn(_)
            | Message::AddOffsetsToTxn(_)
            | Message::EndTxn(_)
            | Message::Produce(_)
            | Message::TxnOffsetCommit(_)
            | Message::OffsetFetch(_)
            | Message::VerifyPartition(_)
            | Message::CoordinatorAnswer(_)
            | Message::ProduceAnswer { .. }
            | Message::TxnOffsetCommitAnswer { .. }
            | Message::OffsetFetchAnswer { .. }
            | Message::AppendTxnRecordAnswer(_) => {}
        }
    }

    fn producer_actions(&self, state: &State, actions: &mut Vec<Action>) {
        for producer in &state.producers {
            let p = producer.index;
            match producer.phase {
                Phase::Unstarted => actions.push(Action::Start(p)),
                Phase::InTransaction => {
                    let client = self.client_context(state, p);
                    if producer.may_end(&client) {
                        actions.push(Action::End(p, TransactionResult::Abort));
                        actions.push(Action::End(p, TransactionResult::Commit));
                    }
                    if producer.may_prepare(&client) {
                        actions.push(Action::Prepare(p));
                    }
                }
                Phase::Prepared => actions.push(Action::Decided(p)),
                Phase::Done | Phase::Fatal | Phase::Crashed => continue,
                Phase::Initializing | Phase::AbortableError | Phase::Ending(_) | Phase::Bumping => {
                }
            }
            if producer.phase == Phase::Unstarted {
                continue;
            }
            if state.budgets.left(Fault::ResendRequest) > 0 && producer.request.is_some() {
                actions.push(Action::ResendRequest(p));
            }
            for i in 0..producer.in_flight.len() as u8 {
                if state.budgets.left(Fault::ResendBatch) > 0 {
                    actions.push(Action::ResendBatch(p, i));
                }
                if state.budgets.left(Fault::GiveUp) > 0 {
                    actions.push(Action::GiveUp(p, i));
                }
            }
            let staging = producer.request == Some(crate::message::RequestKind::TxnOffsetCommit);
            if staging && state.budgets.left(Fault::GiveUp) > 0 {
                actions.push(Action::GiveUp(p, producer.in_flight.len() as u8));
            }
            if state.budgets.left(Fault::ProducerCrash) > 0 {
                actions.push(Action::CrashProducer(p));
            }
        }
    }

    fn coordinator_actions(&self, state: &State, actions: &mut Vec<Action>) {
        let left = |fault| state.budgets.left(fault) > 0;
        for coordinator in &state.coordinators {
            let b = coordinator.broker;
            let current = state.log.leader == b && state.log.epoch == coordinator.epoch;
            if left(Fault::Election) && state.log.leader != b {
                actions.push(Action::Elect(b));
            }
            match coordinator.role {
                Role::Leader | Role::Loading if !current => {
                    actions.push(Action::Resign(b));
                }
                Role::Follower if state.log.leader == b => actions.push(Action::LearnElected(b)),
                Role::Loading => actions.push(Action::Load(b)),
                Role::Leader | Role::Follower => {}
            }
            if left(Fault::CoordinatorCrash) && current && coordinator.role == Role::Leader {
                actions.push(Action::CrashCoordinator(b));
            }
            if left(Fault::ClockBack) && current && !coordinator.clock_back {
                actions.push(Action::StepClockBack(b));
            }
            for (i, slot) in coordinator.slots.iter().enumerate() {
                let id = TransactionalId(i as u8);
                if let Some(Stage::WritingMarkers { queued, awaiting }) =
                    slot.pending.map(|p| p.stage)
                {
                    actions.extend(queued.iter().map(|p| Action::SendMarker(b, id, p)));
                    if left(Fault::ResendMarker) {
                        actions.extend(awaiting.iter().map(|p| Action::ResendMarker(b, id, p)));
                    }
                }
                if slot.metadata.is_some() && coordinator.role == Role::Leader {
                    if left(Fault::Timer) {
                        actions.push(Action::Timeout(b, id));
                    }
                    if left(Fault::IdExpiry) {
                        actions.push(Action::ExpireId(b, id));
                    }
                }
            }
        }
    }

    fn partition_actions(&self, state: &State, actions: &mut Vec<Action>) {
        let left = |fault| state.budgets.left(fault) > 0;
        for partition in &state.partitions {
            let p = partition.index;
            let is_offsets = self.is_offsets(p);
            if partition.recovering {
                actions.push(Action::Recover(p));
                continue;
            }
            if partition.high_watermark < partition.log_end {
                actions.push(Action::Replicate(p));
            }
            if partition.applied < partition.log_end {
                actions.push(Action::ApplyRecord(p));
            }
            if left(Fault::Eviction) {
                actions.extend(
                    partition
                        .producers
                        .iter()
                        .map(|e| Action::Evict(p, e.producer_id)),
                );
            }
            if partition.follower.is_some() {
                actions.push(Action::FollowerFetch(p));
                if left(Fault::Promotion) {
                    actions.push(Action::Promote(p));
                }
            }
            if is_offsets {
                if left(Fault::Restart) {
                    actions.push(Action::Restart(p));
                }
                continue;
            }
            let faults = [
                (Fault::FailOver, Action::FailOver(p)),
                (Fault::Restart, Action::Restart(p)),
                (Fault::Snapshot, Action::TakeSnapshot(p)),
                (Fault::Compaction, Action::Compact(p)),
                (Fault::TopicDeletion, Action::DeleteTopic(p)),
                (Fault::OperatorMarker, Action::OperatorMarker(p)),
            ];
            actions.extend(faults.into_iter().filter(|(f, _)| left(*f)).map(|(_, a)| a));
        }
    }

    fn group_actions(&self, state: &State, actions: &mut Vec<Action>) {
        let Some(group) = &state.group else {
            return;
        };
        if !group.unapplied.is_empty() {
            actions.push(Action::Materialise);
        }
        if state.budgets.left(Fault::Rebalance) > 0 {
            actions.push(Action::PrepareRebalance);
        }
        if state.budgets.left(Fault::MemberExpiry) > 0 {
            actions.push(Action::ExpireMember);
        }
        if state.budgets.left(Fault::StaticReplacement) > 0 {
            let others = state.producers.iter().map(|producer| producer.index);
            let others = others.filter(|index| *index != group.member);
            actions.extend(others.map(Action::ReplaceStaticMember));
        }
        if group.state == GroupState::PreparingRebalance {
            let alone = state.producers.len() == 1;
            let members = state.producers.iter().map(|producer| producer.index);
            let next = members.filter(|index| *index != group.member || alone);
            actions.extend(next.map(Action::CompleteRebalance));
        }
        if state.budgets.left(Fault::OffsetExpiry) > 0 {
            actions.push(Action::ExpireOffsets);
        }
    }

    /// Whether `partition` is the offsets partition.
    pub(crate) fn is_offsets(&self, partition: PartitionIndex) -> bool {
        self.scenario.offsets && partition.0 == self.scenario.partitions
    }
}

/// Requests that whichever broker believes to coordinate may receive.
pub(super) fn is_to_coordinator_role(message: &Message) -> bool {
    matches!(
        message,
        Message::InitProducerId(_)
            | Message::AddPartitionsToTxn(_)
            | Message::AddOffsetsToTxn(_)
            | Message::EndTxn(_)
            | Message::VerifyPartition(_)
    )
}
