//! The checked model: every actor and the network in one compact state.

mod action;
mod apply;
mod enabled;
mod encoding;
mod monitor;
mod part;
mod settle;
mod state;
mod stranger;
pub mod symmetry;

pub use action::Action;
pub use part::Part;
pub use state::{Manager, Seed, State};

use crate::coverage::Cell;
use crate::properties;
use crate::rules::Rules;
use crate::scenario::Scenario;
use crate::step::{Context, Out, Step};
use crate::types::TransactionVersion;
use stateright::{Model, Property};

/// A scenario under rules: a stateright [`Model`].
#[derive(Clone, Debug)]
pub struct World {
    /// Who takes part, and which faults.
    pub scenario: Scenario,
    /// The rules.
    pub rules: Rules,
}

impl World {
    /// The model of `scenario` under `rules`.
    pub fn new(scenario: Scenario, rules: Rules) -> Self {
        Self { scenario, rules }
    }

    /// The state at the start.
    pub fn initial(&self) -> State {
        State::initial(&self.scenario, &self.rules)
    }

    /// Takes `action` in `state`; `None` where it is not enabled.
    pub fn take(&self, state: &State, action: &Action) -> Option<State> {
        self.take_noting(state, action, |_| ())
    }

    /// The same, with the decision-table cell that the step took, if it took one.
    pub fn take_with_cell(&self, state: &State, action: &Action) -> Option<(State, Option<Cell>)> {
        let mut taken = None;
        let next = self.take_noting(state, action, |cell| taken = Some(cell))?;
        Some((next, taken))
    }

    /// The same, telling `note` the cell that the step took, or that left its request waiting.
    fn take_noting(
        &self,
        state: &State,
        action: &Action,
        note: impl FnOnce(Cell),
    ) -> Option<State> {
        let mut next = state.clone();
        self.take_into(state, action, &mut next, note)
            .then_some(next)
    }

    /// The same, written over `next`, any state of a run of this world: only what differs is written. False where the
    /// action is not enabled; `next` is then only good for being written over.
    pub fn take_into(
        &self,
        state: &State,
        action: &Action,
        next: &mut State,
        note: impl FnOnce(Cell),
    ) -> bool {
        next.clone_from(state);
        let mut out = Out::default();
        let step = self.advance(state, action, next, &mut out);
        if let Some(cell) = out.cell {
            note(cell);
        }
        step == Step::Handled
    }

    /// Takes `next`, which equals `state`, one step further.
    fn advance(&self, state: &State, action: &Action, next: &mut State, out: &mut Out) -> Step {
        let step = self.apply(next, action, out);
        if step == Step::Handled {
            next.network.append(&mut out.messages);
            self.settle(next);
            self.monitor(state, action, next);
            next.seal();
        }
        step
    }

    /// The cell that `action` decides in `state`, also where the decision leaves its request waiting, as a retriable
    /// answer would. `scratch` is any state of a run of this world: it is written over, and then only good for that.
    pub fn cell(&self, state: &State, action: &Action, scratch: &mut State) -> Option<Cell> {
        scratch.clone_from(state);
        let mut out = Out::default();
        self.apply(scratch, action, &mut out);
        out.cell
    }

    /// Every action that is enabled in `state`, in order, with the state it leads to.
    pub fn enabled(&self, state: &State) -> Vec<(Action, State)> {
        let mut candidates = Vec::new();
        self.candidates(state, &mut candidates);
        candidates
            .into_iter()
            .filter_map(|a| self.take(state, &a).map(|s| (a, s)))
            .collect()
    }

    pub(crate) fn context(&self, version: TransactionVersion) -> Context<'_> {
        Context {
            rules: &self.rules,
            version,
            blocking: self.scenario.blocking,
        }
    }
}

impl Model for World {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![self.initial()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.candidates(state, actions);
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        self.take(state, &action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::as_stateright()
    }
}
