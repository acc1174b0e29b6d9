//! AddPartitionsToTxn, as clients and as brokers send it, and AddOffsetsToTxn.

use bytes::Bytes;
use fencepost::coordinator::{
    AddOffsetsToTxn, AddPartitionsToTxn, AddPartitionsToTxnForm, Request,
};
use fencepost::types::{GroupId, TransactionalId};
use kafka_protocol::messages::add_partitions_to_txn_request::AddPartitionsToTxnTopic;
use kafka_protocol::messages::add_partitions_to_txn_response::{
    AddPartitionsToTxnPartitionResult, AddPartitionsToTxnResult, AddPartitionsToTxnTopicResult,
};
use kafka_protocol::messages::{
    AddOffsetsToTxnRequest, AddOffsetsToTxnResponse, AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
};

use super::{Asked, Plan, claim, only, partition};
use crate::loopback::answer::{Part, body};
use crate::loopback::desk::Desk;
use crate::wire::WireError;

pub(super) fn add_partitions(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let (request, version): (AddPartitionsToTxnRequest, i16) =
        (desk.decode(bytes)?, desk.version());
    let asked = asked(request.v3_and_below_topics);
    let add = AddPartitionsToTxn {
        form: AddPartitionsToTxnForm::Client { version },
        transactional_id: TransactionalId::new(&request.v3_and_below_transactional_id),
        claim: claim(
            request.v3_and_below_producer_id.0,
            request.v3_and_below_producer_epoch,
        ),
        partitions: named(desk, &asked),
        authorization: desk.broker.rights.all,
    };
    desk.coordinator(Request::AddPartitionsToTxn(add));
    Ok(Plan::Parts(Box::new(move |parts| {
        let answer = AddPartitionsToTxnResponse::default()
            .with_results_by_topic_v3_and_below(results(asked, &only(parts)));
        body(version, &answer)
    })))
}

pub(super) fn add_partitions_batched(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let (request, version): (AddPartitionsToTxnRequest, i16) =
        (desk.decode(bytes)?, desk.version());
    let mut ids = Vec::new();
    for transaction in request.transactions {
        let asked = asked(transaction.topics);
        let add = AddPartitionsToTxn {
            form: if transaction.verify_only {
                AddPartitionsToTxnForm::VerifyOnly
            } else {
                AddPartitionsToTxnForm::Broker
            },
            transactional_id: TransactionalId::new(&transaction.transactional_id),
            claim: claim(transaction.producer_id.0, transaction.producer_epoch),
            partitions: named(desk, &asked),
            authorization: desk.broker.rights.all,
        };
        desk.coordinator(Request::AddPartitionsToTxn(add));
        ids.push((transaction.transactional_id, asked));
    }
    Ok(Plan::Parts(Box::new(move |parts| {
        let transactions = ids.into_iter().zip(parts).map(|((id, asked), part)| {
            AddPartitionsToTxnResult::default()
                .with_transactional_id(id)
                .with_topic_results(results(asked, &part))
        });
        let answer = AddPartitionsToTxnResponse::default()
            .with_results_by_transaction(transactions.collect());
        body(version, &answer)
    })))
}

fn asked(topics: Vec<AddPartitionsToTxnTopic>) -> Asked {
    topics
        .into_iter()
        .map(|it| (it.name, it.partitions))
        .collect()
}

/// The partitions, and what the shell knows of each.
fn named(
    desk: &Desk<'_>,
    asked: &Asked,
) -> Vec<(
    fencepost::types::TopicPartition,
    fencepost::coordinator::PartitionAccess,
)> {
    asked
        .iter()
        .flat_map(|(topic, indexes)| indexes.iter().map(|index| partition(topic, *index)))
        .map(|at| {
            let access = desk.access(&at);
            (at, access)
        })
        .collect()
}

fn results(asked: Asked, part: &Part) -> Vec<AddPartitionsToTxnTopicResult> {
    asked
        .into_iter()
        .map(|(topic, indexes)| {
            let lines = indexes.into_iter().map(|index| {
                AddPartitionsToTxnPartitionResult::default()
                    .with_partition_index(index)
                    .with_partition_error_code(part.error_of(&partition(&topic, index)).code())
            });
            let lines = lines.collect();
            AddPartitionsToTxnTopicResult::default()
                .with_name(topic)
                .with_results_by_partition(lines)
        })
        .collect()
}

pub(super) fn add_offsets(desk: &mut Desk<'_>, bytes: Bytes) -> Result<Plan, WireError> {
    let (request, version): (AddOffsetsToTxnRequest, i16) = (desk.decode(bytes)?, desk.version());
    desk.coordinator(Request::AddOffsetsToTxn(AddOffsetsToTxn {
        version,
        transactional_id: TransactionalId::new(&request.transactional_id),
        claim: claim(request.producer_id.0, request.producer_epoch),
        group_id: GroupId::new(&request.group_id),
        authorization: desk.broker.rights.all,
        group_authorization: desk.broker.rights.all,
    }));
    Ok(Plan::Parts(Box::new(move |parts| {
        let code = only(parts).error().code();
        body(
            version,
            &AddOffsetsToTxnResponse::default().with_error_code(code),
        )
    })))
}
