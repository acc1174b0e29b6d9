//! End to end: the command line, its exit codes and JSON, the saved traces, and the tidiness of the
//! sources.

mod bad_input;
mod browser;
mod explorer;
mod json;
mod judged;
mod modes;
mod saved_traces;
mod support;
mod tidy;
