//! Finding a component on which a fair run can stay and violate a property.

use std::collections::VecDeque;

use super::graph::Graph;
use super::scc::Components;
use super::{Goal, Liveness, Predicate, Strength};
use crate::model::SearchModel;

/// Where a violating run can go.
pub(super) struct Found {
    /// The first state of the component on the way, and the way there.
    pub(super) way: Way,
    /// The component.
    pub(super) component: Vec<u32>,
    /// What the run must do again and again.
    pub(super) duties: Vec<Duty>,
}

/// Something that a run on a component has to do again and again.
pub(super) enum Duty {
    /// Be in a state that does not enable this class, or take it.
    RestOrTake(u64),
    /// Take this class.
    Take(u64),
    /// Be in one of these states.
    Visit(Vec<u32>),
}

/// The way to a state: numbers of states and positions of actions.
pub(super) struct Way {
    pub(super) first: u32,
    /// Positions of actions, and the states they lead to.
    pub(super) steps: Vec<(u16, u32)>,
}

impl Way {
    pub(super) fn last(&self) -> u32 {
        self.steps.last().map_or(self.first, |(_, state)| *state)
    }
}

/// A fair way to violate `goal`, with a shortest way to it; `None` when there is none.
pub(super) fn search<M: SearchModel>(
    model: &M,
    liveness: &Liveness<M>,
    graph: &Graph<M::State>,
    goal: &Goal<M>,
) -> Option<Found> {
    let holds =
        |predicate: &Predicate<M>, state: &u32| predicate(model, &graph.states[*state as usize]);
    let all = || 0..graph.len() as u32;
    let roots = || all().take(graph.roots.len());
    let from_roots = Reach::from(graph, roots(), |_| true);
    match goal {
        Goal::Eventually(good) => {
            let bad = |state: &u32| !holds(good, state);
            let reach = Reach::from(graph, roots().filter(bad), bad);
            Fair::on(liveness, graph, reach.visited.clone(), None).nearest(&reach)
        }
        Goal::AlwaysEventually(good) => {
            let bad = all().filter(|state| !holds(good, state)).collect();
            Fair::on(liveness, graph, bad, None).nearest(&from_roots)
        }
        Goal::EventuallyAlways(good) => {
            let bad = all().map(|state| !holds(good, &state)).collect();
            Fair::on(liveness, graph, all().collect(), Some(bad)).nearest(&from_roots)
        }
        Goal::LeadsTo(trigger, good) => {
            let bad = |state: &u32| !holds(good, state);
            let triggered = all().filter(|state| bad(state) && holds(trigger, state));
            let reach = Reach::from(graph, triggered, bad);
            let mut found =
                Fair::on(liveness, graph, reach.visited.clone(), None).nearest(&reach)?;
            let mut way = from_roots.way(found.way.first);
            way.steps.append(&mut found.way.steps);
            found.way = way;
            Some(found)
        }
    }
}

/// The rank of a state that is not reached.
const UNREACHED: u32 = u32::MAX;

/// What can be reached from some states through allowed states, breadth first.
struct Reach {
    /// In order of discovery.
    visited: Vec<u32>,
    /// The state before, and the action; none for a first state or an unreached one.
    before: Vec<Option<(u32, u16)>>,
    /// The place in `visited` of each state; [`UNREACHED`] for an unreached one.
    rank: Vec<u32>,
}

impl Reach {
    fn from<S>(
        graph: &Graph<S>,
        first: impl Iterator<Item = u32>,
        allowed: impl Fn(&u32) -> bool,
    ) -> Self {
        let mut reach = Self {
            visited: Vec::new(),
            before: vec![None; graph.len()],
            rank: vec![UNREACHED; graph.len()],
        };
        let mut queue = VecDeque::new();
        for state in first {
            reach.visit(&mut queue, state, None);
        }
        while let Some(state) = queue.pop_front() {
            for edge in graph.edges(state) {
                if reach.rank[edge.to as usize] == UNREACHED && allowed(&edge.to) {
                    reach.visit(&mut queue, edge.to, Some((state, edge.action)));
                }
            }
        }
        reach
    }

    fn visit(&mut self, queue: &mut VecDeque<u32>, state: u32, before: Option<(u32, u16)>) {
        self.rank[state as usize] = self.visited.len() as u32;
        self.before[state as usize] = before;
        self.visited.push(state);
        queue.push_back(state);
    }

    fn way(&self, to: u32) -> Way {
        let mut steps = Vec::new();
        let mut at = to;
        while let Some((before, action)) = self.before[at as usize] {
            steps.push((action, at));
            at = before;
        }
        steps.reverse();
        Way { first: at, steps }
    }
}

/// The search for fair components.
struct Fair<'a, M: SearchModel> {
    liveness: &'a Liveness<M>,
    graph: &'a Graph<M::State>,
    /// Whether a violating run must visit each state, or one like it, again and again. None asks for nothing.
    must_visit: Option<Vec<bool>>,
    /// Which states belong to the component in hand.
    inside: Vec<bool>,
    /// Fair components.
    found: Vec<Vec<u32>>,
}

impl<'a, M: SearchModel> Fair<'a, M> {
    /// Finds the fair components of the graph restricted to `states`.
    fn on(
        liveness: &'a Liveness<M>,
        graph: &'a Graph<M::State>,
        mut states: Vec<u32>,
        must_visit: Option<Vec<bool>>,
    ) -> Self {
        // What a state that was not expanded allows is unknown: no run is said to stay there.
        states.retain(|state| (*state as usize) < graph.expanded());
        let mut fair = Self {
            liveness,
            graph,
            must_visit,
            inside: vec![false; graph.len()],
            found: Vec::new(),
        };
        let mut components = Components::of(graph);
        let mut to_do = vec![states];
        while let Some(states) = to_do.pop() {
            for component in components.within(graph, &states) {
                to_do.extend(fair.judge(component));
            }
        }
        fair
    }

    /// Keeps a component if a fair run can stay on all of it. Gives back the part of it that is left to look at, if
    /// any.
    fn judge(&mut self, component: Vec<u32>) -> Option<Vec<u32>> {
        if !component.iter().any(|state| self.must_visit(*state)) {
            return None;
        }
        let taken = self.taken(&component);
        let enabled = component.iter().map(|state| self.graph.enabled(*state));
        let everywhere = enabled.clone().fold(u64::MAX, |bits, here| bits & here);
        let somewhere = enabled.fold(0, |bits, here| bits | here);
        if self.liveness.of_strength(Strength::Weak) & everywhere & !taken != 0 {
            // Then the same is true of every part of the component.
            return None;
        }
        let starved = self.liveness.of_strength(Strength::Strong) & somewhere & !taken;
        if starved == 0 {
            self.found.push(component);
            return None;
        }
        let mut rest = component;
        rest.retain(|state| self.graph.enabled(*state) & starved == 0);
        (!rest.is_empty()).then_some(rest)
    }

    /// True of every state where nothing is asked for.
    fn must_visit(&self, state: u32) -> bool {
        self.must_visit
            .as_ref()
            .is_none_or(|must| must[state as usize])
    }

    /// The classes of the steps inside a component.
    fn taken(&mut self, component: &[u32]) -> u64 {
        for state in component {
            self.inside[*state as usize] = true;
        }
        let taken = component
            .iter()
            .flat_map(|state| self.graph.edges(*state))
            .filter(|edge| self.inside[edge.to as usize])
            .fold(0, |bits, edge| bits | edge.classes);
        for state in component {
            self.inside[*state as usize] = false;
        }
        taken
    }

    /// The fair component that is reached first, and the state where it is. Where a run can rest for ever, it rests.
    fn nearest(&self, reach: &Reach) -> Option<Found> {
        let classes =
            self.liveness.of_strength(Strength::Weak) | self.liveness.of_strength(Strength::Strong);
        let rests =
            |state: &u32| self.graph.enabled(*state) & classes == 0 && self.must_visit(*state);
        let (_, entry, component) = self
            .found
            .iter()
            .flat_map(|component| component.iter().map(move |state| (component, *state)))
            .map(|(component, state)| {
                let alone = rests(&state).then_some(state);
                (
                    (reach.rank[state as usize], alone.is_none()),
                    state,
                    component,
                )
            })
            .filter(|((rank, _), _, _)| *rank != UNREACHED)
            .min_by_key(|(nearest, _, _)| *nearest)?;
        let way = reach.way(entry);
        if rests(&entry) {
            return Some(Found {
                way,
                component: vec![entry],
                duties: Vec::new(),
            });
        }
        Some(Found {
            way,
            component: component.clone(),
            duties: self.duties(component),
        })
    }

    fn duties(&self, component: &[u32]) -> Vec<Duty> {
        let somewhere = component
            .iter()
            .fold(0, |bits, state| bits | self.graph.enabled(*state));
        let each = |bits: u64| {
            (0..64)
                .map(|bit| 1 << bit)
                .filter(move |bit| bits & bit != 0)
        };
        let weak = each(self.liveness.of_strength(Strength::Weak)).map(Duty::RestOrTake);
        let strong = each(self.liveness.of_strength(Strength::Strong) & somewhere).map(Duty::Take);
        let visit = self.must_visit.as_ref().map(|_| {
            let wanted = component.iter().copied();
            Duty::Visit(wanted.filter(|state| self.must_visit(*state)).collect())
        });
        weak.chain(strong).chain(visit).collect()
    }
}
