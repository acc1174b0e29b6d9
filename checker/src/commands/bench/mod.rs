//! `fencepost bench`: one file for each thing that is measured.

mod conform;
mod core;
mod judged;
mod rows;
mod search;

use crate::args::{Bench, Subject};
use crate::exit::{Exit, Failure};

/// Runs it.
pub fn run(args: &Bench, json: bool) -> Result<Exit, Failure> {
    match args.subject {
        Subject::Search => search::run(args, json),
        Subject::Conform => conform::run(args, json),
        Subject::Core => core::run(args, json),
    }
}
