//! A state in Kafka's terms, as a list of facts: actor, field, value. Two lists compared say what
//! a step changed; one list is what a reader of a state is shown.

use super::line::in_flight;
use crate::client::{Outcome, Producer, Reader, ReaderStage};
use crate::coordinator::{Coordinator, Pending, Slot, Stage, TransactionMetadata};
use crate::group::Group;
use crate::partition::{Partition, Record, RecordKind};
use crate::properties::Id;
use crate::world::State;
use std::fmt::{self, Display};

/// One thing that is so in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Whose: an actor's name as in a trace, `network` for messages in flight, `property` for
    /// what a step has broken.
    pub actor: String,
    /// Which.
    pub field: String,
    /// What it is.
    pub value: String,
}

impl Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} = {}", self.actor, self.field, self.value)
    }
}

/// Everything that is so in `state`, in a fixed order.
pub fn facts(state: &State) -> Vec<Fact> {
    let mut list = List(Vec::new());
    for producer in &state.producers {
        list.producer(producer);
    }
    for coordinator in &state.coordinators {
        list.coordinator(coordinator);
    }
    list.log(state);
    for partition in &state.partitions {
        list.partition(partition);
    }
    if let Some(group) = &state.group {
        list.group(group);
    }
    for (i, reader) in state.readers.iter().enumerate() {
        list.reader(i, reader);
    }
    list.some("manager", "prepared", state.manager.prepared);
    list.some("manager", "decision", state.manager.decision);
    list.add("cluster", "transaction.version", state.version);
    for (fault, left) in state.budgets.iter() {
        list.add("cluster", format!("faults left: {}", fault.name()), left);
    }
    list.network(state);
    for id in Id::in_mask(state.ghost_broken) {
        list.add("property", id.name(), "broken by a step");
    }
    list.0
}

struct List(Vec<Fact>);

impl List {
    fn add(&mut self, actor: impl Display, field: impl Display, value: impl Display) {
        self.0.push(Fact {
            actor: actor.to_string(),
            field: field.to_string(),
            value: value.to_string(),
        });
    }

    fn some(&mut self, actor: impl Display, field: impl Display, value: Option<impl Display>) {
        if let Some(value) = value {
            self.add(actor, field, value);
        }
    }

    fn producer(&mut self, p: &Producer) {
        let name = p.index;
        self.add(name, "phase", format!("{:?}", p.phase));
        self.some(name, "identity", p.identity);
        for (txn, outcome) in p.outcome.into_iter().enumerate() {
            if outcome != Outcome::Open {
                self.add(
                    name,
                    format!("transaction {name}{txn}"),
                    format!("{outcome:?}"),
                );
            }
        }
        if p.takeover != Outcome::Open {
            self.add(name, "transaction taken over", format!("{:?}", p.takeover));
        }
        self.some(name, "waits for", p.request.map(super::request_word));
        for batch in &p.in_flight {
            self.add(
                name,
                format!(
                    "batch in flight to p{} sequence {}",
                    batch.partition.0, batch.sequence.0
                ),
                batch.identity,
            );
        }
        if p.needs_bump {
            self.add(name, "must bump its epoch", true);
        }
    }

    fn coordinator(&mut self, c: &Coordinator) {
        let name = format!("coordinator/{}", c.broker.0);
        self.add(&name, "role", format!("{:?}", c.role));
        self.add(&name, "coordinator_epoch", c.epoch.0);
        if c.clock_back {
            self.add(&name, "clock", "behind");
        }
        for (id, slot) in c.slots.iter().enumerate() {
            self.slot(&name, id, slot);
        }
    }

    fn slot(&mut self, name: &str, id: usize, slot: &Slot) {
        if let Some(metadata) = &slot.metadata {
            self.metadata(name, &format!("id {id}"), metadata);
        }
        self.some(
            name,
            format!("id {id} pending"),
            slot.pending.map(|p| pending(&p)),
        );
        if slot.has_failed_epoch_fence {
            self.add(name, format!("id {id} failed epoch fence"), true);
        }
    }

    fn metadata(&mut self, name: &str, prefix: &str, m: &TransactionMetadata) {
        self.add(name, format!("{prefix} state"), format!("{:?}", m.state));
        self.add(name, format!("{prefix} identity"), m.identity());
        self.some(name, format!("{prefix} next identity"), m.next);
        if !m.partitions.is_empty() {
            self.add(name, format!("{prefix} partitions"), m.partitions);
        }
    }

    fn log(&mut self, state: &State) {
        let log = &state.log;
        self.add("log", "leader", format!("coordinator/{}", log.leader.0));
        self.add("log", "leader_epoch", log.epoch.0);
        for (id, record) in log.committed.iter().enumerate() {
            if let Some(record) = record {
                self.metadata("log", &format!("id {id}"), record);
            }
        }
        for (i, record) in log.appended.iter().enumerate() {
            let state = record
                .value
                .map_or_else(|| "tombstone".to_owned(), |m| format!("{:?}", m.state));
            let to = format!("id {} {state}", record.transactional_id.0);
            self.add("log", format!("not replicated #{i}"), to);
        }
    }

    fn partition(&mut self, p: &Partition) {
        let name = format!("p{}", p.index.0);
        for record in &p.log {
            self.add(&name, format!("offset {}", record.offset.0), text(record));
        }
        self.add(&name, "high_watermark", p.high_watermark.0);
        self.add(&name, "last_stable_offset", p.last_stable_offset().0);
        for entry in &p.producers {
            let open = entry
                .open
                .map_or_else(String::new, |o| format!(", open from offset {}", o.0));
            self.add(
                &name,
                format!("producer {}", entry.producer_id.0),
                format!("epoch {}{open}", entry.epoch.0),
            );
        }
        for aborted in &p.aborted {
            self.add(
                &name,
                format!("aborted transaction of {}", aborted.producer_id.0),
                format!("offsets {} to {}", aborted.first.0, aborted.last.0),
            );
        }
        for parked in &p.parked {
            self.add(
                &name,
                format!(
                    "waits for the coordinator: {}/{}",
                    parked.request.identity(),
                    parked.request.sequence().0
                ),
                if parked.guard_stands {
                    "guard stands"
                } else {
                    "guard is gone"
                },
            );
        }
        if p.deleted {
            self.add(&name, "topic", "deleted");
        }
        if p.recovering {
            self.add(&name, "recovering", true);
        }
        self.some(
            &name,
            "snapshot at",
            p.snapshot.as_ref().map(|s| s.offset.0),
        );
    }

    fn group(&mut self, g: &Group) {
        self.add("group", "state", format!("{:?}", g.state));
        self.add("group", "generation", g.generation.0);
        self.add("group", "member", g.member);
        self.add("group", "committed offset", g.committed.0);
        for staged in &g.staged {
            self.add(
                "group",
                if staged.decided {
                    format!("decided, staged by {}", staged.identity)
                } else {
                    format!("staged by {}", staged.identity)
                },
                staged.offset.0,
            );
        }
        for marker in &g.unapplied {
            self.add(
                "group",
                format!("marker not applied: {}", marker.identity),
                marker.result,
            );
        }
    }

    fn reader(&mut self, i: usize, r: &Reader) {
        let name = format!("reader/{i}");
        let stage = match r.stage {
            ReaderStage::Idle => "idle".to_owned(),
            ReaderStage::Parked => "parked".to_owned(),
            ReaderStage::Bounded { bound, .. } => format!("has the bound {}", bound.upper.0),
            ReaderStage::HasData { upper, .. } => format!("has the data below {}", upper.0),
        };
        self.add(&name, "fetch", stage);
        self.add(&name, "position", r.position.0);
    }

    /// Messages in flight, each with its number of copies.
    fn network(&mut self, state: &State) {
        let mut lines: Vec<String> = state
            .network
            .iter()
            .map(|m| in_flight(m).to_string())
            .collect();
        lines.sort_unstable();
        for same in lines.chunk_by(|a, b| a == b) {
            self.add("network", &same[0], same.len());
        }
    }
}

fn pending(pending: &Pending) -> String {
    let to = pending
        .to
        .map_or_else(|| "a tombstone".to_owned(), |m| format!("{:?}", m.state));
    match pending.stage {
        Stage::Appending(_) => format!("appending {to}"),
        Stage::WritingMarkers { queued, awaiting } => {
            format!("writing markers: queued {queued}, awaited {awaiting}")
        }
        Stage::Abandoned => format!("{to} abandoned until a fail-over"),
    }
}

fn text(record: &Record) -> String {
    let identity = record.identity;
    let txn = record
        .ghost
        .ghost_reveal(0)
        .map_or_else(String::new, |(p, txn)| format!(" of {p}{txn}"));
    match record.kind {
        RecordKind::Data if record.transactional => {
            format!("data {identity} sequence {}{txn}", record.sequence.0)
        }
        RecordKind::Data => format!("plain data {identity} sequence {}", record.sequence.0),
        RecordKind::Emptied => format!("emptied batch {identity} sequence {}", record.sequence.0),
        RecordKind::Marker(result) => format!("{result} marker {identity}{txn}"),
    }
}
