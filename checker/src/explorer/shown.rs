//! The model as the Explorer shows it: states as facts in Kafka's terms, steps as sentences with
//! what they change, and the way there as a chart.

use crate::export::{Chart, svg};
use crate::story::worth_telling;
use fencepost_spec::properties::{self, PROPERTIES};
use fencepost_spec::trace::{Line, facts, violated_at_end};
use fencepost_spec::world::{Action, State, World};
use stateright::{Model, Path, Property};
use std::fmt;

/// A world for the Explorer.
#[derive(Clone)]
pub struct Shown {
    world: World,
    title: String,
}

/// A state that is shown as its facts.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Facts(pub State);

impl fmt::Debug for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts = facts(&self.0);
        for of_one in facts.chunk_by(|a, b| a.actor == b.actor) {
            writeln!(f, "{}", of_one[0].actor)?;
            for fact in of_one {
                writeln!(f, "    {}: {}", fact.field, fact.value)?;
            }
        }
        Ok(())
    }
}

impl Shown {
    /// A world with a title for its charts.
    pub fn new(world: World, title: String) -> Self {
        Self { world, title }
    }

    /// The path part of the Explorer's address for a run: the places of its actions in the lists
    /// that the model gives. `None` if an action is not in its list.
    pub fn path_of(&self, actions: &[Action], states: &[State]) -> Option<String> {
        let mut path = String::from("/0");
        for (action, state) in actions.iter().zip(states) {
            let mut list = Vec::new();
            self.actions(&Facts(state.clone()), &mut list);
            let at = list.iter().position(|listed| listed == action)?;
            path.push_str(&format!("/{at}"));
        }
        Some(path)
    }
}

/// Whether a property holds in a state, counting what shows only where nothing can follow.
fn holds<const BIT: u32>(shown: &Shown, state: &Facts) -> bool {
    violated_at_end(&shown.world, &state.0) & (1 << BIT) == 0
}

/// The predicates, by bit.
const HOLDS: [fn(&Shown, &Facts) -> bool; 18] = [
    holds::<0>,
    holds::<1>,
    holds::<2>,
    holds::<3>,
    holds::<4>,
    holds::<5>,
    holds::<6>,
    holds::<7>,
    holds::<8>,
    holds::<9>,
    holds::<10>,
    holds::<11>,
    holds::<12>,
    holds::<13>,
    holds::<14>,
    holds::<15>,
    holds::<16>,
    holds::<17>,
];

impl Model for Shown {
    type State = Facts;
    type Action = Action;

    fn init_states(&self) -> Vec<Facts> {
        vec![Facts(self.world.initial())]
    }

    fn actions(&self, state: &Facts, actions: &mut Vec<Action>) {
        self.world.candidates(&state.0, actions);
        actions.retain(|action| self.world.take(&state.0, action).is_some());
    }

    fn next_state(&self, state: &Facts, action: Action) -> Option<Facts> {
        self.world.take(&state.0, &action).map(Facts)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        PROPERTIES
            .iter()
            .zip(HOLDS)
            .map(|(row, holds)| Property::always(row.name, holds))
            .collect()
    }

    fn format_action(&self, action: &Action) -> String {
        Line::from(action).sentence()
    }

    fn format_step(&self, last: &Facts, action: Action) -> Option<String> {
        let next = self.world.take(&last.0, &action)?;
        let mut lines: Vec<_> = worth_telling(&last.0, &next)
            .iter()
            .map(ToString::to_string)
            .collect();
        let broken =
            properties::violated(&self.world, &next) & !properties::violated(&self.world, &last.0);
        for id in properties::Id::in_mask(broken) {
            lines.push(format!("{} is violated: {}", id.name(), id.row().says));
        }
        Some(lines.join("\n"))
    }

    fn as_svg(&self, path: Path<Facts, Action>) -> Option<String> {
        let steps: Vec<(Facts, Option<Action>)> = path.into_vec();
        let actions: Vec<_> = steps.iter().filter_map(|(_, action)| *action).collect();
        let states: Vec<_> = steps.into_iter().map(|(state, _)| state.0).collect();
        Some(svg(&Chart::of(&self.world, &actions, &states), &self.title))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_spec::scenario::{self, RuleSet};

    #[test]
    fn every_property_is_shown() {
        assert_eq!(HOLDS.len(), PROPERTIES.len());
    }

    #[test]
    fn a_state_is_shown_as_facts_and_a_step_as_a_sentence() {
        let world = scenario::find("smoke")
            .map(|e| World::new(e.scenario(RuleSet::Tv2), e.rules(RuleSet::Tv2)));
        let Some(world) = world else {
            panic!("no scenario smoke");
        };
        let shown = Shown::new(world, "smoke".to_owned());
        let first = &shown.init_states()[0];
        assert!(format!("{first:#?}").contains("P\n    phase: Unstarted\n"));
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
        let states = vec![first.0.clone()];
        assert_eq!(shown.path_of(&actions, &states), Some("/0/0".to_owned()));
    }

    #[test]
    fn the_places_on_a_path_lead_along_the_run() {
        let world = scenario::find("retry")
            .map(|e| World::new(e.scenario(RuleSet::Tv1), e.rules(RuleSet::Tv1)));
        let Some(world) = world else {
            panic!("no scenario retry");
        };
        let shown = Shown::new(world, "retry".to_owned());
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
        let run: Vec<_> = states.iter().map(|s| s.0.clone()).collect();
        let path = shown.path_of(&taken, &run).unwrap_or_default();
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
