//! Writing results to stdout.

use crate::exit::Failure;
use serde::Serialize;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// The version of every JSON report.
pub const SCHEMA_VERSION: u32 = 1;

/// Writes text to stdout. A reader that has gone away is no error: the exit code still tells.
pub fn say(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(Failure::Output),
    }
}

/// Writes a report as JSON, with `schema_version` and `ok` in front.
pub fn say_json(ok: bool, report: &impl Serialize) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Envelope<'a, T> {
        schema_version: u32,
        ok: bool,
        #[serde(flatten)]
        report: &'a T,
    }
    let envelope = Envelope {
        schema_version: SCHEMA_VERSION,
        ok,
        report,
    };
    let text = serde_json::to_string_pretty(&envelope)
        .map_err(|error| Failure::Internal(error.to_string()))?;
    say(&format!("{text}\n"))
}

/// Whether text may be coloured: stdout is a terminal and NO_COLOR is not set.
pub fn coloured() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !refused && io::stdout().is_terminal()
}

/// Text in bold, where it may be.
pub fn bold(text: &str) -> String {
    if coloured() {
        format!("\x1b[1m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}
