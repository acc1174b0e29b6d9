//! `fencepost table`: a decision table, as the model has it.

use crate::args::{RulesArg, Table};
use crate::exit::{Exit, Failure};
use crate::output::{bold, say, say_json};
use crate::tables::{Request, Row, rows};
use fencepost_spec::scenario::RuleSet;
use fencepost_spec::types::TransactionVersion;
use serde::Serialize;

#[derive(Serialize)]
struct Report {
    request: &'static str,
    tables: Vec<OneTable>,
}

#[derive(Serialize)]
struct OneTable {
    rules: String,
    rows: Vec<Row>,
}

/// Runs it.
pub fn run(args: &Table, json: bool) -> Result<Exit, Failure> {
    let request = Request::ALL
        .into_iter()
        .find(|request| request.name().eq_ignore_ascii_case(&args.request))
        .ok_or_else(|| {
            Failure::unknown(
                "table",
                &args.request,
                Request::ALL.iter().map(|r| r.name()),
            )
        })?;
    let tables = versions(args.rules)
        .into_iter()
        .map(|version| OneTable {
            rules: version.to_string(),
            rows: rows(request, version),
        })
        .collect();
    let report = Report {
        request: request.name(),
        tables,
    };
    if json {
        say_json(true, &report)?;
    } else {
        say(&text(&report))?;
    }
    Ok(Exit::AsExpected)
}

/// The versions that rule sets run through: an upgrade has both.
fn versions(rules: RulesArg) -> Vec<TransactionVersion> {
    let sets = rules.sets();
    let upgrade = sets.contains(&RuleSet::Upgrade);
    let mut versions = Vec::new();
    if upgrade || sets.contains(&RuleSet::Tv1) {
        versions.push(TransactionVersion::Tv1);
    }
    if upgrade || sets.contains(&RuleSet::Tv2) {
        versions.push(TransactionVersion::Tv2);
    }
    versions
}

fn text(report: &Report) -> String {
    let mut text = String::new();
    for table in &report.tables {
        text.push_str(&format!(
            "{}\n",
            bold(&format!("# {} under {}", report.request, table.rules))
        ));
        for rows in table.rows.chunk_by(|a, b| a.request == b.request) {
            text.push_str(&format!("\n## {}\n\n", rows[0].request));
            text.push_str(&markdown(rows));
        }
        text.push('\n');
    }
    text
}

fn markdown(rows: &[Row]) -> String {
    let head = ["state", "the request names", "answer", "effect"].map(str::to_owned);
    let body = rows.iter().map(|row| {
        [
            row.state.clone(),
            row.given.clone(),
            row.answer.to_owned(),
            row.effect.clone(),
        ]
    });
    let lines: Vec<_> = std::iter::once(head).chain(body).collect();
    let width = |column: usize| {
        lines
            .iter()
            .map(|line| line[column].len())
            .max()
            .unwrap_or(0)
    };
    let widths = [width(0), width(1), width(2), width(3)];
    let mut text = String::new();
    for (i, line) in lines.iter().enumerate() {
        for (cell, width) in line.iter().zip(widths) {
            text.push_str(&format!("| {cell:<width$} "));
        }
        text.push_str("|\n");
        if i == 0 {
            for width in widths {
                text.push_str(&format!("|{}", "-".repeat(width + 2)));
            }
            text.push_str("|\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_pinned() {
        for request in Request::ALL {
            let tables = versions(RulesArg::All)
                .into_iter()
                .map(|version| OneTable {
                    rules: version.to_string(),
                    rows: rows(request, version),
                })
                .collect();
            let report = Report {
                request: request.name(),
                tables,
            };
            insta::assert_snapshot!(request.name(), text(&report));
        }
    }
}
