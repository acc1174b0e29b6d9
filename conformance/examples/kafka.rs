//! Starts Apache Kafka as the tests do, says where, and stops it on Ctrl-C, SIGTERM or the end of
//! the input.
//!
//! ```text
//! cargo run -p fencepost-conformance --example kafka -- [--transaction-version 0|1|2] [--brokers N]
//! ready 127.0.0.1:40123
//! ```

use std::io::{self, Read};
use std::process::ExitCode;
use std::sync::mpsc;

use fencepost_conformance::kafka_server::{KafkaConfig, KafkaServer};

const USAGE: &str = "usage: kafka [--transaction-version 0|1|2] [--brokers N]";

fn main() -> ExitCode {
    let config = match config(std::env::args().skip(1)) {
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
    let server = match KafkaServer::start(&config) {
        Ok(server) => server,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::from(3);
        }
    };
    let addresses: Vec<String> = (1..=config.nodes)
        .map(|id| server.address(id).to_string())
        .collect();
    println!("ready {}", addresses.join(","));
    std::thread::spawn(move || {
        // Whatever ends the input ends the server.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        let _ = stop.send(());
    });
    // Either sender is enough; an error means that both are gone.
    let _ = stopped.recv();
    ExitCode::SUCCESS
}

fn config(arguments: impl Iterator<Item = String>) -> Result<KafkaConfig, String> {
    let mut config = KafkaConfig::one_node(2);
    let mut arguments = arguments;
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(format!("{name} needs a value"))?;
        match (name.as_str(), value.parse()) {
            ("--transaction-version", Ok(level @ 0..=2)) => config.transaction_version = level,
            ("--brokers", Ok(brokers @ 1..=9)) => config.nodes = brokers as usize,
            _ => return Err(format!("cannot read {name} {value}")),
        }
    }
    Ok(config)
}
