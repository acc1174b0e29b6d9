//! The forms hold what they must, whatever a broker writes into its answers.

use super::*;
use crate::cases::result::{CaseResult, Verdict};
use crate::cases::stage::Exchange;

fn case(id: &str, verdict: Verdict, reason: &str) -> CaseResult {
    CaseResult {
        id: id.to_owned(),
        name: "a-name".to_owned(),
        level: "core".to_owned(),
        requirement: "MUST".to_owned(),
        source: "KIP-98".to_owned(),
        title: "A rule.".to_owned(),
        verdict,
        reason: reason.to_owned(),
        seconds: 0.5,
        steps: 1,
        exchanges: vec![Exchange {
            request: "EndTxn v5".to_owned(),
            answer: "<b>\u{1}\"hostile\"</b>".to_owned(),
            allowed: vec![
                "NONE (P,1)".to_owned(),
                "CONCURRENT_TRANSACTIONS".to_owned(),
            ],
            rule: "EndTxnTv2Commit in Ongoing: NONE".to_owned(),
        }],
        left: Vec::new(),
        reproduce: format!("fencepost conform --bootstrap 127.0.0.1:1 {id}"),
    }
}

fn report() -> Report {
    Report {
        schema_version: SCHEMA_VERSION,
        ok: false,
        broker: "127.0.0.1:1".to_owned(),
        transaction_version: 2,
        passed: 1,
        failed: 1,
        skipped: 1,
        known: 1,
        inconclusive: 0,
        steps: 4,
        seconds: 2.0,
        prefix: "fencepost-1".to_owned(),
        left: vec!["group fencepost-1-end-02-group: NON_EMPTY_GROUP".to_owned()],
        cases: vec![
            case("end/01", Verdict::Pass, ""),
            case(
                "end/02",
                Verdict::Fail,
                "EndTxn v5: <b>\u{1}\"hostile\"</b>",
            ),
            case("init/01", Verdict::Skip, "the broker lacks EndTxn v5"),
            case("init/02", Verdict::Known, "ours"),
        ],
    }
}

#[test]
fn json_has_the_contract_s_fields() {
    let text = report().render(Format::Json);
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for field in [
        "schema_version",
        "ok",
        "broker",
        "passed",
        "failed",
        "skipped",
        "known",
        "prefix",
        "left",
    ] {
        assert!(!value[field].is_null(), "{field}");
    }
    assert_eq!(value["cases"][1]["id"], "end/02");
    assert_eq!(value["cases"][1]["level"], "core");
    assert_eq!(value["cases"][1]["verdict"], "fail");
}

#[test]
fn a_failure_is_told_with_what_was_allowed_and_how_to_see_it_again() {
    let text = report().render(Format::Text);
    assert!(
        text.contains("allowed: NONE (P,1) | CONCURRENT_TRANSACTIONS"),
        "{text}"
    );
    assert!(
        text.contains("rule: EndTxnTv2Commit in Ongoing: NONE"),
        "{text}"
    );
    assert!(
        text.contains("again: fencepost conform --bootstrap 127.0.0.1:1 end/02"),
        "{text}"
    );
    assert_eq!(
        text.lines().filter(|line| line.contains("end/01")).count(),
        1
    );
}

#[test]
fn markup_of_a_broker_stays_text() {
    for format in [Format::Junit, Format::Html] {
        let text = report().render(format);
        assert!(!text.contains("<b>") && !text.contains('\u{1}'), "{text}");
        assert!(text.contains("&lt;b&gt;?&quot;hostile"), "{text}");
    }
}

#[test]
fn junit_has_a_suite_an_area() {
    let text = report().render(Format::Junit);
    assert_eq!(text.matches("<testsuite ").count(), 2);
    assert_eq!(text.matches("<testcase ").count(), 4);
    assert_eq!(text.matches("<failure ").count(), 1);
    assert_eq!(text.matches("<skipped ").count(), 2);
}

#[test]
fn csv_has_a_line_a_case_and_eight_fields() {
    let text = report().render(Format::Csv);
    assert_eq!(text.lines().count(), 5);
    assert!(
        text.lines().all(|line| line.split(',').count() >= 8),
        "{text}"
    );
    assert!(text.contains("\"\"hostile\"\""), "{text}");
}

#[test]
fn an_unknown_format_is_named() {
    assert_eq!(
        "pdf".parse::<Format>(),
        Err(UnknownFormat("pdf".to_owned()))
    );
    assert_eq!("html".parse(), Ok(Format::Html));
}
