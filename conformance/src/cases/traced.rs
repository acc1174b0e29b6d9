//! A trace of the model, driven over the wire: its requests in its order. What a broker does by
//! itself comes when it comes, and the model allows every order of it; what no client can cause makes
//! a trace not drivable.

use std::net::SocketAddr;

use fencepost_spec::message::Message;
use fencepost_spec::trace::TraceFile;
use fencepost_spec::types::{TransactionVersion, TransactionalId};
use fencepost_spec::world::{Action, Seed};

use super::case::{Body, Case, Level, Need, Requirement};
use super::result::{CaseResult, Report};
use super::runner::{self, Options, SuiteError};
use super::stage::{Manner, Outcome, Stage};
use super::tour::{Command, Place};

/// Why a trace cannot be driven.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not drivable at step {step}: {why}")]
pub struct NotDrivable {
    /// The step, from 1; 0 for the start.
    pub step: usize,
    /// Why no client can cause it.
    pub why: String,
}

/// The requests of a trace.
///
/// # Errors
/// [`NotDrivable`] for the first step that no client can cause.
pub fn plan(file: &TraceFile) -> Result<Vec<Command>, NotDrivable> {
    let refuse = |step, why: &str| NotDrivable {
        step,
        why: why.to_owned(),
    };
    let world = file.world();
    if world.scenario.seed != Seed::Fresh {
        return Err(refuse(0, "it starts from a state that was prepared"));
    }
    if world.scenario.partitions > 2 {
        return Err(refuse(0, "it has more than two partitions"));
    }
    let run = file
        .replay()
        .map_err(|it| refuse(it.step, "the model does not enable it"))?;
    let mut commands = Vec::new();
    let mut id = TransactionalId(0);
    for (step, action) in (1..).zip(&run.actions) {
        let Some((on, command)) = command(action).map_err(|why| refuse(step, why))? else {
            continue;
        };
        if let Some(on) = on.filter(|on| *on != id) {
            commands.push(Command::Switch);
            id = on;
        }
        commands.push(command);
    }
    if commands.is_empty() {
        return Err(refuse(0, "it has no request of a client"));
    }
    Ok(commands)
}

/// A request and the id that it is about.
type Asked = (Option<TransactionalId>, Command);

/// What a client sends for an action; nothing for what happens by itself or inside a client.
fn command(action: &Action) -> Result<Option<Asked>, &'static str> {
    match action {
        Action::Deliver { message, .. } => request(message),
        Action::DeleteTopic(_) => Ok(Some((None, Command::DeleteTopic))),
        Action::CommitRecord
        | Action::SendMarker(..)
        | Action::Replicate(_)
        | Action::ApplyRecord(_)
        | Action::Materialise
        | Action::Start(_)
        | Action::End(..)
        | Action::Prepare(_)
        | Action::ManagerDecides(_)
        | Action::Decided(_)
        | Action::ResendRequest(_)
        | Action::ResendBatch(..)
        | Action::GiveUp(..)
        | Action::CrashProducer(_)
        | Action::TakeBound(_)
        | Action::TakeData(_)
        | Action::TakeAborted(_) => Ok(None),
        Action::Stranger { .. } => Err("the request of a stranger is judged without its answer"),
        Action::FailAppend(_) => Err("an append to the transaction-state log fails"),
        Action::FailVerification(_) => Err("an answer between two brokers is lost"),
        Action::LoseMarker(_) | Action::LoseMarkerAnswer(_) | Action::ResendMarker(..) => {
            Err("a marker between two brokers is lost or sent again")
        }
        Action::FindNoLeader(_) => Err("a partition has no leader"),
        Action::SkipTest(_) => Err("a fault inside the coordinator"),
        Action::Timeout(..) => Err("the timer runs at that moment"),
        Action::ExpireId(..) => Err("a transactional id expires, after a week"),
        Action::Elect(_) | Action::LearnElected(_) | Action::Load(_) | Action::Resign(_) => {
            Err("the coordinator moves")
        }
        Action::CrashCoordinator(_) | Action::Restart(_) | Action::Recover(_) => {
            Err("a broker stops and starts again")
        }
        Action::StepClockBack(_) => Err("a broker's clock steps back"),
        Action::FailOver(_) | Action::FollowerFetch(_) | Action::Promote(_) => {
            Err("a partition's leader changes")
        }
        Action::TakeSnapshot(_) | Action::Compact(_) | Action::Evict(..) => {
            Err("a broker's housekeeping runs at that moment")
        }
        Action::PrepareRebalance
        | Action::CompleteRebalance(_)
        | Action::ExpireMember
        | Action::ReplaceStaticMember(_)
        | Action::ExpireOffsets => Err("the group changes at that moment"),
        Action::Upgrade => Err("the cluster is upgraded"),
        Action::OperatorMarker(_) => Err("an operator writes a marker past the coordinator"),
    }
}

fn request(message: &Message) -> Result<Option<Asked>, &'static str> {
    Ok(Some(match message {
        Message::InitProducerId(m) if m.enable_2pc => {
            return Err("two-phase commit, which 4.4.0 does not serve");
        }
        Message::InitProducerId(m) => match m.transactional_id {
            Some(id) => (Some(id), Command::Init(m.expected)),
            None => (None, Command::InitIdempotent),
        },
        Message::AddPartitionsToTxn(m) => {
            let place = at(m.identity, m.partition.0);
            (Some(m.transactional_id), Command::Add(place))
        }
        Message::AddOffsetsToTxn(m) => (Some(m.transactional_id), Command::AddOffsets(m.identity)),
        Message::EndTxn(m) => {
            let command = Command::End(m.version, m.result, m.identity);
            (Some(m.transactional_id), command)
        }
        Message::Produce(m) => {
            let place = at(m.identity, m.partition.0);
            let command = if m.transactional {
                Command::Produce(m.version, place, m.sequence.0)
            } else {
                Command::ProducePlain(place, m.sequence.0)
            };
            (m.transactional_id, command)
        }
        // No member is named: the group of the broker has none.
        Message::TxnOffsetCommit(m) => {
            let command = Command::Stage(m.version, m.identity, None);
            (Some(m.transactional_id), command)
        }
        Message::OffsetFetch(_) => (None, Command::FetchOffset),
        Message::VerifyPartition(_)
        | Message::WriteTxnMarkers(_)
        | Message::AppendTxnRecord(_)
        | Message::CoordinatorAnswer(_)
        | Message::ProduceAnswer { .. }
        | Message::TxnOffsetCommitAnswer { .. }
        | Message::OffsetFetchAnswer { .. }
        | Message::VerifyAnswer { .. }
        | Message::WriteTxnMarkersAnswer(_)
        | Message::AppendTxnRecordAnswer(_) => return Ok(None),
    }))
}

const fn at(who: fencepost_spec::types::Identity, partition: u8) -> Place {
    Place { who, partition }
}

const NEEDS: &[Need] = &[
    Need::Api {
        key: 22,
        name: "InitProducerId",
        version: 4,
    },
    Need::Api {
        key: 26,
        name: "EndTxn",
        version: 4,
    },
];
const NEEDS_TV2: &[Need] = &[Need::TransactionVersion(2)];

/// Drives the requests of `file` and judges each answer by the right rules.
///
/// # Errors
/// [`SuiteError`] where no broker answers.
pub fn replay(
    bootstrap: SocketAddr,
    file: &TraceFile,
    commands: Vec<Command>,
    options: &Options,
    progress: impl FnMut(&CaseResult),
) -> Result<Report, SuiteError> {
    let tv2 = file.world().rules.transaction_version == TransactionVersion::Tv2;
    // One short text and one plan for each trace of a process.
    let case = Case {
        id: "trace/01",
        name: file.scenario.name,
        requirement: Requirement::Should,
        level: Level::Full,
        needs: if tv2 { NEEDS_TV2 } else { NEEDS },
        source: "a trace of the model",
        title: Box::leak(file.story.clone().into_boxed_str()),
        body: Body::Traced(Box::leak(commands.into_boxed_slice())),
    };
    runner::run_cases(bootstrap, vec![case], options, progress)
}

/// Plays the requests, then compares everything that can be read.
pub fn play(stage: &mut Stage, commands: &[Command]) -> Outcome {
    stage.put(Manner::Once);
    for command in commands {
        stage.drive(*command)?;
    }
    stage.put(Manner::Insisting);
    stage.settle_if_busy()?;
    if commands.contains(&Command::DeleteTopic) {
        return Ok(());
    }
    stage.compare_all()
}
