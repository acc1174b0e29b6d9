//! What the client sends, as the model's messages.

use super::application::{input, payload};
use super::shell::{Early, Sent, partition_of};
use super::{Place, Running, Said};
use crate::actors::Difference;
use crate::actors::membership::spec_member_of;
use crate::map;
use fencepost::client::{Input, ProduceBatch, Request};
use fencepost::error_code::ErrorCode as ImplError;
use fencepost_spec::message::*;
use fencepost_spec::types::*;

impl Running {
    /// A new request.
    pub(super) fn asks(&mut self, place: Place<'_>) {
        self.number += 1;
        self.attempt = u8::from(place.tagged);
        self.resent = false;
    }

    pub(super) fn correlation(&self, place: Place<'_>) -> Correlation {
        Correlation {
            producer: place.index,
            number: self.number,
            attempt: self.attempt,
        }
    }

    pub(super) fn fetch_offset(&mut self, place: Place<'_>, said: &mut Said) {
        self.fetching = true;
        self.asks(place);
        said.messages
            .push(Message::OffsetFetch(self.correlation(place)));
    }

    pub(super) fn message(
        &self,
        place: Place<'_>,
        request: &Request,
    ) -> Result<Message, Difference> {
        let correlation = self.correlation(place);
        let unmapped = || Difference::effect("client", request);
        let transactional_id = place.workload.transactional_id.ok_or_else(unmapped)?;
        let add = |producer, partition| {
            Ok::<_, Difference>(AddPartitionsToTxn {
                correlation,
                transactional_id,
                identity: map::spec_identity(producer)?,
                partition,
                ghost: Ghost::NONE,
            })
        };
        Ok(match request {
            Request::FindCoordinator(_) => return Err(unmapped()),
            Request::InitProducerId { expected } => Message::InitProducerId(InitProducerId {
                correlation,
                transactional_id: Some(transactional_id),
                expected: expected.map(map::spec_identity).transpose()?,
                enable_2pc: false,
                keep_prepared_txn: false,
                timeout_in_range: true,
                authorized: true,
            }),
            Request::AddPartitionsToTxn {
                producer,
                partitions,
            } => {
                // The application sends one batch at a time.
                let [partition] = partitions.as_slice() else {
                    return Err(unmapped());
                };
                let partition = place.topics.spec_partition(partition)?;
                Message::AddPartitionsToTxn(add(*producer, partition)?)
            }
            Request::AddOffsetsToTxn { producer, .. } => {
                let offsets = PartitionIndex(place.topics.data);
                Message::AddOffsetsToTxn(add(*producer, offsets)?)
            }
            Request::TxnOffsetCommit {
                producer,
                member,
                offsets,
                version,
            } => {
                let offset = offsets.get(&input()).filter(|_| offsets.len() == 1);
                let offset = offset.ok_or_else(unmapped)?.offset.get();
                Message::TxnOffsetCommit(TxnOffsetCommit {
                    correlation,
                    transactional_id,
                    identity: map::spec_identity(*producer)?,
                    member: spec_member_of(member.generation, &member.member_id)?,
                    offset: Payload(u8::try_from(offset).map_err(|_| unmapped())?),
                    version: map::spec_version(*version),
                    ghost: Ghost::NONE,
                })
            }
            Request::EndTxn {
                producer,
                result,
                version,
            } => Message::EndTxn(EndTxn {
                correlation,
                transactional_id,
                identity: map::spec_identity(*producer)?,
                result: map::spec_result(*result),
                version: map::spec_version(*version),
                ghost: Ghost::NONE,
            }),
        })
    }

    /// The client sends a batch: for the first time, or again. Where a copy went before, this is the one, and its answer
    /// may have come.
    pub(super) fn produce(
        &mut self,
        place: Place<'_>,
        batch: &ProduceBatch,
        said: &mut Said,
    ) -> Result<Option<Input>, Difference> {
        let partition = place.topics.spec_partition(&batch.partition)?;
        let sent = match self.sent.iter_mut().find(|sent| sent.batch == batch.batch) {
            Some(sent) => {
                let early = std::mem::replace(&mut sent.early, Early::None);
                match early {
                    Early::None => *sent,
                    Early::UnderWay => return Ok(None),
                    Early::Acknowledged => {
                        return Ok(Some(Input::BatchAnswered {
                            partition: batch.partition.clone(),
                            batch: batch.batch,
                            code: ImplError::None,
                        }));
                    }
                }
            }
            None => {
                let sent = Sent {
                    batch: batch.batch,
                    partition,
                    attempt: u8::from(place.tagged),
                    copies: 1,
                    answered: false,
                    early: Early::None,
                };
                self.sent.push(sent);
                sent
            }
        };
        said.messages.push(self.batch_message(
            place,
            &sent,
            (
                map::spec_identity(batch.producer)?,
                map::spec_sequence(batch.base_sequence),
                map::spec_version(batch.version),
            ),
        ));
        Ok(None)
    }

    pub(super) fn batch_message(
        &self,
        place: Place<'_>,
        sent: &Sent,
        (identity, sequence, version): (Identity, Sequence, TransactionVersion),
    ) -> Message {
        Message::Produce(Produce {
            correlation: Correlation {
                producer: place.index,
                number: 0,
                attempt: sent.attempt,
            },
            transactional_id: place.workload.transactional_id,
            identity,
            partition: sent.partition,
            sequence,
            transactional: true,
            version,
            payload: payload(place.workload, self.position, sent.batch),
            ghost: Ghost::NONE,
        })
    }

    /// The number that a batch was sent under.
    pub(super) fn numbered(
        &self,
        place: Place<'_>,
        sent: &Sent,
    ) -> Result<(Identity, Sequence), Difference> {
        let batches = self
            .core
            .batches()
            .get(&partition_of(place, sent.partition));
        let mut queue = batches.into_iter().flat_map(|batches| batches.queue());
        let number = queue
            .find(|it| it.id == sent.batch)
            .and_then(|it| it.number);
        let number = number.ok_or_else(|| Difference::Missing("numbered batch".to_owned()))?;
        Ok((
            map::spec_identity(number.producer)?,
            map::spec_sequence(number.base_sequence),
        ))
    }

    /// Whether the client, too, would send this batch next: none of its partition is before it.
    pub(super) fn is_its_turn(&self, place: Place<'_>, sent: &Sent) -> bool {
        let batches = self
            .core
            .batches()
            .get(&partition_of(place, sent.partition));
        batches
            .and_then(|batches| batches.queue().first())
            .is_some_and(|first| first.id == sent.batch)
    }
}
