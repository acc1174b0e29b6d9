//! EndTxn: a producer commits or aborts its transaction; and the coordinator's own abort, which fences the producer.
//!
//! Who sends it: a producer; its version chooses the rules, [`super::end_txn_tv1`] up to 4, [`super::end_txn_tv2`]
//! from 5 on. The coordinator's own aborts follow the cluster's transaction version. Source: KIP-98, KIP-890.

use super::decision::{known, require, valid_transactional_id};
use super::effect::{Answer, Effect, Effects, ErrorForm, Then};
use super::input::{Authorization, Claim, Correlation};
use super::kept_transaction::identity_after_clients;
use super::led_partition::Write;
use super::state_transitions::TransactionState;
use super::{Coordinator, end_txn_tv1, end_txn_tv2, led_mut, markers};
use crate::error_code::ErrorCode;
use crate::types::{ProducerIdAndEpoch, Timestamp, TransactionResult, TransactionalId};

/// The first version whose answer carries the next identity, and whose decision raises the epoch.
const FIRST_TV2_VERSION: i16 = 5;

/// The request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EndTxn {
    /// The request's version, 0 to 5.
    pub version: i16,
    /// The id.
    pub transactional_id: TransactionalId,
    /// Who the producer says it is.
    pub claim: Claim,
    /// Commit or abort.
    pub result: TransactionResult,
    /// Whether the caller may write under the id.
    pub authorization: Authorization,
}

impl Coordinator {
    /// Serves the request.
    pub(super) fn end_txn(
        &mut self,
        to: Correlation,
        request: &EndTxn,
        now: Timestamp,
        effects: &mut Effects,
    ) {
        let form = ErrorForm::since(2, request.version);
        let judged = if request.version >= FIRST_TV2_VERSION {
            self.end_txn_tv2(to, request, now, effects)
        } else {
            self.end_txn_tv1(to, request, now, effects)
        };
        let answer = match judged {
            Ok(Ended::Appending) => return,
            Ok(Ended::Before(producer)) => Ok(producer),
            Err(error) => Err(form.tell(error)),
        };
        effects.push(Effect::Reply(to, Answer::EndTxn(answer)));
    }

    fn end_txn_tv1(
        &mut self,
        to: Correlation,
        request: &EndTxn,
        now: Timestamp,
        effects: &mut Effects,
    ) -> Result<Ended, ErrorCode> {
        let id = &request.transactional_id;
        received(request)?;
        let level = self.transaction_version;
        let led = self.owner_mut(id)?;
        let slot = known(led.get(id))?;
        let stored = slot.current().clone();
        let next = match end_txn_tv1::judge(slot, request.claim, request.result)? {
            end_txn_tv1::Row::Begin(state) => end_txn_tv1::prepared(&stored, state, now),
            end_txn_tv1::Row::AlreadyDone => return Ok(Ended::Before(None)),
            end_txn_tv1::Row::Refuse(error) => return Err(error),
        };
        let then = Then::AnswerEndTxn(to, ErrorForm::since(2, request.version), None);
        led.begin(id, stored, next, Write { now, level, then }, effects)?;
        Ok(Ended::Appending)
    }

    fn end_txn_tv2(
        &mut self,
        to: Correlation,
        request: &EndTxn,
        now: Timestamp,
        effects: &mut Effects,
    ) -> Result<Ended, ErrorCode> {
        let id = &request.transactional_id;
        received(request)?;
        let slot = known(self.owner(id)?.get(id))?;
        let stored = slot.current().clone();
        let (state, start) = match end_txn_tv2::judge(slot, request.claim, request.result)? {
            end_txn_tv2::Row::Begin(state) => (state, stored.start_timestamp),
            end_txn_tv2::Row::EmptyAbort => (TransactionState::PrepareAbort, Some(now)),
            end_txn_tv2::Row::AlreadyDone => return Ok(Ended::Before(stored.producer())),
            end_txn_tv2::Row::Refuse(error) => return Err(error),
        };
        let next_identity = identity_after_clients(&stored, &mut self.producer_ids, now, effects)?;
        let next = end_txn_tv2::prepared(&stored, state, next_identity, start, now);
        // KAFKA-18660: the answer is the identity of the completed transaction, also after an overflow.
        let promised = seeded!(
            OldIdentityAnswered,
            markers::completed(&next, now).producer(),
            next.producer()
        );
        let then = Then::AnswerEndTxn(to, ErrorForm::since(2, request.version), promised);
        let write = Write {
            now,
            level: self.transaction_version,
            then,
        };
        self.owner_mut(id)?
            .begin(id, stored, next, write, effects)?;
        Ok(Ended::Appending)
    }

    /// The coordinator's own abort of an open transaction, for a new session or because of its timeout: the producer
    /// that has it open is fenced by an epoch that no client gets.
    ///
    /// # Errors
    /// [`ErrorCode::ConcurrentTransactions`] when a change is under way, [`ErrorCode::InvalidTxnState`] when nothing is
    /// open, [`ErrorCode::CoordinatorLoadInProgress`] when a fresh producer id is needed and none is at hand.
    pub(super) fn fence_and_abort(
        &mut self,
        id: &TransactionalId,
        then: Then,
        now: Timestamp,
        effects: &mut Effects,
    ) -> Result<(), ErrorCode> {
        let partition = self.partition_of(id);
        let led = led_mut(&mut self.partitions, partition)?;
        let slot = known(led.get(id))?;
        require(slot.pending().is_none(), ErrorCode::ConcurrentTransactions)?;
        let stored = slot.current().clone();
        require(
            stored.state == TransactionState::Ongoing,
            ErrorCode::InvalidTxnState,
        )?;
        // A kept transaction (KIP-939) has promised an identity that only TV2 goes on from.
        let raises = self.transaction_version.supports_epoch_bump() || stored.is_kept();
        let (from, next) = if raises {
            // KAFKA-19367: the decision's own rise is the fence. KAFKA-20090: at the last epoch it needs a fresh id.
            let next_identity =
                identity_after_clients(&stored, &mut self.producer_ids, now, effects)?;
            let start = stored.start_timestamp;
            let next = end_txn_tv2::prepared(
                &stored,
                TransactionState::PrepareAbort,
                next_identity,
                start,
                now,
            );
            (stored, next)
        } else {
            let fenced = seeded!(
                TimerKeepsEpoch,
                end_txn_tv1::fenced(&stored),
                if then == Then::AbortTimedOut {
                    (*stored).clone()
                } else {
                    end_txn_tv1::fenced(&stored)
                }
            );
            let next = end_txn_tv1::prepared(&fenced, TransactionState::PrepareAbort, now);
            (fenced.into(), next)
        };
        led.begin(
            id,
            from,
            next,
            Write {
                now,
                level: self.transaction_version,
                then,
            },
            effects,
        )
    }
}

/// How a request that was not refused goes on.
enum Ended {
    /// Its answer waits for an append.
    Appending,
    /// It was decided before; the identity that its version may be told.
    Before(Option<ProducerIdAndEpoch>),
}

fn received(request: &EndTxn) -> Result<(), ErrorCode> {
    require(
        request.authorization == Authorization::Allowed,
        ErrorCode::TransactionalIdAuthorizationFailed,
    )?;
    valid_transactional_id(&request.transactional_id)
}
