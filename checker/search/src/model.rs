//! What the engine asks of a model.

use std::hash::Hash;

use stateright::Model;

/// A model that the engine can search: any [`Model`] whose states can be cloned, compared, hashed and shared between
/// threads. It is implemented for every such model; nobody implements it by hand.
///
/// `init_states` and `actions` must give the same list, in the same order, for the same state: traces are kept as
/// positions in these lists. The hash must cover every field that a property or an action reads: derive it.
pub trait SearchModel:
    Model<State: Clone + Hash + Eq + Send + Sync, Action: Clone + Send> + Sync
{
}

impl<M> SearchModel for M where
    M: Model<State: Clone + Hash + Eq + Send + Sync, Action: Clone + Send> + Sync
{
}
