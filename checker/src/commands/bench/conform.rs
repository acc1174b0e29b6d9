//! `fencepost bench conform`: steps compared a second, model against production cores.

use super::rows::{Row, fastest, tell};
use crate::args::Bench;
use crate::exit::{Exit, Failure};
use fencepost_conformance::lockstep::{self, DEFAULT, MUTATION, Options};
use std::time::Instant;

/// Runs it: the cases of `conform --profile mutation`, or with `--large` the default ones, on all cores.
pub fn run(args: &Bench, json: bool) -> Result<Exit, Failure> {
    let cases = if args.large { DEFAULT } else { MUTATION };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let row = fastest(args.repeats, || {
        let began = Instant::now();
        let report = lockstep::run(cases, Options::default());
        let seconds = began.elapsed().as_secs_f64();
        if !report.ok {
            let message = "the sides differ, so there is nothing to measure: see fencepost conform";
            return Err(Failure::Internal(message.to_owned()));
        }
        let states = report.runs.iter().map(|run| run.model_states).sum();
        let edges = report.runs.iter().map(|run| run.edges).sum();
        Ok(Row::of("steps_compared", threads, states, edges, seconds))
    })?;
    tell(&[row], json)?;
    Ok(Exit::AsExpected)
}
