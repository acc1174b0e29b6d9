//! The cross-check: the same step functions as stateright actors.
//!
//! [`World`] is the checked model; this thin [`ActorModel`] exists so that two hosts of one set of
//! actors can be compared. It covers what a single actor can spend on its own: no elections, no
//! pruning, every delivery a step (E0). A test holds unique and generated counts equal.

use crate::fault::{Budgets, Fault};
use crate::message::Message;
use crate::step::{Out, Step};
use crate::types::*;
use crate::world::World;
use crate::{client, coordinator, group, partition};
use stateright::actor::{Actor, ActorModel, Id, Network, Out as ActorOut, model_timeout};
use std::borrow::Cow;
use std::sync::Arc;

/// One actor of the scenario.
#[derive(Clone, Debug)]
pub enum Role {
    /// A producer instance.
    Producer(Arc<World>, ProducerIndex),
    /// The only coordinator.
    Coordinator(Arc<World>),
    /// The transaction-state partition.
    Log(Arc<World>),
    /// A partition; the last one has the group where the scenario has offsets.
    Partition(Arc<World>, PartitionIndex),
}

/// An actor's state, with the budgets that it alone spends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RoleState {
    /// Of a producer.
    Producer(client::Producer, Budgets),
    /// Of the coordinator.
    Coordinator(coordinator::Coordinator, Budgets),
    /// Of the log.
    Log(coordinator::TransactionLog),
    /// Of a partition.
    Partition(Box<partition::Partition>, Option<group::Group>),
}

/// What an actor does unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tick {
    /// A producer starts.
    Start,
    /// The application ends its transaction.
    End(TransactionResult),
    /// A client sends its request again.
    ResendRequest,
    /// A coordinator sends a queued marker.
    SendMarker(TransactionalId, PartitionIndex),
    /// A coordinator sends a marker again.
    ResendMarker(TransactionalId, PartitionIndex),
    /// A transaction's timeout passes.
    Timeout(TransactionalId),
    /// The log's oldest record is replicated.
    CommitRecord,
    /// The group applies its oldest marker.
    Materialise,
}

/// The faults that this host knows.
const FAULTS: [Fault; 3] = [Fault::ResendRequest, Fault::ResendMarker, Fault::Timer];

/// The scenario of `world` as an [`ActorModel`]; `None` where the scenario needs more than this
/// host has.
pub fn actor_model(world: &World) -> Option<ActorModel<Role>> {
    let scenario = &world.scenario;
    let known = scenario.budgets.iter().all(|(f, _)| FAULTS.contains(&f));
    let e0 = scenario.granularity == crate::scenario::Granularity::E0;
    if !known || !e0 || scenario.prune || scenario.brokers != 1 || !scenario.readers.is_empty() {
        return None;
    }
    let shared = Arc::new(world.clone());
    let mut model = ActorModel::new((), ());
    for i in 0..scenario.workloads.len() as u8 {
        model = model.actor(Role::Producer(shared.clone(), ProducerIndex(i)));
    }
    model = model
        .actor(Role::Coordinator(shared.clone()))
        .actor(Role::Log(shared.clone()));
    for p in 0..scenario.partitions + u8::from(scenario.offsets) {
        model = model.actor(Role::Partition(shared.clone(), PartitionIndex(p)));
    }
    // Without a property that holds, stateright's search stops before it has seen everything.
    Some(
        model
            .init_network(Network::new_unordered_nonduplicating([]))
            .property(
                stateright::Expectation::Always,
                "every state is visited",
                |_, _| true,
            ),
    )
}

/// Where a message goes.
fn destination(world: &World, message: &Message) -> Id {
    let producers = world.scenario.workloads.len();
    let at = match message {
        Message::InitProducerId(_)
        | Message::AddPartitionsToTxn(_)
        | Message::AddOffsetsToTxn(_)
        | Message::EndTxn(_)
        | Message::VerifyPartition(_)
        | Message::WriteTxnMarkersAnswer(_)
        | Message::AppendTxnRecordAnswer(_) => producers,
        Message::AppendTxnRecord(_) => producers + 1,
        Message::Produce(m) => producers + 2 + usize::from(m.partition.0),
        Message::WriteTxnMarkers(m) => producers + 2 + usize::from(m.partition.0),
        Message::VerifyAnswer { partition, .. } => producers + 2 + usize::from(partition.0),
        Message::TxnOffsetCommit(_) | Message::OffsetFetch(_) => {
            producers + 2 + usize::from(world.scenario.partitions)
        }
        Message::CoordinatorAnswer(m) => usize::from(m.correlation.producer.0),
        Message::ProduceAnswer { correlation, .. }
        | Message::TxnOffsetCommitAnswer { correlation, .. }
        | Message::OffsetFetchAnswer { correlation, .. } => usize::from(correlation.producer.0),
    };
    Id::from(at)
}

impl Role {
    fn start(&self) -> RoleState {
        match self {
            Self::Producer(world, p) => {
                let state = world.initial();
                let producer = &*state.producers[usize::from(p.0)];
                RoleState::Producer(producer.clone(), state.budgets)
            }
            Self::Coordinator(world) => {
                let state = world.initial();
                RoleState::Coordinator((*state.coordinators[0]).clone(), state.budgets)
            }
            Self::Log(world) => RoleState::Log((*world.initial().log).clone()),
            Self::Partition(world, p) => {
                let state = world.initial();
                let group = state.group.as_deref().filter(|_| world.is_offsets(*p));
                let partition = (*state.partitions[usize::from(p.0)]).clone();
                RoleState::Partition(Box::new(partition), group.cloned())
            }
        }
    }

    /// The scenario and the rules, which also say where a message goes.
    fn world(&self) -> &World {
        match self {
            Self::Producer(world, _)
            | Self::Coordinator(world)
            | Self::Log(world)
            | Self::Partition(world, _) => world,
        }
    }

    fn receive(&self, state: &mut RoleState, message: &Message, out: &mut Out) -> Step {
        match (self, state) {
            (Self::Producer(world, p), RoleState::Producer(producer, _)) => {
                let start = world.initial();
                producer.handle(&world.client_context(&start, *p), message, out)
            }
            (Self::Coordinator(world), RoleState::Coordinator(coordinator, _)) => coordinator
                .handle(
                    &world.context(world.rules.transaction_version),
                    message,
                    out,
                ),
            (Self::Log(_), RoleState::Log(log)) => match message {
                Message::AppendTxnRecord(m) => {
                    log.append(m, false, out);
                    Step::Handled
                }
                _ => Step::NotEnabled,
            },
            (Self::Partition(world, _), RoleState::Partition(partition, group)) => {
                let ctx = world.context(world.rules.transaction_version);
                world.partition_receives(&ctx, (partition, group.as_mut()), message, out)
            }
            (_, _) => Step::NotEnabled,
        }
    }

    /// Every tick that the actor might take.
    fn ticks(&self, state: &RoleState) -> Vec<Tick> {
        match state {
            RoleState::Producer(..) => vec![
                Tick::Start,
                Tick::End(TransactionResult::Abort),
                Tick::End(TransactionResult::Commit),
                Tick::ResendRequest,
            ],
            RoleState::Coordinator(coordinator, _) => {
                let ids = (0..coordinator.slots.len() as u8).map(TransactionalId);
                ids.flat_map(|id| {
                    let markers = (0..3)
                        .map(PartitionIndex)
                        .flat_map(move |p| [Tick::SendMarker(id, p), Tick::ResendMarker(id, p)]);
                    markers.chain([Tick::Timeout(id)])
                })
                .collect()
            }
            RoleState::Log(_) => vec![Tick::CommitRecord],
            RoleState::Partition(_, group) => group.iter().map(|_| Tick::Materialise).collect(),
        }
    }

    fn tick(&self, state: &mut RoleState, tick: Tick, out: &mut Out) -> Step {
        match (self, state, tick) {
            (Self::Producer(world, p), RoleState::Producer(producer, budgets), tick) => {
                let start = world.initial();
                let ctx = world.client_context(&start, *p);
                match tick {
                    Tick::Start => producer.start(&ctx, out),
                    Tick::End(result) => producer.end(&ctx, result, out),
                    Tick::ResendRequest => {
                        let may = producer.request.is_some_and(|k| world.scenario.resends(k));
                        if !may || !producer.is_started() || !budgets.spend(Fault::ResendRequest) {
                            return Step::NotEnabled;
                        }
                        producer.resend_request(&ctx, out)
                    }
                    _ => Step::NotEnabled,
                }
            }
            (Self::Coordinator(world), RoleState::Coordinator(coordinator, budgets), tick) => {
                let ctx = world.context(world.rules.transaction_version);
                match tick {
                    Tick::SendMarker(id, p) => coordinator.send_marker(id, p, out),
                    Tick::ResendMarker(id, p) => {
                        if !budgets.spend(Fault::ResendMarker) {
                            return Step::NotEnabled;
                        }
                        coordinator.resend_marker(id, p, out)
                    }
                    Tick::Timeout(id) => {
                        if !budgets.spend(Fault::Timer) {
                            return Step::NotEnabled;
                        }
                        coordinator.timeout(&ctx, id, out)
                    }
                    _ => Step::NotEnabled,
                }
            }
            (Self::Log(_), RoleState::Log(log), Tick::CommitRecord) => log.commit(out),
            (
                Self::Partition(world, _),
                RoleState::Partition(_, Some(group)),
                Tick::Materialise,
            ) => group.materialise(&world.context(world.rules.transaction_version), out),
            (_, _, _) => Step::NotEnabled,
        }
    }

    /// Sends what a step has sent, and keeps the timers equal to the ticks that are enabled.
    fn finish(&self, state: &RoleState, sent: Out, o: &mut ActorOut<Self>) {
        let world = self.world();
        for message in sent.messages {
            o.send(destination(world, &message), message);
        }
        for tick in self.ticks(state) {
            let enabled = self.tick(&mut state.clone(), tick, &mut Out::default()) == Step::Handled;
            if enabled {
                o.set_timer(tick, model_timeout());
            } else {
                o.cancel_timer(tick);
            }
        }
    }
}

impl Actor for Role {
    type Msg = Message;
    type Timer = Tick;
    type State = RoleState;
    type Storage = ();
    type Random = ();

    fn on_start(&self, _id: Id, _storage: &Option<()>, o: &mut ActorOut<Self>) -> RoleState {
        let state = self.start();
        for tick in self.ticks(&state) {
            if self.tick(&mut state.clone(), tick, &mut Out::default()) == Step::Handled {
                o.set_timer(tick, model_timeout());
            }
        }
        state
    }

    fn on_msg(
        &self,
        _id: Id,
        state: &mut Cow<'_, RoleState>,
        _src: Id,
        message: Message,
        o: &mut ActorOut<Self>,
    ) {
        let mut next = state.as_ref().clone();
        let mut sent = Out::default();
        if self.receive(&mut next, &message, &mut sent) == Step::Handled {
            self.finish(&next, sent, o);
            // Even an unchanged state is taken over, so that the message counts as consumed.
            *state.to_mut() = next;
        }
    }

    fn on_timeout(
        &self,
        _id: Id,
        state: &mut Cow<'_, RoleState>,
        tick: &Tick,
        o: &mut ActorOut<Self>,
    ) {
        let mut next = state.as_ref().clone();
        let mut sent = Out::default();
        if self.tick(&mut next, *tick, &mut sent) == Step::Handled {
            self.finish(&next, sent, o);
            *state.to_mut() = next;
        }
    }
}
