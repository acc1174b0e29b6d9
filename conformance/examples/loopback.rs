//! Serves our own implementation on a TCP port, in memory, until Ctrl-C, SIGTERM or the end of the input.
//!
//! ```text
//! cargo run --release -p fencepost-conformance --example loopback -- [--listen HOST:PORT] [--transaction-version 1|2] [--log FILE]
//! ready 127.0.0.1:40123
//! ```
//!
//! `--log` writes what clients ask and what the cores do, an event a line; `fencepost validate FILE` judges it.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::process::ExitCode;
use std::sync::mpsc;

use fencepost::types::TransactionVersion;
use fencepost_conformance::loopback::{Loopback, LoopbackConfig};

const USAGE: &str = "usage: loopback [--listen HOST:PORT] [--transaction-version 1|2] [--log FILE]";

fn main() -> ExitCode {
    let (config, log) = match config(std::env::args().skip(1)) {
        Ok(config) => config,
        Err(problem) => {
            eprintln!("{problem}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let (stop, stopped) = mpsc::channel();
    let on_signal = stop.clone();
    // A send that fails means that main is on its way out already.
    let handler = move || {
        let _ = on_signal.send(());
    };
    if let Err(problem) = ctrlc::set_handler(handler) {
        eprintln!("no signal handler: {problem}");
        return ExitCode::from(4);
    }
    let started = match log {
        Some(log) => Loopback::start_logged(config, log),
        None => Loopback::start(config),
    };
    let broker = match started {
        Ok(broker) => broker,
        Err(problem) => {
            eprintln!("cannot listen on {}: {problem}", config.listen);
            return ExitCode::from(3);
        }
    };
    println!("ready {}", broker.address());
    std::thread::spawn(move || {
        // Whatever ends the input ends the server.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        let _ = stop.send(());
    });
    // Either sender is enough; an error means that both are gone.
    let _ = stopped.recv();
    ExitCode::SUCCESS
}

type Log = Box<dyn Write + Send>;

fn config(
    arguments: impl Iterator<Item = String>,
) -> Result<(LoopbackConfig, Option<Log>), String> {
    let mut config = LoopbackConfig::new(TransactionVersion::V2);
    let mut log: Option<Log> = None;
    let mut arguments = arguments;
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(format!("{name} needs a value"))?;
        let unreadable = || format!("cannot read {name} {value}");
        match name.as_str() {
            "--listen" => config.listen = value.parse().map_err(|_| unreadable())?,
            "--transaction-version" => {
                config.transaction_version = match value.as_str() {
                    "1" => TransactionVersion::V1,
                    "2" => TransactionVersion::V2,
                    _ => return Err(unreadable()),
                }
            }
            "--log" => {
                let file = File::create(&value)
                    .map_err(|problem| format!("cannot write {value}: {problem}"))?;
                log = Some(Box::new(BufWriter::new(file)));
            }
            _ => return Err(unreadable()),
        }
    }
    Ok((config, log))
}
