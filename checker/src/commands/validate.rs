//! `fencepost validate`: is a recorded run a behaviour of the model?

use crate::args::Validate;
use crate::exit::{Exit, Failure};
use crate::output::{say, say_json};
use fencepost_conformance::observed::{Event, Refusal, Summary, Validator};
use fencepost_spec::rules::Rules;
use fencepost_spec::types::TransactionVersion;
use serde::Serialize;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::time::Instant;

#[derive(Serialize)]
struct Report {
    recording: String,
    transaction_version: u8,
    #[serde(flatten)]
    summary: Summary,
    refused: Option<Refusal>,
    seconds: f64,
    events_per_minute: f64,
}

/// Runs it.
pub fn run(args: &Validate, json: bool) -> Result<Exit, Failure> {
    let shown = args.recording.display().to_string();
    let unreadable = |source| Failure::File {
        verb: "read",
        path: shown.clone(),
        source,
    };
    let file = File::open(&args.recording).map_err(unreadable)?;
    let version = match args.transaction_version {
        2 => TransactionVersion::Tv2,
        _ => TransactionVersion::Tv1,
    };
    let mut validator = Validator::new(Rules::kafka(version));
    let begun = Instant::now();
    let mut refused = None;
    for (number, line) in (1..).zip(BufReader::new(file).lines()) {
        let line = line.map_err(unreadable)?;
        let event: Event = serde_json::from_str(&line)
            .map_err(|error| Failure::Usage(format!("{shown}: line {number}: {error}")))?;
        if let Err(refusal) = validator.event(&event) {
            refused = Some(refusal);
            break;
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    let summary = validator.summary();
    let report = Report {
        recording: shown,
        transaction_version: args.transaction_version,
        summary,
        refused,
        seconds,
        events_per_minute: summary.events as f64 / seconds.max(1e-9) * 60.0,
    };
    let ok = report.refused.is_none();
    if json {
        say_json(ok, &report)?;
    } else {
        say(&text(&report))?;
    }
    Ok(Exit::of_report(ok))
}

fn text(report: &Report) -> String {
    let it = &report.summary;
    let sums = format!(
        "{} events, {} answers, markers and steps of cores judged, {} of ids whose beginning was not seen, {} ids ({} given \
         up), {} partitions; {:.1} s, {:.0} events a minute\n",
        it.events,
        it.judged,
        it.unseen,
        it.ids,
        it.given_up,
        it.partitions,
        report.seconds,
        report.events_per_minute
    );
    let classic = match it.consumer_groups {
        0 => String::new(),
        n => format!(
            "{n} requests of KIP-848 groups were not judged: the model has classic groups only.\n"
        ),
    };
    let sums = format!("{classic}{sums}");
    match &report.refused {
        None if it.given_up > 0 => format!(
            "Nothing in this run departs from the model, but not all of it could be told.\n{sums}"
        ),
        None => format!("This run is a behaviour of the model.\n{sums}"),
        Some(refusal) => format!("This run is no behaviour of the model: {refusal}\n{sums}"),
    }
}
