//! What the cores ask for, carried out: each effect becomes further inputs, until nothing is left to do.

use fencepost::coordinator::{
    self, AddPartitionsToTxn, AddPartitionsToTxnForm, Authorization, Claim, Correlation,
    MarkerOutcome, MarkerTicket, PartitionAccess, Request,
};
use fencepost::error_code::ErrorCode;
use fencepost::group;
use fencepost::partition::{self, WriteTxnMarker};
use fencepost::types::{ProducerIdAndEpoch, RequestId, TopicPartition, TransactionalId};

use super::answer::{Call, Part, Waiter};
use super::broker::{Broker, OFFSETS_TOPIC, Work};

impl Broker {
    /// Works until no core has anything left to do.
    pub(super) fn settle(&mut self) {
        let now = self.now();
        while let Some(work) = self.queue.pop_front() {
            match work {
                Work::Coordinator(input) => {
                    let input = (self.tamper.coordinator_takes)(input);
                    for effect in self.coordinator.step(input, now) {
                        self.coordinator_asks((self.tamper.coordinator_asks)(effect));
                    }
                }
                Work::Data(at, input) => self.data(&at, (self.tamper.partition_takes)(input)),
                Work::Group(index, input) => self.group(index, (self.tamper.group_takes)(input)),
            }
        }
    }

    fn coordinator_asks(&mut self, effect: coordinator::Effect) {
        use coordinator::{Effect, Input};
        match effect {
            Effect::Append {
                ticket, records, ..
            } => {
                records.iter().for_each(|it| self.journal.logged(it));
                let most = self.settings.coordinator.tombstone_batch_bytes;
                let outcome = self.disk.append(ticket.partition(), records, most);
                if self.held.log {
                    self.held.appends.push(ticket);
                } else {
                    self.queue(Work::Coordinator(Input::AppendFinished(ticket, outcome)));
                }
            }
            Effect::SendMarkers { ticket, partitions } => {
                for partition in partitions {
                    self.send_marker(ticket.clone(), partition);
                }
            }
            Effect::Reply(Correlation(token), answer) => {
                self.answered(token, Part::Coordinator(answer));
            }
            Effect::AllocateProducerIds => self.allocate_producer_ids(),
            Effect::Loaded {
                skipped_records, ..
            } => assert_eq!(
                skipped_records,
                self.disk.foreign_records(),
                "records that the coordinator says it has passed over"
            ),
            Effect::LoadFailed { .. } | Effect::MarkerAbandoned { .. } => {}
        }
    }

    pub(super) fn send_marker(&mut self, ticket: MarkerTicket, partition: TopicPartition) {
        if self.held.markers {
            return self.held.unsent.push((ticket, partition));
        }
        if partition.topic.as_str() != OFFSETS_TOPIC && self.topics.get(&partition).is_none() {
            let outcome = vec![(partition, MarkerOutcome::NoSuchPartition)];
            let input = coordinator::Input::MarkersAnswered(ticket, outcome);
            return self.queue(Work::Coordinator(input));
        }
        let token = self.wait(Waiter::Marker {
            ticket: ticket.clone(),
            partition: partition.clone(),
        });
        let marker = WriteTxnMarker {
            request: RequestId(token),
            producer_id: ticket.producer.producer_id,
            producer_epoch: ticket.producer.producer_epoch,
            result: ticket.result,
            coordinator_epoch: ticket.coordinator_epoch,
            transaction_version: ticket.transaction_version,
        };
        self.queue(if partition.topic.as_str() == OFFSETS_TOPIC {
            Work::Group(partition.partition, group::Input::WriteTxnMarker(marker))
        } else {
            Work::Data(partition, partition::Input::WriteTxnMarker(marker))
        });
    }

    fn data(&mut self, at: &TopicPartition, input: partition::Input) {
        use partition::{Effect, Input};
        let now = self.now();
        let Some(partition) = self.topics.get_mut(at) else {
            return self.gone(input);
        };
        for effect in partition.step(input, now) {
            match (self.tamper.partition_asks)(effect) {
                Effect::Append(batch) => {
                    self.journal.appended(at, &batch);
                    let from = batch.base_offset();
                    let up_to = batch.next_offset();
                    let outcome = match std::mem::take(&mut self.held.fails) {
                        true => Input::AppendFailed { from },
                        false => Input::Replicated { up_to },
                    };
                    self.queue(Work::Data(at.clone(), outcome));
                }
                Effect::AskCoordinator {
                    request,
                    transactional_id,
                    producer_id,
                    producer_epoch,
                    verify_only,
                } => {
                    let producer = ProducerIdAndEpoch {
                        producer_id,
                        producer_epoch,
                    };
                    self.question(at.clone(), request, transactional_id, producer, verify_only);
                }
                Effect::Reply { request, answer } => self.answered(request.0, Part::Data(answer)),
                Effect::Truncate { .. } => {}
            }
        }
    }

    /// The topic was deleted in between: whoever waits hears of it.
    fn gone(&mut self, input: partition::Input) {
        use partition::Input;
        let request = match input {
            Input::Produce(produce) => produce.request,
            Input::WriteTxnMarker(marker) => marker.request,
            Input::CoordinatorAnswered { request, .. } => request,
            Input::Replicated { .. }
            | Input::AppendFailed { .. }
            | Input::BecomeLeader { .. }
            | Input::BecomeFollower { .. }
            | Input::Truncate { .. }
            | Input::Replicate { .. }
            | Input::Tick => return,
        };
        self.answered(request.0, Part::Shell(ErrorCode::UnknownTopicOrPartition));
    }

    fn group(&mut self, index: i32, input: group::Input) {
        use group::{Effect, Input};
        let now = self.now();
        let Some(group) = usize::try_from(index)
            .ok()
            .and_then(|index| self.groups.get_mut(index))
        else {
            return;
        };
        for effect in group.step(input, now) {
            match (self.tamper.group_asks)(effect) {
                Effect::Append(batch) => {
                    let at = TopicPartition::new(OFFSETS_TOPIC, index);
                    self.journal.appended(&at, &batch);
                    let from = batch.base_offset();
                    let up_to = batch.next_offset();
                    let outcome = match std::mem::take(&mut self.held.fails) {
                        true => Input::AppendFailed { from },
                        false => Input::Replicated { up_to },
                    };
                    self.queue(Work::Group(index, outcome));
                }
                Effect::AskCoordinator {
                    request,
                    transactional_id,
                    producer,
                    verify_only,
                } => {
                    let at = TopicPartition::new(OFFSETS_TOPIC, index);
                    self.question(at, request, transactional_id, producer, verify_only);
                }
                Effect::Reply { request, answer } => self.answered(request.0, Part::Group(answer)),
                Effect::Truncate { .. } => {}
            }
        }
    }

    /// Brings a question about a write's transaction to the coordinator.
    fn question(
        &mut self,
        asker: TopicPartition,
        request: RequestId,
        transactional_id: TransactionalId,
        producer: ProducerIdAndEpoch,
        verify_only: bool,
    ) {
        let partitions = vec![(asker.clone(), PartitionAccess::Allowed)];
        let token = self.wait(Waiter::Question { asker, request });
        let request = Request::AddPartitionsToTxn(AddPartitionsToTxn {
            form: if verify_only {
                AddPartitionsToTxnForm::VerifyOnly
            } else {
                AddPartitionsToTxnForm::Broker
            },
            transactional_id,
            claim: Claim {
                producer_id: Some(producer.producer_id),
                producer_epoch: Some(producer.producer_epoch),
            },
            partitions,
            authorization: Authorization::Allowed,
        });
        let input = coordinator::Input::Request(Correlation(token), request);
        self.queue(Work::Coordinator(input));
    }

    /// Brings a core's answer to whoever waits for it.
    fn answered(&mut self, token: u64, part: Part) {
        match self.waiters.remove(&token) {
            Some(Waiter::Call { call, part: index }) => {
                if let Some(slot) = self
                    .calls
                    .get_mut(&call)
                    .and_then(|it| it.parts.get_mut(index))
                {
                    *slot = Some(part);
                }
                self.finish_if_complete(call);
            }
            Some(Waiter::Question { asker, request }) => {
                let code = part.error_of(&asker);
                let answer = if code == ErrorCode::None {
                    Ok(())
                } else {
                    Err(code)
                };
                self.queue(if asker.topic.as_str() == OFFSETS_TOPIC {
                    let input = group::Input::CoordinatorAnswered { request, answer };
                    Work::Group(asker.partition, input)
                } else {
                    let input = partition::Input::CoordinatorAnswered { request, answer };
                    Work::Data(asker, input)
                });
            }
            Some(Waiter::Marker { ticket, partition }) => {
                let outcome = MarkerOutcome::Answered(part.error());
                let input = coordinator::Input::MarkersAnswered(ticket, vec![(partition, outcome)]);
                self.queue(Work::Coordinator(input));
            }
            None => {}
        }
    }

    pub(super) fn finish_if_complete(&mut self, number: u64) {
        if self.calls.get(&number).is_some_and(Call::is_complete)
            && let Some(call) = self.calls.remove(&number)
        {
            call.finish(&mut self.journal);
        }
    }
}
