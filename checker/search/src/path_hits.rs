//! Hits of a search that walks along one path at a time.

use std::collections::BTreeMap;

use crate::checks::Checks;
use crate::model::SearchModel;
use crate::outcome::{Hit, HitPlace};
use crate::trace::Trace;

/// The shortest hit so far of each property and each witness.
pub(crate) struct PathHits {
    violated: Vec<Option<PathHit>>,
    reached: Vec<Option<PathHit>>,
    /// The shortest hit of each bit and way.
    ways: BTreeMap<(u32, u16), PathHit>,
}

/// The hits with their traces.
pub(crate) struct Replayed<M: SearchModel> {
    pub(crate) violations: Hits<M>,
    pub(crate) ways: Hits<M>,
    pub(crate) witnesses: Hits<M>,
}

impl<M: SearchModel> Default for Replayed<M> {
    fn default() -> Self {
        Self {
            violations: Vec::new(),
            ways: Vec::new(),
            witnesses: Vec::new(),
        }
    }
}

struct PathHit {
    place: HitPlace,
    path: Path,
}

/// A way through a model: the position of the initial state, then the positions of the actions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    pub(crate) initial: usize,
    pub(crate) actions: Vec<u16>,
}

impl PathHits {
    pub(crate) fn none<M: SearchModel>(checks: &Checks<M>) -> Self {
        let empty = |count| std::iter::repeat_with(|| None).take(count).collect();
        Self {
            violated: empty(checks.property_names().len()),
            reached: empty(checks.witness_names().len()),
            ways: BTreeMap::new(),
        }
    }

    /// Bits of the properties hit.
    pub(crate) fn violated(&self) -> u64 {
        (0..)
            .zip(&self.violated)
            .fold(0, |bits, (bit, hit)| bits | u64::from(hit.is_some()) << bit)
    }

    /// Judges a state that `path` leads to, from `before`.
    pub(crate) fn judge<M: SearchModel>(
        &mut self,
        model: &M,
        checks: &Checks<M>,
        (before, state): (Option<&M::State>, &M::State),
        path: &Path,
    ) {
        let violated = checks.violated(model, state);
        record(&mut self.violated, violated, HitPlace::State, path);
        if violated != 0 && checks.tells_ways() {
            let known = before.map_or(0, |before| checks.violated(model, before));
            let last = (before, violated & !known);
            self.tell_way(model, checks, last, HitPlace::State, path);
        }
        record(
            &mut self.reached,
            checks.reached(model, state),
            HitPlace::State,
            path,
        );
    }

    /// Judges a state without a successor that `path` leads to, from `before`. True when it violates something.
    pub(crate) fn judge_terminal<M: SearchModel>(
        &mut self,
        model: &M,
        checks: &Checks<M>,
        (before, state): (Option<&M::State>, &M::State),
        path: &Path,
    ) -> bool {
        let violated = checks.terminal(model, state);
        record(&mut self.violated, violated, HitPlace::Terminal, path);
        if violated != 0 && checks.tells_ways() {
            self.tell_way(model, checks, (before, violated), HitPlace::Terminal, path);
        }
        violated != 0
    }

    /// The last action of `path`, from `before`, breaks these bits.
    fn tell_way<M: SearchModel>(
        &mut self,
        model: &M,
        checks: &Checks<M>,
        (before, broken): (Option<&M::State>, u64),
        place: HitPlace,
        path: &Path,
    ) {
        let (Some(before), Some(last)) = (before, path.actions.last()) else {
            return;
        };
        let Some(way) = checks.way(model, before, *last) else {
            return;
        };
        for bit in (0..u64::BITS).filter(|bit| broken >> bit & 1 == 1) {
            let is_longer = |hit: &PathHit| hit.path.actions.len() <= path.actions.len();
            if !self.ways.get(&(bit, way)).is_some_and(is_longer) {
                let path = path.clone();
                self.ways.insert((bit, way), PathHit { place, path });
            }
        }
    }

    /// The hits with their traces; `None` when the model does not replay one.
    pub(crate) fn replay<M: SearchModel>(
        self,
        model: &M,
        checks: &Checks<M>,
    ) -> Option<Replayed<M>> {
        let first =
            |hits: Vec<Option<PathHit>>| (0..).zip(hits).filter_map(|(bit, hit)| Some((bit, hit?)));
        let ways = self.ways.into_iter().map(|((bit, _), hit)| (bit, hit));
        let names = checks.property_names();
        Some(Replayed {
            violations: replay(model, first(self.violated), names)?,
            ways: replay(model, ways, names)?,
            witnesses: replay(model, first(self.reached), checks.witness_names())?,
        })
    }
}

/// Hits of a model.
pub(crate) type Hits<M> =
    Vec<Hit<<M as stateright::Model>::State, <M as stateright::Model>::Action>>;

fn record(hits: &mut [Option<PathHit>], bits: u64, place: HitPlace, path: &Path) {
    if bits == 0 {
        return;
    }
    for (bit, hit) in hits.iter_mut().enumerate() {
        let is_shorter = hit
            .as_ref()
            .is_none_or(|hit| path.actions.len() < hit.path.actions.len());
        if bits >> bit & 1 == 1 && is_shorter {
            *hit = Some(PathHit {
                place,
                path: path.clone(),
            });
        }
    }
}

fn replay<M: SearchModel>(
    model: &M,
    hits: impl Iterator<Item = (u32, PathHit)>,
    names: &[String],
) -> Option<Hits<M>> {
    hits.map(|(bit, hit)| {
        let positions = hit.path.actions.into_iter().map(usize::from);
        let trace = Trace::from_positions(model, hit.path.initial, positions).ok()?;
        Some(Hit {
            bit,
            name: names[bit as usize].clone(),
            place: hit.place,
            trace,
        })
    })
    .collect()
}
