//! Where the checkpoint of each run lies.

use super::plan::{Plan, Store};
use crate::run;
use crate::select::Run;
use fencepost_search::{Spill, Storage};
use fencepost_spec::mutants::Mutant;
use fencepost_spec::world::State;
use std::path::PathBuf;

/// Where a run's checkpoint is.
pub struct Place {
    /// As the engine takes it.
    pub storage: Storage<State>,
}

impl Place {
    /// The place of a run. A run that has none yet begins anew.
    pub fn of(store: &Store, plan: &Plan, run: Run, mutant: Option<&Mutant>) -> Self {
        let directory = folder(store, run, mutant);
        let symmetry = if plan.symmetry { " with symmetry" } else { "" };
        let resume = store.resume && directory.is_dir();
        Self {
            storage: Storage {
                directory,
                label: format!("{}{symmetry}", run::name(run, mutant)),
                resume,
                spill: plan.spill.map(|keep| Spill {
                    keep,
                    encode: State::encode,
                    decode: State::decode,
                }),
            },
        }
    }
}

/// Whether any of the runs has a checkpoint.
pub fn any(store: &Store, runs: &[Run], mutant: Option<&Mutant>) -> bool {
    runs.iter().any(|run| folder(store, *run, mutant).is_dir())
}

fn folder(store: &Store, run: Run, mutant: Option<&Mutant>) -> PathBuf {
    let name = run::name(run, mutant).replace(' ', "-").to_lowercase();
    store.directory.join(name)
}
