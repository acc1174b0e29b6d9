//! InitProducerId and EndTxn.

use bytes::{BufMut, Bytes, BytesMut};
use fencepost::coordinator::{Answer, EndTxn, InitProducerId, InitializedProducer, Request};
use fencepost::error_code::ErrorCode;
use fencepost::types::{
    ProducerEpoch, ProducerId, ProducerIdAndEpoch, TransactionResult, TransactionalId,
};
use kafka_protocol::messages::{
    EndTxnRequest, EndTxnResponse, InitProducerIdRequest, InitProducerIdResponse,
    ProducerId as WireProducerId,
};

use super::{Plan, claim, only};
use crate::loopback::answer::{Part, body};
use crate::loopback::desk::Desk;
use crate::wire::{Reader, WireError, malformed};

pub(super) fn init_producer_id(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let version = desk.version();
    let request = if version >= 6 {
        read_version_6(desk, bytes)?
    } else {
        let request: InitProducerIdRequest = desk.decode(bytes)?;
        InitProducerId {
            version,
            transactional_id: request.transactional_id.map(|id| TransactionalId::new(&id)),
            transaction_timeout_ms: request.transaction_timeout_ms,
            expected_producer_id: ProducerId::from_wire(request.producer_id.0),
            expected_producer_epoch: ProducerEpoch::from_wire(request.producer_epoch),
            enable_2pc: false,
            keep_prepared_txn: false,
            authorization: desk.broker.rights.all,
            two_phase_commit_authorization: desk.broker.rights.two_phase,
        }
    };
    desk.coordinator(Request::InitProducerId(request));
    Ok(Plan::Parts(Box::new(move |parts| {
        let part = only(parts);
        let code = part.error();
        let given = match part {
            Part::Coordinator(Answer::InitProducerId(Ok(given))) => Some(given),
            Part::Coordinator(_) | Part::Data(_) | Part::Group(_) | Part::Shell(_) => None,
        };
        if version >= 6 {
            return Ok(Some(write_version_6(code, given)));
        }
        let (id, epoch) = on_wire(given.map(|it| it.producer));
        let answer = InitProducerIdResponse::default()
            .with_error_code(code.code())
            .with_producer_id(WireProducerId(id))
            .with_producer_epoch(epoch);
        body(version, &answer)
    })))
}

/// KIP-939, which the protocol crate has no codec for: two flags after the epoch.
fn read_version_6(desk: &Desk<'_>, bytes: Bytes) -> Result<InitProducerId, WireError> {
    let mut reader = Reader::new(bytes);
    let transactional_id = match reader.unsigned_varint()? {
        0 => None,
        length => {
            let id = reader.take(length as usize - 1)?;
            let id = std::str::from_utf8(&id).map_err(|_| malformed("id is no text"))?;
            Some(TransactionalId::new(id))
        }
    };
    Ok(InitProducerId {
        version: 6,
        transactional_id,
        transaction_timeout_ms: reader.i32()?,
        expected_producer_id: ProducerId::from_wire(reader.i64()?),
        expected_producer_epoch: ProducerEpoch::from_wire(reader.i16()?),
        enable_2pc: reader.i8()? != 0,
        keep_prepared_txn: reader.i8()? != 0,
        authorization: desk.broker.rights.all,
        two_phase_commit_authorization: desk.broker.rights.two_phase,
    })
}

/// Its answer: the open transaction's identity after the producer's.
fn write_version_6(code: ErrorCode, given: Option<InitializedProducer>) -> Bytes {
    let mut out = BytesMut::new();
    out.put_i32(0);
    out.put_i16(code.code());
    for identity in [given.map(|it| it.producer), given.and_then(|it| it.ongoing)] {
        let (id, epoch) = on_wire(identity);
        out.put_i64(id);
        out.put_i16(epoch);
    }
    out.put_u8(0);
    out.freeze()
}

fn on_wire(identity: Option<ProducerIdAndEpoch>) -> (i64, i16) {
    let id = ProducerId::to_wire(identity.map(|it| it.producer_id));
    let epoch = ProducerEpoch::to_wire(identity.map(|it| it.producer_epoch));
    (id, epoch)
}

pub(super) fn end_txn(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let (request, version): (EndTxnRequest, i16) = (desk.decode(bytes)?, desk.version());
    desk.coordinator(Request::EndTxn(EndTxn {
        version,
        transactional_id: TransactionalId::new(&request.transactional_id),
        claim: claim(request.producer_id.0, request.producer_epoch),
        result: if request.committed {
            TransactionResult::Commit
        } else {
            TransactionResult::Abort
        },
        authorization: desk.broker.rights.all,
    }));
    Ok(Plan::Parts(Box::new(move |parts| {
        let part = only(parts);
        let answer = EndTxnResponse::default().with_error_code(part.error().code());
        let next = match part {
            Part::Coordinator(Answer::EndTxn(Ok(next))) => next,
            Part::Coordinator(_) | Part::Data(_) | Part::Group(_) | Part::Shell(_) => None,
        };
        let (id, epoch) = on_wire(next);
        let answer = if version >= 5 {
            answer
                .with_producer_id(WireProducerId(id))
                .with_producer_epoch(epoch)
        } else {
            answer
        };
        body(version, &answer)
    })))
}
