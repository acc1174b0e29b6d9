//! Traces: runs as text, one action a line, readable without the code.

mod line;

pub use line::{Line, request_word};
