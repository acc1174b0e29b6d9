//! The model's properties, judged on production's own state.
//!
//! The predicates are the model's. What they are given is what production's cores hold, as the model would say it, with
//! the clients, the network and the transaction-state log that both sides share. The transaction that a record, a marker
//! or a staged offset truly belongs to is known to no actor: it is looked up by its place.

use super::Mismatch;
use fencepost_spec::coordinator::TransactionMetadata;
use fencepost_spec::partition::Partition;
use fencepost_spec::properties::{Id, violated, violated_terminally};
use fencepost_spec::types::Ghost;
use fencepost_spec::world::{Action, State, World};

/// What was judged, and what was found broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// States of production that were judged.
    pub states: u64,
    /// Steps that were judged.
    pub steps: u64,
    /// States that nothing can leave.
    pub terminal_states: u64,
    /// The properties that production broke, by their bits.
    pub production: u32,
    /// The properties that the model broke on the same steps.
    pub model: u32,
}

/// A verdict of both sides that is not the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Disagree {
    pub(super) model: u32,
    pub(super) production: u32,
}

impl From<Disagree> for Mismatch {
    fn from(disagree: Disagree) -> Self {
        Self::Value {
            what: "properties that are broken".to_owned(),
            model: names(disagree.model).join(", "),
            production: names(disagree.production).join(", "),
        }
    }
}

impl Judged {
    fn agree(&mut self, model: u32, production: u32) -> Result<(), Disagree> {
        self.model |= model;
        self.production |= production;
        if model == production {
            Ok(())
        } else {
            Err(Disagree { model, production })
        }
    }

    /// A state that was not met before.
    pub(super) fn state(
        &mut self,
        world: &World,
        model: &State,
        production: &State,
    ) -> Result<(), Disagree> {
        self.states += 1;
        self.agree(violated(world, model), violated(world, production))
    }

    /// A step from one state to the next.
    pub(super) fn step(
        &mut self,
        world: &World,
        (model, production): (&State, &State),
        action: &Action,
        (model_after, production_after): (&State, &State),
    ) -> Result<(), Disagree> {
        self.steps += 1;
        self.agree(
            world.broken_by(model, action, model_after),
            world.broken_by(production, action, production_after),
        )
    }

    /// A state that nothing can leave.
    pub(super) fn terminal(
        &mut self,
        world: &World,
        model: &State,
        production: &State,
    ) -> Result<(), Disagree> {
        self.terminal_states += 1;
        self.agree(
            violated_terminally(world, model),
            violated_terminally(world, production),
        )
    }
}

/// The names of the properties in a mask.
pub(super) fn names(mask: u32) -> Vec<&'static str> {
    Id::in_mask(mask).map(Id::name).collect()
}

/// Production's state with the ghosts by their place, and with what is the harness's own. `batches` are left out of the
/// comparison where snapshots are taken, and on the offsets partition, and so of the judgement.
pub(super) fn with_ghosts(model: &State, mut found: State, leaves_batches: bool) -> State {
    let offsets = model.offsets_partition().map(|it| it.index);
    for (found, model) in found.partitions.iter_mut().zip(&model.partitions) {
        if leaves_batches || offsets == Some(model.index) {
            place_batches(model, found);
        }
        found.known_coordinator = model.known_coordinator;
        found.pace = model.pace;
        found.follower.clone_from(&model.follower);
        place_ghosts(model, found);
    }
    for (found, model) in found.coordinators.iter_mut().zip(&model.coordinators) {
        found.ghost_timed_out.clone_from(&model.ghost_timed_out);
        for (found, model) in found.slots.iter_mut().zip(&model.slots) {
            found.round = model.round;
            if let Some(metadata) = found.metadata.as_mut() {
                metadata.ghost = ghost(model.metadata.as_ref());
            }
            let to = model.pending.and_then(|pending| pending.to);
            if let Some(found) = found.pending.as_mut().and_then(|it| it.to.as_mut()) {
                found.ghost = ghost(to.as_ref());
            }
        }
    }
    if let (Some(found), Some(model)) = (found.group.as_mut(), model.group.as_ref()) {
        found.ghost_published.clone_from(&model.ghost_published);
        for staged in &mut found.staged {
            let mut same = model.staged.iter();
            let same = same.find(|it| it.identity == staged.identity && it.offset == staged.offset);
            staged.ghost = same.map_or(Ghost::NONE, |it| it.ghost);
        }
    }
    found
}

fn place_batches(model: &Partition, found: &mut Partition) {
    for entry in &mut found.producers {
        if let Some(known) = model.producer(entry.producer_id) {
            entry.batches.clone_from(&known.batches);
        }
    }
}

fn place_ghosts(model: &Partition, found: &mut Partition) {
    for record in &mut found.log {
        let same = model.record_at(record.offset);
        let same = same.filter(|it| it.kind == record.kind && it.identity == record.identity);
        record.ghost = same.map_or(Ghost::NONE, |it| it.ghost);
    }
}

fn ghost(metadata: Option<&TransactionMetadata>) -> Ghost {
    metadata.map_or(Ghost::NONE, |it| it.ghost)
}
