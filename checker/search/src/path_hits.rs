//! Hits of a search that walks along one path at a time.

use crate::checks::Checks;
use crate::model::SearchModel;
use crate::outcome::{Hit, HitPlace};
use crate::trace::Trace;

/// The shortest hit so far of each property and each witness.
pub(crate) struct PathHits {
    violated: Vec<Option<PathHit>>,
    reached: Vec<Option<PathHit>>,
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
        }
    }

    /// Bits of the properties hit.
    pub(crate) fn violated(&self) -> u64 {
        (0..)
            .zip(&self.violated)
            .fold(0, |bits, (bit, hit)| bits | u64::from(hit.is_some()) << bit)
    }

    /// Judges a state that `path` leads to.
    pub(crate) fn judge<M: SearchModel>(
        &mut self,
        model: &M,
        checks: &Checks<M>,
        state: &M::State,
        path: &Path,
    ) {
        record(
            &mut self.violated,
            checks.violated(model, state),
            HitPlace::State,
            path,
        );
        record(
            &mut self.reached,
            checks.reached(model, state),
            HitPlace::State,
            path,
        );
    }

    /// Judges a state without a successor that `path` leads to.
    pub(crate) fn judge_terminal<M: SearchModel>(
        &mut self,
        model: &M,
        checks: &Checks<M>,
        state: &M::State,
        path: &Path,
    ) {
        record(
            &mut self.violated,
            checks.terminal(model, state),
            HitPlace::Terminal,
            path,
        );
    }

    /// The violations and the witnesses with their traces; `None` when the model does not replay one.
    pub(crate) fn replay<M: SearchModel>(
        self,
        model: &M,
        checks: &Checks<M>,
    ) -> Option<(Hits<M>, Hits<M>)> {
        let violated = replay(model, self.violated, checks.property_names())?;
        let reached = replay(model, self.reached, checks.witness_names())?;
        Some((violated, reached))
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
    hits: Vec<Option<PathHit>>,
    names: &[String],
) -> Option<Hits<M>> {
    (0..)
        .zip(hits)
        .zip(names)
        .filter_map(|((bit, hit), name)| Some((bit, hit?, name)))
        .map(|(bit, hit, name)| {
            let positions = hit.path.actions.into_iter().map(usize::from);
            let trace = Trace::from_positions(model, hit.path.initial, positions).ok()?;
            Some(Hit {
                bit,
                name: name.clone(),
                place: hit.place,
                trace,
            })
        })
        .collect()
}
