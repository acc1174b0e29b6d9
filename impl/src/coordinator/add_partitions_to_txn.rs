//! AddPartitionsToTxn: partitions become part of a transaction, which is opened by the first of them.
//!
//! Who sends it: a client (version 0 to 3), for itself; a partition leader (version 4 and later), before it appends a
//! client's batch: to add the partition (TV2) or only to ask whether it is in the transaction (`verify_only`, TV1). A
//! batched request of brokers is one input for each transaction. Source: KIP-98, KIP-890.

use super::Coordinator;
use super::decision::{
    Asked, Guard, current_epoch, known, no_pending_transition, require, same_producer_id,
    valid_transactional_id,
};
use super::effect::{Answer, Effect, Effects, ErrorForm, Then};
use super::input::{Authorization, Claim, Correlation};
use super::led_partition::Write;
use super::state_transitions::TransactionState;
use super::transaction_metadata::TransactionMetadata;
use crate::error_code::ErrorCode;
use crate::types::{Timestamp, TopicPartition, TransactionVersion, TransactionalId};

/// The request, for one transaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AddPartitionsToTxn {
    /// Who sends it, and what for.
    pub form: AddPartitionsToTxnForm,
    /// The id.
    pub transactional_id: TransactionalId,
    /// Who the producer says it is.
    pub claim: Claim,
    /// The partitions, and what the shell knows of each.
    pub partitions: Vec<(TopicPartition, PartitionAccess)>,
    /// Whether the client may write under the id, or the broker act for the cluster.
    pub authorization: Authorization,
}

/// Who sends the request, and what for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddPartitionsToTxnForm {
    /// A client adds partitions.
    Client {
        /// The request's version, 0 to 3.
        version: i16,
    },
    /// A partition leader adds its partition for a client whose batch it holds.
    Broker,
    /// A partition leader asks whether its partition is in the transaction. Nothing is changed.
    VerifyOnly,
}

/// What the shell knows of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartitionAccess {
    /// It exists and the client may write to it.
    Allowed,
    /// The client may not write to the topic.
    Denied,
    /// There is no such partition.
    Unknown,
}

/// First refusal wins. KAFKA-18660: a pending change hides what the producer's identity will be, so it comes first.
pub(super) const ADD_GUARDS: [Guard; 4] = [
    no_pending_transition,
    not_the_identity_to_end_with,
    same_producer_id,
    current_epoch,
];

/// First refusal wins. A pending change is no reason to refuse: the partitions of the state that holds are what counts.
pub(super) const VERIFY_GUARDS: [Guard; 2] = [same_producer_id, current_epoch];

/// KIP-939: the identity that was promised to end a kept transaction with does not write in it.
fn not_the_identity_to_end_with(asked: &Asked<'_>) -> Result<(), ErrorCode> {
    let stored = asked.slot.current();
    let promised = stored.is_kept()
        && asked.claim.producer_id == Some(stored.client_producer_id())
        && asked.claim.producer_epoch == stored.client_producer_epoch();
    require(!promised, ErrorCode::InvalidTxnState)
}

/// What the state of the id makes of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddRow {
    /// Log the transaction with the added partitions.
    Begin,
    /// Every partition is in the open transaction: nothing to write.
    AlreadyDone,
    /// Refuse.
    Refuse(ErrorCode),
}

/// The table. KAFKA-5268: only an open transaction can hold a partition already.
pub(super) fn add_row(state: TransactionState, all_in: bool) -> AddRow {
    match (state, all_in) {
        (TransactionState::Empty, true | false) => AddRow::Begin,
        (TransactionState::Ongoing, true) => AddRow::AlreadyDone,
        (TransactionState::Ongoing, false) => AddRow::Begin,
        (TransactionState::PrepareCommit, true | false) => {
            AddRow::Refuse(ErrorCode::ConcurrentTransactions)
        }
        (TransactionState::PrepareAbort, true | false) => {
            AddRow::Refuse(ErrorCode::ConcurrentTransactions)
        }
        (TransactionState::CompleteCommit, true | false) => AddRow::Begin,
        (TransactionState::CompleteAbort, true | false) => AddRow::Begin,
        (TransactionState::Dead, true | false) => AddRow::Refuse(ErrorCode::UnknownServerError),
        (TransactionState::PrepareEpochFence, true | false) => {
            AddRow::Refuse(ErrorCode::UnknownServerError)
        }
    }
}

/// The verification table: the whole request, then each partition.
pub(super) fn verify_row(state: TransactionState, is_in: bool) -> Result<ErrorCode, ErrorCode> {
    match (state, is_in) {
        (TransactionState::PrepareCommit | TransactionState::PrepareAbort, true | false) => {
            Err(ErrorCode::ConcurrentTransactions)
        }
        (
            TransactionState::Empty
            | TransactionState::Ongoing
            | TransactionState::CompleteCommit
            | TransactionState::CompleteAbort
            | TransactionState::Dead
            | TransactionState::PrepareEpochFence,
            true,
        ) => Ok(ErrorCode::None),
        (
            TransactionState::Empty
            | TransactionState::Ongoing
            | TransactionState::CompleteCommit
            | TransactionState::CompleteAbort
            | TransactionState::Dead
            | TransactionState::PrepareEpochFence,
            false,
        ) => Ok(ErrorCode::TransactionAbortable),
    }
}

/// Partitions to add, for whom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addition<'a> {
    pub(super) id: &'a TransactionalId,
    pub(super) claim: Claim,
    pub(super) partitions: &'a [TopicPartition],
    /// The client's transaction version, as far as the request tells it.
    pub(super) client: TransactionVersion,
}

/// The id with the partitions added.
fn with_partitions(
    stored: &TransactionMetadata,
    added: &[TopicPartition],
    client: TransactionVersion,
    now: Timestamp,
) -> TransactionMetadata {
    let opens = stored.state != TransactionState::Ongoing;
    TransactionMetadata {
        partitions: stored.partitions.with(added),
        start_timestamp: if opens {
            Some(now)
        } else {
            stored.start_timestamp
        },
        client_transaction_version: client,
        ..stored.changed(TransactionState::Ongoing, now)
    }
}

impl AddPartitionsToTxnForm {
    fn error_form(self) -> ErrorForm {
        match self {
            Self::Client { version } => ErrorForm::since(2, version),
            Self::Broker | Self::VerifyOnly => ErrorForm::ProducerFenced,
        }
    }

    /// Whether an error is one of the request, not of its partitions: that nothing could be written at all.
    fn is_told_as_a_whole(self, error: ErrorCode) -> bool {
        let not_judged =
            error == ErrorCode::UnsupportedVersion || error == ErrorCode::UnknownServerError;
        match self {
            Self::Client { .. } => false,
            Self::Broker | Self::VerifyOnly => not_judged,
        }
    }

    fn transaction_version(self) -> TransactionVersion {
        match self {
            Self::Client { .. } => TransactionVersion::V0,
            Self::Broker | Self::VerifyOnly => TransactionVersion::V2,
        }
    }
}

impl Coordinator {
    /// Serves the request.
    pub(super) fn add_partitions_to_txn(
        &mut self,
        to: Correlation,
        request: AddPartitionsToTxn,
        now: Timestamp,
        effects: &mut Effects,
    ) {
        if let Some(answer) = refused_outside(&request) {
            return effects.push(Effect::Reply(to, Answer::AddPartitionsToTxn(answer)));
        }
        let form = request.form.error_form();
        let partitions: Vec<TopicPartition> = request
            .partitions
            .into_iter()
            .map(|(partition, _)| partition)
            .collect();
        let (id, claim) = (&request.transactional_id, request.claim);
        let answer = match request.form {
            AddPartitionsToTxnForm::VerifyOnly => {
                self.verify_partitions(id, claim, &partitions).map(Some)
            }
            AddPartitionsToTxnForm::Client { .. } | AddPartitionsToTxnForm::Broker => {
                let client = request.form.transaction_version();
                let then = Then::AnswerAddPartitionsToTxn(to, form, partitions.clone());
                let addition = Addition {
                    id,
                    claim,
                    partitions: &partitions,
                    client,
                };
                let added = self.add_partitions(addition, then, now, effects);
                added.map(|done| done.map(|()| all(&partitions, ErrorCode::None)))
            }
        };
        let answer = match answer {
            Ok(None) => return,
            Ok(Some(outcomes)) => Ok(outcomes),
            Err(error) if request.form.is_told_as_a_whole(error) => Err(error),
            Err(error) => Ok(all(&partitions, form.tell(error))),
        };
        effects.push(Effect::Reply(to, Answer::AddPartitionsToTxn(answer)));
    }

    /// Adds partitions for a client, a partition leader or a group's offsets: `Some` when they are in the transaction
    /// already, `None` when `then` follows an append.
    pub(super) fn add_partitions(
        &mut self,
        addition: Addition<'_>,
        then: Then,
        now: Timestamp,
        effects: &mut Effects,
    ) -> Result<Option<()>, ErrorCode> {
        let Addition {
            id,
            claim,
            partitions,
            client,
        } = addition;
        valid_transactional_id(id)?;
        let level = self.transaction_version;
        let led = self.owner_mut(id)?;
        let slot = known(led.get(id))?;
        let asked = Asked { slot, claim };
        ADD_GUARDS.iter().try_for_each(|guard| guard(&asked))?;
        let stored = slot.current().clone();
        let all_in = partitions
            .iter()
            .all(|partition| stored.partitions.contains(partition));
        match add_row(stored.state, all_in) {
            AddRow::AlreadyDone => Ok(Some(())),
            AddRow::Refuse(error) => Err(error),
            AddRow::Begin => {
                let next = with_partitions(&stored, partitions, client, now);
                led.begin(id, stored, next, Write { now, level, then }, effects)?;
                seed!(AnsweredBeforeDurable, return Ok(Some(())));
                Ok(None)
            }
        }
    }

    fn verify_partitions(
        &self,
        id: &TransactionalId,
        claim: Claim,
        partitions: &[TopicPartition],
    ) -> Result<Vec<(TopicPartition, ErrorCode)>, ErrorCode> {
        valid_transactional_id(id)?;
        let slot = known(self.owner(id)?.get(id))?;
        let asked = Asked { slot, claim };
        VERIFY_GUARDS.iter().try_for_each(|guard| guard(&asked))?;
        let stored = slot.current();
        let row = |partition: &TopicPartition| {
            let outcome = verify_row(stored.state, stored.partitions.contains(partition))?;
            Ok((partition.clone(), outcome))
        };
        partitions.iter().map(row).collect()
    }
}

/// What the shell found wrong before the transaction is looked at: the caller has no right, or one partition cannot
/// be added, and then none is.
fn refused_outside(
    request: &AddPartitionsToTxn,
) -> Option<Result<Vec<(TopicPartition, ErrorCode)>, ErrorCode>> {
    let each = |error: &dyn Fn(&TopicPartition, PartitionAccess) -> ErrorCode| {
        request
            .partitions
            .iter()
            .map(|(partition, access)| (partition.clone(), error(partition, *access)))
            .collect()
    };
    if request.authorization == Authorization::Denied {
        return Some(match request.form {
            AddPartitionsToTxnForm::Client { .. } => {
                Ok(each(&|_, _| ErrorCode::TransactionalIdAuthorizationFailed))
            }
            AddPartitionsToTxnForm::Broker | AddPartitionsToTxnForm::VerifyOnly => {
                Err(ErrorCode::ClusterAuthorizationFailed)
            }
        });
    }
    let error = |partition: &TopicPartition, access| match access {
        PartitionAccess::Denied => ErrorCode::TopicAuthorizationFailed,
        PartitionAccess::Unknown => ErrorCode::UnknownTopicOrPartition,
        // A name too long for a record is the name of no topic.
        PartitionAccess::Allowed if i16::try_from(partition.topic.as_str().len()).is_err() => {
            ErrorCode::UnknownTopicOrPartition
        }
        PartitionAccess::Allowed => ErrorCode::OperationNotAttempted,
    };
    let refused = request
        .partitions
        .iter()
        .any(|(partition, access)| error(partition, *access) != ErrorCode::OperationNotAttempted);
    refused.then(|| Ok(each(&error)))
}

fn all(partitions: &[TopicPartition], error: ErrorCode) -> Vec<(TopicPartition, ErrorCode)> {
    partitions
        .iter()
        .map(|partition| (partition.clone(), error))
        .collect()
}
