//! How the program ends.

use fencepost_search::StorageError;
use fencepost_spec::trace::Unreadable;
use std::io::{self, Write};
use std::process::ExitCode;
use thiserror::Error;

/// The exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: everything as expected.
    AsExpected,
    /// 1: a finding.
    Finding,
    /// 2: usage, or unreadable input.
    Usage,
    /// 3: no broker answers.
    Unreachable,
    /// 4: an internal error.
    Internal,
}

impl Exit {
    /// The exit of clap's own message: help and version are no error.
    pub fn of_usage(usage: &clap::Error) -> Self {
        if usage.use_stderr() {
            Self::Usage
        } else {
            Self::AsExpected
        }
    }

    /// The exit of a report.
    pub fn of_report(ok: bool) -> Self {
        if ok { Self::AsExpected } else { Self::Finding }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::AsExpected => 0,
            Exit::Finding => 1,
            Exit::Usage => 2,
            Exit::Unreachable => 3,
            Exit::Internal => 4,
        })
    }
}

/// Why a command did not come to a report.
#[derive(Debug, Error)]
pub enum Failure {
    /// Something was named that there is not.
    #[error("no {what} `{name}`; expected one of {expected}")]
    Unknown {
        /// What was to be named.
        what: &'static str,
        /// The name given.
        name: String,
        /// What there is.
        expected: String,
    },
    /// The arguments do not fit together.
    #[error("{0}")]
    Usage(String),
    /// A trace with an unknown word.
    #[error("{path}: {source}")]
    Trace {
        /// The file.
        path: String,
        /// What is wrong with it.
        source: Unreadable,
    },
    /// A file that cannot be read or written.
    #[error("cannot {verb} {path}: {source}")]
    File {
        /// `read` or `write`.
        verb: &'static str,
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A checkpoint that cannot be written, read, or is of something else.
    #[error("the checkpoint of {run}: {source}")]
    Checkpoint {
        /// The run.
        run: String,
        /// What is wrong with it.
        source: StorageError,
    },
    /// The result could not be written.
    #[error("cannot write the result: {0}")]
    Output(io::Error),
    /// No broker answers.
    #[error("{0}")]
    Unreachable(String),
    /// What should not happen.
    #[error("internal error: {0}")]
    Internal(String),
}

impl Failure {
    /// Something was named that is not among `expected`.
    pub fn unknown<'a>(
        what: &'static str,
        name: &str,
        expected: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        Self::Unknown {
            what,
            name: name.to_owned(),
            expected: expected.into_iter().collect::<Vec<_>>().join(", "),
        }
    }

    /// The exit that goes with it.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Unknown { .. } | Self::Usage(_) | Self::Trace { .. } => Exit::Usage,
            Self::File { verb: "read", .. } | Self::Checkpoint { .. } => Exit::Usage,
            Self::Unreachable(_) => Exit::Unreachable,
            Self::File { .. } | Self::Output(_) | Self::Internal(_) => Exit::Internal,
        }
    }

    /// Says it on stderr.
    pub fn tell(&self) {
        Self::told(&self.to_string());
    }

    /// Says something on stderr.
    pub fn told(message: &str) {
        // When stderr is gone, the exit code still tells.
        let _ = writeln!(io::stderr(), "error: {message}");
    }
}
