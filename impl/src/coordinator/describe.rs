//! DescribeTransactions and ListTransactions: what an operator may see.
//!
//! Who sends them: an admin client. A request for several ids is one input for each. Source: KIP-664, KIP-994.

use super::Coordinator;
use super::decision::valid_transactional_id;
use super::effect::{Answer, Effect, Effects};
use super::input::{Authorization, Correlation};
use super::load::Ownership;
use super::partition_set::PartitionSet;
use super::state_transitions::TransactionState;
use super::transaction_metadata::{TransactionMetadata, TransactionTimeout};
use crate::error_code::ErrorCode;
use crate::types::{ProducerEpoch, ProducerId, Timestamp, TransactionalId};

/// The request for one id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DescribeTransactions {
    /// The id.
    pub transactional_id: TransactionalId,
    /// Whether the caller may describe it.
    pub authorization: Authorization,
}

/// What is known of an id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TransactionDescription {
    /// The state.
    pub state: TransactionState,
    /// The producer id.
    pub producer_id: ProducerId,
    /// The epoch; `None` before the first InitProducerId is durable.
    pub producer_epoch: Option<ProducerEpoch>,
    /// How long a transaction may stay open.
    pub timeout: TransactionTimeout,
    /// When the transaction began.
    pub start_timestamp: Option<Timestamp>,
    /// The partitions of the transaction; of a decided one, those that wait for their marker.
    pub partitions: PartitionSet,
}

/// The request for a list. A transactional id's name is for the shell to match.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ListTransactions {
    /// Only these states; `None` for all. An empty list, from names that no state has, matches none.
    pub states: Option<Vec<TransactionState>>,
    /// Only these producer ids; `None` for all.
    pub producer_ids: Option<Vec<ProducerId>>,
    /// Only transactions that began longer ago than this, in milliseconds; `None` for all. As in Kafka, an id with no
    /// transaction counts as one that began at -1.
    pub longer_than_ms: Option<i64>,
}

/// One id of a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TransactionListing {
    /// The id.
    pub transactional_id: TransactionalId,
    /// The producer id.
    pub producer_id: ProducerId,
    /// The state.
    pub state: TransactionState,
}

impl ListTransactions {
    fn includes(&self, metadata: &TransactionMetadata, now: Timestamp) -> bool {
        let start = metadata
            .start_timestamp
            .unwrap_or(Timestamp::from_millis(-1));
        self.producer_ids
            .as_ref()
            .is_none_or(|ids| ids.contains(&metadata.producer_id))
            && self
                .states
                .as_ref()
                .is_none_or(|states| states.contains(&metadata.state))
            && self
                .longer_than_ms
                .is_none_or(|millis| now.millis_since(start) > millis)
    }
}

impl Coordinator {
    /// Serves DescribeTransactions.
    pub(super) fn describe_transactions(
        &self,
        to: Correlation,
        request: &DescribeTransactions,
        effects: &mut Effects,
    ) {
        effects.push(Effect::Reply(
            to,
            Answer::DescribeTransactions(self.describe(request)),
        ));
    }

    fn describe(
        &self,
        request: &DescribeTransactions,
    ) -> Result<TransactionDescription, ErrorCode> {
        if request.authorization == Authorization::Denied {
            return Err(ErrorCode::TransactionalIdAuthorizationFailed);
        }
        let id = &request.transactional_id;
        valid_transactional_id(id)?;
        let slot = self
            .owner(id)?
            .get(id)
            .ok_or(ErrorCode::TransactionalIdNotFound)?;
        let metadata = slot.current();
        Ok(TransactionDescription {
            state: metadata.state,
            producer_id: metadata.producer_id,
            producer_epoch: metadata.producer_epoch,
            timeout: metadata.timeout,
            start_timestamp: metadata.start_timestamp,
            partitions: metadata.partitions.clone(),
        })
    }

    /// Serves ListTransactions: it looks at every id, as its answer has to.
    pub(super) fn list_transactions(
        &self,
        to: Correlation,
        request: &ListTransactions,
        now: Timestamp,
        effects: &mut Effects,
    ) {
        effects.push(Effect::Reply(
            to,
            Answer::ListTransactions(self.list(request, now)),
        ));
    }

    fn list(
        &self,
        request: &ListTransactions,
        now: Timestamp,
    ) -> Result<Vec<TransactionListing>, ErrorCode> {
        let mut listings = Vec::new();
        for ownership in self.partitions.values() {
            let led = match ownership {
                Ownership::Led(led) => led,
                Ownership::Loading(_) => return Err(ErrorCode::CoordinatorLoadInProgress),
            };
            let included = led
                .transactions()
                .iter()
                .filter(|(_, slot)| request.includes(slot.current(), now));
            listings.extend(included.map(|(id, slot)| TransactionListing {
                transactional_id: id.clone(),
                producer_id: slot.current().producer_id,
                state: slot.current().state,
            }));
        }
        Ok(listings)
    }
}
