//! The protocol as stateright actors.
