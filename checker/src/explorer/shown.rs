//! The model as the Explorer shows it: states as facts in Kafka's terms, steps as sentences with
//! what they change, and the way there as a chart.

use super::ModelName;
use crate::export::{Chart, svg};
use crate::story::worth_telling;
use fencepost_spec::properties::{self, Id};
use fencepost_spec::trace::{Line, facts, violated_at_end};
use fencepost_spec::world::{Action, State, World};
use stateright::{Model, Path};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A model for stateright's server. It has no properties: those of a state are among its facts,
/// and ways to break them come from the search of this project, which is exact.
#[derive(Clone)]
pub struct Shown {
    world: Arc<World>,
    title: String,
    drawn: Arc<AtomicBool>,
}

/// A state that is shown as its facts.
#[derive(Clone)]
pub struct Facts {
    state: State,
    world: Arc<World>,
}

impl PartialEq for Facts {
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state
    }
}

impl Hash for Facts {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.state.hash(hasher);
    }
}

/// An actor a line, then its facts, each `FIELD = VALUE`, indented.
impl fmt::Debug for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let violated: Vec<_> = Id::in_mask(violated_at_end(&self.world, &self.state)).collect();
        if !violated.is_empty() {
            writeln!(f, "violated")?;
        }
        for id in violated {
            writeln!(f, "    {} = {}", id.name(), id.row().says)?;
        }
        let facts = facts(&self.state);
        let told = facts.iter().filter(|fact| fact.actor != "property");
        let mut actor = "";
        for fact in told {
            if fact.actor != actor {
                actor = &fact.actor;
                writeln!(f, "{actor}")?;
            }
            writeln!(f, "    {} = {}", fact.field, fact.value)?;
        }
        Ok(())
    }
}

impl Shown {
    /// A model by its name.
    pub fn new(model: ModelName) -> Self {
        Self {
            world: Arc::new(model.world()),
            title: model.title(),
            drawn: Arc::default(),
        }
    }

    /// Whether a chart was asked of this model or of a clone.
    pub fn has_drawn(&self) -> bool {
        self.drawn.load(Ordering::Relaxed)
    }

    /// A run as the Explorer's addresses have it: the places of its actions in the lists that the
    /// model gives. `None` if an action is not in its list.
    pub fn places(&self, actions: &[Action], states: &[State]) -> Option<String> {
        let mut places = String::from("/0");
        for (action, state) in actions.iter().zip(states) {
            let mut list = Vec::new();
            self.actions(&self.facts(state.clone()), &mut list);
            let at = list.iter().position(|listed| listed == action)?;
            places.push_str(&format!("/{at}"));
        }
        Some(places)
    }

    fn facts(&self, state: State) -> Facts {
        Facts {
            state,
            world: Arc::clone(&self.world),
        }
    }
}

impl Model for Shown {
    type State = Facts;
    type Action = Action;

    fn init_states(&self) -> Vec<Facts> {
        vec![self.facts(self.world.initial())]
    }

    fn actions(&self, state: &Facts, actions: &mut Vec<Action>) {
        self.world.candidates(&state.state, actions);
        actions.retain(|action| self.world.take(&state.state, action).is_some());
    }

    fn next_state(&self, state: &Facts, action: Action) -> Option<Facts> {
        let next = self.world.take(&state.state, &action)?;
        Some(self.facts(next))
    }

    fn format_action(&self, action: &Action) -> String {
        Line::from(action).sentence()
    }

    fn format_step(&self, last: &Facts, action: Action) -> Option<String> {
        let next = self.world.take(&last.state, &action)?;
        let told = worth_telling(&last.state, &next);
        let told = told.iter().filter(|change| change.actor != "property");
        let mut lines: Vec<_> = told.map(ToString::to_string).collect();
        let broken =
            violated_at_end(&self.world, &next) & !properties::violated(&self.world, &last.state);
        for id in Id::in_mask(broken) {
            lines.push(format!("{} is violated: {}", id.name(), id.row().name));
        }
        Some(lines.join("\n"))
    }

    fn as_svg(&self, path: Path<Facts, Action>) -> Option<String> {
        self.drawn.store(true, Ordering::Relaxed);
        let steps: Vec<(Facts, Option<Action>)> = path.into_vec();
        let actions: Vec<_> = steps.iter().filter_map(|(_, action)| *action).collect();
        let states: Vec<_> = steps.into_iter().map(|(facts, _)| facts.state).collect();
        Some(svg(&Chart::of(&self.world, &actions, &states), &self.title))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(scenario: &str, rules: &str) -> Shown {
        Shown::new(ModelName::find(scenario, rules, "none").expect("the catalogue has it"))
    }

    #[test]
    fn a_state_is_shown_as_facts_and_a_step_as_a_sentence() {
        let shown = shown("smoke", "tv2");
        let first = &shown.init_states()[0];
        assert!(format!("{first:#?}").contains("P\n    phase = Unstarted\n"));
        let mut actions = Vec::new();
        shown.actions(first, &mut actions);
        assert_eq!(actions.len(), 1);
        assert_eq!(
            shown.format_action(&actions[0]),
            "P: starts, and asks for an identity"
        );
        let step = shown.format_step(first, actions[0]).unwrap_or_default();
        assert!(
            step.contains("P phase: Unstarted -> Initializing"),
            "{step}"
        );
        let states = vec![first.state.clone()];
        assert_eq!(shown.places(&actions, &states), Some("/0/0".to_owned()));
    }

    #[test]
    fn the_places_on_a_path_lead_along_the_run() {
        let shown = shown("retry", "tv1");
        let (mut states, mut taken) = (shown.init_states(), Vec::new());
        for _ in 0..20 {
            let mut actions = Vec::new();
            shown.actions(&states[states.len() - 1], &mut actions);
            let Some(last) = actions.pop() else {
                break;
            };
            let next = shown.next_state(&states[states.len() - 1], last);
            taken.push(last);
            states.extend(next);
        }
        let run: Vec<_> = states.iter().map(|s| s.state.clone()).collect();
        let path = shown.places(&taken, &run).unwrap_or_default();
        let mut at = shown.init_states()[0].clone();
        for place in path.split('/').skip(2) {
            let mut actions = Vec::new();
            shown.actions(&at, &mut actions);
            let chosen = place
                .parse()
                .ok()
                .and_then(|i: usize| actions.get(i).copied());
            let next = chosen.and_then(|action| shown.next_state(&at, action));
            at = next.unwrap_or_else(|| panic!("{place} is no place among {}", actions.len()));
        }
        assert_eq!(taken.len(), 20);
        assert!(at == states[20]);
    }
}
