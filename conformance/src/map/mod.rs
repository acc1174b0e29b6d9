//! The one translator between the model's values and the implementation's.
//!
//! Each direction is total over the values that the other side can express: an exhaustive match, and an [`Unmapped`]
//! where one side has a value that the other has no word for. That is a difference, never a panic.

mod answer;
mod clock;
mod error_code;
mod ghost;
mod ids;
mod input;
mod metadata;
mod normal;
mod record;
mod token;

pub use answer::{coordinator_answer, group_answer, partition_answer};
pub use clock::Clock;
pub use error_code::{impl_error, spec_error};
pub use ghost::without_ghost;
pub use ids::*;
pub use input::{
    GROUP, coordinator_request, is_to_coordinator, marker_outcome, produce, request_word,
    txn_offset_commit, write_txn_marker,
};
pub use metadata::{abstract_metadata, version_of};
pub use normal::{materialised, normal_coordinator, normal_group, normal_partition};
pub use record::{RecordForm, log_record, read_log_record, record_forms};
pub use token::{CoordinatorToken, PartitionToken};

use thiserror::Error;

/// A value of one side that the other side has no word for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what} has no counterpart: {value}")]
pub struct Unmapped {
    /// What kind of value.
    pub what: &'static str,
    /// The value.
    pub value: String,
}

impl Unmapped {
    /// The value, as its debug text.
    pub fn new(what: &'static str, value: impl std::fmt::Debug) -> Self {
        Self {
            what,
            value: format!("{value:?}"),
        }
    }
}
