//! Requests that no client of the scenario sends: every kind, with every neighbouring identity.

use super::{Action, State, World};
use crate::coordinator::Role;
use crate::message::*;
use crate::types::*;

/// Not a producer of any scenario.
pub(super) const STRANGER: ProducerIndex = ProducerIndex(3);

const CORRELATION: Correlation = Correlation {
    producer: STRANGER,
    number: 0,
    attempt: 0,
};

impl World {
    /// Every request worth a stranger's try.
    pub(super) fn stranger_requests(&self, state: &State, actions: &mut Vec<Action>) {
        for coordinator in &state.coordinators {
            if coordinator.role == Role::Follower && self.scenario.blocking {
                continue;
            }
            let mut messages = Vec::new();
            for (id, slot) in (0..).map(TransactionalId).zip(&coordinator.slots) {
                let known = slot.metadata;
                let stored = known.map_or(unknown(), |m| m.identity());
                let client = known.map_or(unknown(), |m| m.client_identity());
                messages.extend(init_requests(id, None));
                for identity in neighbours(stored).into_iter().chain([client]) {
                    messages.extend(init_requests(id, Some(identity)));
                    messages.extend(self.transaction_requests(id, identity));
                }
            }
            messages.sort_unstable();
            messages.dedup();
            actions.extend(messages.into_iter().map(|message| Action::Stranger {
                message,
                broker: Some(coordinator.broker),
            }));
        }
        for partition in &state.partitions {
            for (id, logged) in (0..).map(TransactionalId).zip(&state.log.committed) {
                let identity = match partition.producers.first() {
                    Some(e) if id.0 == 0 => Identity::new(e.producer_id, e.epoch),
                    // Nothing is known here: what the coordinator knows is the next best guess.
                    Some(_) | None => logged.map_or(unknown(), |m| m.identity()),
                };
                let mut identities = neighbours(identity);
                // KIP-939: the client of a transaction that was taken over has another identity.
                let client = logged.map(|m| m.client_identity());
                identities.extend(client.filter(|it| !identities.contains(it)));
                for identity in identities {
                    let requests = self.partition_requests(partition.index, id, identity);
                    actions.extend(requests.into_iter().map(|message| Action::Stranger {
                        message,
                        broker: None,
                    }));
                }
            }
        }
    }

    fn transaction_requests(&self, id: TransactionalId, identity: Identity) -> Vec<Message> {
        let ghost = Ghost::NONE;
        let add = |partition| AddPartitionsToTxn {
            correlation: CORRELATION,
            transactional_id: id,
            identity,
            partition,
            ghost,
        };
        let mut messages = Vec::new();
        if self.scenario.offsets {
            let offsets = PartitionIndex(self.scenario.partitions);
            messages.push(Message::AddOffsetsToTxn(add(offsets)));
        }
        for partition in (0..self.scenario.partitions).map(PartitionIndex) {
            messages.push(Message::AddPartitionsToTxn(add(partition)));
            messages.extend([true, false].map(|verify_only| {
                Message::VerifyPartition(VerifyPartition {
                    partition,
                    transactional_id: id,
                    identity,
                    sequence: Sequence(99),
                    verify_only,
                    ghost,
                })
            }));
        }
        for version in [TransactionVersion::Tv1, TransactionVersion::Tv2] {
            for result in [TransactionResult::Abort, TransactionResult::Commit] {
                messages.push(Message::EndTxn(EndTxn {
                    correlation: CORRELATION,
                    transactional_id: id,
                    identity,
                    result,
                    version,
                    ghost,
                }));
            }
        }
        messages
    }

    fn partition_requests(
        &self,
        partition: PartitionIndex,
        id: TransactionalId,
        identity: Identity,
    ) -> Vec<Message> {
        let ghost = Ghost::NONE;
        let version = self.rules.transaction_version;
        let mut messages = Vec::new();
        if self.is_offsets(partition) {
            let member = |index, generation| GroupMember {
                id: ProducerIndex(index),
                generation: Generation(generation),
            };
            let members = [member(0, 1), member(0, 9), member(7, 1)].map(Some);
            messages.extend(members.into_iter().chain([None]).map(|member| {
                Message::TxnOffsetCommit(TxnOffsetCommit {
                    correlation: CORRELATION,
                    transactional_id: id,
                    identity,
                    member,
                    offset: Payload(9),
                    version,
                    ghost,
                })
            }));
            return messages;
        }
        for (sequence, transactional) in [(0, true), (1, true), (7, true), (0, false), (1, false)] {
            messages.push(Message::Produce(Produce {
                correlation: CORRELATION,
                transactional_id: transactional.then_some(id),
                identity,
                partition,
                sequence: Sequence(sequence),
                transactional,
                version,
                payload: Payload(9),
                ghost,
            }));
        }
        for version in [TransactionVersion::Tv1, TransactionVersion::Tv2] {
            for epoch in [0, 1] {
                messages.push(Message::WriteTxnMarkers(WriteTxnMarkers {
                    broker: BrokerId(0),
                    coordinator_epoch: CoordinatorEpoch(epoch),
                    transactional_id: id,
                    round: u8::MAX,
                    partition,
                    identity,
                    result: TransactionResult::Abort,
                    version,
                    ghost,
                }));
            }
        }
        messages
    }
}

/// An identity that nobody was given.
fn unknown() -> Identity {
    Identity::new(ProducerId(99), ProducerEpoch::FIRST)
}

/// The identity itself, the epochs beside it, and another producer id.
fn neighbours(identity: Identity) -> Vec<Identity> {
    let Identity {
        producer_id,
        producer_epoch: ProducerEpoch(epoch),
    } = identity;
    let mut found = vec![
        identity,
        Identity::new(ProducerId(99), ProducerEpoch(epoch)),
    ];
    found.extend(
        [epoch.checked_sub(1), epoch.checked_add(1)]
            .into_iter()
            .flatten()
            .filter(|e| *e >= 0)
            .map(|e| Identity::new(producer_id, ProducerEpoch(e))),
    );
    found
}

fn init_requests(id: TransactionalId, expected: Option<Identity>) -> Vec<Message> {
    let plain = InitProducerId {
        correlation: CORRELATION,
        transactional_id: Some(id),
        expected,
        enable_2pc: false,
        keep_prepared_txn: false,
        timeout_in_range: true,
        authorized: true,
    };
    let two_phase = InitProducerId {
        enable_2pc: true,
        keep_prepared_txn: true,
        ..plain
    };
    let too_long = InitProducerId {
        timeout_in_range: false,
        ..plain
    };
    let unauthorized = InitProducerId {
        authorized: false,
        ..plain
    };
    [plain, two_phase, too_long, unauthorized]
        .map(Message::InitProducerId)
        .into()
}
