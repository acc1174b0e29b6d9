//! The command line `fencepost`: check the model, judge mutants, explain, explore, replay, export.
//!
//! Results go to stdout, progress to stderr. Exit codes: 0 everything as expected, 1 a finding,
//! 2 usage or unreadable input, 3 no broker answers, 4 an internal error.

mod args;
mod bounds;
mod cells;
mod commands;
mod exit;
mod explorer;
mod export;
mod fair;

mod junit;
mod ledger;
mod modes;
mod output;
mod progress;
mod run;
mod select;
mod story;
mod tables;
mod traces;

use clap::Parser;
use exit::Exit;
use std::process::ExitCode;

/// Millions of small allocations: this one spends half the time of the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = match args::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(usage) => {
            // Nobody is left to tell when even this cannot be written.
            let _ = usage.print();
            return Exit::of_usage(&usage).into();
        }
    };
    match commands::run(&arguments) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.tell();
            failure.exit().into()
        }
    }
}
