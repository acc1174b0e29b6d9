//! A broker's elections: what the shell tells the core when the transaction-state partition moves.

use super::broker::LOG_PARTITION;
use super::{Broker, Difference, Outbox};
use crate::map::{self, Clock, RecordForm, log_record};
use fencepost::coordinator::{AppendOutcome, AppendTicket, Input, Leadership, LogRecord};
use fencepost::error_code::ErrorCode;
use fencepost_spec::coordinator::TransactionLog;
use fencepost_spec::types::*;

impl Broker {
    /// Learns that it leads, and starts to load.
    pub(super) fn elected(
        &mut self,
        epoch: CoordinatorEpoch,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        self.epoch = epoch;
        self.appending.clear();
        self.sending.clear();
        let told = Leadership::Elected {
            partition: LOG_PARTITION,
            coordinator_epoch: self.impl_epoch(),
        };
        self.leadership(told, out)
    }

    /// Reads the replicated part of the log, as bytes.
    pub(super) fn load(
        &mut self,
        log: &TransactionLog,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let mut records: Vec<LogRecord> = Vec::new();
        for (id, value) in (0..).map(TransactionalId).zip(&log.committed) {
            if let Some(value) = value {
                records.push(log_record(
                    self.topics,
                    RecordForm::at(self.clock),
                    id,
                    Some(value),
                )?);
            }
        }
        self.replay(records, out)
    }

    /// Takes the records of its log, and serves.
    pub(super) fn replay(
        &mut self,
        records: Vec<LogRecord>,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let (partition, coordinator_epoch) = (LOG_PARTITION, self.impl_epoch());
        let replayed = Leadership::Replayed {
            partition,
            coordinator_epoch,
            records,
        };
        self.leadership(replayed, out)?;
        let loaded = Leadership::Loaded {
            partition,
            coordinator_epoch,
        };
        self.leadership(loaded, out)
    }

    /// Learns that another broker leads. The log then fails what this one was appending.
    pub(super) fn resign(
        &mut self,
        leads: CoordinatorEpoch,
        blocking: bool,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let resigned = Leadership::Resigned {
            partition: LOG_PARTITION,
            coordinator_epoch: map::coordinator_epoch(leads),
        };
        self.leadership(resigned, out)?;
        let appending = std::mem::take(&mut self.appending);
        for ticket in appending.into_values() {
            let outcome = AppendOutcome::Failed(ErrorCode::NotLeaderOrFollower);
            self.finish(ticket, outcome, blocking, out)?;
        }
        self.sending.clear();
        Ok(())
    }

    /// The process stops and starts again: nothing in memory is left but the block, which the harness keeps.
    pub(super) fn crash(
        &mut self,
        version: TransactionVersion,
        two_phase: bool,
    ) -> Result<(), Difference> {
        let next = self.next_producer_id()?;
        *self = Self {
            epoch: self.epoch,
            clock: self.clock,
            ..Self::new(self.id, self.topics, version, two_phase, next)
        };
        Ok(())
    }

    /// The cluster's transaction version is raised.
    pub(super) fn upgrade(&mut self, version: TransactionVersion) -> Result<(), Difference> {
        let input = Input::TransactionVersionChanged(map::cluster_version(version));
        self.sweep(input, self.clock.late(), &mut Outbox::default())
    }

    /// The clock steps back by a minute.
    pub(super) fn step_clock_back(&mut self) {
        self.clock = Clock { back: true };
    }

    /// The ticket of the append that an id waits for.
    pub(super) fn ticket(&self, id: TransactionalId) -> Option<&AppendTicket> {
        self.appending.get(&id)
    }

    fn leadership(&mut self, told: Leadership, out: &mut Outbox) -> Result<(), Difference> {
        self.sweep(Input::Leadership(told), self.clock.late(), out)
    }
}
