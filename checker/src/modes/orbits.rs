//! Symmetry in a search: states that differ only in who is who are visited once.

use super::watched::Watched;
use crate::exit::Failure;
use fencepost_search::Checks;
use fencepost_spec::world::World;
use fencepost_spec::world::symmetry::{Renaming, canonical};
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The symmetries of a world, and how many states they have spared so far.
pub struct Orbits {
    symmetries: Arc<Vec<Renaming>>,
    /// The states that those visited stand for.
    stood_for: Arc<AtomicU64>,
}

/// What symmetry did in a run.
#[derive(Clone, Debug, Serialize)]
pub struct Symmetry {
    /// The renamings that leave the scenario as it is; none for a scenario in which everybody has a part of its own.
    pub renamings: Vec<String>,
    /// How many times fewer states were visited than there are; `None` where a run cannot say.
    pub factor: Option<f64>,
}

impl Orbits {
    /// The symmetries of a world.
    pub fn of(world: &World) -> Self {
        Self {
            symmetries: Arc::new(world.symmetries()),
            stood_for: Arc::default(),
        }
    }

    /// The checks on canonical states. Without symmetries they stay as they are, and as fast.
    ///
    /// # Errors
    /// [`Failure::Internal`], which nobody has seen.
    pub fn reduce(&self, checks: Checks<Watched>) -> Result<Checks<Watched>, Failure> {
        if self.symmetries.is_empty() {
            return Ok(checks);
        }
        let symmetries = Arc::clone(&self.symmetries);
        let checks = checks.symmetry(move |_, state| canonical(&symmetries, state).0);
        let (symmetries, stood_for) = (Arc::clone(&self.symmetries), Arc::clone(&self.stood_for));
        // Witnesses are asked for once for each visited state: these count, and find none.
        let count = move |_: &Watched, state: &_| {
            let size = canonical(&symmetries, state).1;
            stood_for.fetch_add(size as u64, Ordering::Relaxed);
            0
        };
        let none: [&str; 0] = [];
        checks
            .witnesses(none, count)
            .map_err(|error| Failure::Internal(error.to_string()))
    }

    /// What they did in a run that visited so many states, if it visited each once.
    pub fn report(&self, distinct: u64, each_once: bool) -> Symmetry {
        let stood_for = self.stood_for.load(Ordering::Relaxed);
        let factor = if self.symmetries.is_empty() {
            Some(1.0)
        } else {
            each_once.then_some(stood_for as f64 / distinct.max(1) as f64)
        };
        Symmetry {
            renamings: self.symmetries.iter().map(Renaming::says).collect(),
            factor,
        }
    }
}
