//! Requests in progress: which parts they wait for, and how the answer is put together.

use std::sync::mpsc;

use bytes::{Bytes, BytesMut};
use fencepost::coordinator::{self, MarkerTicket};
use fencepost::error_code::ErrorCode;
use fencepost::types::{RequestId, TopicPartition};
use fencepost::{group, partition};
use kafka_protocol::protocol::Encodable;

use super::broker::Reply;
use super::frame::Head;
use super::journal::Journal;
use crate::wire::WireError;

/// What a core, or the shell itself, says of one part of a request.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Coordinator(coordinator::Answer),
    Data(partition::Answer),
    Group(group::Answer),
    /// No core was asked.
    Shell(ErrorCode),
}

/// Makes the body of the answer from the parts, in the order in which they were asked for; none where the client
/// wants no answer.
pub(super) type Finish = Box<dyn FnOnce(Vec<Part>) -> Result<Option<Bytes>, WireError>>;

/// A request that waits for its parts.
pub(super) struct Call {
    pub(super) head: Head,
    /// Its number in the journal.
    pub(super) exchange: Option<u64>,
    pub(super) answer: mpsc::Sender<Reply>,
    pub(super) parts: Vec<Option<Part>>,
    pub(super) finish: Finish,
}

impl Call {
    pub(super) fn is_complete(&self) -> bool {
        self.parts.iter().all(Option::is_some)
    }

    /// Answers. The client may be gone by now.
    pub(super) fn finish(self, journal: &mut Journal) {
        let parts = self.parts.into_iter().flatten().collect();
        let reply = reply(&self.head, (self.finish)(parts));
        journal.answered(self.exchange, &self.head, &reply);
        let _ = self.answer.send(reply);
    }
}

/// An answer's body as the connection is told of it.
pub(super) fn reply(head: &Head, body: Result<Option<Bytes>, WireError>) -> Reply {
    match body {
        Ok(Some(body)) => Reply::Frame(head.frame(&body)),
        Ok(None) => Reply::Nothing,
        Err(_) => Reply::Close,
    }
}

/// Who waits for a core's answer.
#[derive(Clone, Debug)]
pub(super) enum Waiter {
    /// A part of a client's request.
    Call { call: u64, part: usize },
    /// A partition or group coordinator that asked about a write's transaction.
    Question {
        asker: TopicPartition,
        request: RequestId,
    },
    /// The transaction coordinator, for one of its markers.
    Marker {
        ticket: MarkerTicket,
        partition: TopicPartition,
    },
}

/// The encoded body of an answer.
///
/// # Errors
/// A field that this version of the answer cannot carry.
pub(super) fn body(version: i16, answer: &impl Encodable) -> Result<Option<Bytes>, WireError> {
    let mut out = BytesMut::new();
    answer
        .encode(&mut out, version)
        .map_err(|error| WireError::Unencodable(error.to_string()))?;
    Ok(Some(out.freeze()))
}

impl Part {
    /// The error of a part that carries nothing else, or that refuses.
    pub(super) fn error(&self) -> ErrorCode {
        let refusal = match self {
            Self::Shell(code) => return *code,
            Self::Coordinator(answer) => coordinator_refusal(answer),
            Self::Data(partition::Answer::Produce(result)) => result.err(),
            Self::Data(partition::Answer::WriteTxnMarker(result)) => result.err(),
            Self::Group(answer) => group_refusal(answer),
        };
        refusal.unwrap_or(ErrorCode::None)
    }

    /// The error of one partition, where a part answers for several.
    pub(super) fn error_of(&self, at: &TopicPartition) -> ErrorCode {
        let found = match self {
            Self::Coordinator(coordinator::Answer::AddPartitionsToTxn(Ok(outcomes))) => outcomes
                .iter()
                .find(|(partition, _)| partition == at)
                .map(|(_, code)| *code),
            Self::Group(
                group::Answer::TxnOffsetCommit(results) | group::Answer::OffsetCommit(results),
            ) => results
                .iter()
                .find(|(partition, _)| partition == at)
                .map(|(_, result)| result.err().unwrap_or(ErrorCode::None)),
            Self::Coordinator(_) | Self::Group(_) | Self::Data(_) | Self::Shell(_) => {
                return self.error();
            }
        };
        // A core answers for every partition that it was asked about.
        found.unwrap_or(ErrorCode::UnknownServerError)
    }
}

fn coordinator_refusal(answer: &coordinator::Answer) -> Option<ErrorCode> {
    use coordinator::Answer;
    match answer {
        Answer::InitProducerId(result) => result.err(),
        Answer::AddPartitionsToTxn(result) => result.as_ref().err().copied(),
        Answer::AddOffsetsToTxn(result) => result.err(),
        Answer::EndTxn(result) => result.err(),
        Answer::DescribeTransactions(result) => result.as_ref().err().copied(),
        Answer::ListTransactions(result) => result.as_ref().err().copied(),
    }
}

fn group_refusal(answer: &group::Answer) -> Option<ErrorCode> {
    use group::Answer;
    match answer {
        Answer::TxnOffsetCommit(_) | Answer::OffsetCommit(_) => None,
        Answer::OffsetFetch(result) => result.as_ref().err().copied(),
        Answer::WriteTxnMarker(result) | Answer::Heartbeat(result) | Answer::LeaveGroup(result) => {
            result.err()
        }
        Answer::JoinGroup(result) => result.as_ref().err().map(|refusal| refusal.code),
        Answer::SyncGroup(result) => result.as_ref().err().copied(),
    }
}
