//! A message reaches the core that it is for.

use super::before::{awaiting, is_current, stored};
use super::{Excluded, Frame, Production, Took};
use crate::actors::{Difference, Outbox, Told};
use crate::map::{Clock, impl_error};
use fencepost::coordinator::MarkerOutcome;
use fencepost::error_code::ErrorCode as ImplError;
use fencepost_spec::message::*;
use fencepost_spec::types::*;
use std::sync::Arc;

impl Production {
    pub(super) fn deliver(
        &mut self,
        frame: &Frame<'_>,
        message: &Message,
        broker: Option<BrokerId>,
        mut out: Outbox,
    ) -> Result<Took, Difference> {
        match message {
            Message::InitProducerId(m)
                if m.keep_prepared_txn && frame.before.version == TransactionVersion::Tv1 =>
            {
                return Ok(Took::Excluded(Excluded {
                    what: "keep_prepared_txn under TV1",
                    reason: "production answers UNSUPPORTED_VERSION, the model serves it",
                }));
            }
            Message::InitProducerId(m) => {
                let stored = stored(frame.before, broker, m.transactional_id);
                let keeps = m.keep_prepared_txn;
                let when = |clock: Clock| clock.init_producer_id(keeps, stored.as_ref());
                self.request(frame, message, broker, when, &mut out)?;
            }
            Message::AddPartitionsToTxn(_)
            | Message::AddOffsetsToTxn(_)
            | Message::VerifyPartition(_) => {
                self.request(frame, message, broker, Clock::early, &mut out)?;
            }
            Message::EndTxn(m) => {
                let stored = stored(frame.before, broker, Some(m.transactional_id));
                let when = |clock: Clock| clock.end_txn(stored.as_ref());
                self.request(frame, message, broker, when, &mut out)?;
            }
            Message::WriteTxnMarkersAnswer(m) => {
                // The sender knows which of its requests an answer belongs to.
                if is_current(frame.before, m) {
                    self.broker(m.broker)?.marker_answered(m, &mut out)?;
                }
            }
            Message::AppendTxnRecordAnswer(m) => {
                self.broker(m.broker)?
                    .append_finished(m, frame.blocking, &mut out)?;
            }
            Message::Produce(m) => {
                self.replica(m.partition)?.produce(frame, m, &mut out)?;
            }
            Message::WriteTxnMarkers(m) => match self.offsets.as_mut() {
                Some(offsets) if m.partition.0 == frame.scenario.partitions => {
                    Arc::make_mut(offsets).write_txn_marker(m, &mut out)?;
                }
                Some(_) | None => {
                    self.replica(m.partition)?
                        .write_txn_marker(frame, m, &mut out)?;
                }
            },
            Message::VerifyAnswer { error, .. } => {
                let answer = match impl_error(*error)? {
                    ImplError::None => Ok(()),
                    error => Err(error),
                };
                self.verified(frame, message, answer, &mut out)?;
            }
            Message::TxnOffsetCommit(m) => self.offsets_mut()?.txn_offset_commit(m, &mut out)?,
            Message::OffsetFetch(m) => self.offsets_mut()?.offset_fetch(m, &mut out)?,
            Message::CoordinatorAnswer(CoordinatorAnswer { correlation, .. })
            | Message::ProduceAnswer { correlation, .. }
            | Message::TxnOffsetCommitAnswer { correlation, .. }
            | Message::OffsetFetchAnswer { correlation, .. } => {
                let told = Told::Answer(*message);
                return self.client(frame, correlation.producer, &told);
            }
            Message::AppendTxnRecord(_) => return Ok(Took::Own),
        }
        Ok(Took::Core(out))
    }

    /// A step of a client. Answers to strangers are nobody's.
    pub(super) fn client(
        &mut self,
        frame: &Frame<'_>,
        producer: ProducerIndex,
        told: &Told,
    ) -> Result<Took, Difference> {
        let Some(client) = self.clients.get_mut(usize::from(producer.0)) else {
            return Ok(Took::Own);
        };
        let said = Arc::make_mut(client).take(frame, producer, told)?;
        Ok(Took::Client(producer, said))
    }

    pub(super) fn request(
        &mut self,
        frame: &Frame<'_>,
        message: &Message,
        broker: Option<BrokerId>,
        when: impl FnOnce(Clock) -> fencepost::types::Timestamp,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let broker = broker.ok_or_else(|| Difference::Missing("broker".to_owned()))?;
        let broker = self.broker(broker)?;
        let now = when(broker.clock);
        broker.request(message, now, frame.blocking, out)
    }

    pub(super) fn verified(
        &mut self,
        frame: &Frame<'_>,
        message: &Message,
        answer: Result<(), ImplError>,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let Message::VerifyAnswer {
            partition,
            identity,
            sequence,
            ..
        } = *message
        else {
            return Err(Difference::Missing("verdict".to_owned()));
        };
        match self.offsets.as_mut() {
            Some(offsets) if partition.0 == frame.scenario.partitions => {
                Arc::make_mut(offsets).verified((identity, sequence), answer, out)
            }
            Some(_) | None => {
                self.replica(partition)?
                    .verified(frame, (identity, sequence), answer, out)
            }
        }
    }

    pub(super) fn marker_lost(
        &mut self,
        frame: &Frame<'_>,
        marker: &WriteTxnMarkers,
        out: &mut Outbox,
    ) -> Result<(), Difference> {
        let answer = MarkerAnswer {
            broker: marker.broker,
            coordinator_epoch: marker.coordinator_epoch,
            transactional_id: marker.transactional_id,
            round: marker.round,
            partition: marker.partition,
            error: fencepost_spec::error_code::ErrorCode::None,
        };
        let awaited =
            awaiting(frame.before, &answer).is_some_and(|it| it.contains(answer.partition));
        if !awaited {
            return Ok(());
        }
        let lost = MarkerOutcome::Disconnected;
        let (id, partition) = (marker.transactional_id, marker.partition);
        self.broker(marker.broker)?
            .marker_outcome(id, partition, lost, out)
    }
}
