//! Requests to a partition's leader: Produce and WriteTxnMarkers.

use fencepost_spec::error_code::ErrorCode as ModelError;
use fencepost_spec::message::{self, Message};
use fencepost_spec::types::*;

use super::coordinator::on_wire;
use super::words::pair;
use super::{Outcome, Real, Stage, Stop};
use crate::cases::oracle::OUR_ROUND;
use crate::cases::route::waited;
use crate::wire::{Batch, ErrorCode, IsolationLevel, Marker};

/// A coordinator epoch that no real coordinator reaches, and its name.
const FAR: (i32, u8) = (1_000_000, FAR_EPOCH);
/// The name in the model of a coordinator epoch that no real coordinator reaches.
pub const FAR_EPOCH: u8 = 200;

/// How a marker is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerForm {
    /// v1.
    V1,
    /// v2 (KIP-1228) that names transaction version 2.
    V2,
}

impl Stage {
    /// Produce of one transactional record.
    pub fn produce(&mut self, version: i16, who: Identity, sequence: i32) -> Outcome {
        self.produce_batch(version, who, sequence, true)
    }

    /// Produce of one record without the transactional flag.
    pub fn produce_plain(&mut self, version: i16, who: Identity, sequence: i32) -> Outcome {
        self.produce_batch(version, who, sequence, false)
    }

    fn produce_batch(
        &mut self,
        version: i16,
        who: Identity,
        sequence: i32,
        transactional: bool,
    ) -> Outcome {
        let version = self.require(0, "Produce", version)?;
        if version >= 12 && self.transaction_version < 1 {
            return Err(Stop::Skip(
                "Produce v12 cannot add at transaction.version 0".to_owned(),
            ));
        }
        self.payload = self.payload.wrapping_add(1);
        let message = Message::Produce(message::Produce {
            correlation: self.oracle.correlation(),
            transactional_id: transactional.then_some(self.model_id()),
            identity: who,
            partition: PartitionIndex(self.partition),
            sequence: Sequence(sequence),
            transactional,
            version: if version >= 12 {
                TransactionVersion::Tv2
            } else {
                TransactionVersion::Tv1
            },
            payload: Payload(self.payload),
            ghost: Ghost::NONE,
        });
        let batch = Batch {
            transactional,
            ..Batch::transactional(self.wire(who), sequence, &self.payload.to_string())
        };
        let (id, partition) = (self.id(), self.topic_partition());
        let plain = if transactional {
            ""
        } else {
            " not transactional"
        };
        let request = format!(
            "Produce v{version} {} sequence {sequence}{plain} partition {}",
            pair(who),
            self.partition
        );
        self.ask(&request, &message, abortable_since(version, 11), |route| {
            let id = transactional.then_some(id.as_str());
            let answer = route
                .leader(&partition)?
                .produce(version, id, &partition, &batch)?;
            Ok(Real {
                offset: answer.base_offset,
                ..Real::error(answer.error)
            })
        })?;
        Ok(())
    }

    /// WriteTxnMarkers, as a coordinator of `coordinator_epoch` (below 200) sends it.
    pub fn marker(
        &mut self,
        form: MarkerForm,
        who: Identity,
        result: TransactionResult,
        coordinator_epoch: u8,
    ) -> Outcome {
        let on_the_wire = if coordinator_epoch == FAR.1 {
            FAR.0
        } else {
            i32::from(coordinator_epoch)
        };
        let version = match form {
            MarkerForm::V1 => 1,
            MarkerForm::V2 => 2,
        };
        self.require(27, "WriteTxnMarkers", version)?;
        self.outbid |= coordinator_epoch > 0 || who.producer_epoch.0 == i16::MAX;
        let message = Message::WriteTxnMarkers(message::WriteTxnMarkers {
            broker: BrokerId(0),
            coordinator_epoch: CoordinatorEpoch(coordinator_epoch),
            transactional_id: self.model_id(),
            round: OUR_ROUND,
            partition: PartitionIndex(self.partition),
            identity: who,
            result,
            version: match form {
                MarkerForm::V1 => TransactionVersion::Tv1,
                MarkerForm::V2 => TransactionVersion::Tv2,
            },
            ghost: Ghost::NONE,
        });
        let marker = Marker {
            producer: self.wire(who),
            result: on_wire(result),
            coordinator_epoch: on_the_wire,
            transaction_version: 2,
            partition: self.topic_partition(),
        };
        let request = format!(
            "WriteTxnMarkers v{version} {result} {} coordinator epoch {on_the_wire}",
            pair(who)
        );
        self.ask(
            &request,
            &message,
            |error| error,
            |route| {
                let leader = route.leader(&marker.partition)?;
                leader.write_txn_markers(version, &marker).map(Real::error)
            },
        )?;
        Ok(())
    }

    /// Fences every real coordinator at the active partition: from here on a decided transaction
    /// of the client stays in Prepare*.
    pub fn hold_markers(&mut self) -> Outcome {
        self.marker(MarkerForm::V1, self.me(), TransactionResult::Abort, FAR.1)?;
        self.now_held();
        Ok(())
    }

    /// A marker of [`FAR`]'s epoch has been accepted: what is decided from here on stays decided.
    pub fn now_held(&mut self) {
        self.held = true;
    }

    /// Deletes the case's topic and waits until no broker knows it any more.
    pub fn delete_topic(&mut self) -> Outcome {
        const UNKNOWN: ErrorCode = ErrorCode(3);
        let partition = self.topic_partition();
        // The leader as it was: it is the one that is asked about what is gone.
        self.route.leader(&partition)?;
        let error = self.route.any()?.delete_topic(&partition.topic)?;
        self.expect(
            "DeleteTopics",
            &error.to_string(),
            &["NONE"],
            "Kafka's admin protocol",
        )?;
        loop {
            let leader = self.route.leader(&partition)?;
            let (found, _) = leader.latest_offset(&partition, IsolationLevel::ReadUncommitted)?;
            if found == UNKNOWN {
                break;
            }
            if !self.route.pause(std::time::Duration::from_millis(5)) {
                return Err(waited(&format!("the topic's end: {found}")).into());
            }
        }
        self.oracle.delete_topic();
        Ok(())
    }
}

/// Versions below `first` know no TRANSACTION_ABORTABLE and are told INVALID_TXN_STATE.
pub(super) fn abortable_since(version: i16, first: i16) -> impl Fn(ModelError) -> ModelError {
    move |error| match error {
        ModelError::TransactionAbortable if version < first => ModelError::InvalidTxnState,
        error => error,
    }
}
