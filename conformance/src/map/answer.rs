//! The implementation's answers as the model's messages.

use super::{CoordinatorToken, PartitionToken, Topics, Unmapped, spec_error, spec_identity};
use fencepost::error_code::ErrorCode as ImplError;
use fencepost::records::offset_commit::OffsetCommitKey;
use fencepost::{coordinator as c, group as g, partition as p};
use fencepost_spec::error_code::ErrorCode;
use fencepost_spec::message::{CoordinatorAnswer, MarkerAnswer, Message};
use fencepost_spec::types::{CoordinatorEpoch, Generation, Identity, PartitionIndex, Payload};

/// A coordinator's answer. `epoch` is the leadership that answers.
///
/// # Errors
/// [`Unmapped`] for an answer that the model cannot say.
pub fn coordinator_answer(
    topics: Topics,
    token: CoordinatorToken,
    answer: &c::Answer,
    epoch: CoordinatorEpoch,
) -> Result<Message, Unmapped> {
    let verdict = verdict(topics, token, answer)?;
    Ok(match token {
        CoordinatorToken::Producer(request, correlation) => {
            Message::CoordinatorAnswer(CoordinatorAnswer {
                correlation,
                request,
                error: verdict.error,
                identity: verdict.identity,
                ongoing: verdict.ongoing,
                coordinator_epoch: epoch,
            })
        }
        CoordinatorToken::Leader {
            partition,
            identity,
            sequence,
        } => Message::VerifyAnswer {
            partition,
            identity,
            sequence,
            error: verdict.error,
            coordinator_epoch: epoch,
        },
    })
}

struct Verdict {
    error: ErrorCode,
    identity: Option<Identity>,
    ongoing: Option<Identity>,
}

impl Verdict {
    fn of(error: ImplError) -> Result<Self, Unmapped> {
        Ok(Self {
            error: spec_error(error)?,
            identity: None,
            ongoing: None,
        })
    }
}

fn verdict(
    topics: Topics,
    token: CoordinatorToken,
    answer: &c::Answer,
) -> Result<Verdict, Unmapped> {
    match answer {
        c::Answer::InitProducerId(Ok(producer)) => Ok(Verdict {
            error: ErrorCode::None,
            identity: Some(spec_identity(producer.producer)?),
            ongoing: producer.ongoing.map(spec_identity).transpose()?,
        }),
        c::Answer::EndTxn(Ok(producer)) => Ok(Verdict {
            error: ErrorCode::None,
            identity: producer.map(spec_identity).transpose()?,
            ongoing: None,
        }),
        c::Answer::AddPartitionsToTxn(Ok(outcomes)) => match outcomes.as_slice() {
            [(partition, error)] => {
                if let CoordinatorToken::Leader {
                    partition: asked, ..
                } = token
                    && topics.spec_partition(partition)? != asked
                {
                    return Err(Unmapped::new("partition", partition));
                }
                Verdict::of(*error)
            }
            _ => Err(Unmapped::new("outcomes", outcomes)),
        },
        c::Answer::AddOffsetsToTxn(Ok(())) => Verdict::of(ImplError::None),
        c::Answer::InitProducerId(Err(error))
        | c::Answer::EndTxn(Err(error))
        | c::Answer::AddPartitionsToTxn(Err(error))
        | c::Answer::AddOffsetsToTxn(Err(error)) => Verdict::of(*error),
        c::Answer::DescribeTransactions(_) | c::Answer::ListTransactions(_) => {
            Err(Unmapped::new("answer", answer))
        }
    }
}

fn code<T>(result: &Result<T, ImplError>) -> Result<ErrorCode, Unmapped> {
    match result {
        Ok(_) => Ok(ErrorCode::None),
        Err(error) => spec_error(*error),
    }
}

/// A data partition's answer.
///
/// # Errors
/// [`Unmapped`] for an answer that does not fit its request.
pub fn partition_answer(
    partition: PartitionIndex,
    token: PartitionToken,
    answer: &p::Answer,
) -> Result<Message, Unmapped> {
    match (token, answer) {
        (
            PartitionToken::Produce {
                correlation,
                identity,
                sequence,
                copy: _,
            },
            p::Answer::Produce(result),
        ) => Ok(Message::ProduceAnswer {
            correlation,
            identity,
            partition,
            sequence,
            error: code(result)?,
        }),
        (PartitionToken::Marker { .. }, p::Answer::WriteTxnMarker(result)) => {
            marker_answer(partition, token, code(result)?)
        }
        (
            PartitionToken::Produce { .. }
            | PartitionToken::Marker { .. }
            | PartitionToken::TxnOffsetCommit { .. }
            | PartitionToken::OffsetFetch(_),
            _,
        ) => Err(Unmapped::new("answer", answer)),
    }
}

fn marker_answer(
    partition: PartitionIndex,
    token: PartitionToken,
    error: ErrorCode,
) -> Result<Message, Unmapped> {
    let PartitionToken::Marker {
        broker,
        coordinator_epoch,
        transactional_id,
        round,
        copy: _,
    } = token
    else {
        return Err(Unmapped::new("token", token));
    };
    Ok(Message::WriteTxnMarkersAnswer(MarkerAnswer {
        broker,
        coordinator_epoch,
        transactional_id,
        round,
        partition,
        error,
    }))
}

/// A group coordinator's answer. `generation` is the group's.
///
/// # Errors
/// [`Unmapped`] for an answer that does not fit its request.
pub fn group_answer(
    partition: PartitionIndex,
    input: &OffsetCommitKey,
    token: PartitionToken,
    answer: &g::Answer,
    generation: Generation,
) -> Result<Message, Unmapped> {
    match (token, answer) {
        (
            PartitionToken::TxnOffsetCommit { correlation, .. },
            g::Answer::TxnOffsetCommit(results),
        ) => match results.as_slice() {
            [(found, result)] if *found == input.partition => Ok(Message::TxnOffsetCommitAnswer {
                correlation,
                error: code(result)?,
            }),
            _ => Err(Unmapped::new("answer", answer)),
        },
        (PartitionToken::OffsetFetch(correlation), g::Answer::OffsetFetch(result)) => {
            let (error, offset) = fetched(input, result)?;
            Ok(Message::OffsetFetchAnswer {
                correlation,
                error,
                offset,
                generation,
            })
        }
        (PartitionToken::Marker { .. }, g::Answer::WriteTxnMarker(result)) => {
            marker_answer(partition, token, code(result)?)
        }
        (
            PartitionToken::Produce { .. }
            | PartitionToken::Marker { .. }
            | PartitionToken::TxnOffsetCommit { .. }
            | PartitionToken::OffsetFetch(_),
            _,
        ) => Err(Unmapped::new("answer", answer)),
    }
}

type Fetched = Result<Vec<g::PartitionResult<Option<g::CommittedOffset>>>, ImplError>;

fn fetched(input: &OffsetCommitKey, result: &Fetched) -> Result<(ErrorCode, Payload), Unmapped> {
    let lines = match result {
        Err(error) => return Ok((spec_error(*error)?, Payload(0))),
        Ok(lines) => lines,
    };
    match lines.as_slice() {
        [(found, Ok(None))] if *found == input.partition => Ok((ErrorCode::None, Payload(0))),
        [(found, Ok(Some(offset)))] if *found == input.partition => {
            let value = u8::try_from(offset.value.offset.get());
            let value = value.map_err(|_| Unmapped::new("offset", offset))?;
            Ok((ErrorCode::None, Payload(value)))
        }
        [(found, Err(error))] if *found == input.partition => Ok((spec_error(*error)?, Payload(0))),
        _ => Err(Unmapped::new("answer", lines)),
    }
}
