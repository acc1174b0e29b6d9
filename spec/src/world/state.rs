//! The state of a run.

use super::part::Part;
use crate::client::{Producer, Reader};
use crate::coordinator::{
    Coordinator, Role, TransactionLog, TransactionMetadata, TransactionState,
};
use crate::fault::Budgets;
use crate::group::Group;
use crate::message::Message;
use crate::partition::Partition;
use crate::rules::Rules;
use crate::scenario::Scenario;
use crate::types::*;
use crate::written_over::written_over;
use serde::{Deserialize, Serialize};

/// What a scenario starts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Seed {
    /// Nothing: an empty log.
    #[default]
    Fresh,
    /// Id 0 is logged as Empty with this identity; fresh producer ids start at `next`.
    Logged {
        /// The stored identity.
        identity: Identity,
        /// The first fresh producer id.
        next: ProducerId,
    },
    /// Partition 0 has seen producer 1 up to this sequence, and the producer goes on from there.
    SequenceAt(Sequence),
    /// KIP-939: id 0 is logged as Ongoing on partition 0 with a taken-over client identity, and
    /// the partition holds its data.
    TakenOver {
        /// The identity of the transaction.
        ongoing: Identity,
        /// The identity that the client was last given.
        client: Identity,
        /// The first fresh producer id.
        next: ProducerId,
    },
}

/// The external transaction manager (KIP-939).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Manager {
    /// The identity that was recorded as prepared.
    pub prepared: Option<Identity>,
    /// The decision.
    pub decision: Option<TransactionResult>,
}

/// Everything at one moment.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct State {
    /// The producer instances.
    pub producers: List<Part<Producer>, 2>,
    /// The coordinators, by broker.
    pub coordinators: List<Part<Coordinator>, 2>,
    /// The transaction-state partition.
    pub log: Part<TransactionLog>,
    /// Data partitions, then the offsets partition.
    pub partitions: List<Part<Partition>, 2>,
    /// The group, where there is an offsets partition.
    pub group: Option<Part<Group>>,
    /// Stepwise readers.
    pub readers: List<Reader, 2>,
    /// The external transaction manager.
    pub manager: Manager,
    /// Messages in flight: a multiset, sorted.
    pub network: List<Message, 6>,
    /// The finalized `transaction.version`.
    pub version: TransactionVersion,
    /// What is left of each fault.
    pub budgets: Budgets,
    /// The last instance of each id to be given its first identity.
    pub ghost_newest: [Option<ProducerIndex>; 2],
    /// Properties that a step has broken, by their bit.
    pub ghost_broken: u32,
}

written_over!(State {
    values: [manager, version, budgets, ghost_newest, ghost_broken],
    lists: [network],
    // Each part skips what is equal.
    others: [producers, coordinators, log, partitions, group, readers],
});

impl State {
    /// The start of a scenario.
    pub fn initial(scenario: &Scenario, rules: &Rules) -> Self {
        let version = rules.transaction_version;
        let offsets = u8::from(scenario.offsets);
        let mut state = Self {
            producers: (0..scenario.workloads.len())
                .map(|i| Producer::new(ProducerIndex(i as u8), version).into())
                .collect(),
            coordinators: (0..scenario.brokers)
                .map(|b| Coordinator::new(BrokerId(b), scenario.ids, b == 0).into())
                .collect(),
            log: TransactionLog::new(scenario.ids).into(),
            partitions: (0..scenario.partitions + offsets)
                .map(|p| Partition::new(PartitionIndex(p), scenario.pace).into())
                .collect(),
            group: scenario.offsets.then(|| Group::default().into()),
            readers: scenario
                .readers
                .iter()
                .map(|(p, level)| Reader::new(*p, *level))
                .collect(),
            manager: Manager::default(),
            network: List::new(),
            version,
            budgets: scenario.budgets,
            ghost_newest: [None; 2],
            ghost_broken: 0,
        };
        if scenario.follower {
            for partition in &mut state.partitions {
                partition.follower = Some(Box::default());
            }
        }
        state.seed(scenario, rules);
        state.seal();
        state
    }

    fn seed(&mut self, scenario: &Scenario, rules: &Rules) {
        match scenario.seed {
            Seed::Fresh => {}
            Seed::Logged { identity, next } => {
                let created = TransactionMetadata::created(identity.producer_id, false);
                self.set_logged(TransactionMetadata {
                    producer_epoch: identity.producer_epoch,
                    ..created
                });
                self.coordinators[0].next_producer_id = next;
            }
            Seed::SequenceAt(sequence) => {
                let identity = Identity::new(ProducerId(1), ProducerEpoch::FIRST);
                self.partitions[0].seed_record(
                    rules,
                    identity,
                    sequence,
                    false,
                    (Payload(0), Ghost::NONE),
                );
                self.producers[0].next_sequence[0] = sequence.next();
                self.producers[0].identity = Some(identity);
            }
            Seed::TakenOver {
                ongoing,
                client,
                next,
            } => {
                let ghost = Ghost::of(ProducerIndex(0), 0, scenario.ghost_key);
                let created = TransactionMetadata::created(ongoing.producer_id, true);
                self.set_logged(TransactionMetadata {
                    state: TransactionState::Ongoing,
                    producer_epoch: ongoing.producer_epoch,
                    next: Some(client),
                    partitions: PartitionSet::one(PartitionIndex(0)),
                    client_version: TransactionVersion::Tv2,
                    ghost,
                    ..created
                });
                self.partitions[0].seed_record(
                    rules,
                    ongoing,
                    Sequence::FIRST,
                    true,
                    (Payload(1), ghost),
                );
                self.coordinators[0].next_producer_id = next;
                self.producers[0].crash_before_start();
                self.manager.prepared = Some(ongoing);
            }
        }
    }

    fn set_logged(&mut self, metadata: TransactionMetadata) {
        self.log.committed[0] = Some(metadata);
        self.coordinators[0].slots[0].metadata = Some(metadata);
    }

    /// The coordinator that leads and has loaded, if there is one.
    pub fn leader(&self) -> Option<&Coordinator> {
        self.coordinators
            .iter()
            .find(|c| c.role == Role::Leader && c.epoch == self.log.epoch)
            .map(|c| &**c)
    }

    /// The offsets partition's index: the one after the data partitions.
    pub fn offsets_partition(&self) -> Option<&Partition> {
        self.group.as_ref()?;
        self.partitions.last().map(|p| &**p)
    }

    /// Computes the digests that are not known. Every state of a run is sealed, so that none is computed twice.
    pub(super) fn seal(&mut self) {
        self.producers.iter_mut().for_each(Part::seal);
        self.coordinators.iter_mut().for_each(Part::seal);
        self.log.seal();
        self.partitions.iter_mut().for_each(Part::seal);
        self.group.iter_mut().for_each(Part::seal);
    }
}
