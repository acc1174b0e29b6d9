//! `fencepost serve-model`: the process of one opened model, for `fencepost explore` alone.

use crate::args::ServeModel;
use crate::exit::{Exit, Failure};
use crate::explorer::{ModelName, model_server};

/// Runs it, until its stdin ends.
pub fn run(args: &ServeModel) -> Result<Exit, Failure> {
    let model = ModelName::find(&args.scenario, &args.rules, &args.mutant)?;
    model_server::run(model)
}
