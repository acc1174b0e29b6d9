//! Liveness: does something good happen in the end, on every fair run?
//!
//! A run may stutter: stay in a state for ever. That, too, must be fair. The search builds the whole graph, takes the
//! part on which the property could be violated, and looks for a strongly connected part of it on which a fair run can
//! stay: one in which every weakly fair class is disabled somewhere or taken somewhere, and every strongly fair class
//! is disabled everywhere or taken somewhere. (Where a strongly fair class is enabled but never taken, the states that
//! enable it are removed and the rest is looked at again.) A violation is a lasso, checked by code that knows nothing
//! of the search: [`Lasso::check`].
//!
//! As in TLA+, a step that does not change the state is no step: it neither enables nor takes a class. Symmetry is not
//! used here: a class of one member would be confused with the same class of another.

mod check;
mod fair;
mod graph;
mod lasso;
mod scc;

pub use check::LassoError;
pub use lasso::Lasso;

use stateright::{Expectation, Model};

use crate::fingerprint::Digest;
use crate::limits::Limits;
use crate::model::SearchModel;
use crate::options::Options;
use crate::outcome::{Reason, Verdict, collision_probability};
use graph::Graph;

type Predicate<M> = Box<dyn Fn(&M, &<M as Model>::State) -> bool + Send + Sync>;
type Class<M> = Box<dyn Fn(&M, &<M as Model>::State, &<M as Model>::Action) -> bool + Send + Sync>;

/// Fairness classes a run can have: one bit each.
const MAX_CLASSES: usize = 64;

/// What must happen in the end.
pub enum Goal<M: Model> {
    /// The predicate holds at some time on every fair run from an initial state.
    Eventually(Predicate<M>),
    /// Whatever happened, the predicate holds again.
    AlwaysEventually(Predicate<M>),
    /// The predicate holds for ever from some time on.
    EventuallyAlways(Predicate<M>),
    /// Whenever the first holds, the second holds then or later.
    LeadsTo(Predicate<M>, Predicate<M>),
}

/// How fair a run is to a class of actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// A class that stays enabled for ever is taken again and again.
    Weak,
    /// A class that is enabled again and again is taken again and again.
    Strong,
}

/// The liveness properties to judge, and the fairness to judge them under. The more fairness, the fewer runs can
/// violate a property; with none at all, every run may stop anywhere.
pub struct Liveness<M: Model> {
    properties: Vec<(String, Goal<M>)>,
    classes: Vec<FairClass<M>>,
}

struct FairClass<M: Model> {
    name: String,
    strength: Strength,
    contains: Class<M>,
}

impl<M: Model> Liveness<M> {
    /// No property and no fairness.
    pub fn new() -> Self {
        Self {
            properties: Vec::new(),
            classes: Vec::new(),
        }
    }

    /// Also judges this property.
    #[must_use]
    pub fn property(mut self, name: impl Into<String>, goal: Goal<M>) -> Self {
        self.properties.push((name.into(), goal));
        self
    }

    /// Also assumes fairness to this class: the actions, in the states in which they are listed, that `contains`
    /// says. Classes after the 64th make every run [`Reason::TooManyClasses`].
    #[must_use]
    pub fn fair(
        mut self,
        name: impl Into<String>,
        strength: Strength,
        contains: impl Fn(&M, &M::State, &M::Action) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.classes.push(FairClass {
            name: name.into(),
            strength,
            contains: Box::new(contains),
        });
        self
    }

    /// The names of the fairness classes, in the order given.
    pub fn class_names(&self) -> impl Iterator<Item = &str> {
        self.classes.iter().map(|class| class.name.as_str())
    }

    /// The classes that contain an action, by bit.
    fn classes_of(&self, model: &M, state: &M::State, action: &M::Action) -> u64 {
        self.classes
            .iter()
            .enumerate()
            .filter(|(_, class)| (class.contains)(model, state, action))
            .fold(0, |bits, (bit, _)| bits | 1 << bit)
    }

    /// The classes of this strength, by bit.
    fn of_strength(&self, strength: Strength) -> u64 {
        self.classes
            .iter()
            .enumerate()
            .filter(|(_, class)| class.strength == strength)
            .fold(0, |bits, (bit, _)| bits | 1 << bit)
    }
}

impl<M: Model> Default for Liveness<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Model + 'static> Liveness<M> {
    /// The model's own `eventually` properties, under the assumption that a run goes on while it can: weak fairness
    /// to all actions together.
    pub fn of_model(model: &M) -> Self {
        let mut liveness = Self::new().fair("any step", Strength::Weak, |_, _, _| true);
        for property in model.properties() {
            if property.expectation == Expectation::Eventually {
                let goal = Goal::Eventually(Box::new(property.condition));
                liveness = liveness.property(property.name, goal);
            }
        }
        liveness
    }
}

/// What a liveness run found.
#[derive(Clone, Debug)]
pub struct LivenessOutcome<S, A> {
    /// States visited.
    pub distinct: u64,
    /// Steps between them, self-loops included.
    pub edges: u64,
    /// Levels visited; the initial states are level 1.
    pub depth: u32,
    /// The sum of the fingerprints of the visited states.
    pub digest: Digest,
    /// The chance that two of the visited states share a fingerprint, so that one was missed: n(n-1)/2^129.
    pub collision_probability: f64,
    /// Wall time.
    pub seconds: f64,
    /// Why the run did not see everything; `None` when it did.
    pub incomplete: Option<Reason>,
    /// A lasso for each violated property, in the order of the properties.
    pub violations: Vec<Lasso<S, A>>,
}

impl<S, A> LivenessOutcome<S, A> {
    /// Violated when any property is; else incomplete when the run did not see everything; else holds.
    pub fn verdict(&self) -> Verdict {
        match (self.violations.is_empty(), self.incomplete) {
            (false, _) => Verdict::Violated,
            (true, Some(reason)) => Verdict::Incomplete(reason),
            (true, None) => Verdict::Holds,
        }
    }

    /// The lasso of a property, if it is violated.
    pub fn violation(&self, name: &str) -> Option<&Lasso<S, A>> {
        self.violations.iter().find(|lasso| lasso.property == name)
    }
}

/// Looks for a fair run that violates each property.
///
/// Of `options`, the bounds of states, memory, time and depth are heeded, and the progress is told. In a run that met
/// a bound, states that were not expanded end no run: a violation found is one, but more may exist.
pub fn run_liveness<M: SearchModel>(
    model: &M,
    liveness: &Liveness<M>,
    options: &Options,
) -> LivenessOutcome<M::State, M::Action> {
    if liveness.classes.len() > MAX_CLASSES {
        return LivenessOutcome {
            distinct: 0,
            edges: 0,
            depth: 0,
            digest: Digest::default(),
            collision_probability: 0.0,
            seconds: 0.0,
            incomplete: Some(Reason::TooManyClasses),
            violations: Vec::new(),
        };
    }
    let mut limits = Limits::start(options);
    let graph = Graph::explore(model, liveness, options, &mut limits);
    let mut incomplete = graph.incomplete;
    let mut violations = Vec::new();
    for (name, goal) in &liveness.properties {
        let Some(found) = fair::search(model, liveness, &graph, goal) else {
            continue;
        };
        match lasso::build(model, &graph, name, found) {
            Some(lasso) if lasso.check(model, liveness).is_ok() => violations.push(lasso),
            Some(_) | None => incomplete = Some(Reason::NotReproducible),
        }
    }
    LivenessOutcome {
        distinct: graph.len() as u64,
        edges: graph.edge_count() as u64,
        depth: graph.depth,
        digest: graph.digest,
        collision_probability: collision_probability(graph.len() as u64),
        seconds: limits.elapsed().as_secs_f64(),
        incomplete,
        violations,
    }
}
