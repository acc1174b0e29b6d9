//! JUnit XML in the Jenkins dialect.

use std::fmt::Write;

use super::escape;
use crate::cases::result::{CaseResult, Report, Verdict};

/// A suite an area, in the order of the report.
pub(super) fn render(report: &Report) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let _ = writeln!(
        text,
        "<testsuites tests=\"{}\" failures=\"{}\" skipped=\"{}\" time=\"{:.3}\">",
        report.cases.len(),
        report.failed,
        report.skipped + report.inconclusive + report.known,
        report.seconds
    );
    for suite in report.cases.chunk_by(|a, b| area(a) == area(b)) {
        render_suite(&mut text, suite);
    }
    text.push_str("</testsuites>\n");
    text
}

fn render_suite(text: &mut String, suite: &[CaseResult]) {
    let name = suite.first().map_or("", area);
    let failures = suite.iter().filter(|case| is_failure(case)).count();
    let skipped = suite
        .iter()
        .filter(|case| !is_failure(case) && case.verdict != Verdict::Pass)
        .count();
    let _ = writeln!(
        text,
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" skipped=\"{skipped}\">",
        escape(name),
        suite.len()
    );
    for case in suite {
        let _ = write!(
            text,
            "    <testcase classname=\"{}\" name=\"{} {}\" time=\"{:.3}\"",
            escape(name),
            escape(&case.id),
            escape(&case.name),
            case.seconds
        );
        let _ = match case.verdict {
            Verdict::Pass => writeln!(text, "/>"),
            Verdict::Fail | Verdict::UnexpectedPass => writeln!(
                text,
                ">\n      <failure message=\"{}\">{}</failure>\n    </testcase>",
                escape(&case.reason),
                escape(&case.story())
            ),
            Verdict::Skip | Verdict::Known | Verdict::Inconclusive => writeln!(
                text,
                ">\n      <skipped message=\"{}: {}\"/>\n    </testcase>",
                case.verdict.name(),
                escape(&case.reason)
            ),
        };
    }
    text.push_str("  </testsuite>\n");
}

fn is_failure(case: &CaseResult) -> bool {
    matches!(case.verdict, Verdict::Fail | Verdict::UnexpectedPass)
}

fn area(case: &CaseResult) -> &str {
    case.id.split('/').next().unwrap_or_default()
}
