//! A page without scripts.

use std::fmt::Write;

use super::escape;
use crate::cases::result::Report;

const HEAD: &str = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
<title>Transactions, rule by rule</title><style>\
body{font:14px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em}\
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.2em .6em;\
border-bottom:1px solid #ddd;vertical-align:top}pre{white-space:pre-wrap}\
.pass{color:#1a7f37}.fail,.unexpected-pass{color:#cf222e;font-weight:bold}\
.skip,.known,.inconclusive{color:#6e7781}</style></head><body>\n";

/// The sums, a row a case, the stories below.
pub(super) fn render(report: &Report) -> String {
    let mut text = HEAD.to_owned();
    let _ = writeln!(
        text,
        "<h1>Transactions, rule by rule</h1><p>{}</p>",
        escape(&report.summary())
    );
    text.push_str("<table><tr><th>verdict</th><th>case</th><th>level</th><th>rule</th></tr>\n");
    for case in &report.cases {
        let verdict = case.verdict.name();
        let _ = writeln!(
            text,
            "<tr><td class=\"{verdict}\">{verdict}</td><td>{} {}</td><td>{} {}</td><td>{}<br>\
             <small>{} {}</small></td></tr>",
            escape(&case.id),
            escape(&case.name),
            escape(&case.level),
            escape(&case.requirement),
            escape(&case.title),
            escape(&case.source),
            escape(&case.reason)
        );
    }
    text.push_str("</table>\n");
    for case in report.cases.iter().filter(|case| case.is_told()) {
        let _ = writeln!(text, "<pre>{}</pre>", escape(&case.story()));
    }
    let _ = writeln!(text, "<pre>{}</pre>", escape(&report.leftovers()));
    text.push_str("</body></html>\n");
    text
}
