//! `fencepost conform --bootstrap`, `--probe` and `--list`: any broker's transactions, rule by rule.

use crate::args::{Conform, RulesArg};
use crate::exit::{Exit, Failure};
use crate::output::{say, say_json};
use crate::traces;
use fencepost_conformance::cases::{
    self, CaseResult, Configuration, Format, Judge, KnownFailures, Level, Options, Report,
    SuiteError, Walks,
};
use fencepost_spec::trace::TraceFile;
use std::fmt::Write;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

/// A report to write: `FORMAT=FILE`.
#[derive(Clone, Debug)]
pub struct ReportFile {
    format: Format,
    path: PathBuf,
}

/// Reads `FORMAT=FILE`.
pub fn report_file(text: &str) -> Result<ReportFile, String> {
    let (format, path) = text
        .split_once('=')
        .ok_or_else(|| format!("`{text}` is not FORMAT=FILE"))?;
    Ok(ReportFile {
        format: format
            .parse()
            .map_err(|e: cases::UnknownFormat| e.to_string())?,
        path: PathBuf::from(path),
    })
}

/// Reads a level's word.
pub fn level(word: &str) -> Result<Level, String> {
    Level::parse(word).ok_or_else(|| {
        let words: Vec<_> = Level::ALL.into_iter().map(Level::name).collect();
        format!("no level `{word}`; expected one of {}", words.join(", "))
    })
}

/// Reads a configuration's word.
pub fn configuration(word: &str) -> Result<Configuration, String> {
    Configuration::parse(word).ok_or_else(|| {
        let words: Vec<_> = Configuration::ALL
            .into_iter()
            .map(Configuration::name)
            .collect();
        format!(
            "no configuration `{word}`; expected one of {}",
            words.join(", ")
        )
    })
}

/// Lists the cases.
pub fn list(args: &Conform, json: bool) -> Result<Exit, Failure> {
    let listing = cases::list(&args.names);
    if json {
        say_whole(&listing)?;
        return Ok(Exit::AsExpected);
    }
    let mut text = String::new();
    for case in &listing.cases {
        let _ = writeln!(
            text,
            "{:<12} {:<6} {:<7} {} [{}]",
            case.id, case.level, case.requirement, case.title, case.source
        );
    }
    for row in &listing.undriven {
        let every = |words: &[String], kind: &str| match words {
            [] => format!("every {kind}"),
            words => words.join(", "),
        };
        let _ = writeln!(
            text,
            "not driven: {} in {}: {}: {}",
            every(&row.requests, "request"),
            every(&row.states, "state"),
            every(&row.answers, "answer"),
            row.reason
        );
    }
    say(&text)?;
    Ok(Exit::AsExpected)
}

/// Says which levels a broker can run.
pub fn probe(bootstrap: &str, json: bool) -> Result<Exit, Failure> {
    let probe = cases::probe(address(bootstrap)?, Options::default().timeout).map_err(failure)?;
    if json {
        say_whole(&probe)?;
        return Ok(Exit::AsExpected);
    }
    let mut text = format!(
        "{}: transaction.version {}\n",
        probe.broker, probe.transaction_version
    );
    for row in &probe.levels {
        let _ = writeln!(
            text,
            "  {:<6} {} of {} cases",
            row.level, row.can_run, row.cases
        );
        for missing in &row.missing {
            let _ = writeln!(text, "         lacks {missing}");
        }
    }
    say(&text)?;
    Ok(Exit::AsExpected)
}

/// Starts Apache Kafka and judges it.
pub fn judge_kafka(
    args: &Conform,
    configuration: Configuration,
    json: bool,
) -> Result<Exit, Failure> {
    let judge = Judge::start(configuration, args.transaction_version)
        .map_err(|error| Failure::Unreachable(error.to_string()))?;
    let bootstrap = judge.bootstrap().to_string();
    judge_with(args, &bootstrap, Some(judge), json)
}

/// Judges a broker.
pub fn judge(args: &Conform, bootstrap: &str, json: bool) -> Result<Exit, Failure> {
    judge_with(args, bootstrap, None, json)
}

fn judge_with(
    args: &Conform,
    bootstrap: &str,
    judge: Option<Judge>,
    json: bool,
) -> Result<Exit, Failure> {
    if args.rules != RulesArg::All {
        let message = "--rules does not go with --bootstrap: the broker says under which it runs";
        return Err(Failure::Usage(message.to_owned()));
    }
    let known_failures = match &args.known_failures {
        Some(path) => known(path)?,
        None => KnownFailures::default(),
    };
    let options = Options {
        globs: args.names.clone(),
        level: args.level,
        known_failures,
        judge,
        walks: Walks {
            steps: args.walk.map_or(0, |steps| steps as usize),
            seed: args.seed,
            parallel: usize::from(args.parallel),
        },
        ..Options::default()
    };
    let progress = |result: &CaseResult| {
        if !json {
            // A reader that has gone away is told by the exit code.
            let _ = say(&format!("{}\n", result.line()));
        }
    };
    let report = cases::run(address(bootstrap)?, &options, progress).map_err(failure)?;
    for file in &args.report {
        traces::write(&file.path, &report.render(file.format))?;
    }
    if json {
        say(&report.render(Format::Json))?;
    } else {
        say(&stories(&report))?;
    }
    Ok(Exit::of_report(report.ok))
}

/// Drives a trace's requests and judges the answers; a trace that no client can cause is said to be
/// so, and is no finding.
pub fn replay(path: &Path, file: &TraceFile, bootstrap: &str, json: bool) -> Result<Exit, Failure> {
    let commands = match cases::plan(file) {
        Ok(commands) => commands,
        Err(reason) => {
            let text = format!("{}: {reason}", path.display());
            if json {
                say_json(
                    true,
                    &serde_json::json!({ "trace": path, "not_drivable": reason.to_string(), "step": reason.step }),
                )?;
            } else {
                say(&format!("{text}\n"))?;
            }
            return Ok(Exit::AsExpected);
        }
    };
    let options = Options::default();
    let address = address(bootstrap)?;
    let mut report = cases::replay(address, file, commands, &options, |_| {}).map_err(failure)?;
    for case in &mut report.cases {
        // A trace is no case of the suite: it is run again from its file.
        case.reproduce = format!("fencepost replay {} --bootstrap {address}", path.display());
    }
    if json {
        say(&report.render(Format::Json))?;
    } else {
        let lines = report.cases.iter().map(|case| format!("{}\n", case.line()));
        say(&lines.collect::<String>())?;
        say(&stories(&report))?;
    }
    Ok(Exit::of_report(report.ok))
}

/// The failures in full, then the sum, then what the run leaves behind.
fn stories(report: &Report) -> String {
    let told = report.cases.iter().filter(|case| case.is_told());
    let mut text: String = told.map(CaseResult::story).collect();
    text.push_str(&report.summary());
    text.push('\n');
    text.push_str(&report.leftovers());
    text
}

fn known(path: &Path) -> Result<KnownFailures, Failure> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|source| Failure::File {
        verb: "read",
        path: shown.clone(),
        source,
    })?;
    KnownFailures::parse(&text).map_err(|error| Failure::Usage(format!("{shown}: {error}")))
}

/// Reads HOST:PORT.
pub fn address(bootstrap: &str) -> Result<SocketAddr, Failure> {
    let resolved = bootstrap
        .to_socket_addrs()
        .map_err(|error| Failure::Usage(format!("`{bootstrap}` is not HOST:PORT: {error}")))?
        .next();
    resolved.ok_or_else(|| Failure::Usage(format!("`{bootstrap}` names no address")))
}

fn failure(error: SuiteError) -> Failure {
    match error {
        SuiteError::NoBroker(_) => Failure::Unreachable(error.to_string()),
        SuiteError::NoCase(_) => Failure::Usage(error.to_string()),
    }
}

/// Writes a report that has `schema_version` and `ok` of its own.
fn say_whole(report: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(report)
        .map_err(|error| Failure::Internal(error.to_string()))?;
    say(&format!("{text}\n"))
}
