//! One step, on both sides.

use super::compare::{abstracted, compare, normal, refused};
use super::crash::Taken;
use super::known::known_difference;
use super::{Exclusion, Mismatch, Tally, Tamper};
use crate::actors::{Difference, Frame, Outbox, Production, Said, THIRD_COPY, Took, read_step};
use crate::map::without_ghost;
use fencepost_spec::coordinator::Stage;
use fencepost_spec::message::Message;
use fencepost_spec::scenario::{Granularity, Scenario};
use fencepost_spec::types::TransactionalId;
use fencepost_spec::world::{Action, State, World};

/// A scenario's model beside its production.
#[derive(Clone, Debug)]
pub struct Lockstep {
    /// The model.
    pub world: World,
    /// The same actors one delivery at a time, with every message kept: what each core sends is seen there.
    single: World,
    /// The same with retriable answers really sent: what a waiting request would be answered is seen there.
    pub(super) answering: World,
    tamper: Option<Tamper>,
    /// Whether what both sides say and are is compared.
    pub(super) compares: bool,
}

/// What became of a step.
#[derive(Clone, Debug)]
pub enum Edge {
    /// Both sides took it.
    Taken(Box<After>),
    /// It is left out.
    Excluded,
}

/// Production after a step.
#[derive(Clone, Debug)]
pub struct After {
    /// Its cores.
    pub production: Production,
    /// Its state as the model would say it, in the form of comparison.
    pub found: State,
}

impl Lockstep {
    /// The model `world` beside its production.
    pub fn new(world: World) -> Self {
        let single = Scenario {
            granularity: Granularity::E0,
            prune: false,
            ..world.scenario.clone()
        };
        let answering = Scenario {
            blocking: false,
            ..single.clone()
        };
        Self {
            single: World::new(single, world.rules.clone()),
            answering: World::new(answering, world.rules.clone()),
            world,
            tamper: None,
            compares: true,
        }
    }

    /// The same with a fault.
    #[must_use]
    pub fn tampered(self, tamper: Tamper) -> Self {
        Self {
            tamper: Some(tamper),
            ..self
        }
    }

    /// The same with nothing compared: production takes the model's steps, and only the properties judge it.
    #[must_use]
    pub fn only_properties(self) -> Self {
        Self {
            compares: false,
            ..self
        }
    }

    /// The start of both sides.
    ///
    /// # Errors
    /// [`Mismatch`] where they do not start alike.
    pub fn start(&self, tally: &mut Tally) -> Result<(State, After), Mismatch> {
        let initial = self.world.initial();
        let production =
            Production::new(&self.world.scenario, &self.world.rules, &initial).map_err(refused)?;
        let found = compare(&self.frame(&initial), &initial, &production, tally)?;
        Ok((initial, After { production, found }))
    }

    /// Takes on production the step that led the model from `before` to `after`, and compares.
    ///
    /// # Errors
    /// [`Mismatch`] where the sides differ.
    pub fn step(
        &self,
        before: &State,
        action: &Action,
        after: &State,
        production: &Production,
        tally: &mut Tally,
    ) -> Result<Edge, Mismatch> {
        let frame = self.frame(before);
        if self.compares
            && !self.world.scenario.pace.apply_lag
            && let Some(read) = read_step(production, &frame, action).map_err(refused)?
            && read.model != read.production
        {
            return Err(Mismatch::Value {
                what: "what the reader is given".to_owned(),
                model: read.model,
                production: read.production,
            });
        }
        let mut production = production.clone();
        let mut crashed = Ok(());
        match self.single_step(before, action, &mut production, &mut crashed, tally)? {
            Single::Own => tally.exclusions.meet(Exclusion::Environment),
            Single::Client(_) => {}
            Single::Cut(exclusion) => {
                tally.exclusions.meet(exclusion);
                return Ok(Edge::Excluded);
            }
            Single::Core(then) => self.settle(*then, &mut production, &mut crashed, tally)?,
        }
        if !self.compares {
            let model = normal(&frame, after);
            let found = abstracted(&frame, &model, &production).map_err(refused)?;
            return Ok(Edge::Taken(Box::new(After { production, found })));
        }
        match compare(&frame, after, &production, tally) {
            Ok(found) => {
                crashed?;
                Ok(Edge::Taken(Box::new(After { production, found })))
            }
            Err(mismatch) => Err(mismatch),
        }
    }

    /// One delivery or one step of a core: what both sides send is compared, and what comes up after a crash inside it.
    fn single_step(
        &self,
        before: &State,
        action: &Action,
        production: &mut Production,
        crashed: &mut Result<(), Mismatch>,
        tally: &mut Tally,
    ) -> Result<Single, Mismatch> {
        let began = production.clone();
        let Outbox {
            messages: sent,
            writes,
        } = match self.take(before, action, production) {
            Ok(Took::Own) => return Ok(Single::Own),
            Ok(Took::Client(producer, said)) => {
                let then = self.client_step(before, action, (producer, said), tally)?;
                return Ok(Single::Client(Box::new(then)));
            }
            Ok(Took::Excluded(excluded)) => return Ok(Single::Cut(Exclusion::Action(excluded))),
            Err(Difference::ThirdCopy) => return Ok(Single::Cut(Exclusion::Action(THIRD_COPY))),
            Err(difference) => return Err(refused(difference)),
            Ok(Took::Core(out)) => out,
        };
        let Some(then) = self.single.take(before, action) else {
            return Err(Mismatch::Refused(
                "the model's single step is not enabled".to_owned(),
            ));
        };
        let expected = new_messages(before, action, &then);
        let known = known_difference(before, action, &expected, &sent);
        match (same_messages(expected.clone(), sent), known) {
            (Ok(()), _) => {}
            (Err(_), _) if !self.compares => {}
            (Err(_), Some(exclusion)) if exclusion.cuts() => return Ok(Single::Cut(exclusion)),
            (Err(_), Some(exclusion)) => tally.exclusions.meet(exclusion),
            (Err(mismatch), None) => return Err(mismatch),
        }
        if self.compares && crashed.is_ok() && !writes.is_empty() {
            let taken = Taken {
                model: (before, &then),
                sent: &expected,
                production: (&began, production),
                writes: &writes,
            };
            *crashed = self.crash(taken, &mut tally.crash_points);
        }
        Ok(Single::Core(Box::new(then)))
    }

    /// Both sides after one step, in the form of comparison, where production's state can be said.
    pub(super) fn sides(
        &self,
        before: &State,
        action: &Action,
        production: &Production,
    ) -> Option<(State, State)> {
        let mut production = production.clone();
        let after = match self.take(before, action, &mut production).ok()? {
            // What a client sends carries the number of the try.
            Took::Client(..) => self.world.take(before, action)?,
            Took::Core(_) | Took::Own | Took::Excluded(_) => self.single.take(before, action)?,
        };
        let frame = self.frame(before);
        let model = normal(&frame, &after);
        let found = abstracted(&frame, &model, &production).ok()?;
        Some((model, found))
    }

    /// What production makes of the step, or with a fault of another one.
    fn take(
        &self,
        before: &State,
        action: &Action,
        production: &mut Production,
    ) -> Result<Took, Difference> {
        let frame = self.frame(before);
        let Some(tamper) = self.tamper else {
            return production.take(&frame, action);
        };
        let took = match (tamper.takes)(*action) {
            None => return Ok(Took::Core(Outbox::default())),
            Some(action) => production.take(&frame, &action)?,
        };
        Ok(match took {
            Took::Core(out) => Took::Core(Outbox {
                messages: out.messages.into_iter().filter_map(tamper.sends).collect(),
                ..out
            }),
            Took::Client(producer, said) => {
                let messages = said.messages.into_iter().filter_map(tamper.sends);
                Took::Client(
                    producer,
                    Said {
                        messages: messages.collect(),
                        ..said
                    },
                )
            }
            Took::Own | Took::Excluded(_) => took,
        })
    }

    /// What follows a step at once where answers are eager: queued markers are sent, and answers to them and to
    /// producers arrive.
    fn settle(
        &self,
        mut state: State,
        production: &mut Production,
        crashed: &mut Result<(), Mismatch>,
        tally: &mut Tally,
    ) -> Result<(), Mismatch> {
        if self.world.scenario.granularity == Granularity::E0 {
            return Ok(());
        }
        while let Some(action) = next_to_settle(&state) {
            match self.single_step(&state, &action, production, crashed, tally)? {
                Single::Core(then) | Single::Client(then) => state = *then,
                // An answer to a stranger.
                Single::Own => remove(&mut state, &action),
                Single::Cut(_) => {
                    return Err(Mismatch::Refused(
                        "a settling step is none of a core".to_owned(),
                    ));
                }
            }
        }
        Ok(())
    }

    pub(super) fn frame<'a>(&'a self, before: &'a State) -> Frame<'a> {
        Frame {
            scenario: &self.world.scenario,
            rules: &self.world.rules,
            before,
            blocking: self.world.scenario.blocking,
        }
    }
}

enum Single {
    Core(Box<State>),
    Client(Box<State>),
    Own,
    Cut(Exclusion),
}

/// The first queued marker, else the first answer to one or to a producer.
fn next_to_settle(state: &State) -> Option<Action> {
    for coordinator in &state.coordinators {
        for (id, slot) in (0..).map(TransactionalId).zip(&coordinator.slots) {
            if let Some(Stage::WritingMarkers { queued, .. }) = slot.pending.map(|it| it.stage)
                && let Some(partition) = queued.iter().next()
            {
                return Some(Action::SendMarker(coordinator.broker, id, partition));
            }
        }
    }
    let answer = state
        .network
        .iter()
        .find(|message| is_marker_answer(message) || message.is_answer_to_producer())?;
    Some(Action::Deliver {
        message: *answer,
        broker: None,
    })
}

fn remove(state: &mut State, action: &Action) {
    if let Some(message) = taken(action)
        && let Some(at) = state.network.iter().position(|it| *it == message)
    {
        state.network.remove(at);
    }
}

fn is_marker_answer(message: &Message) -> bool {
    match message {
        Message::WriteTxnMarkersAnswer(_) => true,
        Message::InitProducerId(_)
        | Message::AddPartitionsToTxn(_)
        | Message::AddOffsetsToTxn(_)
        | Message::EndTxn(_)
        | Message::Produce(_)
        | Message::TxnOffsetCommit(_)
        | Message::OffsetFetch(_)
        | Message::VerifyPartition(_)
        | Message::WriteTxnMarkers(_)
        | Message::AppendTxnRecord(_)
        | Message::CoordinatorAnswer(_)
        | Message::ProduceAnswer { .. }
        | Message::TxnOffsetCommitAnswer { .. }
        | Message::OffsetFetchAnswer { .. }
        | Message::VerifyAnswer { .. }
        | Message::AppendTxnRecordAnswer(_) => false,
    }
}

/// The message that an action takes out of the network.
pub(super) fn taken(action: &Action) -> Option<Message> {
    match *action {
        Action::Deliver { message, .. } | Action::FailVerification(message) => Some(message),
        Action::LoseMarker(marker)
        | Action::LoseMarkerAnswer(marker)
        | Action::FindNoLeader(marker) => Some(Message::WriteTxnMarkers(marker)),
        Action::FailAppend(record) => Some(Message::AppendTxnRecord(record)),
        Action::SkipTest(answer) => Some(Message::WriteTxnMarkersAnswer(answer)),
        Action::Stranger { .. }
        | Action::CommitRecord
        | Action::Start(_)
        | Action::End(..)
        | Action::Prepare(_)
        | Action::ManagerDecides(_)
        | Action::Decided(_)
        | Action::ResendRequest(_)
        | Action::ResendBatch(..)
        | Action::GiveUp(..)
        | Action::CrashProducer(_)
        | Action::SendMarker(..)
        | Action::ResendMarker(..)
        | Action::Timeout(..)
        | Action::ExpireId(..)
        | Action::Elect(_)
        | Action::LearnElected(_)
        | Action::Load(_)
        | Action::Resign(_)
        | Action::CrashCoordinator(_)
        | Action::StepClockBack(_)
        | Action::Replicate(_)
        | Action::ApplyRecord(_)
        | Action::FailOver(_)
        | Action::Restart(_)
        | Action::Recover(_)
        | Action::TakeSnapshot(_)
        | Action::Evict(..)
        | Action::Compact(_)
        | Action::FollowerFetch(_)
        | Action::Promote(_)
        | Action::DeleteTopic(_)
        | Action::OperatorMarker(_)
        | Action::Materialise
        | Action::PrepareRebalance
        | Action::ExpireMember
        | Action::ReplaceStaticMember(_)
        | Action::CompleteRebalance(_)
        | Action::ExpireOffsets
        | Action::TakeBound(_)
        | Action::TakeData(_)
        | Action::TakeAborted(_)
        | Action::Upgrade => None,
    }
}

/// The messages that a single step has sent: what is in the network now and was not, but for the one it took.
pub(super) fn new_messages(before: &State, action: &Action, after: &State) -> Vec<Message> {
    let mut old: Vec<Message> = before.network.to_vec();
    if let Some(message) = taken(action)
        && let Some(at) = old.iter().position(|it| *it == message)
    {
        old.swap_remove(at);
    }
    let mut sent = Vec::new();
    for message in &after.network {
        match old.iter().position(|it| it == message) {
            Some(at) => {
                old.swap_remove(at);
            }
            None => sent.push(*message),
        }
    }
    sent
}

/// Compares what the two sides have sent, in any order, without ghosts.
pub(super) fn same_messages(model: Vec<Message>, production: Vec<Message>) -> Result<(), Mismatch> {
    let sorted = |messages: Vec<Message>| {
        let mut messages: Vec<Message> = messages.into_iter().map(without_ghost).collect();
        messages.sort_unstable();
        messages
    };
    let (model, production) = (sorted(model), sorted(production));
    if model == production {
        return Ok(());
    }
    let text = |messages: Vec<Message>| messages.iter().map(|it| format!("{it:?}")).collect();
    Err(Mismatch::Sent {
        model: text(model),
        production: text(production),
    })
}
