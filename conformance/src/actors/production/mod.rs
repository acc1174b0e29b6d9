//! The whole production side of a scenario, and one step of it.

mod before;
mod deliver;
mod take;

use super::replica::seed_batch;
use super::{Broker, Client, Difference, Offsets, Outbox, Replica, Said};
use crate::map::Topics;
use fencepost_spec::client::Item;
use fencepost_spec::fault::Fault;
use fencepost_spec::rules::Rules;
use fencepost_spec::scenario::Scenario;
use fencepost_spec::types::*;
use fencepost_spec::world::State;
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

/// Whether somebody may name a generation: then the group has members.
fn names_generations(scenario: &Scenario) -> bool {
    let fetches = scenario
        .workloads
        .iter()
        .any(|workload| workload.items.contains(&Item::FetchOffset));
    fetches || scenario.budgets.left(Fault::Stranger) > 0
}
