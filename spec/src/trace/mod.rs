//! Traces: runs as text, one action a line, readable without the code.

mod changes;
mod facts;
mod file;
mod lasso;
mod line;
mod read;
mod replay;
#[cfg(test)]
mod tests;
mod value;
mod verbs;
pub mod vocabulary;

pub use changes::{Change, changes};
pub use facts::{Fact, facts};
pub use file::{Expect, TraceFile};
pub use lasso::NoLasso;
pub use line::{Line, request_word};
pub use read::actors;
pub use replay::{NotEnabled, Replayed, replay, violated_at_end};
pub use value::ValueKind;
pub use verbs::fault_verb;

use thiserror::Error;

/// A trace with a word that is not in the vocabulary.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {what}; expected {expected}")]
pub struct Unreadable {
    /// The line of the file, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// What was expected.
    pub expected: String,
}
