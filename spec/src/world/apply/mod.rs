//! Takes one action: finds the actor, spends the budget, collects what is sent.

mod coordinator;
mod delivery;
mod group;
mod loss;
mod partition;
mod producer;
mod reader;

use super::{Action, State, World};
use crate::fault::Fault;
use crate::message::Message;
use crate::step::{Out, Step};
use crate::types::TransactionVersion;
use partition::at;

impl World {
    /// Applies `action`; on NotEnabled the state is not to be used.
    pub(super) fn apply(&self, state: &mut State, action: &Action, out: &mut Out) -> Step {
        match *action {
            Action::Deliver { message, broker } if take_message(state, &message) => {
                self.deliver(state, &message, broker, out)
            }
            Action::Deliver { .. } => Step::NotEnabled,
            Action::FailAppend(record) => self.fail_append(state, &record, out),
            Action::FailVerification(message) => self.fail_verification(state, &message, out),
            Action::LoseMarker(marker) => self.lose_marker(state, &marker),
            Action::LoseMarkerAnswer(marker) => self.lose_marker_answer(state, &marker, out),
            Action::Stranger { message, broker } => self.stranger(state, &message, broker, out),
            Action::FindNoLeader(marker) => self.find_no_leader(state, &marker, out),
            Action::SkipTest(answer) => self.skip_test(state, &answer, out),
            Action::CommitRecord => state.log.commit(out),
            Action::Start(p) => self.start(state, p, out),
            Action::End(p, result) => self.end(state, p, result, out),
            Action::Prepare(p) => self.prepare(state, p),
            Action::ManagerDecides(result) => self.manager_decides(state, result),
            Action::Decided(p) => self.decided(state, p, out),
            Action::ResendRequest(p) => self.resend_request(state, p, out),
            Action::ResendBatch(p, place) => self.resend_batch(state, (p, place), out),
            Action::GiveUp(p, place) => self.give_up(state, (p, place), out),
            Action::CrashProducer(p) => self.crash_producer(state, p),
            Action::SendMarker(b, id, p) => {
                state.coordinators[usize::from(b.0)].send_marker(id, p, out)
            }
            Action::ResendMarker(b, id, p) => self.resend_marker(state, (b, id, p), out),
            Action::Timeout(b, id) => self.timeout(state, (b, id), out),
            Action::ExpireId(b, id) => self.expire_id(state, (b, id), out),
            Action::Elect(b) => self.elect(state, b),
            Action::LearnElected(b) => self.learn_elected(state, b),
            Action::Load(b) => self.load(state, b, out),
            Action::Resign(b) => self.resign(state, b, out),
            Action::CrashCoordinator(b) => self.crash_coordinator(state, b, out),
            Action::StepClockBack(b) => self.step_clock_back(state, b),
            Action::Replicate(p) => at(state, p).replicate(out),
            Action::ApplyRecord(p) => at(state, p).apply(),
            Action::FailOver(p) => self.fail_over(state, p, out),
            Action::Restart(p) => self.restart(state, p, out),
            Action::Recover(p) => self.recover(state, p),
            Action::TakeSnapshot(p) => self.take_snapshot(state, p),
            Action::Evict(p, id) => self.evict(state, p, id),
            Action::Compact(p) => self.compact(state, p),
            Action::FollowerFetch(p) => at(state, p).follower_fetch(),
            Action::Promote(p) => self.promote(state, p, out),
            Action::DeleteTopic(p) => self.delete_topic(state, p),
            Action::Materialise => self.materialise(state, out),
            Action::PrepareRebalance => self.prepare_rebalance(state),
            Action::CompleteRebalance(member) => self.complete_rebalance(state, member),
            Action::ExpireMember => self.expire_member(state),
            Action::ReplaceStaticMember(member) => self.replace_static_member(state, member),
            Action::ExpireOffsets => self.expire_offsets(state),
            Action::TakeBound(i) => self.take_bound(state, i),
            Action::TakeData(i) => self.take_data(state, i),
            Action::TakeAborted(i) => self.take_aborted(state, i),
            Action::Upgrade => spending(state, Fault::Upgrade, |state| {
                state.version = TransactionVersion::Tv2;
                Step::Handled
            }),
            Action::OperatorMarker(p) => self.operator_marker(state, p),
        }
    }
}

/// Takes a step that costs one of `fault`.
fn spending(state: &mut State, fault: Fault, step: impl FnOnce(&mut State) -> Step) -> Step {
    if state.budgets.spend(fault) {
        step(state)
    } else {
        Step::NotEnabled
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
