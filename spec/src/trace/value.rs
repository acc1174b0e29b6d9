//! What the values of a trace may be.

use super::request_word;
use crate::coordinator::TransactionState;
use crate::error_code::ErrorCode;
use crate::message::RequestKind;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueKind {
    /// A whole number.
    Number,
    /// `PRODUCER_ID/PRODUCER_EPOCH`.
    IdentityPair,
    /// A producer instance: `P` to `S`.
    ProducerName,
    /// A partition: `p0`.
    PartitionName,
    /// A set of partitions: `{p0,p1}`.
    PartitionNames,
    /// A transaction by its producer instance and number: `P0`.
    TxnName,
    /// `commit` or `abort`.
    ResultWord,
    /// `tv1` or `tv2`.
    VersionWord,
    /// Kafka's name of an error code.
    ErrorName,
    /// A transaction state, or `tombstone`.
    StateName,
    /// The word of a request.
    RequestWord,
    /// Only `true`: a flag that is off is left out.
    True,
}

const REQUESTS: [RequestKind; 6] = [
    RequestKind::InitProducerId,
    RequestKind::AddPartitionsToTxn,
    RequestKind::AddOffsetsToTxn,
    RequestKind::TxnOffsetCommit,
    RequestKind::EndTxn,
    RequestKind::OffsetFetch,
];

impl ValueKind {
    /// Whether `text` is such a value.
    pub fn accepts(self, text: &str) -> bool {
        match self {
            Self::Number => text.parse::<i32>().is_ok(),
            Self::IdentityPair => text.split_once('/').is_some_and(|(id, epoch)| {
                id.parse::<u8>().is_ok() && epoch.parse::<i16>().is_ok()
            }),
            Self::ProducerName => is_producer(text),
            Self::PartitionName => is_partition(text),
            Self::PartitionNames => text
                .strip_prefix('{')
                .and_then(|t| t.strip_suffix('}'))
                .is_some_and(|t| t.is_empty() || t.split(',').all(is_partition)),
            Self::TxnName => {
                let mut characters = text.chars();
                let producer = characters
                    .next()
                    .is_some_and(|c| is_producer(&c.to_string()));
                producer && characters.as_str().parse::<u8>().is_ok()
            }
            Self::ResultWord => text == "commit" || text == "abort",
            Self::VersionWord => text == "tv1" || text == "tv2",
            Self::ErrorName => ErrorCode::ALL.iter().any(|e| e.name() == text),
            Self::StateName => {
                text == "tombstone"
                    || TransactionState::ALL
                        .iter()
                        .any(|s| format!("{s:?}") == text)
            }
            Self::RequestWord => REQUESTS.iter().any(|r| request_word(*r) == text),
            Self::True => text == "true",
        }
    }

    /// What such a value is, for a message.
    pub fn expected(self) -> String {
        match self {
            Self::Number => "a whole number".to_owned(),
            Self::IdentityPair => "PRODUCER_ID/PRODUCER_EPOCH, as in 1/0".to_owned(),
            Self::ProducerName => "a producer, as in P".to_owned(),
            Self::PartitionName => "a partition, as in p0".to_owned(),
            Self::PartitionNames => "a set of partitions, as in {p0,p1}".to_owned(),
            Self::TxnName => "a transaction, as in P0".to_owned(),
            Self::ResultWord => "commit or abort".to_owned(),
            Self::VersionWord => "tv1 or tv2".to_owned(),
            Self::ErrorName => list(ErrorCode::ALL.iter().map(|e| e.name().to_owned())),
            Self::StateName => list(
                TransactionState::ALL
                    .iter()
                    .map(|s| format!("{s:?}"))
                    .chain(["tombstone".to_owned()]),
            ),
            Self::RequestWord => list(REQUESTS.iter().map(|r| request_word(*r).to_owned())),
            Self::True => "true (or leave it out)".to_owned(),
        }
    }
}

fn list(words: impl Iterator<Item = String>) -> String {
    format!("one of {}", words.collect::<Vec<_>>().join(", "))
}

fn is_producer(text: &str) -> bool {
    matches!(text, "P" | "Q" | "R" | "S")
}

fn is_partition(text: &str) -> bool {
    text.strip_prefix('p')
        .is_some_and(|n| n.parse::<u8>().is_ok())
}
