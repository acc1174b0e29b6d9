//! The implementation.
