//! A command as the model's message.

use fencepost_spec::message::{self, Message};
use fencepost_spec::types::*;

use super::node::Node;
use crate::cases::oracle::{OFFSETS, OUR_ROUND};
use crate::cases::tour::command::{Command, Place};
use crate::cases::tour::drive::OFFSET;

impl Node {
    pub(super) fn request(&mut self, command: Command) -> Option<Message> {
        let correlation = self.oracle.correlation();
        let id = TransactionalId(self.active as u8);
        let init = message::InitProducerId {
            correlation,
            transactional_id: Some(id),
            expected: None,
            enable_2pc: false,
            keep_prepared_txn: false,
            timeout_in_range: true,
            authorized: true,
        };
        let add = |identity, partition| message::AddPartitionsToTxn {
            correlation,
            transactional_id: id,
            identity,
            partition,
            ghost: Ghost::NONE,
        };
        let by_broker = |at: Place, verify_only| {
            Message::VerifyPartition(message::VerifyPartition {
                partition: PartitionIndex(at.partition),
                transactional_id: id,
                identity: at.who,
                sequence: Sequence(-1),
                verify_only,
                ghost: Ghost::NONE,
            })
        };
        let produce = |version, at: Place, sequence, transactional: bool| {
            Message::Produce(message::Produce {
                correlation,
                transactional_id: transactional.then_some(id),
                identity: at.who,
                partition: PartitionIndex(at.partition),
                sequence: Sequence(sequence),
                transactional,
                version,
                payload: Payload(1),
                ghost: Ghost::NONE,
            })
        };
        Some(match command {
            Command::Init(expected) => {
                Message::InitProducerId(message::InitProducerId { expected, ..init })
            }
            Command::InitTooLong => Message::InitProducerId(message::InitProducerId {
                timeout_in_range: false,
                ..init
            }),
            Command::Add(at) => {
                Message::AddPartitionsToTxn(add(at.who, PartitionIndex(at.partition)))
            }
            Command::AddOffsets(who) => Message::AddOffsetsToTxn(add(who, OFFSETS)),
            Command::Verify(at) => by_broker(at, true),
            Command::AddByBroker(at) => by_broker(at, false),
            Command::End(version, result, identity) => Message::EndTxn(message::EndTxn {
                correlation,
                transactional_id: id,
                identity,
                result,
                version,
                ghost: Ghost::NONE,
            }),
            Command::Produce(version, at, sequence) => produce(version, at, sequence, true),
            Command::ProducePlain(at, sequence) => {
                produce(TransactionVersion::Tv1, at, sequence, false)
            }
            Command::Stage(version, identity, generation) => {
                Message::TxnOffsetCommit(message::TxnOffsetCommit {
                    correlation,
                    transactional_id: id,
                    identity,
                    member: generation.map(|generation| message::GroupMember {
                        id: ProducerIndex(0),
                        generation: Generation(generation),
                    }),
                    offset: Payload(OFFSET),
                    version,
                    ghost: Ghost::NONE,
                })
            }
            Command::Marker(version, result, at, epoch) => {
                Message::WriteTxnMarkers(message::WriteTxnMarkers {
                    broker: BrokerId(0),
                    coordinator_epoch: CoordinatorEpoch(epoch),
                    transactional_id: id,
                    round: OUR_ROUND,
                    partition: PartitionIndex(at.partition),
                    identity: at.who,
                    result,
                    version,
                    ghost: Ghost::NONE,
                })
            }
            Command::FetchOffset
            | Command::InitIdempotent
            | Command::Join
            | Command::Rebalance
            | Command::Switch
            | Command::DeleteTopic
            | Command::HoldLog
            | Command::Unanswered
            | Command::Elsewhere => return None,
        })
    }
}
