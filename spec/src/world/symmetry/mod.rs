//! Symmetry: renamings of producers, ids and data partitions that change nothing in a scenario, and one state to stand
//! for all that they make of it.
//!
//! Two instances of one id with the same script may swap their names: every run of the one is a run of the other. A
//! script has an order, and so the partitions that it names have one: they may only be renamed together with a producer
//! whose script names them the other way round.

mod messages;

use super::{State, World};
use crate::client::{Item, Producer, Workload};
use crate::coordinator::{Pending, Slot, Stage, Then, TransactionMetadata};
use crate::group::{Group, MemberSet};
use crate::message::*;
use crate::partition::{ParkedRequest, Partition, Record};
use crate::scenario::Scenario;
use crate::types::*;
use itertools::Itertools;

/// New names: the index of each producer, id and partition after the renaming, by the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renaming {
    producers: Vec<u8>,
    ids: Vec<u8>,
    /// The offsets partition, where there is one, keeps its name.
    partitions: Vec<u8>,
    ghost_key: u8,
}

impl World {
    /// The renamings that leave the scenario and its start as they are, without the one that renames nothing.
    pub fn symmetries(&self) -> Vec<Renaming> {
        let start = self.initial();
        self.scenario
            .renamings()
            .filter(|renaming| !renaming.is_identity() && renaming.keeps(&self.scenario))
            .filter(|renaming| renaming.state(&start) == start)
            .collect()
    }
}

/// The least of a state and what the renamings make of it, and how many states they make of it, itself included.
pub fn canonical(symmetries: &[Renaming], state: &State) -> (State, usize) {
    let mut orbit = vec![state.clone()];
    for renamed in symmetries.iter().map(|renaming| renaming.state(state)) {
        if !orbit.contains(&renamed) {
            orbit.push(renamed);
        }
    }
    let size = orbit.len();
    let least = orbit.into_iter().min();
    (least.unwrap_or_else(|| state.clone()), size)
}

impl Scenario {
    /// Every renaming of its producers, ids and data partitions.
    fn renamings(&self) -> impl Iterator<Item = Renaming> {
        let orders = |count: u8| (0..count).permutations(usize::from(count)).collect_vec();
        let producers = orders(self.workloads.len() as u8);
        let ids = orders(self.ids as u8);
        let data = orders(self.partitions);
        let (offsets, ghost_key) = (self.offsets.then_some(self.partitions), self.ghost_key);
        producers
            .into_iter()
            .cartesian_product(ids)
            .cartesian_product(data)
            .map(move |((producers, ids), mut partitions)| {
                partitions.extend(offsets);
                Renaming {
                    producers,
                    ids,
                    partitions,
                    ghost_key,
                }
            })
    }
}

impl Renaming {
    fn is_identity(&self) -> bool {
        let same = |names: &[u8]| names.iter().zip(0u8..).all(|(new, old)| *new == old);
        same(&self.producers) && same(&self.ids) && same(&self.partitions)
    }

    /// Whether each script, under its new names, is the script of the producer whose name it gets.
    fn keeps(&self, scenario: &Scenario) -> bool {
        let scripts = scenario.workloads.iter().zip(&self.producers);
        let keeps_scripts = scripts
            .into_iter()
            .all(|(script, new)| self.script(script) == scenario.workloads[usize::from(*new)]);
        let keeps_readers = scenario
            .readers
            .iter()
            .all(|(partition, _)| self.partition(*partition) == *partition);
        keeps_scripts && keeps_readers
    }

    fn script(&self, script: &Workload) -> Workload {
        let producer = |p: Option<ProducerIndex>| p.map(|p| self.producer(p));
        let item = |item: &Item| match item {
            Item::Send(p) => Item::Send(self.partition(*p)),
            Item::FetchOffset => Item::FetchOffset,
            Item::CommitOffset => Item::CommitOffset,
        };
        Workload {
            transactional_id: script.transactional_id.map(|id| self.id(id)),
            takes_over: producer(script.takes_over),
            starts_after_crash_of: producer(script.starts_after_crash_of),
            items: script.items.iter().map(item).collect(),
            ..script.clone()
        }
    }

    fn producer(&self, ProducerIndex(old): ProducerIndex) -> ProducerIndex {
        ProducerIndex(self.producers.get(usize::from(old)).copied().unwrap_or(old))
    }

    fn id(&self, TransactionalId(old): TransactionalId) -> TransactionalId {
        TransactionalId(self.ids.get(usize::from(old)).copied().unwrap_or(old))
    }

    fn partition(&self, PartitionIndex(old): PartitionIndex) -> PartitionIndex {
        PartitionIndex(
            self.partitions
                .get(usize::from(old))
                .copied()
                .unwrap_or(old),
        )
    }

    fn partitions(&self, old: PartitionSet) -> PartitionSet {
        let renamed = old.iter().map(|p| self.partition(p));
        renamed.fold(PartitionSet::EMPTY, PartitionSet::with)
    }

    fn ghost(&self, old: Ghost) -> Ghost {
        match old.ghost_reveal(self.ghost_key) {
            Some((producer, txn)) => Ghost::of(self.producer(producer), txn, self.ghost_key),
            None => old,
        }
    }

    fn correlation(&self, old: Correlation) -> Correlation {
        Correlation {
            producer: self.producer(old.producer),
            ..old
        }
    }

    /// What is renamed, as in `P to Q, Q to P`.
    pub fn says(&self) -> String {
        let renamed = |names: &[u8], name: fn(u8) -> String| {
            let changed = (0..).zip(names).filter(|(old, new)| old != *new);
            let said = changed.map(|(old, new)| format!("{} to {}", name(old), name(*new)));
            said.collect_vec()
        };
        let mut parts = renamed(&self.producers, |p| ProducerIndex(p).to_string());
        parts.extend(renamed(&self.ids, |id| format!("id {id}")));
        parts.extend(renamed(&self.partitions, |p| format!("p{p}")));
        parts.join(", ")
    }

    /// A state under the new names.
    pub fn state(&self, old: &State) -> State {
        let mut state = old.clone();
        for producer in &old.producers {
            let renamed = self.renamed_producer(producer);
            let at = usize::from(renamed.index.0);
            state.producers[at] = renamed.into();
        }
        for (coordinator, old) in state.coordinators.iter_mut().zip(&old.coordinators) {
            for (id, slot) in (0..).zip(&old.slots) {
                let at = usize::from(self.id(TransactionalId(id)).0);
                coordinator.slots[at] = self.slot(*slot);
            }
            for ghost in &mut coordinator.ghost_timed_out {
                *ghost = self.ghost(*ghost);
            }
            // The model keeps them sorted.
            coordinator.ghost_timed_out.sort_unstable();
        }
        for (id, record) in (0..).zip(&old.log.committed) {
            let at = usize::from(self.id(TransactionalId(id)).0);
            state.log.committed[at] = record.map(|m| self.metadata(m));
        }
        for record in &mut state.log.appended {
            *record = self.append(*record);
        }
        for partition in &old.partitions {
            let renamed = self.renamed_partition(partition);
            let at = usize::from(renamed.index.0);
            state.partitions[at] = renamed.into();
        }
        state.group = old.group.as_ref().map(|group| self.group(group).into());
        for reader in &mut state.readers {
            reader.partition = self.partition(reader.partition);
        }
        for message in &mut state.network {
            *message = self.message(*message);
        }
        state.network.sort_unstable();
        for (id, newest) in (0..).zip(old.ghost_newest) {
            let at = usize::from(self.id(TransactionalId(id)).0);
            state.ghost_newest[at] = newest.map(|p| self.producer(p));
        }
        state.seal();
        state
    }

    fn renamed_producer(&self, old: &Producer) -> Producer {
        let mut producer = old.clone();
        producer.index = self.producer(old.index);
        producer.registered = self.partitions(old.registered);
        for batch in &mut producer.in_flight {
            batch.partition = self.partition(batch.partition);
        }
        for (partition, sequence) in (0..).zip(old.next_sequence) {
            let at = usize::from(self.partition(PartitionIndex(partition)).0);
            producer.next_sequence[at] = sequence;
        }
        producer
    }

    fn slot(&self, old: Slot) -> Slot {
        Slot {
            metadata: old.metadata.map(|m| self.metadata(m)),
            pending: old.pending.map(|pending| Pending {
                to: pending.to.map(|m| self.metadata(m)),
                stage: self.stage(pending.stage),
            }),
            ..old
        }
    }

    fn metadata(&self, old: TransactionMetadata) -> TransactionMetadata {
        TransactionMetadata {
            partitions: self.partitions(old.partitions),
            ghost: self.ghost(old.ghost),
            ..old
        }
    }

    fn stage(&self, old: Stage) -> Stage {
        match old {
            Stage::Appending(then) => Stage::Appending(self.then(then)),
            Stage::WritingMarkers { queued, awaiting } => Stage::WritingMarkers {
                queued: self.partitions(queued),
                awaiting: self.partitions(awaiting),
            },
            Stage::Abandoned => Stage::Abandoned,
        }
    }

    fn then(&self, old: Then) -> Then {
        match old {
            Then::AnswerInit {
                correlation,
                ongoing,
            } => Then::AnswerInit {
                correlation: self.correlation(correlation),
                ongoing,
            },
            Then::AnswerAdd {
                correlation,
                request,
            } => Then::AnswerAdd {
                correlation: self.correlation(correlation),
                request,
            },
            Then::AnswerVerify {
                partition,
                identity,
                sequence,
            } => Then::AnswerVerify {
                partition: self.partition(partition),
                identity,
                sequence,
            },
            Then::AnswerEnd {
                correlation,
                version,
            } => Then::AnswerEnd {
                correlation: self.correlation(correlation),
                version,
            },
            Then::Fence { correlation } => Then::Fence {
                correlation: correlation.map(|c| self.correlation(c)),
            },
            Then::Timeout | Then::Complete | Then::Expire | Then::Nothing => old,
        }
    }

    fn append(&self, old: AppendTxnRecord) -> AppendTxnRecord {
        AppendTxnRecord {
            transactional_id: self.id(old.transactional_id),
            value: old.value.map(|m| self.metadata(m)),
            ..old
        }
    }

    fn renamed_partition(&self, old: &Partition) -> Partition {
        let mut partition = old.clone();
        partition.index = self.partition(old.index);
        let follower = partition.follower.iter_mut().flat_map(|log| log.iter_mut());
        for record in partition.log.iter_mut().chain(follower) {
            *record = Record {
                ghost: self.ghost(record.ghost),
                ..*record
            };
        }
        for parked in &mut partition.parked {
            parked.request = match parked.request {
                ParkedRequest::Produce(m) => ParkedRequest::Produce(self.produce(m)),
                ParkedRequest::TxnOffsetCommit(m) => {
                    ParkedRequest::TxnOffsetCommit(self.stage_offset(m))
                }
            };
        }
        // The model keeps them sorted.
        partition.parked.sort_unstable();
        for waiting in &mut partition.waiting {
            waiting.answer = self.message(waiting.answer);
        }
        partition
    }

    fn members(&self, old: MemberSet) -> MemberSet {
        let members = (0..)
            .zip(&self.producers)
            .map(|(member, _)| ProducerIndex(member));
        let renamed = members
            .filter(|p| old.contains(*p))
            .map(|p| self.producer(p));
        renamed.fold(MemberSet::default(), MemberSet::with)
    }

    fn group(&self, old: &Group) -> Group {
        let mut group = old.clone();
        group.member = self.producer(old.member);
        group.members = self.members(old.members);
        group.replaced = self.members(old.replaced);
        for staged in &mut group.staged {
            staged.ghost = self.ghost(staged.ghost);
        }
        for marker in &mut group.unapplied {
            *marker = self.marker(*marker);
        }
        for ghost in &mut group.ghost_published {
            *ghost = self.ghost(*ghost);
        }
        // The model keeps them sorted.
        group.staged.sort_unstable();
        group.ghost_published.sort_unstable();
        group
    }
}
