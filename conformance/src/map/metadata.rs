//! What a coordinator knows of one id: the implementation's value as the model's.

use super::{Topics, Unmapped, spec_identity, spec_producer_epoch, spec_producer_id, spec_version};
use fencepost::coordinator as i;
use fencepost::types::{ProducerEpoch, ProducerIdAndEpoch};
use fencepost_spec::coordinator::{TransactionMetadata, TransactionState};
use fencepost_spec::types::{Ghost, TransactionVersion};

/// The model's value; `None` for an id whose first identity is not durable.
///
/// # Errors
/// [`Unmapped`] for a state that is never stored, or a value out of the model's range.
pub fn abstract_metadata(
    topics: Topics,
    metadata: &i::TransactionMetadata,
) -> Result<Option<TransactionMetadata>, Unmapped> {
    let Some(producer) = metadata.producer() else {
        return Ok(None);
    };
    let identity = spec_identity(producer)?;
    let next = metadata
        .next_producer_id
        .map(|producer_id| {
            spec_identity(ProducerIdAndEpoch {
                producer_id,
                // Only a kept transaction stores the next epoch; without one it is 0.
                producer_epoch: metadata.next_producer_epoch.unwrap_or(ProducerEpoch::ZERO),
            })
        })
        .transpose()?;
    Ok(Some(TransactionMetadata {
        state: state(metadata.state)?,
        producer_id: identity.producer_id,
        producer_epoch: identity.producer_epoch,
        last_producer_epoch: metadata.last_producer_epoch.map(spec_producer_epoch),
        prev_producer_id: metadata
            .previous_producer_id
            .map_or(Ok(identity.producer_id), spec_producer_id)?,
        next,
        partitions: topics.spec_set(metadata.partitions.as_slice())?,
        two_phase: match metadata.timeout {
            i::TransactionTimeout::Never => true,
            i::TransactionTimeout::Millis(_) => false,
        },
        client_version: spec_version(metadata.client_transaction_version),
        ghost: Ghost::NONE,
    }))
}

/// The state of the same number.
///
/// # Errors
/// [`Unmapped`] for the two that are never stored.
fn state(state: i::TransactionState) -> Result<TransactionState, Unmapped> {
    match state {
        i::TransactionState::Empty => Ok(TransactionState::Empty),
        i::TransactionState::Ongoing => Ok(TransactionState::Ongoing),
        i::TransactionState::PrepareCommit => Ok(TransactionState::PrepareCommit),
        i::TransactionState::PrepareAbort => Ok(TransactionState::PrepareAbort),
        i::TransactionState::CompleteCommit => Ok(TransactionState::CompleteCommit),
        i::TransactionState::CompleteAbort => Ok(TransactionState::CompleteAbort),
        i::TransactionState::Dead | i::TransactionState::PrepareEpochFence => {
            Err(Unmapped::new("transaction state", state))
        }
    }
}

/// The request version of EndTxn for a transaction version: 4 and 5.
pub fn version_of(version: TransactionVersion) -> i16 {
    match version {
        TransactionVersion::Tv1 => 4,
        TransactionVersion::Tv2 => 5,
    }
}
