//! A reader that fetches in steps: it takes its bound, then its data, then the aborted list.
//!
//! SOURCE: KIP-98; `CompletedFetch` (the consumer's filter knows aborted transactions by producer
//! id); KAFKA-5376 and KAFKA-9807 for what can come between the steps.

use crate::partition::{Bound, Partition, Record, read_committed_view};
use crate::rules::FetchRules;
use crate::step::Step;
use crate::types::*;
use serde::{Deserialize, Serialize};

/// Where a fetch stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ReaderStage {
    /// Between fetches.
    Idle,
    /// Nothing was there: the fetch is parked until the bound moves.
    Parked,
    /// The bound is taken.
    Bounded {
        /// The bound.
        bound: Bound,
        /// The fetch was parked before.
        delayed: bool,
    },
    /// The data below `upper` is taken.
    HasData {
        /// The end of the data.
        upper: Offset,
        /// The fetch was parked before.
        delayed: bool,
    },
}

/// A consumer of one partition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Reader {
    /// What it reads.
    pub partition: PartitionIndex,
    /// What it may see.
    pub isolation: IsolationLevel,
    /// Everything below was delivered or filtered.
    pub position: Offset,
    /// Where its fetch stands.
    pub stage: ReaderStage,
}

impl Reader {
    /// A reader at the start of a partition.
    pub fn new(partition: PartitionIndex, isolation: IsolationLevel) -> Self {
        Self {
            partition,
            isolation,
            position: Offset(0),
            stage: ReaderStage::Idle,
        }
    }

    /// The leader takes the bound of the fetch; a fetch with nothing to return is parked.
    pub fn take_bound(&mut self, partition: &Partition, rules: &FetchRules) -> Step {
        let parked = match self.stage {
            ReaderStage::Idle => false,
            ReaderStage::Parked => true,
            ReaderStage::Bounded { .. } | ReaderStage::HasData { .. } => return Step::NotEnabled,
        };
        let Some(bound) = partition.fetch_bound(rules, self.isolation) else {
            return Step::NotEnabled;
        };
        if bound.upper > self.position {
            self.stage = ReaderStage::Bounded {
                bound,
                delayed: parked,
            };
            Step::Handled
        } else if parked {
            Step::NotEnabled
        } else {
            self.stage = ReaderStage::Parked;
            Step::Handled
        }
    }

    /// The leader reads the data below the bound.
    pub fn take_data(&mut self, partition: &Partition, rules: &FetchRules) -> Step {
        let ReaderStage::Bounded { bound, delayed } = self.stage else {
            return Step::NotEnabled;
        };
        if partition.recovering && rules.serve_after_recovery {
            return Step::NotEnabled;
        }
        let upper = if bound.at_high_watermark && !rules.single_bound {
            partition.high_watermark
        } else {
            bound.upper.min(partition.log_end)
        };
        self.stage = ReaderStage::HasData { upper, delayed };
        Step::Handled
    }

    /// The leader adds the aborted list; the consumer filters and delivers.
    pub fn take_aborted(
        &mut self,
        partition: &Partition,
        rules: &FetchRules,
    ) -> Option<Vec<Record>> {
        let ReaderStage::HasData { upper, delayed } = self.stage else {
            return None;
        };
        if partition.recovering && rules.serve_after_recovery {
            return None;
        }
        let from = self.position;
        let listed = match self.isolation {
            IsolationLevel::ReadUncommitted => List::new(),
            IsolationLevel::ReadCommitted if delayed && !rules.aborted_list_when_delayed => {
                List::new()
            }
            IsolationLevel::ReadCommitted if !rules.aborted_list_full_range => {
                partition.aborted_in(from, from)
            }
            IsolationLevel::ReadCommitted => partition.aborted_in(from, upper),
        };
        let data = partition
            .log
            .iter()
            .filter(|r| r.offset >= from && r.offset < upper);
        let delivered = read_committed_view(data, &listed);
        self.position = upper.max(from);
        self.stage = ReaderStage::Idle;
        Some(delivered)
    }
}
