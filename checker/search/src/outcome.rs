//! What a run found.

use std::fmt;

use crate::fingerprint::Digest;
use crate::trace::Trace;

/// What a run found: `S` is the model's state, `A` its action.
#[derive(Clone, Debug)]
pub struct Outcome<S, A> {
    /// States visited.
    pub distinct: u64,
    /// States generated, initial ones and duplicates included, as TLC counts.
    pub generated: u64,
    /// Levels visited; the initial states are level 1, as TLC counts. 0 for a model without initial states.
    pub depth: u32,
    /// Visited states of each level, the initial states first.
    pub levels: Vec<u64>,
    /// The sum of the fingerprints of the visited states (of their canonical forms, with symmetry).
    pub digest: Digest,
    /// Visited states without a successor.
    pub terminal: u64,
    /// How many of them violate a property for having no successor: deadlocks, where the properties of terminal
    /// states say which ends are expected.
    pub deadlocks: u64,
    /// Successors outside the model's boundary: generated, but neither visited nor judged.
    pub outside_boundary: u64,
    /// Wall time.
    pub seconds: f64,
    /// The most states that waited at once.
    pub peak_frontier: u64,
    /// Bytes that the visited set and the links hold, for each visited state; the frontier's states are not in it.
    pub bytes_per_state: f64,
    /// The chance that two of the visited states share a fingerprint, so that one was missed: n(n-1)/2^129.
    pub collision_probability: f64,
    /// Why the run did not see everything; `None` when it did.
    pub incomplete: Option<Reason>,
    /// The first hit of each violated property, by bit: its shortest counterexample.
    pub violations: Vec<Hit<S, A>>,
    /// The first hit of each way in which a property is broken, by bit and way; empty unless
    /// [`Checks::ways`](crate::Checks::ways) tells them apart. Ways into states without a successor are looked for
    /// among the first 4,096 of those that violate something.
    pub ways: Vec<Hit<S, A>>,
    /// The first hit of each witness reached, by bit: its shortest witness.
    pub witnesses: Vec<Hit<S, A>>,
}

impl<S, A> Outcome<S, A> {
    /// Violated when any property is; else incomplete when the run did not see everything; else holds. Witnesses
    /// not reached do not count: see [`Outcome::witness`].
    pub fn verdict(&self) -> Verdict {
        match (self.violations.is_empty(), self.incomplete) {
            (false, _) => Verdict::Violated,
            (true, Some(reason)) => Verdict::Incomplete(reason),
            (true, None) => Verdict::Holds,
        }
    }

    /// The shortest counterexample of a property, if it is violated.
    pub fn violation(&self, name: &str) -> Option<&Hit<S, A>> {
        self.violations.iter().find(|hit| hit.name == name)
    }

    /// The shortest witness of this name, if it was reached.
    pub fn witness(&self, name: &str) -> Option<&Hit<S, A>> {
        self.witnesses.iter().find(|hit| hit.name == name)
    }

    /// Distinct states a second.
    pub fn per_second(&self) -> f64 {
        self.distinct as f64 / self.seconds.max(1e-9)
    }
}

/// The first hit of a property or a witness.
#[derive(Clone, Debug)]
pub struct Hit<S, A> {
    /// Its bit in `Checks`.
    pub bit: u32,
    /// Its name.
    pub name: String,
    /// Whether it was hit as such or for having no successor.
    pub place: HitPlace,
    /// A shortest way there.
    pub trace: Trace<S, A>,
}

/// Where a property was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitPlace {
    /// In the last state of the trace.
    State,
    /// In the last state of the trace, because it has no successor.
    Terminal,
}

/// What a run concludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every reachable state was visited and no property is violated.
    Holds,
    /// Some property is violated; the run may or may not have seen everything.
    Violated,
    /// No property was seen violated, but not everything was seen.
    Incomplete(Reason),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Holds => f.write_str("holds"),
            Verdict::Violated => f.write_str("violated"),
            Verdict::Incomplete(reason) => write!(f, "incomplete ({reason})"),
        }
    }
}

/// Why a run did not see everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// `Options::max_states` was reached.
    MaxStates,
    /// `Options::max_memory` was reached.
    MaxMemory,
    /// `Options::time_limit` was reached.
    TimeLimit,
    /// States at `Options::max_depth` were not expanded.
    MaxDepth,
    /// Some successors lie outside the model's boundary.
    Boundary,
    /// `Options::stop_when` or `Options::stop_at_first` was met.
    Stopped,
    /// A state has more than 65,536 actions; those beyond were not taken.
    TooManyActions,
    /// More than 4,294,967,295 states: they can no longer be numbered.
    TooManyStates,
    /// More than 64 fairness classes; nothing was searched.
    TooManyClasses,
    /// Only random walks were taken.
    Sampled,
    /// The model gave other actions or other successors when a trace was replayed, so nothing it says is sure.
    NotReproducible,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::MaxStates => "the limit of states was reached",
            Reason::MaxMemory => "the limit of memory was reached",
            Reason::TimeLimit => "the limit of time was reached",
            Reason::MaxDepth => "the limit of depth was reached",
            Reason::Boundary => "some states lie outside the boundary",
            Reason::Stopped => "stopped at a violation, as asked",
            Reason::TooManyActions => "a state has more than 65,536 actions",
            Reason::TooManyStates => "more states than can be numbered",
            Reason::TooManyClasses => "more than 64 fairness classes",
            Reason::Sampled => "only random walks were taken",
            Reason::NotReproducible => "the model is not deterministic",
        })
    }
}

/// The chance that any two of `states` fingerprints are equal, for 128 random bits: n(n-1)/2^129.
pub(crate) fn collision_probability(states: u64) -> f64 {
    let states = states as f64;
    states * (states - 1.0).max(0.0) / 2f64.powi(129)
}
