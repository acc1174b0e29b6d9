//! Our own cores, asked from outside: what `conform --profile mutation` runs beside lockstep.
//!
//! Lockstep says what the model can say. What it cannot (versions of requests, forms of answers, names, sizes, members) is
//! what the cases are about, and behind a port every request passes through all the cores.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use fencepost::coordinator::Config;
use fencepost::types::TransactionVersion;
use serde::Serialize;

use super::Level;
use super::judge::{Configuration, Judge};
use super::result::{CaseResult, Report};
use super::runner::{Options, SuiteError, chosen, matching, run_cases};
use super::table::ours;
use super::walk::Walks;
use crate::loopback::{Loopback, LoopbackConfig, Tamper};

/// One broker, and what is asked of it.
#[derive(Clone, Debug)]
pub struct OwnRun {
    /// The cluster's transaction version.
    pub transaction_version: TransactionVersion,
    /// What may be done to the broker.
    pub configuration: Configuration,
    /// Cases of this level.
    pub level: Level,
    /// Patterns of their ids; empty for the whole level.
    pub globs: &'static [&'static str],
    /// Whether what only our own broker can be asked is asked instead.
    pub ours: bool,
    /// Exchanges of random walks, which restart the broker now and then.
    pub walked: usize,
}

/// Bytes of a batch of tombstones that is full with one of the cases' ids, or with several.
const FOR_ONE: usize = 100;
const FOR_SEVERAL: usize = 300;
/// The seed of the first walk.
const SEED: u64 = 1;

const fn whole(transaction_version: TransactionVersion, level: Level) -> OwnRun {
    OwnRun {
        transaction_version,
        configuration: Configuration::OneNode,
        level,
        globs: &[],
        ours: false,
        walked: 0,
    }
}

/// `conform --profile mutation`: every case that takes no held broker and no wait, and walks.
pub const MUTATION: [OwnRun; 13] = [
    OwnRun {
        ours: true,
        ..whole(TransactionVersion::V2, Level::Fault)
    },
    whole(TransactionVersion::V2, Level::Full),
    whole(TransactionVersion::V2, Level::Admin),
    whole(TransactionVersion::V2, Level::TwoPhase),
    OwnRun {
        walked: 600,
        ..whole(TransactionVersion::V2, Level::Fault)
    },
    OwnRun {
        configuration: Configuration::TwoBrokers,
        globs: &["end"],
        ..whole(TransactionVersion::V2, Level::Fault)
    },
    OwnRun {
        ours: true,
        ..whole(TransactionVersion::V1, Level::Fault)
    },
    OwnRun {
        ours: true,
        globs: &["rights", "load", "disk"],
        ..whole(TransactionVersion::V0, Level::Fault)
    },
    whole(TransactionVersion::V1, Level::Full),
    whole(TransactionVersion::V1, Level::Admin),
    whole(TransactionVersion::V1, Level::TwoPhase),
    OwnRun {
        walked: 600,
        ..whole(TransactionVersion::V1, Level::Fault)
    },
    OwnRun {
        configuration: Configuration::TwoBrokers,
        globs: &["end"],
        ..whole(TransactionVersion::V1, Level::Fault)
    },
];

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OwnReport {
    /// Cases and walks that passed.
    pub passed: usize,
    /// Cases that need what our broker does not have.
    pub skipped: usize,
    /// Requests and looks that were judged.
    pub exchanges: usize,
    /// Cases that did not pass.
    pub bad: Vec<CaseResult>,
}

/// For what only our own broker is asked, limits are small, so that they are met.
fn config(asked: &OwnRun) -> LoopbackConfig {
    let plain = LoopbackConfig::new(asked.transaction_version);
    if !asked.ours {
        return plain;
    }
    LoopbackConfig {
        coordinator: Config {
            transaction_log_partitions: 2,
            tombstone_batch_bytes: match asked.transaction_version {
                TransactionVersion::V0 | TransactionVersion::V1 => FOR_ONE,
                TransactionVersion::V2 => FOR_SEVERAL,
            },
            ..Config::default()
        },
        producer_id_block: 20,
        ..plain
    }
}

/// Asks any broker that we started what our own is asked: it skips what takes our clock, our disk or our log. What our
/// cores are held to is what Apache Kafka answers, as far as it can be asked.
///
/// # Errors
/// As [`run`](super::run).
pub fn judge_as_our_own(judge: &Judge) -> Result<Report, SuiteError> {
    let options = Options {
        level: Some(Level::Fault),
        judge: Some(judge.clone()),
        ..Options::default()
    };
    run_cases(judge.bootstrap(), ours::all(), &options, |_| {})
}

/// Asks, two brokers at a time, up to the first case that does not pass.
///
/// # Errors
/// As [`run`](super::run), and where no port can be had.
pub fn judge_our_own(runs: &[OwnRun]) -> Result<OwnReport, SuiteError> {
    let next = AtomicUsize::new(0);
    let ask = || {
        let mut found = Vec::new();
        while let Some(asked) = runs.get(next.fetch_add(1, Relaxed)) {
            let answered = ask_our_own(asked, Tamper::NONE);
            let passed = answered.as_ref().is_ok_and(|report| !has_bad(report));
            found.push(answered);
            if !passed {
                next.store(runs.len(), Relaxed);
            }
        }
        found
    };
    let found = std::thread::scope(|scope| {
        let beside = scope.spawn(ask);
        let mut found = ask();
        found.extend(beside.join().unwrap_or_else(|panic| resume_unwind(panic)));
        found
    });
    let mut report = OwnReport::default();
    for answered in found {
        let answered = answered?;
        report.passed += answered.passed;
        report.skipped += answered.skipped;
        report.exchanges += answered.steps;
        let bad = answered.cases.into_iter().filter(|it| it.verdict.is_bad());
        report.bad.extend(bad);
    }
    Ok(report)
}

fn has_bad(report: &Report) -> bool {
    report.cases.iter().any(|case| case.verdict.is_bad())
}

/// Asks one broker, with a fault where a test puts one in, up to the first case that does not pass.
///
/// # Errors
/// As [`run`](super::run), and where no port can be had.
pub fn ask_our_own(asked: &OwnRun, tamper: Tamper) -> Result<Report, SuiteError> {
    let loopback = Loopback::start(LoopbackConfig {
        tamper,
        ..config(asked)
    });
    let loopback = loopback.map_err(|error| SuiteError::NoBroker(error.to_string()))?;
    let judge = Judge::of_our_own(asked.configuration, loopback);
    let options = Options {
        globs: asked.globs.iter().map(|it| (*it).to_owned()).collect(),
        level: Some(asked.level),
        judge: Some(judge.clone()),
        timeout: Duration::from_secs(5),
        walks: Walks {
            steps: asked.walked,
            seed: SEED,
            parallel: 1,
        },
        to_the_first: true,
        ..Options::default()
    };
    let cases = match asked.ours {
        true => matching(ours::all(), &options.globs),
        false => chosen(&options)?,
    };
    run_cases(judge.bootstrap(), cases, &options, |_| {})
}
