//! From a fair component to a lasso.

use std::collections::{HashMap, HashSet, VecDeque};

use super::fair::{Duty, Found, Way};
use super::graph::{Edge, Graph};
use crate::model::SearchModel;
use crate::trace::Trace;

/// A run that violates a liveness property: a way to a cycle, and the cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso<S, A> {
    /// The property violated.
    pub property: String,
    /// The way to the cycle, then once around it.
    pub trace: Trace<S, A>,
    /// Where the cycle begins: the last state of the trace is this state again. When it is the last state itself, the
    /// run stays there for ever.
    pub loop_start: usize,
}

impl<S, A> Lasso<S, A> {
    /// True when the run stays in its last state for ever.
    pub fn stutters(&self) -> bool {
        self.loop_start == self.trace.actions.len()
    }
}

/// The lasso along a component; `None` when the model does not replay it.
pub(super) fn build<M: SearchModel>(
    model: &M,
    graph: &Graph<M::State>,
    property: &str,
    found: Found,
) -> Option<Lasso<M::State, M::Action>> {
    let Found {
        mut way,
        component,
        duties,
    } = found;
    let loop_start = way.steps.len();
    around(graph, &component, &duties, &mut way);
    let initial = graph.roots[way.first as usize] as usize;
    let positions = way.steps.iter().map(|(action, _)| usize::from(*action));
    let trace = Trace::from_positions(model, initial, positions).ok()?;
    Some(Lasso {
        property: property.to_owned(),
        trace,
        loop_start,
    })
}

/// Goes on from the end of `way` through the component, does every duty, and comes back.
fn around<S>(graph: &Graph<S>, component: &[u32], duties: &[Duty], way: &mut Way) {
    let entry = way.last();
    let inside: HashSet<u32> = component.iter().copied().collect();
    let start = way.steps.len();
    for duty in duties {
        let done = duty.done_in(graph, entry)
            || way.steps[start..]
                .iter()
                .scan(entry, |at, (action, to)| {
                    let from = std::mem::replace(at, *to);
                    let step = graph.edges(from).iter().find(|edge| edge.action == *action);
                    Some(duty.done_in(graph, *to) || step.is_some_and(|edge| duty.done_by(edge)))
                })
                .any(|done| done);
        if !done {
            walk(graph, &inside, way, |edge| {
                duty.done_by(edge) || duty.done_in(graph, edge.to)
            });
        }
    }
    if way.last() != entry {
        walk(graph, &inside, way, |edge| edge.to == entry);
    }
}

impl Duty {
    fn done_in<S>(&self, graph: &Graph<S>, state: u32) -> bool {
        match self {
            Duty::RestOrTake(class) => graph.enabled(state) & class == 0,
            Duty::Take(_) => false,
            Duty::Visit(states) => states.contains(&state),
        }
    }

    fn done_by(&self, edge: &Edge) -> bool {
        match self {
            Duty::RestOrTake(class) | Duty::Take(class) => edge.classes & class != 0,
            Duty::Visit(_) => false,
        }
    }
}

/// Walks a shortest way through the component that ends with a wanted step. There is one: the component is strongly
/// connected and has a wanted step.
fn walk<S>(graph: &Graph<S>, inside: &HashSet<u32>, way: &mut Way, wanted: impl Fn(&Edge) -> bool) {
    let start = way.last();
    let mut before: HashMap<u32, (u32, u16)> = HashMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(state) = queue.pop_front() {
        for edge in graph.edges(state) {
            if !inside.contains(&edge.to) {
                continue;
            }
            if wanted(edge) {
                let mut steps = vec![(edge.action, edge.to)];
                let mut at = state;
                while at != start {
                    let (from, action) = before[&at];
                    steps.push((action, at));
                    at = from;
                }
                way.steps.extend(steps.into_iter().rev());
                return;
            }
            if edge.to != start && !before.contains_key(&edge.to) {
                before.insert(edge.to, (state, edge.action));
                queue.push_back(edge.to);
            }
        }
    }
}
