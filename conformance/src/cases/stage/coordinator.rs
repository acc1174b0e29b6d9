//! Requests to the transaction coordinator.

use fencepost_spec::error_code::ErrorCode as ModelError;
use fencepost_spec::message::{self, Message};
use fencepost_spec::types::*;

use super::words::pair;
use super::{Outcome, Real, Stage, Stop};
use crate::cases::oracle::OFFSETS;
use crate::wire;
use crate::wire::{CoordinatorKey, ErrorCode, Producer, TransactionToAdd};

impl Stage {
    /// InitProducerId without an expected identity, in the highest plain version.
    pub fn init(&mut self) -> Result<Option<Identity>, Stop> {
        self.init_version(4, None)
    }

    /// InitProducerId with an expected identity (KIP-360).
    pub fn init_expecting(&mut self, expected: Identity) -> Result<Option<Identity>, Stop> {
        self.init_version(4, Some(expected))
    }

    /// InitProducerId; the identity is adopted and given where the answer is NONE.
    pub fn init_version(
        &mut self,
        version: i16,
        expected: Option<Identity>,
    ) -> Result<Option<Identity>, Stop> {
        self.require(22, "InitProducerId", version)?;
        let message = Message::InitProducerId(message::InitProducerId {
            expected,
            ..self.plain_init()
        });
        let sent = expected.map_or(Producer::NONE, |it| self.wire(it));
        let id = self.id();
        let expecting = expected.map_or(String::new(), |it| format!(" expecting {}", pair(it)));
        let request = format!("InitProducerId v{version}{expecting}");
        let real = self.ask(&request, &message, fenced_below(version, 4), |route| {
            let answer = route
                .coordinator(CoordinatorKey::Transaction(&id))?
                .init_producer_id(version, wire::InitProducerId::plain(&id).expecting(sent))?;
            Ok(Real {
                producer: answer.producer,
                ..Real::error(answer.error)
            })
        })?;
        Ok(self.adopted(&real))
    }

    /// The active id's request with nothing special about it.
    fn plain_init(&mut self) -> message::InitProducerId {
        message::InitProducerId {
            correlation: self.oracle.correlation(),
            transactional_id: Some(self.model_id()),
            expected: None,
            enable_2pc: false,
            keep_prepared_txn: false,
            timeout_in_range: true,
            authorized: true,
        }
    }

    /// InitProducerId v2 without a transactional id: what an idempotent producer asks.
    pub fn init_idempotent(&mut self) -> Result<Identity, Stop> {
        self.require(22, "InitProducerId", 2)?;
        let message = Message::InitProducerId(message::InitProducerId {
            transactional_id: None,
            ..self.plain_init()
        });
        let plain = wire::InitProducerId {
            transactional_id: None,
            ..wire::InitProducerId::plain("")
        };
        let request = "InitProducerId v2 without transactional id";
        let real = self.ask(
            request,
            &message,
            |error| error,
            |route| {
                let answer = route.any()?.init_producer_id(2, plain)?;
                Ok(Real {
                    producer: answer.producer,
                    ..Real::error(answer.error)
                })
            },
        )?;
        match self.oracle.named(real.producer.id) {
            Some(id) => Ok(Identity::new(id, ProducerEpoch(real.producer.epoch))),
            None => Err(Stop::Unclear(format!("{request}: {}", real.error))),
        }
    }

    /// InitProducerId v6 with enable2Pc, keeping a prepared transaction or not (KIP-939). The case
    /// is skipped where the broker does not have the flag.
    pub fn init_two_phase(&mut self, keep_prepared_txn: bool) -> Result<Option<Identity>, Stop> {
        const UNSUPPORTED_VERSION: ErrorCode = ErrorCode(35);
        self.require(22, "InitProducerId", 6)?;
        let message = Message::InitProducerId(message::InitProducerId {
            enable_2pc: true,
            keep_prepared_txn,
            ..self.plain_init()
        });
        let id = self.id();
        let flags = wire::InitProducerId {
            enable_2pc: true,
            keep_prepared: keep_prepared_txn,
            ..wire::InitProducerId::plain(&id)
        };
        let request = format!("InitProducerId v6 enable2Pc keepPreparedTxn {keep_prepared_txn}");
        let mut lacking = false;
        let outcome = self.ask(
            &request,
            &message,
            |error| error,
            |route| {
                let answer = route
                    .coordinator(CoordinatorKey::Transaction(&id))?
                    .init_producer_id(6, flags)?;
                lacking = answer.error == UNSUPPORTED_VERSION;
                Ok(Real {
                    producer: answer.producer,
                    ..Real::error(answer.error)
                })
            },
        );
        if lacking {
            return Err(Stop::Skip(format!(
                "{request} is UNSUPPORTED_VERSION: not judged"
            )));
        }
        Ok(self.adopted(&outcome?))
    }

    /// InitProducerId that asks for a transaction timeout: in range from 1 ms to
    /// `transaction.max.timeout.ms`, which no broker sets to `i32::MAX`.
    pub fn init_with_timeout(&mut self, timeout_ms: i32) -> Outcome {
        let message = Message::InitProducerId(message::InitProducerId {
            timeout_in_range: (1..i32::MAX).contains(&timeout_ms),
            ..self.plain_init()
        });
        let id = self.id();
        let plain = wire::InitProducerId {
            timeout_ms,
            ..wire::InitProducerId::plain(&id)
        };
        let request = format!("InitProducerId v4, timeout {timeout_ms} ms");
        let real = self.ask(
            &request,
            &message,
            |error| error,
            |route| {
                let answer = route
                    .coordinator(CoordinatorKey::Transaction(&id))?
                    .init_producer_id(4, plain)?;
                Ok(Real {
                    producer: answer.producer,
                    ..Real::error(answer.error)
                })
            },
        )?;
        self.adopted(&real);
        Ok(())
    }

    /// An InitProducerId whose refusal the model has no cell for.
    pub fn init_refused(
        &mut self,
        request: wire::InitProducerId<'_>,
        allowed: &[&str],
        source: &'static str,
    ) -> Outcome {
        self.require(22, "InitProducerId", 4)?;
        let answer = self.route.any()?.init_producer_id(4, request)?;
        let id = request.transactional_id.unwrap_or("(none)");
        let words = format!(
            "InitProducerId v4 of id {id:?}, timeout {} ms, expecting ({},{})",
            request.timeout_ms, request.expected.id, request.expected.epoch
        );
        self.expect(&words, &answer.error.to_string(), allowed, source)
    }

    /// AddPartitionsToTxn as clients send it, v0 to v3.
    pub fn add(&mut self, version: i16, who: Identity) -> Outcome {
        let version = self.require(24, "AddPartitionsToTxn", version)?;
        let message =
            Message::AddPartitionsToTxn(self.addition(who, PartitionIndex(self.partition)));
        let (id, sent, partition) = (self.id(), self.wire(who), self.topic_partition());
        let request = format!(
            "AddPartitionsToTxn v{version} {} partition {}",
            pair(who),
            self.partition
        );
        self.ask(&request, &message, fenced_below(version, 2), |route| {
            let errors = route
                .coordinator(CoordinatorKey::Transaction(&id))?
                .add_partitions_to_txn(version, &id, sent, std::slice::from_ref(&partition))?;
            first_error(&errors).map(Real::error)
        })?;
        Ok(())
    }

    /// AddOffsetsToTxn for the case's group.
    pub fn add_offsets(&mut self, version: i16, who: Identity) -> Outcome {
        let version = self.require(25, "AddOffsetsToTxn", version)?;
        let message = Message::AddOffsetsToTxn(self.addition(who, OFFSETS));
        let (id, sent, group) = (self.id(), self.wire(who), self.group.clone());
        let request = format!("AddOffsetsToTxn v{version} {}", pair(who));
        self.ask(&request, &message, fenced_below(version, 2), |route| {
            let coordinator = route.coordinator(CoordinatorKey::Transaction(&id))?;
            let error = coordinator.add_offsets_to_txn(version, &id, sent, &group)?;
            Ok(Real::error(error))
        })?;
        Ok(())
    }

    fn addition(
        &mut self,
        who: Identity,
        partition: PartitionIndex,
    ) -> message::AddPartitionsToTxn {
        message::AddPartitionsToTxn {
            correlation: self.oracle.correlation(),
            transactional_id: self.model_id(),
            identity: who,
            partition,
            ghost: Ghost::NONE,
        }
    }

    /// AddPartitionsToTxn as brokers send it, v4 and later: verify only.
    pub fn verify(&mut self, version: i16, who: Identity) -> Outcome {
        self.by_broker(version, who, true)
    }

    /// AddPartitionsToTxn as brokers send it, v4 and later: add.
    pub fn add_by_broker(&mut self, version: i16, who: Identity) -> Outcome {
        self.by_broker(version, who, false)
    }

    fn by_broker(&mut self, version: i16, who: Identity, verify_only: bool) -> Outcome {
        let version = self.require(24, "AddPartitionsToTxn", version)?;
        let message = Message::VerifyPartition(message::VerifyPartition {
            partition: PartitionIndex(self.partition),
            transactional_id: self.model_id(),
            identity: who,
            sequence: Sequence(-1),
            verify_only,
            ghost: Ghost::NONE,
        });
        let (id, sent, partition) = (self.id(), self.wire(who), self.topic_partition());
        let verb = if verify_only { "verifyOnly" } else { "adding" };
        let request = format!(
            "AddPartitionsToTxn v{version} (broker, {verb}) {} partition {}",
            pair(who),
            self.partition
        );
        self.ask(
            &request,
            &message,
            |error| error,
            |route| {
                let transaction = TransactionToAdd {
                    transactional_id: &id,
                    producer: sent,
                    verify_only,
                    partitions: vec![partition.clone()],
                };
                let (error, results) = route
                    .coordinator(CoordinatorKey::Transaction(&id))?
                    .add_partitions_to_txn_batched(version, &[transaction])?;
                if error != ErrorCode::NONE {
                    return Ok(Real::error(error));
                }
                let errors = results.first().map(|(_, errors)| errors.as_slice());
                first_error(errors.unwrap_or_default()).map(Real::error)
            },
        )?;
        Ok(())
    }

    /// EndTxn; the identity of a v5 answer is adopted.
    pub fn end(&mut self, version: i16, who: Identity, result: TransactionResult) -> Outcome {
        let version = self.require(26, "EndTxn", version)?;
        if version >= 5 && self.transaction_version < 1 {
            return Err(Stop::Skip(
                "EndTxn v5 is refused at transaction.version 0".to_owned(),
            ));
        }
        let table = if version >= 5 {
            TransactionVersion::Tv2
        } else {
            TransactionVersion::Tv1
        };
        let message = Message::EndTxn(message::EndTxn {
            correlation: self.oracle.correlation(),
            transactional_id: self.model_id(),
            identity: who,
            result,
            version: table,
            ghost: Ghost::NONE,
        });
        let (id, sent) = (self.id(), self.wire(who));
        let on_wire = on_wire(result);
        let request = format!("EndTxn v{version} {result} {}", pair(who));
        let real = self.ask(&request, &message, fenced_below(version, 2), |route| {
            let answer = route
                .coordinator(CoordinatorKey::Transaction(&id))?
                .end_txn(version, &id, sent, on_wire)?;
            Ok(Real {
                producer: answer.producer,
                ..Real::error(answer.error)
            })
        })?;
        self.adopted(&real);
        Ok(())
    }

    /// The identity of an answer, which the client goes on with.
    fn adopted(&mut self, real: &Real) -> Option<Identity> {
        if real.error != ErrorCode::NONE {
            return None;
        }
        let id = self.oracle.named(real.producer.id)?;
        self.adopt(id, real.producer.epoch);
        Some(self.me())
    }
}

/// Kafka's word for the wire.
pub(super) fn on_wire(result: TransactionResult) -> wire::TransactionResult {
    match result {
        TransactionResult::Commit => wire::TransactionResult::Commit,
        TransactionResult::Abort => wire::TransactionResult::Abort,
    }
}

/// Versions below `first` know no PRODUCER_FENCED and are told INVALID_PRODUCER_EPOCH.
fn fenced_below(version: i16, first: i16) -> impl Fn(ModelError) -> ModelError {
    move |error| match error {
        ModelError::ProducerFenced if version < first => ModelError::InvalidProducerEpoch,
        error => error,
    }
}

fn first_error(errors: &[(wire::TopicPartition, ErrorCode)]) -> Result<ErrorCode, wire::WireError> {
    errors
        .first()
        .map(|(_, error)| *error)
        .ok_or_else(|| wire::WireError::Malformed("no partition in the answer".to_owned()))
}
