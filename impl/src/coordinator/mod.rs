//! The transaction coordinator.
