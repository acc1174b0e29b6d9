//! `fencepost record`: a proxy before a broker that writes down what clients and broker say.

use super::conform_broker::address;
use crate::args::Record;
use crate::exit::{Exit, Failure};
use crate::output::say;
use fencepost_conformance::observed::Proxy;
use std::fs::File;
use std::io::{self, Read};

/// Runs it, until its standard input ends or the process is stopped.
pub fn run(args: &Record) -> Result<Exit, Failure> {
    let shown = args.out.display().to_string();
    // Each event is written at once, so that a stopped recording is whole.
    let file = File::create(&args.out).map_err(|source| Failure::File {
        verb: "write",
        path: shown.clone(),
        source,
    })?;
    let (listen, bootstrap) = (address(&args.listen)?, address(&args.bootstrap)?);
    let proxy = Proxy::start(listen, bootstrap, Box::new(file))
        .map_err(|error| Failure::Usage(format!("cannot listen on {listen}: {error}")))?;
    say(&format!("recording {} into {shown}\n", proxy.address()))?;
    // Whatever ends the input ends the recording.
    let _ = io::stdin().read_to_end(&mut Vec::new());
    Ok(Exit::AsExpected)
}
