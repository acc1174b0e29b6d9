//! The JSON of the contract, on small runs.

use crate::support::{code, fencepost, json};
use serde_json::Value;

fn has(value: &Value, fields: &[&str]) {
    for field in fields {
        assert!(value.get(field).is_some(), "no `{field}` in {value}");
    }
}

#[test]
fn check_reports_counts_digest_and_verdicts() {
    let output = fencepost(&["check", "smoke", "timer-once", "--json"]);
    let report = json(&output);
    assert_eq!(code(&output), 0);
    assert_eq!(report["ok"], true);
    has(&report, &["schema_version", "runs"]);
    let runs = report["runs"].as_array().expect("runs is a list");
    let of_kind = |kind: &str| runs.iter().filter(|run| run["kind"] == kind).count();
    assert_eq!((of_kind("safety"), of_kind("liveness")), (4, 4));
    for run in runs {
        has(
            run,
            &[
                "scenario",
                "rules",
                "mutant",
                "bounds",
                "distinct",
                "generated",
                "depth",
                "digest",
                "seconds",
                "verdict",
                "expected",
                "violations",
            ],
        );
        assert_eq!(run["verdict"], "holds");
    }
}

#[test]
fn one_thread_and_two_have_the_same_digest() {
    let digest = |threads: &str| {
        let arguments = [
            "check",
            "late",
            "--rules",
            "tv2",
            "--threads",
            threads,
            "--json",
        ];
        json(&fencepost(&arguments))["runs"][0]["digest"].clone()
    };
    assert!(digest("1").is_string());
    assert_eq!(digest("1"), digest("2"));
}

#[test]
fn a_violation_under_a_mutant_is_a_finding() {
    let output = fencepost(&[
        "check", "smoke", "--rules", "tv2", "--mutant", "M04", "--json",
    ]);
    let report = json(&output);
    assert_eq!(code(&output), 1);
    assert_eq!(report["runs"][0]["verdict"], "violated");
    let first = &report["runs"][0]["violations"][0];
    has(first, &["property", "steps"]);
}

#[test]
fn an_expected_violation_is_as_expected() {
    let output = fencepost(&["check", "hanging", "--json"]);
    let report = json(&output);
    assert_eq!((code(&output), &report["ok"]), (0, &Value::Bool(true)));
    assert_eq!(report["runs"][0]["verdict"], "violated");
    assert_eq!(report["runs"][0]["expected"], "violated");
}

#[test]
fn the_ledger_has_no_survivor() {
    let output = fencepost(&["mutants", "--json"]);
    let report = json(&output);
    let rows = report["mutants"].as_array().expect("mutants is a list");
    assert!(rows.len() > 120);
    for row in rows {
        has(
            row,
            &[
                "id", "bug", "scenario", "rules", "status", "property", "steps", "distinct",
                "seconds", "reason", "kind",
            ],
        );
        let status = row["status"].as_str().expect("a word");
        assert!(
            ["killed", "equivalent", "expected"].contains(&status),
            "{row}"
        );
    }
    assert_eq!(code(&output), 0);
    let on_cycles = rows.iter().filter(|row| row["judged"] == "fair cycles");
    for row in on_cycles.clone() {
        let (from, steps) = (row["loop_start"].as_u64(), row["steps"].as_u64());
        assert!(
            row["kind"] == "liveness" && from.is_some() && from <= steps,
            "{row}"
        );
    }
    assert!(on_cycles.count() > 40);
}

#[test]
fn a_lasso_is_told_and_its_trace_replays() {
    let directory = tempfile::tempdir().expect("a temporary folder");
    let folder = directory.path().to_str().expect("a path of ASCII");
    let mutant = ["check", "smoke", "--rules", "tv2", "--mutant", "M04"];
    let story = fencepost(&[&mutant[..], &["--traces", folder]].concat());
    let text = String::from_utf8_lossy(&story.stdout).into_owned();
    assert!(text.contains("Then, again and again:"), "{text}");
    let report = json(&fencepost(&[&mutant[..], &["--json"]].concat()));
    let mut runs = report["runs"].as_array().expect("a list").iter();
    let lasso = runs
        .find(|run| run["kind"] == "liveness")
        .expect("it is judged");
    assert_eq!(lasso["verdict"], "violated");
    let path = directory.path().join("L4_m04_smoke_tv2_lasso.trace");
    let path = path.to_str().expect("a path of ASCII");
    assert_eq!(code(&fencepost(&["replay", path])), 0);
    // A run that does not come back, or that is left too early, is no lasso.
    let trace = std::fs::read_to_string(path).expect("it was saved");
    let header = trace
        .lines()
        .find(|line| line.starts_with("expect: lasso L4 from "));
    let header = header.expect("the header says what it shows");
    for wrong in [
        "expect: lasso L4 from 0",
        "expect: lasso L4 from 9999",
        "expect: lasso L3 from 1",
    ] {
        std::fs::write(path, trace.replace(header, wrong)).expect("it is written");
        assert_eq!(code(&fencepost(&["replay", path])), 1, "{wrong}");
    }
}

#[test]
fn every_property_has_a_sentence_a_source_a_witness_and_mutants() {
    let report = json(&fencepost(&["properties", "--json"]));
    let rows = report["properties"]
        .as_array()
        .expect("properties is a list");
    assert_eq!(rows.len(), 18);
    for row in rows {
        has(
            row,
            &["id", "name", "says", "source", "kind", "witness", "mutants"],
        );
        assert!(
            row["witness"]["steps"].as_u64().is_some_and(|n| n > 0),
            "{row}"
        );
        let mutants = row["mutants"].as_array().expect("mutants is a list");
        assert!(!mutants.is_empty(), "{row}");
    }
}

#[test]
fn conform_reports_states_edges_and_exclusions() {
    let output = fencepost(&["conform", "smoke", "--json"]);
    let report = json(&output);
    assert_eq!((code(&output), &report["ok"]), (0, &Value::Bool(true)));
    for run in report["runs"].as_array().expect("runs is a list") {
        has(
            run,
            &[
                "scenario",
                "rules",
                "model_states",
                "edges",
                "refused_actions",
                "impl_states",
                "hidden_states",
                "exclusions",
                "seconds",
            ],
        );
        let properties = &run["properties"];
        has(
            properties,
            &[
                "states",
                "steps",
                "terminal_states",
                "violated",
                "expected",
                "ok",
            ],
        );
        assert_eq!(properties["violated"], properties["expected"]);
        for row in run["crash_points"]
            .as_array()
            .expect("crash_points is a list")
        {
            has(row, &["write", "moment", "count"]);
        }
        for row in run["exclusions"].as_array().expect("exclusions is a list") {
            has(row, &["what", "count", "reason"]);
        }
    }
}
