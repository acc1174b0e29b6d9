//! A step of a tour: a request with the model's values, or what is done to the broker. One line of
//! text each.

use std::fmt;
use std::str::FromStr;

use fencepost_spec::types::{
    Identity, ProducerEpoch, ProducerId, TransactionResult, TransactionVersion,
};

/// Who a request names, and which data partition it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Producer id and epoch.
    pub who: Identity,
    /// Data partition 0 or 1.
    pub partition: u8,
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Command {
    /// InitProducerId, expecting an identity or none.
    Init(Option<Identity>),
    /// InitProducerId without a transactional id.
    InitIdempotent,
    /// InitProducerId with a timeout above what the broker allows.
    InitTooLong,
    /// AddPartitionsToTxn as clients send it.
    Add(Place),
    /// AddOffsetsToTxn.
    AddOffsets(Identity),
    /// AddPartitionsToTxn as brokers send it, verify only.
    Verify(Place),
    /// AddPartitionsToTxn as brokers send it, adding.
    AddByBroker(Place),
    /// EndTxn: v4 or v5.
    End(TransactionVersion, TransactionResult, Identity),
    /// Produce of one transactional record, at a sequence: v11 or v12.
    Produce(TransactionVersion, Place, i32),
    /// Produce v11 of one record without the transactional flag.
    ProducePlain(Place, i32),
    /// TxnOffsetCommit, in a generation or in none: v4 or v5.
    Stage(TransactionVersion, Identity, Option<u8>),
    /// OffsetFetch, require stable.
    FetchOffset,
    /// WriteTxnMarkers with a coordinator epoch: v1 or v2.
    Marker(TransactionVersion, TransactionResult, Place, u8),
    /// A member joins the group.
    Join,
    /// A second member asks to join, and the group waits for the first one.
    Rebalance,
    /// The other transactional id is asked about from here on.
    Switch,
    /// The topic is deleted.
    DeleteTopic,
    /// Nothing more of the transaction-state log is replicated.
    HoldLog,
    /// The next request is not answered: it waits for the log.
    Unanswered,
    /// The next request goes to a broker that does not coordinate.
    Elsewhere,
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Init(None) => write!(f, "init"),
            Self::Init(Some(expected)) => write!(f, "init {expected}"),
            Self::InitIdempotent => write!(f, "init_idempotent"),
            Self::InitTooLong => write!(f, "init_too_long"),
            Self::Add(at) => write!(f, "add {at}"),
            Self::AddOffsets(who) => write!(f, "add_offsets {who}"),
            Self::Verify(at) => write!(f, "verify {at}"),
            Self::AddByBroker(at) => write!(f, "add_by_broker {at}"),
            Self::End(version, result, who) => write!(f, "end {version} {result} {who}"),
            Self::Produce(version, at, sequence) => write!(f, "produce {version} {at} {sequence}"),
            Self::ProducePlain(at, sequence) => write!(f, "produce_plain {at} {sequence}"),
            Self::Stage(version, who, None) => write!(f, "stage {version} {who}"),
            Self::Stage(version, who, Some(generation)) => {
                write!(f, "stage {version} {who} {generation}")
            }
            Self::FetchOffset => write!(f, "fetch_offset"),
            Self::Marker(version, result, at, epoch) => {
                write!(f, "marker {version} {result} {at} {epoch}")
            }
            Self::Join => write!(f, "join"),
            Self::Rebalance => write!(f, "rebalance"),
            Self::Switch => write!(f, "switch"),
            Self::DeleteTopic => write!(f, "delete_topic"),
            Self::HoldLog => write!(f, "hold_log"),
            Self::Unanswered => write!(f, "unanswered"),
            Self::Elsewhere => write!(f, "elsewhere"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} p{}", self.who, self.partition)
    }
}

/// A line that is no step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no step of a tour: {0:?}")]
pub struct UnreadableCommand(pub String);

impl FromStr for Command {
    type Err = UnreadableCommand;

    fn from_str(line: &str) -> Result<Self, UnreadableCommand> {
        let mut words = Words(line.split_whitespace());
        words
            .command()
            .filter(|_| words.0.next().is_none())
            .ok_or_else(|| UnreadableCommand(line.to_owned()))
    }
}

struct Words<'a>(std::str::SplitWhitespace<'a>);

impl Words<'_> {
    fn command(&mut self) -> Option<Command> {
        Some(match self.0.next()? {
            "init" => Command::Init(match self.0.clone().next() {
                Some(_) => Some(self.identity()?),
                None => None,
            }),
            "init_idempotent" => Command::InitIdempotent,
            "init_too_long" => Command::InitTooLong,
            "add" => Command::Add(self.place()?),
            "add_offsets" => Command::AddOffsets(self.identity()?),
            "verify" => Command::Verify(self.place()?),
            "add_by_broker" => Command::AddByBroker(self.place()?),
            "end" => Command::End(self.version()?, self.result()?, self.identity()?),
            "produce" => Command::Produce(self.version()?, self.place()?, self.number()?),
            "produce_plain" => Command::ProducePlain(self.place()?, self.number()?),
            "stage" => Command::Stage(
                self.version()?,
                self.identity()?,
                match self.0.clone().next() {
                    Some(_) => Some(self.number()?),
                    None => None,
                },
            ),
            "fetch_offset" => Command::FetchOffset,
            "marker" => Command::Marker(
                self.version()?,
                self.result()?,
                self.place()?,
                self.number()?,
            ),
            "join" => Command::Join,
            "rebalance" => Command::Rebalance,
            "switch" => Command::Switch,
            "delete_topic" => Command::DeleteTopic,
            "hold_log" => Command::HoldLog,
            "unanswered" => Command::Unanswered,
            "elsewhere" => Command::Elsewhere,
            _ => return None,
        })
    }

    fn identity(&mut self) -> Option<Identity> {
        let (id, epoch) = self.0.next()?.split_once('/')?;
        Some(Identity::new(
            ProducerId(id.parse().ok()?),
            ProducerEpoch(epoch.parse().ok()?),
        ))
    }

    fn place(&mut self) -> Option<Place> {
        let who = self.identity()?;
        let partition = self.0.next()?.strip_prefix('p')?.parse().ok()?;
        (partition < 2).then_some(Place { who, partition })
    }

    fn version(&mut self) -> Option<TransactionVersion> {
        match self.0.next()? {
            "tv1" => Some(TransactionVersion::Tv1),
            "tv2" => Some(TransactionVersion::Tv2),
            _ => None,
        }
    }

    fn result(&mut self) -> Option<TransactionResult> {
        match self.0.next()? {
            "commit" => Some(TransactionResult::Commit),
            "abort" => Some(TransactionResult::Abort),
            _ => None,
        }
    }

    fn number<T: FromStr>(&mut self) -> Option<T> {
        self.0.next()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_reads_back_as_it_is_written() {
        let who = Identity::new(ProducerId(200), ProducerEpoch(3));
        let at = Place { who, partition: 1 };
        let tv2 = TransactionVersion::Tv2;
        let commands = [
            Command::Init(None),
            Command::Init(Some(who)),
            Command::Verify(at),
            Command::End(tv2, TransactionResult::Abort, who),
            Command::Produce(tv2, at, 7),
            Command::Stage(tv2, who, None),
            Command::Stage(tv2, who, Some(1)),
            Command::Marker(TransactionVersion::Tv1, TransactionResult::Commit, at, 200),
            Command::Unanswered,
        ];
        for command in commands {
            assert_eq!(command.to_string().parse(), Ok(command));
        }
        for line in [
            "",
            "init 1",
            "add 1/0",
            "add 1/0 p2",
            "end tv3 commit 1/0",
            "join now",
        ] {
            assert!(line.parse::<Command>().is_err(), "{line:?}");
        }
    }
}
