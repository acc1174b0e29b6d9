//! How requests are judged: guards in a named order, then a row of a table.

use super::transaction_metadata::Slot;
use crate::error_code::ErrorCode;
use crate::types::{ProducerEpoch, TransactionalId};

use super::input::Claim;

/// Refuses with `error` unless `holds`.
pub(super) fn require(holds: bool, error: ErrorCode) -> Result<(), ErrorCode> {
    if holds { Ok(()) } else { Err(error) }
}

/// A request that names a producer, beside what is known of its id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) slot: &'a Slot,
    pub(super) claim: Claim,
}

/// One reason to refuse. Guards stand in lists whose order is the precedence of their errors: the first refusal wins.
pub(super) type Guard = fn(&Asked<'_>) -> Result<(), ErrorCode>;

/// An id that Kafka can keep: not empty, and short enough for the key of a record.
pub(super) fn valid_transactional_id(id: &TransactionalId) -> Result<(), ErrorCode> {
    let length = id.as_str().len();
    require(
        length > 0 && i16::try_from(length).is_ok(),
        ErrorCode::InvalidRequest,
    )
}

/// An id that the coordinator knows.
pub(super) fn known(slot: Option<&Slot>) -> Result<&Slot, ErrorCode> {
    slot.ok_or(seeded!(
        UnknownIdIsFenced,
        ErrorCode::InvalidProducerIdMapping,
        ErrorCode::ProducerFenced
    ))
}

/// Nothing is under way for the id.
pub(super) fn no_pending_transition(asked: &Asked<'_>) -> Result<(), ErrorCode> {
    require(
        asked.slot.pending().is_none(),
        ErrorCode::ConcurrentTransactions,
    )
}

/// The producer id is the one in use.
pub(super) fn same_producer_id(asked: &Asked<'_>) -> Result<(), ErrorCode> {
    let stored = asked.slot.current().producer_id;
    require(
        asked.claim.producer_id == Some(stored),
        ErrorCode::InvalidProducerIdMapping,
    )
}

/// The epoch is the one in use: neither older nor newer.
pub(super) fn current_epoch(asked: &Asked<'_>) -> Result<(), ErrorCode> {
    let stored = asked.slot.current().producer_epoch;
    require(
        asked.claim.producer_epoch == stored,
        ErrorCode::ProducerFenced,
    )
}

/// Whether `next` is the epoch after `epoch`, where "no epoch" counts as -1 as it does on the wire.
pub(super) fn is_next_epoch(next: Option<ProducerEpoch>, epoch: Option<ProducerEpoch>) -> bool {
    i32::from(ProducerEpoch::to_wire(next)) == i32::from(ProducerEpoch::to_wire(epoch)) + 1
}

/// The epoch after `epoch`; `None` after 32767.
pub(super) fn raised(epoch: Option<ProducerEpoch>) -> Option<ProducerEpoch> {
    epoch.map_or(Some(ProducerEpoch::ZERO), ProducerEpoch::next)
}
