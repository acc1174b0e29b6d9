//! Seeing every state and every edge of a run.

use stateright::Model;

/// Sees every state and edge of a run, for coverage or conformance. `()` sees nothing and costs nothing.
///
/// Each worker has an observer of its own, made with [`fork`](Observer::fork) and given back with
/// [`join`](Observer::join), so nothing is shared. Within one worker the calls come in search order; which worker
/// sees what depends on the thread count, so `join` should not care about order.
pub trait Observer<M: Model>: Send + Sized {
    /// False tells the search to skip all bookkeeping for the observer.
    const ACTIVE: bool = true;

    /// An observer for another worker, that has seen nothing yet.
    fn fork(&self) -> Self;

    /// Takes in what another worker's observer has seen.
    fn join(&mut self, other: Self);

    /// A state was visited for the first time. It comes after the edge that led to it.
    fn state(&mut self, _model: &M, _state: &M::State) {}

    /// A step was taken: once for each enabled action of each visited state, self-loops and duplicates included.
    /// `is_new` says whether the step was the first to reach `to`.
    fn edge(
        &mut self,
        _model: &M,
        _from: &M::State,
        _action: &M::Action,
        _to: &M::State,
        _is_new: bool,
    ) {
    }

    /// A visited state turned out to have no successor.
    fn terminal(&mut self, _model: &M, _state: &M::State) {}
}

impl<M: Model> Observer<M> for () {
    const ACTIVE: bool = false;

    fn fork(&self) -> Self {}

    fn join(&mut self, (): Self) {}
}
