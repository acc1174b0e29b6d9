//! InitProducerId: a producer begins a session, and whoever held the id before it is fenced.
//!
//! Who sends it: a producer, to the coordinator of its transactional id; without an id, to any broker. Source: KIP-98,
//! KIP-360 (a producer raises its own epoch), KIP-588 (error forms), KIP-939 (two-phase commit, version 6).

use std::sync::Arc;

use super::decision::{raised, require, valid_transactional_id};
use super::effect::{Answer, Effect, Effects, ErrorForm, Then};
use super::input::{Authorization, Correlation};
use super::led_partition::Write;
use super::partition_set::PartitionSet;
use super::state_transitions::TransactionState;
use super::transaction_metadata::{Slot, TransactionMetadata, TransactionTimeout};
use super::{Config, Coordinator};
use crate::error_code::ErrorCode;
use crate::types::{
    ProducerEpoch, ProducerId, ProducerIdAndEpoch, Timestamp, TransactionVersion, TransactionalId,
};

/// The request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InitProducerId {
    /// The request's version, 0 to 6.
    pub version: i16,
    /// The id; `None` for a producer that is only idempotent.
    pub transactional_id: Option<TransactionalId>,
    /// The transaction timeout, in milliseconds; at least 1 and at most the broker's maximum.
    pub transaction_timeout_ms: i32,
    /// Version 3 and later: the producer id that the producer has. Together with the epoch, or neither.
    pub expected_producer_id: Option<ProducerId>,
    /// Version 3 and later: the epoch that the producer has.
    pub expected_producer_epoch: Option<ProducerEpoch>,
    /// Version 6: the producer takes part in two-phase commit, so nobody else ends its transactions.
    pub enable_2pc: bool,
    /// Version 6: an open transaction is kept, to be ended with the identity of the answer.
    pub keep_prepared_txn: bool,
    /// Whether the caller may write under this id (or, without an id, be idempotent).
    pub authorization: Authorization,
    /// Whether the caller may use two-phase commit.
    pub two_phase_commit_authorization: Authorization,
}

impl InitProducerId {
    fn expected(&self) -> Option<ProducerIdAndEpoch> {
        let producer_id = self.expected_producer_id?;
        let producer_epoch = self.expected_producer_epoch?;
        Some(ProducerIdAndEpoch {
            producer_id,
            producer_epoch,
        })
    }

    pub(super) fn timeout(&self) -> TransactionTimeout {
        if self.enable_2pc {
            TransactionTimeout::Never
        } else {
            TransactionTimeout::Millis(self.transaction_timeout_ms)
        }
    }
}

/// The answer to a request that was not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InitializedProducer {
    /// The producer's identity from now on.
    pub producer: ProducerIdAndEpoch,
    /// Version 6: the identity under which the kept transaction was written.
    pub ongoing: Option<ProducerIdAndEpoch>,
}

/// The request beside what decides whether it is served at all.
struct Received<'a> {
    request: &'a InitProducerId,
    config: &'a Config,
    level: TransactionVersion,
}

type ReceivedGuard = fn(&Received<'_>) -> Result<(), ErrorCode>;

/// Before anything is looked up. First refusal wins.
const RECEIVED_GUARDS: [ReceivedGuard; 3] = [
    authorized,
    two_phase_commit_authorized,
    whole_expected_identity,
];

/// For a request with a transactional id, after [`RECEIVED_GUARDS`]. First refusal wins.
const TRANSACTIONAL_GUARDS: [ReceivedGuard; 5] = [
    valid_id,
    two_phase_commit_enabled,
    kept_without_expected_identity,
    kept_from_version_2,
    valid_timeout,
];

fn authorized(received: &Received<'_>) -> Result<(), ErrorCode> {
    let refusal = match received.request.transactional_id {
        Some(_) => ErrorCode::TransactionalIdAuthorizationFailed,
        None => ErrorCode::ClusterAuthorizationFailed,
    };
    require(
        received.request.authorization == Authorization::Allowed,
        refusal,
    )
}

fn two_phase_commit_authorized(received: &Received<'_>) -> Result<(), ErrorCode> {
    let request = received.request;
    let asked = request.transactional_id.is_some() && request.enable_2pc;
    let allowed = request.two_phase_commit_authorization == Authorization::Allowed;
    require(
        !asked || allowed,
        ErrorCode::TransactionalIdAuthorizationFailed,
    )
}

fn whole_expected_identity(received: &Received<'_>) -> Result<(), ErrorCode> {
    let request = received.request;
    let whole = request.expected_producer_id.is_some() == request.expected_producer_epoch.is_some();
    require(whole, ErrorCode::InvalidRequest)
}

fn valid_id(received: &Received<'_>) -> Result<(), ErrorCode> {
    received
        .request
        .transactional_id
        .as_ref()
        .map_or(Ok(()), valid_transactional_id)
}

fn two_phase_commit_enabled(received: &Received<'_>) -> Result<(), ErrorCode> {
    let allowed = !received.request.enable_2pc || received.config.two_phase_commit_enable;
    require(allowed, ErrorCode::TransactionalIdAuthorizationFailed)
}

fn kept_without_expected_identity(received: &Received<'_>) -> Result<(), ErrorCode> {
    let both = received.request.keep_prepared_txn && received.request.expected().is_some();
    require(!both, ErrorCode::InvalidRequest)
}

/// A kept transaction needs epochs that rise with each decision, and flexible records.
fn kept_from_version_2(received: &Received<'_>) -> Result<(), ErrorCode> {
    let possible = !received.request.keep_prepared_txn || received.level.supports_epoch_bump();
    require(possible, ErrorCode::UnsupportedVersion)
}

fn valid_timeout(received: &Received<'_>) -> Result<(), ErrorCode> {
    let asked = received.request.transaction_timeout_ms;
    let valid = asked > 0 && asked <= received.config.transaction_max_timeout_ms;
    require(
        received.request.enable_2pc || valid,
        ErrorCode::InvalidTransactionTimeout,
    )
}

/// The request beside what is known of its id.
pub(super) struct Asked<'a> {
    pub(super) slot: &'a Slot,
    pub(super) expected: Option<ProducerIdAndEpoch>,
}

type Guard = fn(&Asked<'_>) -> Result<(), ErrorCode>;

/// First refusal wins.
pub(super) const GUARDS: [Guard; 2] = [no_pending_transition, expected_producer_id];

fn no_pending_transition(asked: &Asked<'_>) -> Result<(), ErrorCode> {
    require(
        asked.slot.pending().is_none(),
        ErrorCode::ConcurrentTransactions,
    )
}

/// A new id expects nothing; otherwise the expected producer id is the one in use, or the previous one at its last
/// epoch: then the producer may not have heard of its new id.
fn expected_producer_id(asked: &Asked<'_>) -> Result<(), ErrorCode> {
    let stored = asked.slot.current();
    let valid = |expected: ProducerIdAndEpoch| {
        stored.producer_epoch.is_none()
            || expected.producer_id == stored.producer_id
            || (Some(expected.producer_id) == stored.previous_producer_id
                && expected.producer_epoch.is_exhausted())
    };
    require(asked.expected.is_none_or(valid), ErrorCode::ProducerFenced)
}

/// What the state of the id makes of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InitRow {
    /// Give the producer its next identity.
    NextIdentity,
    /// Fence whoever has the transaction open, abort it, and let the client come again.
    AbortOngoing,
    /// Keep the open transaction and promise another identity to end it with (KIP-939).
    KeepOngoing,
    /// Refuse.
    Refuse(ErrorCode),
}

/// The table. `keep` is the request's `keep_prepared_txn`: without an open transaction it asks for nothing special.
pub(super) fn init_row(state: TransactionState, keep: bool) -> InitRow {
    match (state, keep) {
        (TransactionState::Empty, true | false) => InitRow::NextIdentity,
        (TransactionState::CompleteCommit, true | false) => InitRow::NextIdentity,
        (TransactionState::CompleteAbort, true | false) => InitRow::NextIdentity,
        (TransactionState::Ongoing, false) => InitRow::AbortOngoing,
        (TransactionState::Ongoing, true) => InitRow::KeepOngoing,
        (TransactionState::PrepareCommit, true | false) => {
            InitRow::Refuse(ErrorCode::ConcurrentTransactions)
        }
        (TransactionState::PrepareAbort, true | false) => {
            InitRow::Refuse(ErrorCode::ConcurrentTransactions)
        }
        (TransactionState::Dead, true | false) => InitRow::Refuse(ErrorCode::UnknownServerError),
        (TransactionState::PrepareEpochFence, true | false) => {
            InitRow::Refuse(ErrorCode::UnknownServerError)
        }
    }
}

/// The next identity of a producer with nothing open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextIdentity {
    /// A fresh producer id at epoch 0.
    Rotated,
    /// The next epoch.
    Raised,
    /// The same again: the producer repeats a request whose answer it has not seen.
    Repeated,
    /// Refuse.
    Refuse(ErrorCode),
}

/// Which identity is next, by the epoch in use, the one before it, and the one that the producer expects.
pub(super) fn next_identity(
    stored: &TransactionMetadata,
    expected: Option<ProducerEpoch>,
) -> NextIdentity {
    let exhausted = stored
        .producer_epoch
        .is_some_and(ProducerEpoch::is_exhausted);
    let current = stored.producer_epoch.is_none() || expected == stored.producer_epoch;
    match (exhausted, expected) {
        (true, None) => NextIdentity::Rotated,
        (true, Some(_)) if current => NextIdentity::Rotated,
        // Kafka 4.4 has no way from here: it fails rather than compare with the last epoch.
        (true, Some(_)) => NextIdentity::Refuse(ErrorCode::UnknownServerError),
        (false, None) => NextIdentity::Raised,
        (false, Some(_)) if current => NextIdentity::Raised,
        (false, Some(_)) if expected == stored.last_producer_epoch => NextIdentity::Repeated,
        (false, Some(_)) => NextIdentity::Refuse(ErrorCode::ProducerFenced),
    }
}

/// The id with its next identity and nothing open.
fn initialized(
    stored: &TransactionMetadata,
    timeout: TransactionTimeout,
    identity: (ProducerId, Option<ProducerEpoch>),
    last_producer_epoch: Option<ProducerEpoch>,
    now: Timestamp,
) -> TransactionMetadata {
    TransactionMetadata {
        producer_id: identity.0,
        producer_epoch: identity.1,
        last_producer_epoch,
        timeout,
        partitions: PartitionSet::default(),
        start_timestamp: None,
        ..stored.changed(TransactionState::Empty, now)
    }
}

impl Coordinator {
    /// Serves the request.
    pub(super) fn init_producer_id(
        &mut self,
        to: Correlation,
        request: InitProducerId,
        now: Timestamp,
        effects: &mut Effects,
    ) {
        let form = ErrorForm::since(4, request.version);
        let refused = match &request.transactional_id {
            None => self.init_idempotent(to, &request, now, effects),
            Some(id) => self.init_transactional(to, id, &request, now, effects),
        };
        if let Err(error) = refused {
            effects.push(Effect::Reply(
                to,
                Answer::InitProducerId(Err(form.tell(error))),
            ));
        }
    }

    /// Without an id: a fresh producer id, of which nothing is kept.
    fn init_idempotent(
        &mut self,
        to: Correlation,
        request: &InitProducerId,
        now: Timestamp,
        effects: &mut Effects,
    ) -> Result<(), ErrorCode> {
        let received = Received {
            request,
            config: &self.config,
            level: self.transaction_version,
        };
        RECEIVED_GUARDS
            .iter()
            .try_for_each(|guard| guard(&received))?;
        let producer_id = self.producer_ids.generate(now, effects)?;
        let producer = ProducerIdAndEpoch {
            producer_id,
            producer_epoch: ProducerEpoch::ZERO,
        };
        let answer = InitializedProducer {
            producer,
            ongoing: None,
        };
        effects.push(Effect::Reply(to, Answer::InitProducerId(Ok(answer))));
        Ok(())
    }

    fn init_transactional(
        &mut self,
        to: Correlation,
        id: &TransactionalId,
        request: &InitProducerId,
        now: Timestamp,
        effects: &mut Effects,
    ) -> Result<(), ErrorCode> {
        let received = Received {
            request,
            config: &self.config,
            level: self.transaction_version,
        };
        RECEIVED_GUARDS
            .iter()
            .try_for_each(|guard| guard(&received))?;
        TRANSACTIONAL_GUARDS
            .iter()
            .try_for_each(|guard| guard(&received))?;
        self.create_if_unknown(id, request.timeout(), now, effects)?;
        let slot = self
            .owner(id)?
            .get(id)
            .ok_or(ErrorCode::UnknownServerError)?;
        let expected = request.expected();
        let asked = Asked { slot, expected };
        GUARDS.iter().try_for_each(|guard| guard(&asked))?;
        let stored = slot.current().clone();
        match init_row(stored.state, request.keep_prepared_txn) {
            InitRow::NextIdentity => self.give_next_identity(to, id, request, stored, now, effects),
            InitRow::KeepOngoing => self.keep_ongoing(to, id, request, stored, now, effects),
            InitRow::AbortOngoing => {
                let form = ErrorForm::since(4, request.version);
                self.fence_and_abort(id, Then::AnswerFencedInitProducerId(to, form), now, effects)
            }
            InitRow::Refuse(error) => Err(error),
        }
    }

    /// A new id is known from here on, in memory: also when its first record cannot be written.
    fn create_if_unknown(
        &mut self,
        id: &TransactionalId,
        timeout: TransactionTimeout,
        now: Timestamp,
        effects: &mut Effects,
    ) -> Result<(), ErrorCode> {
        if self.owner(id)?.get(id).is_none() {
            let producer_id = self.producer_ids.generate(now, effects)?;
            let metadata = TransactionMetadata::new(producer_id, timeout, now);
            self.owner_mut(id)?.settle(id, Arc::new(metadata));
        }
        Ok(())
    }

    fn give_next_identity(
        &mut self,
        to: Correlation,
        id: &TransactionalId,
        request: &InitProducerId,
        stored: Arc<TransactionMetadata>,
        now: Timestamp,
        effects: &mut Effects,
    ) -> Result<(), ErrorCode> {
        let expected = request.expected_producer_epoch;
        // Only a producer that names its epoch can repeat its request.
        let before = expected.and(stored.producer_epoch);
        let (identity, last) = match next_identity(&stored, expected) {
            NextIdentity::Rotated => (
                (
                    self.producer_ids.generate(now, effects)?,
                    Some(ProducerEpoch::ZERO),
                ),
                before,
            ),
            NextIdentity::Raised => ((stored.producer_id, raised(stored.producer_epoch)), before),
            NextIdentity::Repeated => (
                (stored.producer_id, stored.producer_epoch),
                stored.last_producer_epoch,
            ),
            NextIdentity::Refuse(error) => return Err(error),
        };
        let next = initialized(&stored, request.timeout(), identity, last, now);
        let producer = next.producer().ok_or(ErrorCode::UnknownServerError)?;
        let form = ErrorForm::since(4, request.version);
        let then = Then::AnswerInitProducerId(
            to,
            form,
            InitializedProducer {
                producer,
                ongoing: None,
            },
        );
        let write = Write {
            now,
            level: self.transaction_version,
            then,
        };
        self.owner_mut(id)?.begin(id, stored, next, write, effects)
    }
}
