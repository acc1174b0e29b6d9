//! Transactions kept for another session: their identity stays, and the client gets another one to end them with.
//!
//! What it is: InitProducerId version 6 with `keep_prepared_txn` on an open transaction. Whoever wrote the transaction
//! is fenced from its end by the new identity; its records and markers keep their own. Source: KIP-939. Kafka 4.4 does
//! not serve it yet, so where the KIP is silent the rule here is ours.

use std::sync::Arc;

use super::Coordinator;
use super::decision::raised;
use super::effect::{Effects, ErrorForm, Then};
use super::init_producer_id::{InitProducerId, InitializedProducer};
use super::input::Correlation;
use super::led_partition::Write;
use super::producer_ids::ProducerIds;
use super::state_transitions::TransactionState;
use super::transaction_metadata::TransactionMetadata;
use crate::error_code::ErrorCode;
use crate::types::{ProducerEpoch, ProducerId, ProducerIdAndEpoch, Timestamp, TransactionalId};

/// The identity after the one that the client has: the next epoch, or a fresh producer id when epochs are exhausted.
pub(super) fn identity_after_clients(
    stored: &TransactionMetadata,
    producer_ids: &mut ProducerIds,
    now: Timestamp,
    effects: &mut Effects,
) -> Result<(ProducerId, Option<ProducerEpoch>), ErrorCode> {
    let epoch = stored.client_producer_epoch();
    if epoch.is_some_and(ProducerEpoch::is_exhausted) {
        return Ok((
            producer_ids.generate(now, effects)?,
            Some(ProducerEpoch::ZERO),
        ));
    }
    Ok((stored.client_producer_id(), raised(epoch)))
}

impl Coordinator {
    /// The transaction stays as it is, its identity untouched; the client gets the identity after the last one that it
    /// was given, and everyone who has an older one is fenced by it.
    pub(super) fn keep_ongoing(
        &mut self,
        to: Correlation,
        id: &TransactionalId,
        request: &InitProducerId,
        stored: Arc<TransactionMetadata>,
        now: Timestamp,
        effects: &mut Effects,
    ) -> Result<(), ErrorCode> {
        let (producer_id, producer_epoch) =
            identity_after_clients(&stored, &mut self.producer_ids, now, effects)?;
        let producer_epoch = producer_epoch.ok_or(ErrorCode::UnknownServerError)?;
        let kept = TransactionMetadata {
            next_producer_id: Some(producer_id),
            next_producer_epoch: Some(producer_epoch),
            // As for every session: the producer that will end the transaction says how long it may stay open.
            timeout: request.timeout(),
            ..stored.changed(TransactionState::Ongoing, now)
        };
        let producer = ProducerIdAndEpoch {
            producer_id,
            producer_epoch,
        };
        let answer = InitializedProducer {
            producer,
            ongoing: stored.producer(),
        };
        let form = ErrorForm::since(4, request.version);
        let then = Then::AnswerInitProducerId(to, form, answer);
        let write = Write {
            now,
            level: self.transaction_version,
            then,
        };
        self.owner_mut(id)?.begin(id, stored, kept, write, effects)
    }
}
