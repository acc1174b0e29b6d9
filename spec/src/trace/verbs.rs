//! Which verb an action is: a number, so that a search can count millions of them.

use super::vocabulary::ActorKind::{self, *};
use super::vocabulary::{VERBS, Verb};
use crate::fault::Fault;
use crate::message::Message;
use crate::world::Action;

/// The position of a verb in [`VERBS`], found when this is compiled.
const fn at(actor: ActorKind, word: &str) -> usize {
    let mut i = 0;
    while i < VERBS.len() {
        if VERBS[i].actor as u8 == actor as u8 && same(VERBS[i].word, word) {
            return i;
        }
        i += 1;
    }
    panic!("no such verb")
}

const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut i = 0;
    while i < left.len() && i < right.len() && left[i] == right[i] {
        i += 1;
    }
    i == left.len() && i == right.len()
}

impl Action {
    /// The verb of its line in a trace.
    pub fn verb(&self) -> &'static Verb {
        &VERBS[self.verb_number()]
    }

    /// The position of its verb in [`VERBS`].
    pub fn verb_number(&self) -> usize {
        match self {
            Self::Deliver { message, .. } | Self::Stranger { message, .. } => delivered(message),
            Self::FailAppend(_) => const { at(Log, "fail_append") },
            Self::FailVerification(_) => const { at(Partition, "fail_verification") },
            Self::LoseMarker(_) => const { at(Network, "lose_marker") },
            Self::LoseMarkerAnswer(_) => const { at(Network, "lose_marker_answer") },
            Self::FindNoLeader(_) => const { at(Network, "find_no_leader") },
            Self::SkipTest(_) => const { at(Coordinator, "skip_completion_test") },
            Self::CommitRecord => const { at(Log, "commit_record") },
            Self::Start(_) => const { at(Producer, "start") },
            Self::End(..) => const { at(Producer, "end") },
            Self::Prepare(_) => const { at(Producer, "prepare") },
            Self::ManagerDecides(_) => const { at(Manager, "decide") },
            Self::Decided(_) => const { at(Producer, "decided") },
            Self::ResendRequest(_) => const { at(Producer, "resend_request") },
            Self::ResendBatch(..) => const { at(Producer, "resend_batch") },
            Self::GiveUp(..) => const { at(Producer, "give_up") },
            Self::CrashProducer(_) => const { at(Producer, "crash") },
            Self::SendMarker(..) => const { at(Coordinator, "send_marker") },
            Self::ResendMarker(..) => const { at(Coordinator, "resend_marker") },
            Self::Timeout(..) => const { at(Coordinator, "timeout") },
            Self::ExpireId(..) => const { at(Coordinator, "expire_id") },
            Self::Elect(_) => const { at(Cluster, "elect") },
            Self::LearnElected(_) => const { at(Coordinator, "learn_elected") },
            Self::Load(_) => const { at(Coordinator, "load") },
            Self::Resign(_) => const { at(Coordinator, "resign") },
            Self::CrashCoordinator(_) => const { at(Coordinator, "crash") },
            Self::StepClockBack(_) => const { at(Coordinator, "step_clock_back") },
            Self::Replicate(_) => const { at(Partition, "replicate") },
            Self::ApplyRecord(_) => const { at(Partition, "apply_record") },
            Self::FailOver(_) => const { at(Partition, "fail_over") },
            Self::Restart(_) => const { at(Partition, "restart") },
            Self::Recover(_) => const { at(Partition, "recover") },
            Self::TakeSnapshot(_) => const { at(Partition, "take_snapshot") },
            Self::Evict(..) => const { at(Partition, "evict") },
            Self::Compact(_) => const { at(Partition, "compact") },
            Self::FollowerFetch(_) => const { at(Partition, "follower_fetch") },
            Self::Promote(_) => const { at(Partition, "promote") },
            Self::DeleteTopic(_) => const { at(Partition, "delete_topic") },
            Self::Materialise => const { at(Group, "materialise") },
            Self::PrepareRebalance => const { at(Group, "prepare_rebalance") },
            Self::CompleteRebalance(_) => const { at(Group, "complete_rebalance") },
            Self::ExpireMember => const { at(Group, "expire_member") },
            Self::ReplaceStaticMember(_) => const { at(Group, "replace_static_member") },
            Self::ExpireOffsets => const { at(Group, "expire_offsets") },
            Self::TakeBound(_) => const { at(Reader, "take_bound") },
            Self::TakeData(_) => const { at(Reader, "take_data") },
            Self::TakeAborted(_) => const { at(Reader, "take_aborted") },
            Self::Upgrade => const { at(Cluster, "upgrade") },
            Self::OperatorMarker(_) => const { at(Partition, "operator_marker") },
        }
    }
}

fn delivered(message: &Message) -> usize {
    match message {
        Message::InitProducerId(_) => const { at(Coordinator, "init_producer_id") },
        Message::AddPartitionsToTxn(_) => const { at(Coordinator, "add_partitions_to_txn") },
        Message::AddOffsetsToTxn(_) => const { at(Coordinator, "add_offsets_to_txn") },
        Message::EndTxn(_) => const { at(Coordinator, "end_txn") },
        Message::Produce(_) => const { at(Partition, "produce") },
        Message::TxnOffsetCommit(_) => const { at(Group, "txn_offset_commit") },
        Message::OffsetFetch(_) => const { at(Group, "offset_fetch") },
        Message::VerifyPartition(m) if m.verify_only => {
            const { at(Coordinator, "verify_partition") }
        }
        Message::VerifyPartition(_) => const { at(Coordinator, "add_partition_by_broker") },
        Message::WriteTxnMarkers(_) => const { at(Partition, "write_txn_markers") },
        Message::AppendTxnRecord(_) => const { at(Log, "append_txn_record") },
        Message::CoordinatorAnswer(_) => const { at(Producer, "coordinator_answer") },
        Message::ProduceAnswer { .. } => const { at(Producer, "produce_answer") },
        Message::TxnOffsetCommitAnswer { .. } => const { at(Producer, "txn_offset_commit_answer") },
        Message::OffsetFetchAnswer { .. } => const { at(Producer, "offset_fetch_answer") },
        Message::VerifyAnswer { .. } => const { at(Partition, "verify_answer") },
        Message::WriteTxnMarkersAnswer(_) => const { at(Coordinator, "write_txn_markers_answer") },
        Message::AppendTxnRecordAnswer(_) => const { at(Coordinator, "append_txn_record_answer") },
    }
}

impl Verb {
    /// Actor and word, as in `coordinator end_txn`.
    pub fn name(&self) -> String {
        format!("{} {}", self.actor.name(), self.word)
    }
}

/// The position in [`VERBS`] of what a fault does; `None` for a stranger, who does many things.
pub fn fault_verb(fault: Fault) -> Option<usize> {
    Some(match fault {
        Fault::ResendRequest => const { at(Producer, "resend_request") },
        Fault::ResendBatch => const { at(Producer, "resend_batch") },
        Fault::ResendMarker => const { at(Coordinator, "resend_marker") },
        Fault::LoseMarker => const { at(Network, "lose_marker") },
        Fault::LoseMarkerAnswer => const { at(Network, "lose_marker_answer") },
        Fault::Leaderless => const { at(Network, "find_no_leader") },
        Fault::Timer => const { at(Coordinator, "timeout") },
        Fault::GiveUp => const { at(Producer, "give_up") },
        Fault::Election => const { at(Cluster, "elect") },
        Fault::CoordinatorCrash => const { at(Coordinator, "crash") },
        Fault::ProducerCrash => const { at(Producer, "crash") },
        Fault::FailedAppend => const { at(Log, "fail_append") },
        Fault::FailedVerification => const { at(Partition, "fail_verification") },
        Fault::Eviction => const { at(Partition, "evict") },
        Fault::Snapshot => const { at(Partition, "take_snapshot") },
        Fault::Restart => const { at(Partition, "restart") },
        Fault::FailOver => const { at(Partition, "fail_over") },
        Fault::Promotion => const { at(Partition, "promote") },
        Fault::Compaction => const { at(Partition, "compact") },
        Fault::TopicDeletion => const { at(Partition, "delete_topic") },
        Fault::ClockBack => const { at(Coordinator, "step_clock_back") },
        Fault::IdExpiry => const { at(Coordinator, "expire_id") },
        Fault::OffsetExpiry => const { at(Group, "expire_offsets") },
        Fault::Rebalance => const { at(Group, "prepare_rebalance") },
        Fault::MemberExpiry => const { at(Group, "expire_member") },
        Fault::StaticReplacement => const { at(Group, "replace_static_member") },
        Fault::Upgrade => const { at(Cluster, "upgrade") },
        Fault::OperatorMarker => const { at(Partition, "operator_marker") },
        Fault::SkippedTest => const { at(Coordinator, "skip_completion_test") },
        Fault::Stranger => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::scenario::{RuleSet, find};
    use crate::trace::Line;
    use crate::world::World;

    #[test]
    fn an_action_and_its_line_have_one_verb() {
        for (name, rules) in [("markers", RuleSet::Tv1), ("offsets", RuleSet::Tv2)] {
            let entry = find(name).expect("a scenario of the catalogue");
            let world = World::new(entry.scenario(rules), entry.rules(rules));
            let mut states = vec![world.initial()];
            for round in 0..60 {
                let mut next = Vec::new();
                for state in &states {
                    for (action, after) in world.enabled(state) {
                        assert_eq!(Line::from(&action).verb, action.verb().word);
                        next.push(after);
                    }
                }
                next.truncate(5 + round % 3);
                states = next;
            }
        }
    }
}
