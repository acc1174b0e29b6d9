//! Which levels a broker can run, and why not.

use std::net::SocketAddr;
use std::time::Duration;

use serde::Serialize;

use super::case::{Case, Level, Need, spoken};
use super::judge::Configuration;
use super::runner::SuiteError;
use crate::wire::{ApiVersionsAnswer, Connection, ErrorCode};

/// A level on this broker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LevelRow {
    /// The level's word on the command line.
    pub level: String,
    /// Cases of the level, without those of other levels.
    pub cases: usize,
    /// Cases whose needs the broker meets.
    pub can_run: usize,
    /// What is missing, each with the number of cases that it keeps from running.
    pub missing: Vec<String>,
}

/// What a broker says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// Version of these fields.
    pub schema_version: u32,
    /// Always true: probing finds nothing.
    pub ok: bool,
    /// HOST:PORT.
    pub broker: String,
    /// The finalized `transaction.version`.
    pub transaction_version: i16,
    /// The levels.
    pub levels: Vec<LevelRow>,
}

/// Asks a broker what it speaks; `timeout` holds for the connect and for each read and write.
///
/// # Errors
/// [`SuiteError`] where there is no broker, or it does not answer ApiVersions.
pub fn probe(bootstrap: SocketAddr, timeout: Duration) -> Result<Probe, SuiteError> {
    let answer = api_versions(bootstrap, timeout)?;
    let cases = super::all();
    let levels = Level::ALL
        .into_iter()
        .map(|level| level_row(level, &cases, &answer))
        .collect();
    Ok(Probe {
        schema_version: super::report::SCHEMA_VERSION,
        ok: true,
        broker: bootstrap.to_string(),
        transaction_version: answer.transaction_version(),
        levels,
    })
}

fn level_row(level: Level, cases: &[Case], answer: &ApiVersionsAnswer) -> LevelRow {
    let of_level: Vec<&Case> = cases.iter().filter(|case| case.level == level).collect();
    let mut missing: Vec<(Need, usize)> = Vec::new();
    for need in of_level.iter().filter_map(|case| lacks(case, answer, None)) {
        match missing.iter_mut().find(|(it, _)| *it == need) {
            Some((_, count)) => *count += 1,
            None => missing.push((need, 1)),
        }
    }
    let kept: usize = missing.iter().map(|(_, count)| count).sum();
    LevelRow {
        level: level.name().to_owned(),
        cases: of_level.len(),
        can_run: of_level.len() - kept,
        missing: missing
            .iter()
            .map(|(need, count)| format!("{need} ({count} cases)"))
            .collect(),
    }
}

/// ApiVersions of a broker.
pub fn api_versions(
    bootstrap: SocketAddr,
    timeout: Duration,
) -> Result<ApiVersionsAnswer, SuiteError> {
    let mut connection = Connection::open(bootstrap, timeout)
        .map_err(|error| SuiteError::unreachable(bootstrap, &error))?;
    let answer = connection
        .api_versions()
        .map_err(|error| SuiteError::unreachable(bootstrap, &error))?;
    if answer.error == ErrorCode::NONE {
        Ok(answer)
    } else {
        Err(SuiteError::NoBroker(format!(
            "{bootstrap}: ApiVersions: {}",
            answer.error
        )))
    }
}

/// The first need of a case that a broker does not meet.
pub fn lacks(
    case: &Case,
    answer: &ApiVersionsAnswer,
    judge: Option<Configuration>,
) -> Option<Need> {
    case.needs.iter().copied().find(|need| match need {
        Need::Api { key, version, .. } => answer
            .apis
            .get(key)
            .is_none_or(|range| spoken(*key, *version, *range).is_none()),
        Need::TransactionVersion(level) => answer.transaction_version() < *level,
        // Only the case itself can see how many brokers there are, and skips where there is one.
        Need::SecondBroker => false,
        Need::Judge(configuration) => judge != Some(*configuration),
    })
}
