//! The producer's transaction manager and the read_committed filter.
