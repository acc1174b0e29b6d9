//! Liveness on cycles: what a fair run has to do, and what it must reach.
//!
//! Deliveries, replication, markers and the rest of the protocol's own steps are fair, so are a
//! client's start and its application's choice to end. Faults never are: nothing has to fail. Nor is
//! a lost wake-up: what nobody will do again stays undone.

use super::{Id, violated_terminally};
use crate::message::Message;
use crate::types::{BrokerId, ProducerIndex, Sequence};
use crate::world::{Action, State, World};

/// A fairness class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairClass {
    /// What it is.
    pub name: &'static str,
    /// False: taken again and again if it stays enabled. True: even if it is only enabled again
    /// and again, as a request is that is refused and sent again.
    pub strong: bool,
}

const fn weak(name: &'static str) -> FairClass {
    FairClass {
        name,
        strong: false,
    }
}

const fn strong(name: &'static str) -> FairClass {
    FairClass { name, strong: true }
}

/// The fairness classes, in the order of their indices.
pub const FAIR_CLASSES: &[FairClass] = &[
    strong("a request of P reaches broker 0"),
    strong("a request of P reaches broker 1"),
    strong("a request of Q reaches broker 0"),
    strong("a request of Q reaches broker 1"),
    strong("a request reaches the group"),
    weak("a record reaches the transaction-state log"),
    weak("a record is replicated there"),
    weak("the log's answer is delivered"),
    weak("a marker is delivered"),
    weak("a marker's answer is delivered"),
    weak("an answer to P is delivered"),
    weak("an answer to Q is delivered"),
    weak("a queued marker is sent"),
    weak("a coordinator learns of an election, loads or resigns"),
    weak("a partition replicates, applies or recovers"),
    weak("staged offsets are applied"),
    weak("a rebalance ends"),
    weak("P starts or ends its transaction"),
    weak("Q starts or ends its transaction"),
    strong("a batch of sequence 0 modulo 4 reaches a partition leader"),
    strong("a batch of sequence 1 modulo 4 reaches a partition leader"),
    strong("a batch of sequence 2 modulo 4 reaches a partition leader"),
    strong("a batch of sequence 3 modulo 4 reaches a partition leader"),
    strong("a question about sequence 0 modulo 4 reaches broker 0"),
    strong("a question about sequence 1 modulo 4 reaches broker 0"),
    strong("a question about sequence 2 modulo 4 reaches broker 0"),
    strong("a question about sequence 3 modulo 4 reaches broker 0"),
    strong("a question about sequence 0 modulo 4 reaches broker 1"),
    strong("a question about sequence 1 modulo 4 reaches broker 1"),
    strong("a question about sequence 2 modulo 4 reaches broker 1"),
    strong("a question about sequence 3 modulo 4 reaches broker 1"),
    weak("an answer about sequence 0 modulo 4 reaches a partition leader"),
    weak("an answer about sequence 1 modulo 4 reaches a partition leader"),
    weak("an answer about sequence 2 modulo 4 reaches a partition leader"),
    weak("an answer about sequence 3 modulo 4 reaches a partition leader"),
];

/// The class of an action, as an index into [`FAIR_CLASSES`]; `None` for faults and readers.
pub fn fair_class(action: &Action) -> Option<usize> {
    match action {
        Action::Deliver { message, broker } => Some(delivery_class(message, *broker)),
        Action::CommitRecord => Some(6),
        Action::SendMarker(..) => Some(12),
        Action::LearnElected(_) | Action::Load(_) | Action::Resign(_) => Some(13),
        Action::Replicate(_) | Action::ApplyRecord(_) | Action::Recover(_) => Some(14),
        Action::Materialise => Some(15),
        Action::CompleteRebalance(_) => Some(16),
        Action::Start(p) | Action::End(p, _) | Action::Prepare(p) | Action::Decided(p) => {
            Some(17 + second(*p))
        }
        Action::ManagerDecides(_) => Some(17),
        Action::FailAppend(_)
        | Action::FailVerification(_)
        | Action::LoseMarker(_)
        | Action::LoseMarkerAnswer(_)
        | Action::Stranger { .. }
        | Action::FindNoLeader(_)
        | Action::SkipTest(_)
        | Action::ResendRequest(_)
        | Action::ResendBatch(..)
        | Action::GiveUp(..)
        | Action::CrashProducer(_)
        | Action::ResendMarker(..)
        | Action::Timeout(..)
        | Action::ExpireId(..)
        | Action::Elect(_)
        | Action::CrashCoordinator(_)
        | Action::StepClockBack(_)
        | Action::FailOver(_)
        | Action::Restart(_)
        | Action::TakeSnapshot(_)
        | Action::Evict(..)
        | Action::Compact(_)
        | Action::FollowerFetch(_)
        | Action::Promote(_)
        | Action::DeleteTopic(_)
        | Action::PrepareRebalance
        | Action::ExpireMember
        | Action::ReplaceStaticMember(_)
        | Action::ExpireOffsets
        | Action::TakeBound(_)
        | Action::TakeData(_)
        | Action::TakeAborted(_)
        | Action::Upgrade
        | Action::OperatorMarker(_) => None,
    }
}

/// P is the first producer; the others share the second place.
fn second(producer: ProducerIndex) -> usize {
    usize::from(producer.0 > 0)
}

/// Batches that are in flight together have sequences that differ here, so that none waits for ever behind another.
fn modulo_4(sequence: Sequence) -> usize {
    (sequence.0 & 3) as usize
}

fn delivery_class(message: &Message, broker: Option<BrokerId>) -> usize {
    let at = broker.map_or(0, |b| usize::from(b.0 > 0));
    match message {
        Message::InitProducerId(m) => 2 * second(m.correlation.producer) + at,
        Message::AddPartitionsToTxn(m) | Message::AddOffsetsToTxn(m) => {
            2 * second(m.correlation.producer) + at
        }
        Message::EndTxn(m) => 2 * second(m.correlation.producer) + at,
        Message::VerifyPartition(m) => 23 + 4 * at + modulo_4(m.sequence),
        Message::Produce(m) => 19 + modulo_4(m.sequence),
        Message::TxnOffsetCommit(_) | Message::OffsetFetch(_) => 4,
        Message::AppendTxnRecord(_) => 5,
        Message::AppendTxnRecordAnswer(_) => 7,
        Message::WriteTxnMarkers(_) => 8,
        Message::WriteTxnMarkersAnswer(_) => 9,
        Message::CoordinatorAnswer(m) => 10 + second(m.correlation.producer),
        Message::ProduceAnswer { correlation, .. }
        | Message::TxnOffsetCommitAnswer { correlation, .. }
        | Message::OffsetFetchAnswer { correlation, .. } => 10 + second(correlation.producer),
        Message::VerifyAnswer { sequence, .. } => 31 + modulo_4(*sequence),
    }
}

/// Whether `state` is one in which the liveness property `id` is satisfied for now: every fair run
/// comes to such a state again and again.
pub fn settled(world: &World, state: &State, id: Id) -> bool {
    violated_terminally(world, state) & id.bit() == 0
}

/// The liveness properties that are judged on cycles.
pub const ON_CYCLES: [Id; 4] = [Id::L1, Id::L2, Id::L3, Id::L4];

/// The scenarios that `fencepost check` judges on fair cycles too, with every retriable answer really sent: small ones
/// that meet every kind of step after which somebody must act.
pub const FAIR_SCENARIOS: &[&str] = &[
    "smoke",
    "zombie",
    "late",
    "failed-append",
    "rebalance",
    "storage",
    "eviction",
    "compaction",
    "rotation",
    "two-phase",
    "upgrade",
    "pipeline",
    "answers",
    "hanging",
    "deleted-topic",
    "clock",
    "retry-once",
    "offsets-late",
    "offsets-only",
    "offsets-election",
    "lost-marker",
    "timer-once",
    "failed-fence",
];
