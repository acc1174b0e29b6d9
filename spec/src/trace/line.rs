//! An action as one line of text: `ACTOR VERB key=value ...`.

use crate::coordinator::TransactionMetadata;
use crate::message::*;
use crate::types::*;
use crate::world::Action;
use std::fmt;

/// A line of a trace: who does what, with which values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The actor that acts: `P`, `coordinator/0`, `log`, `p0`, `group`, `reader/0`, `manager`,
    /// `cluster`.
    pub actor: String,
    /// What it does: the action's name.
    pub verb: String,
    /// The values, in a fixed order.
    pub fields: Vec<(String, String)>,
}

impl Line {
    fn new(actor: impl fmt::Display, verb: &str) -> Self {
        Self {
            actor: actor.to_string(),
            verb: verb.to_owned(),
            fields: Vec::new(),
        }
    }

    fn with(mut self, key: &str, value: impl fmt::Display) -> Self {
        self.fields.push((key.to_owned(), value.to_string()));
        self
    }

    fn with_some(self, key: &str, value: Option<impl fmt::Display>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    fn flag(self, key: &str, on: bool) -> Self {
        if on { self.with(key, "true") } else { self }
    }

    fn sent_by(self, correlation: &Correlation) -> Self {
        self.with("from", correlation.producer)
            .correlated(correlation)
    }

    fn correlated(self, correlation: &Correlation) -> Self {
        let number = (correlation.number > 0).then_some(correlation.number);
        let attempt = (correlation.attempt > 0).then_some(correlation.attempt);
        self.with_some("number", number)
            .with_some("attempt", attempt)
    }

    /// The value of a field.
    pub fn field(&self, key: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(k, _)| k == key)
            .map(|(_, v)| v.as_str())
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.actor, self.verb)?;
        for (key, value) in &self.fields {
            write!(f, " {key}={value}")?;
        }
        Ok(())
    }
}

fn partition(p: PartitionIndex) -> String {
    format!("p{}", p.0)
}

fn coordinator(b: BrokerId) -> String {
    format!("coordinator/{}", b.0)
}

fn ghost(ghost: Ghost) -> Option<String> {
    ghost
        .ghost_reveal(0)
        .map(|(producer, txn)| format!("{producer}{txn}"))
}

impl From<&Action> for Line {
    fn from(action: &Action) -> Self {
        match action {
            Action::Deliver { message, broker } => deliver(message, *broker),
            Action::Stranger { message, broker } => {
                deliver(message, *broker).flag("stranger", true)
            }
            Action::FailAppend(m) => append_line(m, "fail_append"),
            Action::FailVerification(m) => verdict_line(m, "fail_verification"),
            Action::LoseMarker(m) => marker_line(m, "network", "lose_marker"),
            Action::FindNoLeader(m) => marker_line(m, "network", "find_no_leader"),
            Action::LoseMarkerAnswer(m) => marker_line(m, "network", "lose_marker_answer"),
            Action::SkipTest(m) => marker_answer_line(m, "skip_completion_test"),
            Action::CommitRecord => Self::new("log", "commit_record"),
            Action::Start(p) => Self::new(p, "start"),
            Action::End(p, result) => Self::new(p, "end").with("result", result),
            Action::Prepare(p) => Self::new(p, "prepare"),
            Action::ManagerDecides(result) => Self::new("manager", "decide").with("result", result),
            Action::Decided(p) => Self::new(p, "decided"),
            Action::ResendRequest(p) => Self::new(p, "resend_request"),
            Action::ResendBatch(p, at) => Self::new(p, "resend_batch").with("at", at),
            Action::GiveUp(p, at) => Self::new(p, "give_up").with("at", at),
            Action::CrashProducer(p) => Self::new(p, "crash"),
            Action::SendMarker(b, id, p) => Self::new(coordinator(*b), "send_marker")
                .with("id", id.0)
                .with("partition", partition(*p)),
            Action::ResendMarker(b, id, p) => Self::new(coordinator(*b), "resend_marker")
                .with("id", id.0)
                .with("partition", partition(*p)),
            Action::Timeout(b, id) => Self::new(coordinator(*b), "timeout").with("id", id.0),
            Action::ExpireId(b, id) => Self::new(coordinator(*b), "expire_id").with("id", id.0),
            Action::Elect(b) => Self::new("cluster", "elect").with("broker", b.0),
            Action::LearnElected(b) => Self::new(coordinator(*b), "learn_elected"),
            Action::Load(b) => Self::new(coordinator(*b), "load"),
            Action::Resign(b) => Self::new(coordinator(*b), "resign"),
            Action::CrashCoordinator(b) => Self::new(coordinator(*b), "crash"),
            Action::StepClockBack(b) => Self::new(coordinator(*b), "step_clock_back"),
            Action::Replicate(p) => Self::new(partition(*p), "replicate"),
            Action::ApplyRecord(p) => Self::new(partition(*p), "apply_record"),
            Action::FailOver(p) => Self::new(partition(*p), "fail_over"),
            Action::Restart(p) => Self::new(partition(*p), "restart"),
            Action::Recover(p) => Self::new(partition(*p), "recover"),
            Action::TakeSnapshot(p) => Self::new(partition(*p), "take_snapshot"),
            Action::Evict(p, id) => Self::new(partition(*p), "evict").with("producer_id", id.0),
            Action::Compact(p) => Self::new(partition(*p), "compact"),
            Action::FollowerFetch(p) => Self::new(partition(*p), "follower_fetch"),
            Action::Promote(p) => Self::new(partition(*p), "promote"),
            Action::DeleteTopic(p) => Self::new(partition(*p), "delete_topic"),
            Action::Materialise => Self::new("group", "materialise"),
            Action::PrepareRebalance => Self::new("group", "prepare_rebalance"),
            Action::ExpireMember => Self::new("group", "expire_member"),
            Action::ReplaceStaticMember(p) => {
                Self::new("group", "replace_static_member").with("member", p)
            }
            Action::CompleteRebalance(p) => {
                Self::new("group", "complete_rebalance").with("member", p)
            }
            Action::ExpireOffsets => Self::new("group", "expire_offsets"),
            Action::TakeBound(i) => Self::new(format!("reader/{i}"), "take_bound"),
            Action::TakeData(i) => Self::new(format!("reader/{i}"), "take_data"),
            Action::TakeAborted(i) => Self::new(format!("reader/{i}"), "take_aborted"),
            Action::Upgrade => Self::new("cluster", "upgrade"),
            Action::OperatorMarker(p) => Self::new(partition(*p), "operator_marker"),
        }
    }
}

/// A message in flight as a line: what its delivery would be, whichever broker it reaches.
pub(super) fn in_flight(message: &Message) -> Line {
    deliver(message, None)
}

fn deliver(message: &Message, broker: Option<BrokerId>) -> Line {
    let role = broker.map_or_else(|| "coordinator".to_owned(), coordinator);
    match message {
        Message::InitProducerId(m) => Line::new(role, "init_producer_id")
            .sent_by(&m.correlation)
            .with_some("expected", m.expected)
            .flag("enable_2pc", m.enable_2pc)
            .flag("keep_prepared_txn", m.keep_prepared_txn)
            .flag("timeout_out_of_range", !m.timeout_in_range)
            .flag("unauthorized", !m.authorized),
        Message::AddPartitionsToTxn(m) => add_line(m, role, "add_partitions_to_txn"),
        Message::AddOffsetsToTxn(m) => add_line(m, role, "add_offsets_to_txn"),
        Message::EndTxn(m) => Line::new(role, "end_txn")
            .sent_by(&m.correlation)
            .with("identity", m.identity)
            .with("result", m.result)
            .with("version", m.version)
            .with_some("txn", ghost(m.ghost)),
        Message::Produce(m) => Line::new(partition(m.partition), "produce")
            .sent_by(&m.correlation)
            .with("identity", m.identity)
            .with("sequence", m.sequence.0)
            .with("payload", m.payload.0)
            .flag("plain", !m.transactional)
            .with("version", m.version)
            .with_some("txn", ghost(m.ghost)),
        Message::TxnOffsetCommit(m) => Line::new("group", "txn_offset_commit")
            .sent_by(&m.correlation)
            .with("identity", m.identity)
            .with_some("member", m.member.map(|it| it.id))
            .with_some("generation", m.member.map(|it| it.generation.0))
            .with("offset", m.offset.0)
            .with("version", m.version)
            .with_some("txn", ghost(m.ghost)),
        Message::OffsetFetch(m) => Line::new("group", "offset_fetch").sent_by(m),
        Message::VerifyPartition(m) => {
            let verb = if m.verify_only {
                "verify_partition"
            } else {
                "add_partition_by_broker"
            };
            Line::new(role, verb)
                .with("partition", partition(m.partition))
                .with("identity", m.identity)
                .with("sequence", m.sequence.0)
                .with_some("txn", ghost(m.ghost))
        }
        Message::WriteTxnMarkers(m) => {
            let to = partition(m.partition);
            marker_line(m, &to, "write_txn_markers")
        }
        Message::AppendTxnRecord(m) => append_line(m, "append_txn_record"),
        Message::CoordinatorAnswer(m) => Line::new(m.correlation.producer, "coordinator_answer")
            .correlated(&m.correlation)
            .with("request", request_word(m.request))
            .with("error", m.error)
            .with_some("identity", m.identity)
            .with_some("ongoing", m.ongoing)
            .with("epoch", m.coordinator_epoch.0),
        Message::ProduceAnswer {
            correlation,
            identity,
            partition: p,
            sequence,
            error,
        } => Line::new(correlation.producer, "produce_answer")
            .correlated(correlation)
            .with("partition", partition(*p))
            .with("identity", identity)
            .with("sequence", sequence.0)
            .with("error", error),
        Message::TxnOffsetCommitAnswer { correlation, error } => {
            Line::new(correlation.producer, "txn_offset_commit_answer")
                .correlated(correlation)
                .with("error", error)
        }
        Message::OffsetFetchAnswer {
            correlation,
            error,
            offset,
            generation,
        } => Line::new(correlation.producer, "offset_fetch_answer")
            .correlated(correlation)
            .with("error", error)
            .with("offset", offset.0)
            .with("generation", generation.0),
        Message::VerifyAnswer { .. } => verdict_line(message, "verify_answer"),
        Message::WriteTxnMarkersAnswer(m) => marker_answer_line(m, "write_txn_markers_answer"),
        Message::AppendTxnRecordAnswer(m) => {
            Line::new(coordinator(m.broker), "append_txn_record_answer")
                .with("epoch", m.coordinator_epoch.0)
                .with("id", m.transactional_id.0)
                .with("error", m.error)
        }
    }
}

fn add_line(m: &AddPartitionsToTxn, role: String, verb: &str) -> Line {
    Line::new(role, verb)
        .sent_by(&m.correlation)
        .with("identity", m.identity)
        .with("partition", partition(m.partition))
        .with_some("txn", ghost(m.ghost))
}

fn append_line(m: &AppendTxnRecord, verb: &str) -> Line {
    let line = Line::new("log", verb)
        .with("broker", m.broker.0)
        .with("epoch", m.coordinator_epoch.0)
        .with("id", m.transactional_id.0);
    match &m.value {
        None => line.with("state", "tombstone"),
        Some(value) => record_fields(line, value),
    }
}

fn record_fields(line: Line, m: &TransactionMetadata) -> Line {
    line.with("state", format!("{:?}", m.state))
        .with("identity", m.identity())
        .with_some("last_producer_epoch", m.last_producer_epoch.map(|e| e.0))
        .with("prev_producer_id", m.prev_producer_id.0)
        .with_some("next", m.next)
        .with("partitions", m.partitions)
        .flag("two_phase", m.two_phase)
        .with("version", m.client_version)
        .with_some("txn", ghost(m.ghost))
}

fn marker_line(m: &WriteTxnMarkers, actor: &str, verb: &str) -> Line {
    Line::new(actor, verb)
        .with("broker", m.broker.0)
        .with("epoch", m.coordinator_epoch.0)
        .with("id", m.transactional_id.0)
        .with("round", m.round)
        .with("partition", partition(m.partition))
        .with("identity", m.identity)
        .with("result", m.result)
        .with("version", m.version)
        .with_some("txn", ghost(m.ghost))
}

fn marker_answer_line(m: &MarkerAnswer, verb: &str) -> Line {
    Line::new(coordinator(m.broker), verb)
        .with("epoch", m.coordinator_epoch.0)
        .with("id", m.transactional_id.0)
        .with("round", m.round)
        .with("partition", partition(m.partition))
        .with("error", m.error)
}

fn verdict_line(message: &Message, verb: &str) -> Line {
    match message {
        Message::VerifyAnswer {
            partition: p,
            identity,
            sequence,
            error,
            coordinator_epoch,
        } => Line::new(partition(*p), verb)
            .with("identity", identity)
            .with("sequence", sequence.0)
            .with("error", error)
            .with("epoch", coordinator_epoch.0),
        other => deliver(other, None),
    }
}

/// The word of a request in a trace.
pub fn request_word(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::InitProducerId => "init_producer_id",
        RequestKind::AddPartitionsToTxn => "add_partitions_to_txn",
        RequestKind::AddOffsetsToTxn => "add_offsets_to_txn",
        RequestKind::TxnOffsetCommit => "txn_offset_commit",
        RequestKind::EndTxn => "end_txn",
        RequestKind::OffsetFetch => "offset_fetch",
    }
}
