//! DescribeTransactions, ListTransactions, DescribeProducers (KIP-664).

use bytes::Bytes;
use fencepost::coordinator::{
    Answer, DescribeTransactions, ListTransactions, Request, TransactionDescription,
    TransactionState,
};
use fencepost::partition::{Partition, ProducerState};
use fencepost::types::{
    CoordinatorEpoch, Offset, ProducerEpoch, ProducerId, Sequence, TransactionalId,
};
use kafka_protocol::messages::describe_producers_response::{
    PartitionResponse, ProducerState as ProducerLine, TopicResponse,
};
use kafka_protocol::messages::describe_transactions_response::{
    TopicData, TransactionState as TransactionLine,
};
use kafka_protocol::messages::list_transactions_response::TransactionState as ListedLine;
use kafka_protocol::messages::{
    DescribeProducersRequest, DescribeProducersResponse, DescribeTransactionsRequest,
    DescribeTransactionsResponse, ListTransactionsRequest, ListTransactionsResponse,
    ProducerId as WireProducerId, TopicName, TransactionalId as WireTransactionalId,
};

use super::{Plan, only, partition, text};
use crate::loopback::answer::{Part, body};
use crate::loopback::desk::Desk;
use crate::loopback::topics::UNKNOWN_TOPIC;
use crate::wire::WireError;

/// Every state that a list can be narrowed to.
const STATES: [TransactionState; 8] = [
    TransactionState::Empty,
    TransactionState::Ongoing,
    TransactionState::PrepareCommit,
    TransactionState::PrepareAbort,
    TransactionState::CompleteCommit,
    TransactionState::CompleteAbort,
    TransactionState::Dead,
    TransactionState::PrepareEpochFence,
];

pub(super) fn describe_transactions(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let (request, version): (DescribeTransactionsRequest, i16) =
        (desk.decode(bytes)?, desk.version());
    for id in &request.transactional_ids {
        desk.coordinator(Request::DescribeTransactions(DescribeTransactions {
            transactional_id: TransactionalId::new(id),
            authorization: desk.broker.rights.all,
        }));
    }
    Ok(Plan::Parts(Box::new(move |parts| {
        let ids = request.transactional_ids.into_iter();
        let lines = ids.zip(parts).map(|(id, part)| {
            let line = TransactionLine::default()
                .with_transactional_id(id)
                .with_error_code(part.error().code());
            match part {
                Part::Coordinator(Answer::DescribeTransactions(Ok(found))) => {
                    with_description(line, &found)
                }
                Part::Coordinator(_) | Part::Data(_) | Part::Group(_) | Part::Shell(_) => line,
            }
        });
        let answer = DescribeTransactionsResponse::default();
        body(version, &answer.with_transaction_states(lines.collect()))
    })))
}

fn with_description(line: TransactionLine, found: &TransactionDescription) -> TransactionLine {
    let mut topics: Vec<TopicData> = Vec::new();
    for at in found.partitions.as_slice() {
        match topics
            .iter_mut()
            .find(|it| it.topic.as_str() == at.topic.as_str())
        {
            Some(topic) => topic.partitions.push(at.partition),
            None => topics.push(
                TopicData::default()
                    .with_topic(TopicName(text(at.topic.as_str())))
                    .with_partitions(vec![at.partition]),
            ),
        }
    }
    line.with_transaction_state(text(found.state.name()))
        .with_transaction_timeout_ms(found.timeout.to_record())
        .with_transaction_start_time_ms(found.start_timestamp.map_or(-1, |it| it.as_millis()))
        .with_producer_id(WireProducerId(found.producer_id.get()))
        .with_producer_epoch(ProducerEpoch::to_wire(found.producer_epoch))
        .with_topics(topics)
}

pub(super) fn list_transactions(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let (request, version): (ListTransactionsRequest, i16) = (desk.decode(bytes)?, desk.version());
    let named = |name: &str| STATES.into_iter().find(|state| state.name() == name);
    let filters = &request.state_filters;
    let unknown = filters
        .iter()
        .filter(|name| named(name).is_none())
        .cloned()
        .collect();
    let ids = &request.producer_id_filters;
    desk.coordinator(Request::ListTransactions(ListTransactions {
        states: (!filters.is_empty())
            .then(|| filters.iter().filter_map(|name| named(name)).collect()),
        producer_ids: (!ids.is_empty()).then(|| {
            ids.iter()
                .filter_map(|id| ProducerId::from_wire(id.0))
                .collect()
        }),
        longer_than_ms: (request.duration_filter >= 0).then_some(request.duration_filter),
    }));
    Ok(Plan::Parts(Box::new(move |parts| {
        let part = only(parts);
        let answer = ListTransactionsResponse::default()
            .with_error_code(part.error().code())
            .with_unknown_state_filters(unknown);
        let listed = match part {
            Part::Coordinator(Answer::ListTransactions(Ok(listed))) => listed,
            Part::Coordinator(_) | Part::Data(_) | Part::Group(_) | Part::Shell(_) => Vec::new(),
        };
        let lines = listed.iter().map(|it| {
            ListedLine::default()
                .with_transactional_id(WireTransactionalId(text(it.transactional_id.as_str())))
                .with_producer_id(WireProducerId(it.producer_id.get()))
                .with_transaction_state(text(it.state.name()))
        });
        body(version, &answer.with_transaction_states(lines.collect()))
    })))
}

pub(super) fn describe_producers(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let request: DescribeProducersRequest = desk.decode(bytes)?;
    let topics = request.topics.into_iter().map(|topic| {
        let lines = topic.partition_indexes.iter().map(|index| {
            let line = PartitionResponse::default().with_partition_index(*index);
            match desk.broker.topics.get(&partition(&topic.name, *index)) {
                Some(found) => line.with_active_producers(active(found)),
                None => line.with_error_code(UNKNOWN_TOPIC.0),
            }
        });
        let lines = lines.collect();
        TopicResponse::default()
            .with_name(topic.name)
            .with_partitions(lines)
    });
    let answer = DescribeProducersResponse::default().with_topics(topics.collect());
    Ok(Plan::Body(body(desk.head.version, &answer)))
}

fn active(found: &Partition) -> Vec<ProducerLine> {
    let line = |(id, state): (ProducerId, &ProducerState)| {
        ProducerLine::default()
            .with_producer_id(WireProducerId(id.get()))
            .with_producer_epoch(i32::from(state.epoch.get()))
            .with_last_sequence(Sequence::to_wire(state.last_sequence()))
            .with_last_timestamp(state.last_timestamp.as_millis())
            .with_coordinator_epoch(CoordinatorEpoch::to_wire(state.coordinator_epoch))
            .with_current_txn_start_offset(Offset::to_wire(state.current_txn_first_offset))
    };
    found.producers().iter().map(line).collect()
}
