//! What happens to a broker, or what a case does to it, besides the requests: restarts, time, topics and members that go.

use fencepost_spec::coordinator::TransactionState;
use fencepost_spec::fault::Fault;
use fencepost_spec::partition::Partition;
use fencepost_spec::types::*;
use fencepost_spec::world::{Action, State};

use super::{DATA_PARTITIONS, Oracle};

/// How much time passes at once: more than a transaction may take, than a producer is remembered, than an id is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elapsed {
    /// A minute and some.
    Minute,
    /// A day and some.
    Day,
    /// A week and some.
    Week,
}

impl Oracle {
    /// The broker starts again: the coordinator loads its log, the partitions their producer state.
    pub fn restart(&mut self) {
        let partitions = self
            .states
            .first()
            .map_or(0, |it| it.partitions.len() as u8);
        let mut actions = vec![
            Action::CrashCoordinator(BrokerId(0)),
            Action::LearnElected(BrokerId(0)),
            Action::Load(BrokerId(0)),
        ];
        for index in (0..partitions).map(PartitionIndex) {
            actions.extend([Action::Restart(index), Action::Recover(index)]);
        }
        let world = &self.world;
        let restarted = self.reachable().into_iter().filter_map(|mut state| {
            state.budgets = state
                .budgets
                .with(Fault::CoordinatorCrash, 1)
                .with(Fault::Restart, partitions);
            actions
                .iter()
                .try_fold(state, |state, action| world.take(&state, action))
        });
        self.states = restarted.collect();
    }

    /// Every id is at this epoch, in the log and in memory, as if so many sessions had come and gone.
    pub fn raise_epochs(&mut self, epoch: i16) {
        let epoch = ProducerEpoch(epoch);
        for state in &mut self.states {
            let logged = state.log.committed.iter_mut().flatten();
            logged.for_each(|metadata| metadata.producer_epoch = epoch);
            for slot in state.coordinators[0].slots.iter_mut() {
                if let Some(metadata) = &mut slot.metadata {
                    metadata.producer_epoch = epoch;
                }
            }
        }
        self.restart();
    }

    /// The sweep aborts what `id` has open.
    pub fn time_out(&mut self, id: TransactionalId) {
        let action = Action::Timeout(BrokerId(0), id);
        self.states = self
            .reachable()
            .iter()
            .filter_map(|state| {
                let mut due = state.clone();
                due.budgets = due.budgets.with(Fault::Timer, 1);
                self.world.take(&due, &action)
            })
            .collect();
    }

    /// So much time passes: whatever has a time limit meets it, in each state.
    pub fn pass(&mut self, elapsed: Elapsed) {
        let world = &self.world;
        let passed = self.reachable().into_iter().map(|state| {
            let due = overdue(&state, elapsed);
            due.into_iter().fold(state, |mut state, (fault, action)| {
                state.budgets = state.budgets.with(fault, 1);
                let after = world.take(&state, &action).unwrap_or(state);
                State {
                    budgets: after.budgets.with(fault, 0),
                    ..after
                }
            })
        });
        self.states = passed.collect();
        self.settle();
    }

    /// The topic is deleted.
    pub fn delete_topic(&mut self) {
        for state in &mut self.states {
            for partition in state
                .partitions
                .iter_mut()
                .take(usize::from(DATA_PARTITIONS))
            {
                let fresh = Partition::new(partition.index, partition.pace);
                **partition = fresh;
                partition.deleted = true;
            }
        }
    }

    /// A second member joins, and the group waits for the first one.
    pub fn begin_rebalance(&mut self) {
        for state in &mut self.states {
            if let Some(group) = state.group.as_mut() {
                group.prepare_rebalance();
            }
        }
    }

    /// A plain OffsetCommit of the group, which the model has no message for.
    pub fn commit_plainly(&mut self, offset: u8) {
        for state in &mut self.states {
            if let Some(group) = state.group.as_mut() {
                group.committed = Payload(offset);
            }
        }
    }

    /// The group's generation, as its member was told.
    pub fn set_generation(&mut self, generation: u8) {
        for state in &mut self.states {
            if let Some(group) = state.group.as_mut() {
                group.generation = Generation(generation);
            }
        }
    }
}

/// What ends by itself in `state`: transactions after a minute, producers after a day, ids and offsets after a week.
fn overdue(state: &State, elapsed: Elapsed) -> Vec<(Fault, Action)> {
    let mut due = Vec::new();
    let slots = (0..).zip(&state.coordinators[0].slots);
    for (index, metadata) in slots.filter_map(|(index, slot)| Some((index, slot.metadata?))) {
        let id = TransactionalId(index);
        if metadata.state == TransactionState::Ongoing {
            due.push((Fault::Timer, Action::Timeout(BrokerId(0), id)));
        } else if elapsed == Elapsed::Week {
            due.push((Fault::IdExpiry, Action::ExpireId(BrokerId(0), id)));
        }
    }
    if elapsed != Elapsed::Minute {
        for partition in &state.partitions {
            let producers = partition.producers.iter().map(|entry| entry.producer_id);
            due.extend(producers.map(|id| (Fault::Eviction, Action::Evict(partition.index, id))));
        }
    }
    if elapsed == Elapsed::Week {
        due.push((Fault::OffsetExpiry, Action::ExpireOffsets));
    }
    due
}
