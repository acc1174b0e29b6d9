//! Spec against implementation.
