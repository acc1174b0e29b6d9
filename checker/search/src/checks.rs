//! What a run judges.

use stateright::{Expectation, Model, Property};
use thiserror::Error;

use crate::fingerprint::Fingerprint;
use crate::model::SearchModel;

/// Properties, and witnesses, a run can judge: one bit each.
pub(crate) const MAX_NAMES: usize = 64;

type Judge<M> = Box<dyn Fn(&M, &<M as Model>::State) -> u64 + Send + Sync>;
type Ways<M> = Box<dyn Fn(&M, &<M as Model>::Action) -> u16 + Send + Sync>;
type Step<M> = Box<
    dyn Fn(&M, &<M as Model>::State, <M as Model>::Action, &mut <M as Model>::State) -> bool
        + Send
        + Sync,
>;
type Canonical<M> = Box<dyn Fn(&M, &<M as Model>::State) -> <M as Model>::State + Send + Sync>;

/// More names were given than the 64 that one run can judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{given} {what} were given, one run judges at most 64")]
pub struct TooManyProperties {
    /// How many names were given.
    pub given: usize,
    /// "properties" or "witnesses".
    pub what: &'static str,
}

/// What to judge in a run, passed beside the model.
///
/// Each property is a bit, in the order of the names: bit 0 is the first. The judging functions return the bits of
/// what is *violated* (or, for witnesses, *reached*). Bits above the last name are ignored.
pub struct Checks<M: Model> {
    properties: Vec<String>,
    witnesses: Vec<String>,
    violated: Judge<M>,
    terminal: Judge<M>,
    reached: Judge<M>,
    ways: Option<Ways<M>>,
    step: Option<Step<M>>,
    canonical: Option<Canonical<M>>,
}

impl<M: Model> Checks<M> {
    /// Judges nothing: the run only counts.
    pub fn none() -> Self {
        Self {
            properties: Vec::new(),
            witnesses: Vec::new(),
            violated: Box::new(|_, _| 0),
            terminal: Box::new(|_, _| 0),
            reached: Box::new(|_, _| 0),
            ways: None,
            step: None,
            canonical: None,
        }
    }

    /// Judges these properties. `violated` gives the bits that a state violates, `terminal` the bits that a state
    /// violates when it has no successor.
    ///
    /// # Errors
    /// [`TooManyProperties`] for more than 64 names.
    pub fn new<N: Into<String>>(
        properties: impl IntoIterator<Item = N>,
        violated: impl Fn(&M, &M::State) -> u64 + Send + Sync + 'static,
        terminal: impl Fn(&M, &M::State) -> u64 + Send + Sync + 'static,
    ) -> Result<Self, TooManyProperties> {
        Ok(Self {
            properties: names(properties, "properties")?,
            violated: Box::new(violated),
            terminal: Box::new(terminal),
            ..Self::none()
        })
    }

    /// Also looks for these witnesses. `reached` gives the bits that a state is a witness of.
    ///
    /// # Errors
    /// [`TooManyProperties`] for more than 64 names.
    pub fn witnesses<N: Into<String>>(
        mut self,
        witnesses: impl IntoIterator<Item = N>,
        reached: impl Fn(&M, &M::State) -> u64 + Send + Sync + 'static,
    ) -> Result<Self, TooManyProperties> {
        self.witnesses = names(witnesses, "witnesses")?;
        self.reached = Box::new(reached);
        Ok(self)
    }

    /// Also keeps the first hit of each way in which a property is broken: `way` gives a number to the action that
    /// broke it. Of the steps into a state, the one that first reached it counts; a state whose predecessor violates
    /// the property already is no new way.
    #[must_use]
    pub fn ways(mut self, way: impl Fn(&M, &M::Action) -> u16 + Send + Sync + 'static) -> Self {
        self.ways = Some(Box::new(way));
        self
    }

    /// Lets a breadth-first search take steps with this function instead of the model's `next_state`, which has to
    /// make a state where this writes one over another. It must lead to the same state; false where `next_state` gives
    /// none, and the written state may then be anything that can be written over.
    #[must_use]
    pub fn stepping(
        mut self,
        step: impl Fn(&M, &M::State, M::Action, &mut M::State) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.step = Some(Box::new(step));
        self
    }

    /// Takes states with one canonical form for one state. `canonical` gives the representative of a state's orbit;
    /// it must be the same for all states of the orbit. Traces still go through the states as the model made them.
    #[must_use]
    pub fn symmetry(
        mut self,
        canonical: impl Fn(&M, &M::State) -> M::State + Send + Sync + 'static,
    ) -> Self {
        self.canonical = Some(Box::new(canonical));
        self
    }

    /// Writes the state after `action` over `to`; false when there is none.
    #[inline]
    pub(crate) fn step(
        &self,
        model: &M,
        from: &M::State,
        action: M::Action,
        to: &mut M::State,
    ) -> bool {
        if let Some(step) = &self.step {
            return step(model, from, action, to);
        }
        match model.next_state(from, action) {
            Some(next) => {
                *to = next;
                true
            }
            None => false,
        }
    }

    /// The bits that `state` violates, terminal or not.
    #[inline]
    pub fn violated(&self, model: &M, state: &M::State) -> u64 {
        (self.violated)(model, state) & mask(&self.properties)
    }

    /// The bits that `state` violates for having no successor.
    #[inline]
    pub fn terminal(&self, model: &M, state: &M::State) -> u64 {
        (self.terminal)(model, state) & mask(&self.properties)
    }

    /// The bits that `state` is a witness of.
    #[inline]
    pub fn reached(&self, model: &M, state: &M::State) -> u64 {
        (self.reached)(model, state) & mask(&self.witnesses)
    }

    /// Whether the ways in which properties are broken are told apart.
    pub(crate) fn tells_ways(&self) -> bool {
        self.ways.is_some()
    }

    /// The number of the way that ends with the action at `position` of `state`; `None` when ways are not told
    /// apart.
    pub(crate) fn way(&self, model: &M, state: &M::State, position: u16) -> Option<u16> {
        let way = self.ways.as_ref()?;
        let mut actions = Vec::new();
        model.actions(state, &mut actions);
        actions
            .get(usize::from(position))
            .map(|action| way(model, action))
    }

    /// The names of the properties, bit 0 first.
    pub fn property_names(&self) -> &[String] {
        &self.properties
    }

    /// The names of the witnesses, bit 0 first.
    pub fn witness_names(&self) -> &[String] {
        &self.witnesses
    }
}

impl<M: SearchModel> Checks<M> {
    /// The fingerprint under which a state is visited: that of its canonical form, if there is one.
    #[inline]
    pub(crate) fn fingerprint(&self, model: &M, state: &M::State) -> Fingerprint {
        match &self.canonical {
            None => Fingerprint::of(state),
            Some(canonical) => Fingerprint::of(&canonical(model, state)),
        }
    }
}

impl<M: Model + 'static> Checks<M> {
    /// Judges the model's own properties: `always` as a property of every state, `sometimes` as a witness.
    /// `eventually` is not a property of states and is left to the liveness search.
    ///
    /// # Errors
    /// [`TooManyProperties`] for more than 64 of either kind.
    pub fn of_model(model: &M) -> Result<Self, TooManyProperties> {
        let of = |expectation| {
            let mut properties = model.properties();
            properties.retain(|property| property.expectation == expectation);
            properties
        };
        let (always, sometimes) = (of(Expectation::Always), of(Expectation::Sometimes));
        let properties: Vec<_> = always.iter().map(|property| property.name).collect();
        let witnesses: Vec<_> = sometimes.iter().map(|property| property.name).collect();
        Self::new(
            properties,
            move |model, state| bits(&always, |property| !(property.condition)(model, state)),
            |_, _| 0,
        )?
        .witnesses(witnesses, move |model, state| {
            bits(&sometimes, |property| (property.condition)(model, state))
        })
    }
}

fn names<N: Into<String>>(
    given: impl IntoIterator<Item = N>,
    what: &'static str,
) -> Result<Vec<String>, TooManyProperties> {
    let names: Vec<String> = given.into_iter().map(Into::into).collect();
    if names.len() > MAX_NAMES {
        return Err(TooManyProperties {
            given: names.len(),
            what,
        });
    }
    Ok(names)
}

#[inline]
fn mask(names: &[String]) -> u64 {
    // At most 64 names; none makes the shift as wide as the word.
    u64::MAX
        .checked_shr(MAX_NAMES as u32 - names.len() as u32)
        .unwrap_or(0)
}

fn bits<M: Model>(properties: &[Property<M>], holds: impl Fn(&Property<M>) -> bool) -> u64 {
    properties
        .iter()
        .enumerate()
        .filter(|(_, property)| holds(property))
        .fold(0, |bits, (bit, _)| bits | 1 << bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_covers_exactly_the_names() {
        let named = |count: usize| vec![String::new(); count];
        assert_eq!(mask(&named(0)), 0);
        assert_eq!(mask(&named(1)), 1);
        assert_eq!(mask(&named(64)), u64::MAX);
    }

    #[test]
    fn more_than_64_names_are_refused() {
        let given = Checks::<()>::new(vec!["p"; 65], |_, _| 0, |_, _| 0).err();
        assert_eq!(given.map(|error| error.given), Some(65));
        assert!(Checks::<()>::new(vec!["p"; 64], |_, _| 0, |_, _| 0).is_ok());
    }
}
