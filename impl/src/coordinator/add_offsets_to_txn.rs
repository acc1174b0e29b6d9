//! AddOffsetsToTxn: the offsets of a group become part of a transaction.
//!
//! Who sends it: a TV1 client, before TxnOffsetCommit. It is AddPartitionsToTxn for the partition of
//! `__consumer_offsets` that owns the group, so the marker reaches the staged offsets. Source: KIP-98.

use super::add_partitions_to_txn::Addition;
use super::effect::{Answer, Effect, Effects, ErrorForm, Then};
use super::input::{Authorization, Claim, Correlation};
use super::{Coordinator, partition_for};
use crate::error_code::ErrorCode;
use crate::types::{GroupId, Timestamp, TopicPartition, TransactionVersion, TransactionalId};

/// The topic that holds committed offsets.
const OFFSETS_TOPIC: &str = "__consumer_offsets";

/// The request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AddOffsetsToTxn {
    /// The request's version, 0 to 4.
    pub version: i16,
    /// The id.
    pub transactional_id: TransactionalId,
    /// Who the producer says it is.
    pub claim: Claim,
    /// The group.
    pub group_id: GroupId,
    /// Whether the caller may write under the id.
    pub authorization: Authorization,
    /// Whether the caller may read with the group.
    pub group_authorization: Authorization,
}

impl Coordinator {
    /// Serves the request.
    pub(super) fn add_offsets_to_txn(
        &mut self,
        to: Correlation,
        request: &AddOffsetsToTxn,
        now: Timestamp,
        effects: &mut Effects,
    ) {
        let form = ErrorForm::since(2, request.version);
        let answer = match self.add_offsets(to, request, form, now, effects) {
            Ok(None) => return,
            Ok(Some(())) => Ok(()),
            Err(error) => Err(form.tell(error)),
        };
        effects.push(Effect::Reply(to, Answer::AddOffsetsToTxn(answer)));
    }

    fn add_offsets(
        &mut self,
        to: Correlation,
        request: &AddOffsetsToTxn,
        form: ErrorForm,
        now: Timestamp,
        effects: &mut Effects,
    ) -> Result<Option<()>, ErrorCode> {
        if request.authorization == Authorization::Denied {
            return Err(ErrorCode::TransactionalIdAuthorizationFailed);
        }
        if request.group_authorization == Authorization::Denied {
            return Err(ErrorCode::GroupAuthorizationFailed);
        }
        let partition = partition_for(request.group_id.as_str(), self.config.offsets_partitions);
        let partitions = [TopicPartition::new(OFFSETS_TOPIC, partition)];
        let then = Then::AnswerAddOffsetsToTxn(to, form);
        let addition = Addition {
            id: &request.transactional_id,
            claim: request.claim,
            partitions: &partitions,
            client: TransactionVersion::V0,
        };
        seed!(OffsetsAddNothing, return Ok(Some(())));
        self.add_partitions(addition, then, now, effects)
    }
}
