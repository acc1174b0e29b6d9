//! The batches of a transaction: when they go out, and what their answers lead to.

use super::errors::{Api, Class, classify};
use super::input::Effect;
use super::request::{BatchId, Cause, ProduceBatch};
use super::state::State;
use super::transaction_manager::TransactionManager;
use crate::error_code::ErrorCode;
use crate::types::TopicPartition;

impl TransactionManager {
    /// Sends what may go: to registered partitions, until nothing more is possible.
    pub(super) fn produce_next(&mut self, effects: &mut Vec<Effect>) {
        let Some(producer) = self.producer.filter(|_| self.state != State::FatalError) else {
            return;
        };
        for (partition, batches) in &mut self.batches {
            if !self.partitions_in_transaction.contains(partition) {
                continue;
            }
            while let Some(batch) = batches.next_to_send(producer) {
                let Some(number) = batch.number else {
                    break;
                };
                effects.push(Effect::Produce(ProduceBatch {
                    partition: partition.clone(),
                    batch: batch.id,
                    producer: number.producer,
                    base_sequence: number.base_sequence,
                    version: self.version,
                }));
            }
        }
    }

    /// Once the transaction can only be aborted, what was never sent is not sent any more; what was sent is sent again
    /// until its fate is known. After a fatal error nothing is waited for.
    pub(super) fn drop_unsent(&mut self, effects: &mut Vec<Effect>) {
        let (cause, all) = match self.state {
            State::AbortingTransaction => (Cause::Aborted, false),
            State::AbortableError => (self.last_error.unwrap_or(Cause::Aborted), false),
            State::FatalError => (self.last_error.unwrap_or(Cause::Aborted), true),
            State::Uninitialized
            | State::Initializing
            | State::Ready
            | State::InTransaction
            | State::CommittingTransaction => return,
        };
        for (partition, batches) in &mut self.batches {
            let dropped = if all {
                batches.take_all()
            } else {
                batches.take_unsent()
            };
            effects.extend(dropped.into_iter().map(|batch| Effect::BatchFinished {
                partition: partition.clone(),
                batch: batch.id,
                outcome: Err(cause),
            }));
        }
    }

    pub(super) fn batch_answered(
        &mut self,
        partition: &TopicPartition,
        batch: BatchId,
        code: ErrorCode,
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        let can_bump = self.can_bump();
        let Some(batches) = self
            .batches
            .get_mut(partition)
            .filter(|batches| batches.is_in_flight(batch))
        else {
            return effects;
        };
        let cause = Cause::Answered {
            api: Api::Produce,
            code,
        };
        match classify(Api::Produce, code) {
            Class::Success => {
                batches.acknowledge(batch);
                effects.push(finished(partition, batch, Ok(())));
            }
            Class::Retry | Class::FindAndRetry => batches.retry(batch),
            // Something before it is not there yet: it goes again once that is.
            Class::OutOfOrder if batches.waits_for_earlier(batch) => batches.retry(batch),
            Class::OutOfOrder | Class::Abortable => {
                self.batch_failed(partition, batch, cause, &mut effects);
            }
            Class::AbortableWithBump if can_bump => {
                self.batch_failed(partition, batch, cause, &mut effects);
            }
            Class::AbortableWithBump | Class::Fatal => {
                batches.give_up(batch);
                effects.push(finished(partition, batch, Err(cause)));
                self.fatal(cause);
            }
        }
        effects
    }

    /// A batch that is given up may be in the log or may yet get there. Its sequence must not be used again, so the
    /// producer needs a new epoch, and where it can get none it is done.
    pub(super) fn batch_expired(
        &mut self,
        partition: &TopicPartition,
        batch: BatchId,
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        let known = self.batches.get(partition).and_then(|batches| {
            batches
                .queue()
                .iter()
                .find(|queued| queued.id == batch)
                .copied()
        });
        let Some(known) = known else {
            return effects;
        };
        if known.number.is_some() && !self.can_bump() {
            if let Some(batches) = self.batches.get_mut(partition) {
                batches.give_up(batch);
            }
            effects.push(finished(partition, batch, Err(Cause::BatchExpired)));
            self.fatal(Cause::BatchExpired);
        } else {
            self.batch_failed(partition, batch, Cause::BatchExpired, &mut effects);
        }
        effects
    }

    /// A failed batch spoils the transaction, whatever the application makes of it (B44).
    fn batch_failed(
        &mut self,
        partition: &TopicPartition,
        batch: BatchId,
        cause: Cause,
        effects: &mut Vec<Effect>,
    ) {
        if let Some(batches) = self.batches.get_mut(partition) {
            batches.give_up(batch);
        }
        effects.push(finished(partition, batch, Err(cause)));
        self.require_bump();
        seeded!(FailedSendForgotten, self.abortable(cause), ());
    }
}

fn finished(partition: &TopicPartition, batch: BatchId, outcome: Result<(), Cause>) -> Effect {
    Effect::BatchFinished {
        partition: partition.clone(),
        batch,
        outcome,
    }
}
