//! What the flags of `fencepost check` ask for, and whether they fit together.

use super::checkpoint;
use crate::args::{Check, Mode, Switch};
use crate::exit::Failure;
use crate::select::Run;
use fencepost_search::Simulation;
use fencepost_spec::mutants::Mutant;
use std::path::PathBuf;

/// Walks of a run where none are asked for.
const WALKS: u64 = 2_000;
/// No walk of a scenario comes near this: budgets and scripts end it long before.
const STEPS: u32 = 10_000;

/// How every run of a command is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// In which order, and what is kept.
    pub how: How,
    /// Whether states that differ only in who is who are one.
    pub symmetry: bool,
    /// How many states of a level stay in memory; `None` for all.
    pub spill: Option<usize>,
}

/// In which order states are visited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// Level by level, perhaps with checkpoints.
    Bfs(Option<Store>),
    /// One path at a time.
    Dfs,
    /// At random.
    Simulate(Simulation),
}

/// Where checkpoints are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// The folder that has one for each run.
    pub directory: PathBuf,
    /// Whether to go on from what is there.
    pub resume: bool,
}

impl Plan {
    /// The plan that the flags ask for.
    ///
    /// # Errors
    /// [`Failure::Usage`] for flags that do not fit together, or a folder to resume from that has no checkpoint of
    /// the runs.
    pub fn of(args: &Check, runs: &[Run], mutant: Option<&Mutant>) -> Result<Self, Failure> {
        fit_together(args)?;
        let how = match args.mode {
            Mode::Bfs => How::Bfs(store(args)),
            Mode::Dfs => How::Dfs,
            Mode::Simulate => How::Simulate(Simulation {
                seed: args.seed.unwrap_or(0),
                walks: args.walks.unwrap_or(WALKS),
                steps: STEPS,
            }),
        };
        if let How::Bfs(Some(store)) = &how
            && store.resume
            && !checkpoint::any(store, runs, mutant)
        {
            return Err(Failure::Usage(format!(
                "{} has no checkpoint of these runs; expected a folder that --checkpoint has filled",
                store.directory.display()
            )));
        }
        Ok(Self {
            how,
            symmetry: args.symmetry == Switch::On,
            spill: args.spill,
        })
    }
}

impl Plan {
    /// Whether liveness is judged too: on the whole graph, so only where the whole is searched level by level.
    pub fn judges_liveness(&self) -> bool {
        matches!(self.how, How::Bfs(_))
    }
}

fn fit_together(args: &Check) -> Result<(), Failure> {
    let wrong = |flag: &str, needs: Mode| {
        Err(Failure::Usage(format!(
            "{flag} does not go with --mode {}; expected --mode {}",
            args.mode.name(),
            needs.name()
        )))
    };
    if args.mode != Mode::Simulate {
        if args.seed.is_some() {
            return wrong("--seed", Mode::Simulate);
        }
        if args.walks.is_some() {
            return wrong("--walks", Mode::Simulate);
        }
    }
    if args.mode != Mode::Bfs {
        if args.checkpoint.is_some() {
            return wrong("--checkpoint", Mode::Bfs);
        }
        if args.resume.is_some() {
            return wrong("--resume", Mode::Bfs);
        }
        if args.spill.is_some() {
            return wrong("--spill", Mode::Bfs);
        }
        if args.limits.threads.is_some_and(|threads| threads > 1) {
            return wrong("--threads of more than 1", Mode::Bfs);
        }
    }
    Ok(())
}

fn store(args: &Check) -> Option<Store> {
    let (directory, resume) = match (&args.checkpoint, &args.resume) {
        (_, Some(directory)) => (directory, true),
        (Some(directory), None) => (directory, false),
        (None, None) => return None,
    };
    Some(Store {
        directory: directory.clone(),
        resume,
    })
}
