//! One file for each command.

mod bench;
mod check;
mod conform;
pub mod conform_broker;
mod coverage;
mod explore;
mod export;
mod mutants;
mod properties;
mod record;
mod replay;
mod replay_impl;
mod scenarios;
mod serve_model;
mod table;
mod validate;

use crate::args::{Arguments, Command};
use crate::exit::{Exit, Failure};

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let (json, progress) = (arguments.json, arguments.progress);
    match &arguments.command {
        Command::Check(args) => check::run(args, json, progress),
        Command::Scenarios => scenarios::run(json),
        Command::Properties(args) => properties::run(args, json),
        Command::Mutants(args) => mutants::run(args, json, progress),
        Command::Table(args) => table::run(args, json),
        Command::Coverage(args) => coverage::run(args, json, progress),
        Command::Explore(args) => explore::run(args, json),
        Command::ServeModel(args) => serve_model::run(args),
        Command::Replay(args) => replay::run(args, json),
        Command::Record(args) => record::run(args),
        Command::Validate(args) => validate::run(args, json),
        Command::Conform(args) => conform::run(args, json),
        Command::Export(args) => export::run(args),
        Command::Bench(args) => bench::run(args, json),
    }
}
