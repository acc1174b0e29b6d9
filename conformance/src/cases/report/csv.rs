//! For spreadsheets and report cards.

use std::fmt::Write;

use crate::cases::result::Report;

/// A head, then one line a case.
pub(super) fn render(report: &Report) -> String {
    let mut text = "id,name,level,requirement,verdict,seconds,steps,reason\n".to_owned();
    for case in &report.cases {
        let _ = writeln!(
            text,
            "{},{},{},{},{},{:.3},{},{}",
            case.id,
            case.name,
            case.level,
            case.requirement,
            case.verdict.name(),
            case.seconds,
            case.steps,
            quoted(&case.reason)
        );
    }
    text
}

/// A field in quotes, with the quotes in it doubled.
fn quoted(field: &str) -> String {
    format!("\"{}\"", field.replace('"', "\"\"").replace('\n', " "))
}
