//! Building scenarios: a plain start and small changes of it.

use super::{Granularity, Scenario};
use crate::client::{Item, Workload};
use crate::fault::{Budgets, Fault};
use crate::message::RequestKind;
use crate::partition::Pace;
use crate::types::*;
use crate::world::Seed;

impl Workload {
    /// A transactional producer of id 0 that sends one record to each of `partitions`, in
    /// `transactions` transactions, one request at a time.
    pub fn sending(partitions: &[u8], transactions: u8) -> Self {
        Self {
            transactional_id: Some(TransactionalId(0)),
            two_phase: false,
            takes_over: None,
            max_in_flight: 1,
            transactions,
            items: partitions
                .iter()
                .map(|p| Item::Send(PartitionIndex(*p)))
                .collect(),
            starts_after_crash_of: None,
            inputs: 0,
        }
    }

    /// The same for another id.
    pub fn id(self, id: u8) -> Self {
        Self {
            transactional_id: Some(TransactionalId(id)),
            ..self
        }
    }

    /// The same without an id: only idempotent.
    pub fn idempotent(self) -> Self {
        Self {
            transactional_id: None,
            ..self
        }
    }

    /// The same with up to `n` batches in flight.
    pub fn in_flight(self, n: u8) -> Self {
        Self {
            max_in_flight: n,
            ..self
        }
    }

    /// The same with a staged offset at the end.
    pub fn with_offset(mut self) -> Self {
        self.items.push(Item::CommitOffset);
        self
    }

    /// Consume-process-produce: fetch the offset, process the next input record, stage the offset.
    pub fn processing(id: u8, inputs: u8) -> Self {
        Self {
            items: vec![
                Item::FetchOffset,
                Item::Send(PartitionIndex(0)),
                Item::CommitOffset,
            ],
            inputs,
            ..Self::sending(&[], 1).id(id)
        }
    }

    /// KIP-939: decided by the external manager.
    pub fn two_phase(self) -> Self {
        Self {
            two_phase: true,
            ..self
        }
    }

    /// KIP-939: starts once `crashed` has crashed, and takes over what `prepared` has prepared.
    pub fn taking_over(self, prepared: u8, crashed: u8) -> Self {
        Self {
            two_phase: true,
            takes_over: Some(ProducerIndex(prepared)),
            starts_after_crash_of: Some(ProducerIndex(crashed)),
            ..self
        }
    }
}

impl Scenario {
    /// One broker, no faults, E0, everything fresh.
    pub fn plain(workloads: Vec<Workload>, partitions: u8) -> Self {
        let ids = workloads
            .iter()
            .filter_map(|w| w.transactional_id)
            .map(|id| usize::from(id.0) + 1)
            .max()
            .unwrap_or(0);
        let offsets = workloads
            .iter()
            .any(|w| w.items.contains(&Item::CommitOffset));
        Self {
            name: "",
            says: "",
            workloads,
            ids,
            brokers: 1,
            partitions,
            offsets,
            readers: Vec::new(),
            budgets: Budgets::default(),
            resend_only: None,
            granularity: Granularity::E0,
            blocking: true,
            prune: true,
            pace: Pace::default(),
            follower: false,
            seed: Seed::Fresh,
            verification: true,
            stale_routing: false,
            ghost_key: 0,
        }
    }

    /// The same with `n` of `fault`. An election needs a second broker.
    pub fn fault(self, fault: Fault, n: u8) -> Self {
        Self {
            budgets: self.budgets.with(fault, n),
            brokers: if fault == Fault::Election {
                2
            } else {
                self.brokers
            },
            ..self
        }
    }

    /// The same with answers delivered at once.
    pub fn eager(self) -> Self {
        Self {
            granularity: Granularity::E2,
            ..self
        }
    }

    /// The same with retriable answers really sent.
    pub fn answering(self) -> Self {
        Self {
            blocking: false,
            ..self
        }
    }

    /// The same with only requests of one kind sent again.
    pub fn resending_only(self, kind: RequestKind) -> Self {
        Self {
            resend_only: Some(kind),
            ..self
        }
    }

    /// The same with a stepwise reader of partition 0.
    pub fn reader(mut self, level: IsolationLevel) -> Self {
        self.readers.push((PartitionIndex(0), level));
        self
    }

    /// The same with the high watermark in steps of its own.
    pub fn replica_behind(self) -> Self {
        Self {
            pace: Pace {
                replica_behind: true,
                ..self.pace
            },
            ..self
        }
    }

    /// The same with application in steps of its own.
    pub fn apply_lag(self) -> Self {
        Self {
            pace: Pace {
                apply_lag: true,
                ..self.pace
            },
            ..self
        }
    }

    /// The same from another start.
    pub fn from(self, seed: Seed) -> Self {
        Self { seed, ..self }
    }

    /// The same with a replica that may be out of sync.
    pub fn with_follower(self) -> Self {
        Self {
            follower: true,
            ..self
        }
    }

    /// The same with clients and leaders that do not share what they know of the coordinator.
    pub fn stale_routing(self) -> Self {
        Self {
            stale_routing: true,
            ..self
        }
    }

    /// The same with `transaction.partition.verification.enable` off.
    pub fn unverified(self) -> Self {
        Self {
            verification: false,
            ..self
        }
    }
}
